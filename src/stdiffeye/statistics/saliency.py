"""Fixations as a saliency map, without order and time, scored against human fixations.

Source: definitions as in Bylinskii, Judd, Oliva, Torralba, Durand, "What do different evaluation metrics tell us
about saliency models?" (PAMI 2019); information gain as in Kümmerer, Wallis, Bethge (PNAS 2015).

Conventions
-----------
* Maps are probability densities (sum 1) on a grid whose longer side has 256 cells, whatever the picture's size.
* A map counts fixations per cell and is smoothed by a Gaussian of one degree. Where the frame does not know its pixels
  per degree, 1/30 of the picture's width is used. Fixations outside the frame are not counted.
* P is the system's map, Q the humans' map, f the cells of human fixations (repeated ones repeated; for AUC-Judd once).
* C is the centre bias: human fixations on all other stimuli, with the same smoothing.
* Scores are computed per stimulus, then averaged over stimuli.
* Row `human`: half of the viewers (every other one by name) against the other half, both ways. Row `centre`: C as the
  system.

Scores
------
* `nss` mean of (P − mean P) / std P over f.
* `cc` correlation of P and Q over cells.
* `kldiv` Σ Q log(ε + Q/(P + ε)), natural logarithm, ε = 2⁻⁵².
* `auc_judd` area under the curve of (share of fixated cells ≥ s) over (share of other cells ≥ s). Thresholds s are the
  values of the fixated cells; equal values are one threshold.
* `sauc` the same area over the fixations on all other stimuli instead of the other cells (shuffled AUC), which the
  centre bias alone does not raise; equal values count half.
* `sim` Σ min(P, Q), the similarity of the two maps.
* `ig` mean over f of log2 P′ − log2 C, in bits per fixation. P′ = 0.9·P + 0.1·C, since a map of few fixations has cells
  of probability zero.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Trial

Key = tuple[str, str]

METRICS = ("nss", "cc", "auc_judd", "sauc", "sim", "kldiv", "ig")
GRID_LONGER_SIDE = 256
SIGMA_DEG = 1.0
DEGREES_WIDE_IF_UNKNOWN = 30.0
CENTRE_SHARE = 0.1
EPSILON = float(np.finfo(np.float64).eps)
HUMAN, CENTRE = "human", "centre"


@dataclass(frozen=True)
class SaliencyScores:
    """Scores of one side.

    Attributes
    ----------
    per_stimulus : dict of (str, str) to dict of str to float
        (name, task) → score → value, NaN where undefined.
    """

    per_stimulus: Mapping[Key, Mapping[str, float]]

    def mean(self, metric: str) -> float:
        """Return the mean over the stimuli where a score is defined."""
        values = np.array([scores[metric] for scores in self.per_stimulus.values()])
        values = values[~np.isnan(values)]
        return float(values.mean()) if len(values) else float("nan")

    def to_json(self) -> dict[str, Any]:
        """Return the number of stimuli and the mean of each score; NaN as null."""
        means = {metric: self.mean(metric) for metric in METRICS}
        plain = {metric: None if math.isnan(value) else value for metric, value in means.items()}
        return {"stimuli": len(self.per_stimulus), **plain}


@dataclass(frozen=True)
class _Stimulus:
    """One picture's grid, the human fixations by viewer and the centre bias, all in grid cells."""

    shape: tuple[int, int]
    sigma_cells: float
    by_viewer: Mapping[str, Floats]
    human_map: Floats
    centre: Floats | None
    elsewhere: Floats  # (rows, columns) fixations on all other stimuli

    @property
    def human_xy(self) -> Floats:
        return np.concatenate(list(self.by_viewer.values()))


def compare(
    human: Sequence[Trial], generated: Mapping[str, Sequence[Trial]], skip_first: int = 0
) -> dict[str, SaliencyScores]:
    """Score each system's fixations as a saliency map.

    Parameters
    ----------
    human : sequence of Trial
        Recorded gaze with scanpaths.
    generated : dict of str to sequence of Trial
        Gaze of each system; stimuli are matched by (name, task), those of one side only are left out.
    skip_first : int
        Leading fixations that are not counted: 1 where the first one is central by design.

    Returns
    -------
    dict of str to SaliencyScores
        "human", "centre" and each system.

    Raises
    ------
    InputError
        When a trial has no scanpath, no human fixation lies inside its frame, or a system shares no stimulus.
    """
    by_viewer = _fixations(human, skip_first)
    if not by_viewer:
        raise InputError("no human fixation lies inside its frame: there is no saliency map to compare with")
    frames = {trial.key: trial.frame for trial in human}
    stimuli = _stimuli(by_viewer, frames)
    rows = {
        HUMAN: SaliencyScores({key: _halves(one) for key, one in stimuli.items()}),
        CENTRE: SaliencyScores({key: _against_all(one, one.centre) for key, one in stimuli.items()}),
    }
    for name, trials in generated.items():
        mine = _fixations(trials, skip_first)
        shared = [key for key in stimuli if key in mine]
        if not shared:
            raise InputError(f"{name!r} shares no stimulus (name, task) with the humans' trials")
        maps = {key: _map_of(stimuli[key], np.concatenate(list(mine[key].values()))) for key in shared}
        rows[name] = SaliencyScores({key: _against_all(stimuli[key], maps[key]) for key in shared})
    return rows


def fixation_map(xy: Floats, shape: tuple[int, int], sigma_cells: float) -> Floats:
    """Count points on a grid and smooth them.

    Parameters
    ----------
    xy : ndarray, (n, 2)
        Points in [0, 1) × [0, 1).
    shape : (int, int)
        Rows and columns of the grid.
    sigma_cells : float
        Standard deviation of the Gaussian, in cells; 0 does not smooth.

    Returns
    -------
    ndarray, shape
        Density of sum 1; zero where there is no point.
    """
    from scipy.ndimage import gaussian_filter

    counts = np.zeros(shape)
    rows, columns = cells(xy, shape)
    np.add.at(counts, (rows, columns), 1.0)
    smooth = gaussian_filter(counts, sigma_cells, mode="constant", truncate=4) if sigma_cells > 0 else counts
    total = smooth.sum()
    return smooth / total if total > 0 else smooth


def cells(xy: Floats, shape: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return row and column of (n, 2) points in [0, 1) × [0, 1)."""
    return (xy[:, 1] * shape[0]).astype(np.int64), (xy[:, 0] * shape[1]).astype(np.int64)


def grid_of(frame: Frame, longer_side: int = GRID_LONGER_SIDE) -> tuple[tuple[int, int], float]:
    """Return (rows, columns) of a frame's map, and its smoothing in cells."""
    scale = longer_side / max(frame.width_px, frame.height_px)
    px_per_degree = frame.px_per_degree or frame.width_px / DEGREES_WIDE_IF_UNKNOWN
    shape = max(1, round(frame.height_px * scale)), max(1, round(frame.width_px * scale))
    return shape, SIGMA_DEG * px_per_degree * scale


def nss(density: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
    """Return the normalised scanpath saliency of fixated cells; NaN for a constant map."""
    std = float(density.std())
    return float((density[rows, columns] - density.mean()).mean() / std) if std > 0 else float("nan")


def cc(density: Floats, other: Floats) -> float:
    """Return Pearson's correlation of two maps; NaN if one is constant."""
    one, two = density - density.mean(), other - other.mean()
    norm = float(np.sqrt((one**2).sum() * (two**2).sum()))
    return float((one * two).sum() / norm) if norm > 0 else float("nan")


def kldiv(density: Floats, human: Floats) -> float:
    """Return the Kullback–Leibler divergence of the human density from the system's."""
    return float((human * np.log(EPSILON + human / (density + EPSILON))).sum())


def auc_judd(density: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
    """Return the area under the curve with thresholds at the fixated cells; NaN if every cell is fixated."""
    fixated = np.zeros(density.shape, dtype=bool)
    fixated[rows, columns] = True
    hits, others = np.sort(density[fixated]), density[~fixated]
    if not len(others):
        return float("nan")
    thresholds = np.unique(hits)
    hit_share = 1 - np.searchsorted(hits, thresholds) / len(hits)
    # How many thresholds a cell reaches, counted once per cell: cheaper than sorting all cells.
    reached = np.bincount(np.searchsorted(thresholds, others, side="right"), minlength=len(thresholds) + 1)
    false_share = np.cumsum(reached[:0:-1])[::-1] / len(others)
    hit_share, false_share = np.r_[1, hit_share, 0], np.r_[1, false_share, 0]
    return float(-np.diff(false_share) @ (hit_share[1:] + hit_share[:-1]) / 2)


def shuffled_auc(density: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64], elsewhere: Floats) -> float:
    """Return the area under the curve of fixated cells against fixations on other stimuli; NaN without any.

    Parameters
    ----------
    density : ndarray, (rows, columns)
        The map.
    rows, columns : ndarray, (n,)
        Fixated cells.
    elsewhere : ndarray, (rows, columns)
        How often each cell was fixated on other stimuli.
    """
    if elsewhere.sum() == 0:
        return float("nan")
    values, number = np.unique(density, return_inverse=True)
    below = np.bincount(number.ravel(), elsewhere.ravel(), len(values)) / elsewhere.sum()
    hits = number.reshape(density.shape)[rows, columns]
    return float((np.cumsum(below)[hits] - below[hits] / 2).mean())


def sim(density: Floats, other: Floats) -> float:
    """Return the similarity of two densities: 1 for the same, 0 for disjoint ones."""
    return float(np.minimum(density, other).sum())


def information_gain(density: Floats, baseline: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
    """Return bits per fixation over the baseline, with a tenth of the baseline mixed in."""
    mixed = (1 - CENTRE_SHARE) * density + CENTRE_SHARE * baseline
    return float((np.log2(mixed[rows, columns]) - np.log2(baseline[rows, columns])).mean())


def _fixations(trials: Sequence[Trial], skip_first: int) -> dict[Key, dict[str, Floats]]:
    """Stimulus → viewer → (n, 2) fixations inside the frame, normalised."""
    found: dict[Key, dict[str, list[Floats]]] = defaultdict(lambda: defaultdict(list))
    for trial in trials:
        if trial.scanpath is None:
            raise InputError(f"trial {trial.name!r} of {trial.subject!r} has no scanpath: extract fixations first")
        xy_px = trial.scanpath.xy_px[skip_first:]
        inside = xy_px[trial.frame.contains(xy_px)]
        if len(inside):
            found[trial.key][trial.subject].append(trial.frame.normalise(inside))
    return {key: {who: np.concatenate(each) for who, each in viewers.items()} for key, viewers in found.items()}


def _stimuli(by_viewer: Mapping[Key, Mapping[str, Floats]], frames: Mapping[Key, Frame]) -> dict[Key, _Stimulus]:
    pooled = {key: np.concatenate(list(viewers.values())) for key, viewers in by_viewer.items()}
    everything = np.concatenate(list(pooled.values()))
    totals: dict[tuple[int, int], Floats] = {}
    found = {}
    for key, viewers in by_viewer.items():
        shape, sigma = grid_of(frames[key])
        if shape not in totals:
            totals[shape] = _counts(everything, shape)
        elsewhere = totals[shape] - _counts(pooled[key], shape)
        human_map = fixation_map(pooled[key], shape, sigma)
        found[key] = _Stimulus(shape, sigma, viewers, human_map, _centre_bias(elsewhere, sigma), elsewhere)
    return found


def _counts(xy: Floats, shape: tuple[int, int]) -> Floats:
    rows, columns = cells(xy, shape)
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def _centre_bias(counts: Floats, sigma_cells: float) -> Floats | None:
    """Density of fixations on all other stimuli; a thousandth of uniform keeps every cell possible."""
    from scipy.ndimage import gaussian_filter

    if counts.sum() == 0:
        return None
    smooth = gaussian_filter(counts, sigma_cells, mode="constant", truncate=4)
    return 0.999 * smooth / smooth.sum() + 0.001 / counts.size


def _map_of(stimulus: _Stimulus, xy: Floats) -> Floats:
    return fixation_map(xy, stimulus.shape, stimulus.sigma_cells)


def _against_all(stimulus: _Stimulus, density: Floats | None) -> dict[str, float]:
    return _score(stimulus, density, stimulus.human_xy, stimulus.human_map)


def _score(stimulus: _Stimulus, density: Floats | None, xy: Floats, human_map: Floats) -> dict[str, float]:
    if density is None:
        return dict.fromkeys(METRICS, float("nan"))
    rows, columns = cells(xy, stimulus.shape)
    centre = stimulus.centre
    return {
        "nss": nss(density, rows, columns),
        "cc": cc(density, human_map),
        "auc_judd": auc_judd(density, rows, columns),
        "sauc": shuffled_auc(density, rows, columns, stimulus.elsewhere),
        "sim": sim(density, human_map),
        "kldiv": kldiv(density, human_map),
        "ig": float("nan") if centre is None else information_gain(density, centre, rows, columns),
    }


def _halves(stimulus: _Stimulus) -> dict[str, float]:
    """Half of the viewers as the system for the other half, mean of both ways; NaN with a single viewer."""
    names = sorted(stimulus.by_viewer)
    if len(names) < 2:
        return dict.fromkeys(METRICS, float("nan"))
    halves = [np.concatenate([stimulus.by_viewer[who] for who in names[first::2]]) for first in (0, 1)]
    maps = [_map_of(stimulus, half) for half in halves]
    ways = [_score(stimulus, maps[i], halves[1 - i], maps[1 - i]) for i in (0, 1)]
    return {metric: (ways[0][metric] + ways[1][metric]) / 2 for metric in METRICS}
