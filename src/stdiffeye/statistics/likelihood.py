"""How likely a model finds each next fixation of people, given the picture and the fixations so far.

Source: information gain as in Kümmerer, Wallis, Bethge (PNAS 2015); per fixation given the history as in Kümmerer,
Bethge, Wallis, DeepGaze III (Journal of Vision 22(5), 2022).

Conventions
-----------
* A model gives the log-probability of every cell of a grid whose longer side has 128 cells; the cells sum to 1.
* Every fixation inside the frame is scored, the first one included, given the true fixations before it.
* Scores are averaged over the fixations of a stimulus, then over stimuli. Intervals: 95 %, bootstrap over stimuli.
* Row `centre bias`: fixations of all other stimuli of the set, smoothed. Row `gold standard`: fixations of all other
  viewers of the stimulus, smoothed, mixed with the centre bias; it does not know the order of fixations, so that a
  model may exceed it. Bandwidths and mixture are those of the highest likelihood of these very fixations.

Scores
------
* `ll` log2 p of the fixated cell − log2 of a uniform density, in bits per fixation.
* `ig` ll − ll of the centre bias: the information gain.
* `nss` (p − mean p) / std p at the fixated cell.
* `auc` share of the other cells with a lower density than the fixated one; equal ones count half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trial
from stdiffeye.gaze.types import by_stimulus
from stdiffeye.progress import track
from stdiffeye.statistics.saliency import SIGMA_DEG, cells, fixation_map, grid_of

Shape = tuple[int, int]
Key = tuple[str, str]
LogDensities = Callable[[Trial, Sequence[Scanpath | None], Shape], Floats]
"""A model: a trial of the stimulus, histories and a grid → (histories, rows, columns) log-probabilities."""

METRICS = ("ll", "ig", "nss", "auc")
TITLES = {
    "ll": "log-likelihood (bits)",
    "ig": "information gain (bits)",
    "nss": "NSS",
    "auc": "AUC",
}
CENTRE, GOLD = "centre bias", "gold standard"
LONGER_SIDE = 128  # cells
CENTRE_DEG = (1.0, 1.5, 2.0, 3.0, 4.0)
GOLD_DEG = (0.5, 0.75, 1.0, 1.5, 2.0)
GOLD_SHARES = (0.5, 0.7, 0.8, 0.9, 0.95)
EVEN = 0.01  # share of a uniform density in both references
LEVELS = (2.5, 97.5)


@dataclass(frozen=True)
class LikelihoodSettings:
    """What is scored."""

    max_fixations: int = 16
    """Of each scanpath."""
    viewers: int | None = None
    """Viewers of each stimulus that are scored, evenly chosen; all by default."""
    replicates: int = 1000
    """Of the bootstrap."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("max_fixations", "viewers", "replicates"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be 1 or more, got {value}")


@dataclass(frozen=True, eq=False)
class Score:
    """One number with its interval, and the value of every stimulus."""

    value: float
    low: float
    high: float
    per_stimulus: Floats

    @classmethod
    def of(cls, values: Floats, settings: LikelihoodSettings) -> Score:
        """The mean of one value per stimulus; the same seed resamples the same stimuli."""
        rng = np.random.default_rng(settings.seed)
        weights = rng.multinomial(len(values), np.full(len(values), 1 / len(values)), size=settings.replicates)
        low, high = np.percentile(weights @ values / len(values), LEVELS)
        return cls(float(values.mean()), float(low), float(high), values)


@dataclass(frozen=True, eq=False)
class LikelihoodTable:
    """System → score → number with its interval."""

    rows: dict[str, dict[str, Score]]
    stimuli: list[Key]
    viewers: float
    """Scored viewers per stimulus, on average."""
    fixations: int
    """Scored in all."""
    references: dict[str, Any] = field(default_factory=dict)
    """Bandwidths and mixture of the reference rows."""

    def __getitem__(self, name: str) -> dict[str, Score]:
        return self.rows[name]

    def to_dict(self, per_stimulus: bool = False) -> dict[str, Any]:
        """Plain values as in results.json."""
        return {
            "systems": {
                name: {metric: self._plain(score, per_stimulus) for metric, score in scores.items()}
                for name, scores in self.rows.items()
            },
            "stimuli": len(self.stimuli),
            "viewers": self.viewers,
            "fixations": self.fixations,
            "references": self.references,
        }

    def _plain(self, score: Score, per_stimulus: bool) -> dict[str, Any]:
        row: dict[str, Any] = {"value": score.value, "low": score.low, "high": score.high}
        if per_stimulus:
            pairs = zip(self.stimuli, score.per_stimulus.tolist(), strict=True)
            row["per_stimulus"] = {f"{name}|{task}": value for (name, task), value in pairs}
        return row

    def to_markdown(self) -> str:
        """A table of all scores with their 95 % intervals."""
        head = ["next fixation", *(TITLES[metric] for metric in METRICS)]
        lines = [head, ["---"] * len(head)]
        for name, scores in self.rows.items():
            lines.append([name, *(_cell(scores[metric], 2 + (metric == "auc")) for metric in METRICS)])
        counts = f"{len(self.stimuli)} stimuli, {self.viewers:.1f} viewers of each, {self.fixations:,} fixations."
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{counts}"

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


@dataclass(frozen=True, eq=False)
class _Fixations:
    """The scored fixations of one stimulus, and what people did there."""

    trials: list[Trial]  # those that are scored
    steps: list[list[int]]  # of each, which of its fixations
    shape: Shape
    sigma_cells: float  # of one degree
    at: NDArray[np.int64]  # (n,) fixated cell, row by row
    who: NDArray[np.int64]  # (n,) number of the viewer in `by_viewer`
    by_viewer: list[Floats]  # everybody's (m, 2) positions in [0, 1)

    @property
    def everything(self) -> Floats:
        return np.concatenate(self.by_viewer)


def likelihood(
    human: Sequence[Trial],
    models: Mapping[str, LogDensities],
    settings: LikelihoodSettings | None = None,
    quiet: bool = True,
) -> LikelihoodTable:
    """Score models by the likelihood of each next fixation of people.

    Parameters
    ----------
    human : sequence of Trial
        Recorded gaze with scanpaths, of two stimuli or more.
    models : dict of str to LogDensities
        What gives a model's log-densities.
    settings : LikelihoodSettings, optional
        What is scored.
    quiet : bool
        Show no progress.

    Returns
    -------
    LikelihoodTable
        The models, then the rows `gold standard` (where stimuli have two viewers or more) and `centre bias`.

    Raises
    ------
    InputError
        Where there are fewer than two stimuli, no fixation lies inside its frame, or a density does not sum to 1.
    """
    settings = settings or LikelihoodSettings()
    stimuli = {key: _fixations(trials, settings) for key, trials in by_stimulus(human).items()}
    stimuli = {key: one for key, one in stimuli.items() if len(one.at)}
    if len(stimuli) < 2:
        raise InputError("the information gain needs fixations on two stimuli or more, for the centre bias")
    taken = [name for name in models if name in (CENTRE, GOLD)]
    if taken:
        raise InputError(f"a system cannot be called {taken[0]!r}: that is the name of a reference row")
    fixations = list(stimuli.values())
    centre_deg, centre = _centre_bias(fixations)
    per_stimulus: dict[str, list[Floats]] = {}
    for name, model in models.items():
        shown = track(fixations, f"likelihood of {name}", quiet=quiet)
        per_stimulus[name] = [_scores(_log_densities(one, model, name), one.at) for one in shown]
    references: dict[str, Any] = {"centre_bias_deg": centre_deg}
    if all(len(one.by_viewer) > 1 for one in fixations):
        (gold_deg, share), gold = _gold_standard(fixations, centre)
        references |= {"gold_standard_deg": gold_deg, "gold_standard_share": share}
        per_stimulus[GOLD] = [_scores(log_p, one.at) for log_p, one in zip(gold, fixations, strict=True)]
    per_stimulus[CENTRE] = [
        _scores(np.tile(np.log(bias), (len(one.at), 1)), one.at) for bias, one in zip(centre, fixations, strict=True)
    ]
    rows = {name: _row(values, per_stimulus[CENTRE], settings) for name, values in per_stimulus.items()}
    viewers = float(np.mean([len(one.trials) for one in fixations]))
    return LikelihoodTable(rows, list(stimuli), viewers, sum(len(one.at) for one in fixations), references)


def _fixations(trials: Sequence[Trial], settings: LikelihoodSettings) -> _Fixations:
    frame = trials[0].frame
    shape, sigma = grid_of(frame, LONGER_SIDE)
    viewers = list(dict.fromkeys(trial.subject for trial in trials))
    positions: list[list[Floats]] = [[] for _ in viewers]
    for trial in trials:
        if trial.scanpath is None:
            raise InputError(f"trial {trial.name!r} of {trial.subject!r} has no scanpath: extract fixations first")
        xy_px = trial.scanpath.xy_px[: settings.max_fixations]
        positions[viewers.index(trial.subject)].append(trial.frame.normalise(xy_px[trial.frame.contains(xy_px)]))
    count = len(trials) if settings.viewers is None else min(settings.viewers, len(trials))
    chosen = [trials[i] for i in np.linspace(0, len(trials) - 1, count).round().astype(int)]
    steps, at, who = [], [], []
    for trial in chosen:
        assert trial.scanpath is not None
        xy_px = trial.scanpath.xy_px[: settings.max_fixations]
        inside = trial.frame.contains(xy_px)
        steps.append(np.flatnonzero(inside).tolist())
        rows, columns = cells(trial.frame.normalise(xy_px[inside]), shape)
        at.append(rows * shape[1] + columns)
        who += [viewers.index(trial.subject)] * int(inside.sum())
    by_viewer = [np.concatenate(some) for some in positions]
    return _Fixations(
        chosen, steps, shape, sigma / SIGMA_DEG, np.concatenate(at), np.array(who, dtype=np.int64), by_viewer
    )


def _log_densities(one: _Fixations, model: LogDensities, name: str) -> Floats:
    """(n, cells) of every scored fixation; what precedes the first one is the same for all viewers."""
    first: Floats | None = None
    found = []
    for trial, steps in zip(one.trials, one.steps, strict=True):
        path = trial.scanpath
        assert path is not None
        if 0 in steps and first is None:
            first = _checked(model(trial, [None], one.shape), one.shape, name)
        later = [path[:step] for step in steps if step]
        densities = [] if not later else [_checked(model(trial, later, one.shape), one.shape, name)]
        found += [first, *densities] if 0 in steps and first is not None else densities
    return np.concatenate(found)


def _checked(log_densities: Floats, shape: Shape, name: str) -> Floats:
    if log_densities.shape[1:] != shape:
        raise InputError(f"{name}: expected densities of {shape[0]}×{shape[1]} cells, got {log_densities.shape[1:]}")
    sums = np.exp(log_densities).sum((1, 2))
    if not np.allclose(sums, 1, atol=1e-3):
        raise InputError(f"{name}: a density must sum to 1, got {sums[np.abs(sums - 1).argmax()]:.4g}")
    return log_densities.reshape(len(log_densities), -1)


def _scores(log_p: Floats, at: NDArray[np.int64]) -> Floats:
    """(n, 3) ll, nss and auc of the fixated cells, of log-probabilities (n, cells)."""
    count, number = log_p.shape[1], np.arange(len(at))
    ll = log_p[number, at] / np.log(2) + np.log2(count)
    p = np.exp(log_p)
    here, std = p[number, at], p.std(axis=1)
    nss = np.divide(here - p.mean(axis=1), std, out=np.zeros_like(std), where=std > 1e-12 / count)
    lower, same = (p < here[:, None]).sum(axis=1), (p == here[:, None]).sum(axis=1) - 1
    return np.column_stack([ll, nss, (lower + same / 2) / (count - 1)])


def _row(values: Sequence[Floats], centre: Sequence[Floats], settings: LikelihoodSettings) -> dict[str, Score]:
    means = np.array([one.mean(axis=0) for one in values])  # (stimuli, 3)
    gain = means[:, 0] - np.array([one[:, 0].mean() for one in centre])
    columns = {"ll": means[:, 0], "ig": gain, "nss": means[:, 1], "auc": means[:, 2]}
    return {metric: Score.of(columns[metric], settings) for metric in METRICS}


def _centre_bias(fixations: Sequence[_Fixations]) -> tuple[float, list[Floats]]:
    """The best bandwidth in degrees, and the density (cells,) of fixations on all other stimuli."""
    positions = [one.everything for one in fixations]
    everything = np.concatenate(positions)

    def maps(deg: float) -> list[Floats]:
        totals: dict[tuple[Shape, float], Floats] = {}
        found = []
        for one, own in zip(fixations, positions, strict=True):
            kind = one.shape, one.sigma_cells
            if kind not in totals:
                totals[kind] = len(everything) * fixation_map(everything, one.shape, deg * one.sigma_cells)
            others = totals[kind] - len(own) * fixation_map(own, one.shape, deg * one.sigma_cells)
            found.append(_even(others.clip(min=0).ravel()))
        return found

    candidates = {deg: maps(deg) for deg in CENTRE_DEG}
    best = max(candidates, key=lambda deg: _mean_log(candidates[deg], fixations))
    return best, candidates[best]


def _gold_standard(
    fixations: Sequence[_Fixations], centre: Sequence[Floats]
) -> tuple[tuple[float, float], list[Floats]]:
    """The best bandwidth in degrees and share, and (n, cells) log-densities of the fixations of other viewers."""

    def of_others(one: _Fixations, deg: float) -> dict[int, Floats]:
        """Viewer → density (cells,) of everybody else."""
        sigma, everything = deg * one.sigma_cells, one.everything
        total = len(everything) * fixation_map(everything, one.shape, sigma)
        found = {}
        for who in np.unique(one.who).tolist():
            own = one.by_viewer[who]
            found[who] = _even((total - len(own) * fixation_map(own, one.shape, sigma)).clip(min=0).ravel())
        return found

    best, chosen = (-np.inf, (GOLD_DEG[0], GOLD_SHARES[0])), [of_others(one, GOLD_DEG[0]) for one in fixations]
    for deg in GOLD_DEG:
        maps = [of_others(one, deg) for one in fixations]
        pairs = [
            (np.array([others[who][cell] for who, cell in zip(one.who.tolist(), one.at, strict=True)]), bias[one.at])
            for one, others, bias in zip(fixations, maps, centre, strict=True)
        ]
        for share in GOLD_SHARES:
            score = float(np.mean([np.log(share * here + (1 - share) * bias).mean() for here, bias in pairs]))
            if score > best[0]:
                best, chosen = (score, (deg, share)), maps
    share = best[1][1]
    logs = [
        np.log(share * np.array([others[who] for who in one.who.tolist()]) + (1 - share) * bias)
        for one, others, bias in zip(fixations, chosen, centre, strict=True)
    ]
    return best[1], logs


def _even(counts: Floats) -> Floats:
    """A density with a little of a uniform one, so that no cell is impossible; uniform where nothing was counted."""
    total = counts.sum()
    share = 1.0 if total <= 0 else EVEN
    return (1 - share) * counts / max(total, 1e-300) + share / counts.size


def _mean_log(maps: Sequence[Floats], fixations: Sequence[_Fixations]) -> float:
    return float(np.mean([np.log(density[one.at]).mean() for density, one in zip(maps, fixations, strict=True)]))


def _cell(score: Score, digits: int) -> str:
    return f"{score.value:z.{digits}f} ({score.low:z.{digits}f} to {score.high:z.{digits}f})"
