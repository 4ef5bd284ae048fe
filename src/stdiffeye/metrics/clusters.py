"""Clusters of human fixations on a stimulus: the letters of Sequence Score.

For each stimulus:

1. Pool the human fixations; bandwidth₀ is the mean distance to the neighbour at the 30 % quantile.
2. Run mean shift with the flat kernel at bandwidth₀ × (0.2, 0.5, 0.8, 1, 1.2, 1.5, 1.8).
3. Keep the clustering with the largest (transitions between clusters − transitions within) / number of clusters; of
   equals the first.

Comaniciu & Meer 2002; Yang et al. 2020. The numbers are those of scikit-learn's `estimate_bandwidth` and `MeanShift`,
which the tests compare with. Compiled here because it runs seven times for each stimulus. Saved as plain JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.arrays import Floats, Ints
from stdiffeye.border import reading
from stdiffeye.errors import InputError
from stdiffeye.files import read_json, write_json
from stdiffeye.metrics.compiled import kernel
from stdiffeye.metrics.paths import PackedScanpaths
from stdiffeye.metrics.symbols import nearest_centre
from stdiffeye.processes import threads_available

QUANTILE = 0.3
FACTORS = (0.2, 0.5, 0.8, 1.0, 1.2, 1.5, 1.8)
MOST_STEPS = 300
TOLERANCE = 1e-3  # of the bandwidth: a seed that moves less has converged

Key = tuple[str, str]


def cluster(paths: PackedScanpaths, stimuli: int) -> list[Floats]:
    """Cluster the fixations of each stimulus, in parallel over threads.

    Parameters
    ----------
    paths : PackedScanpaths
        Human scanpaths.
    stimuli : int
        Number of stimuli.

    Returns
    -------
    list of ndarray, (C, 2)
        Per stimulus the cluster centres, px of the 512×384 frame.
    """
    members: list[list[int]] = [[] for _ in range(stimuli)]
    for path, stimulus in enumerate(paths.stimulus.tolist()):
        members[stimulus].append(path)

    def one(which: list[int]) -> Floats:
        own = paths.subset(np.array(which, dtype=np.int64))
        return best_centres(own.xy_px, own.first)

    with ThreadPoolExecutor(threads_available()) as pool:
        return list(pool.map(one, members))


def best_centres(xy_px: Floats, first: Ints) -> Floats:
    """Cluster the fixations of one stimulus at the best bandwidth.

    Parameters
    ----------
    xy_px : ndarray, (N, 2)
        Fixations of all scanpaths, one after another.
    first : ndarray of int, (P + 1,)
        Where each scanpath begins.

    Returns
    -------
    ndarray, (C, 2)
        Cluster centres, the most populated first.
    """
    bandwidth_px = neighbour_distance(xy_px, max(1, int(len(xy_px) * QUANTILE)))
    same_path = np.ones(max(0, len(xy_px) - 1), dtype=bool)
    same_path[first[1:-1] - 1] = False
    best, best_score = None, -np.inf
    for factor in FACTORS:
        centres = mean_shift(xy_px, factor * bandwidth_px)
        letters = nearest_centre(xy_px, centres)
        changes = (np.diff(letters) != 0)[same_path]
        score = float(2 * changes.sum() - len(changes)) / len(centres)
        if score > best_score:
            best, best_score = centres, score
    assert best is not None
    return best


def neighbour_distance(xy_px: Floats, rank: int) -> float:
    """Return the mean distance of the points to their `rank`-th nearest point.

    Parameters
    ----------
    xy_px : array, shape (N, 2)
        The points.
    rank : int
        1 is the point itself.

    Returns
    -------
    float
        Distance in px.
    """
    dx, dy = (np.subtract.outer(xy_px[:, axis], xy_px[:, axis]) for axis in (0, 1))
    nearest = np.partition(dx * dx + dy * dy, rank - 1, axis=1)[:, rank - 1]
    return float(np.cumsum(np.sqrt(nearest))[-1]) / len(xy_px)  # summed in order, as the references do


def mean_shift(xy_px: Floats, bandwidth_px: float) -> Floats:
    """Find the modes of a set of points by mean shift with the flat kernel, from seeds at every point.

    Parameters
    ----------
    xy_px : ndarray, (N, 2)
        Points.
    bandwidth_px : float
        Radius of the kernel; no two modes are nearer.

    Returns
    -------
    ndarray, (C, 2)
        Modes, the most populated first.

    Examples
    --------
    >>> mean_shift(np.array([[10.0, 10], [300, 200], [12, 10], [302, 200], [301, 200]]), 20.0)
    array([[301., 200.],
           [ 11.,  10.]])
    """
    arrived, population = _climb(xy_px, bandwidth_px)
    order = np.lexsort((arrived[:, 1], arrived[:, 0], population))[::-1]
    return _thin(arrived[order], bandwidth_px)


@kernel()
def _climb(xy_px: Floats, bandwidth_px: float) -> tuple[Floats, Ints]:
    n = len(xy_px)
    arrived = xy_px.copy()
    population = np.ones(n, dtype=np.int64)
    for seed in range(n):
        x, y = xy_px[seed]
        for _ in range(MOST_STEPS + 1):
            near, sum_x, sum_y = 0, 0.0, 0.0
            for j in range(n):
                dx, dy = xy_px[j, 0] - x, xy_px[j, 1] - y
                if dx * dx + dy * dy <= bandwidth_px * bandwidth_px:
                    near += 1
                    sum_x += xy_px[j, 0]
                    sum_y += xy_px[j, 1]
            if near == 0:
                break
            moved = np.hypot(sum_x / near - x, sum_y / near - y)
            x, y = sum_x / near, sum_y / near
            population[seed] = near
            if moved <= TOLERANCE * bandwidth_px:
                break
        arrived[seed, 0], arrived[seed, 1] = x, y
    return arrived, population


@kernel()
def _thin(centres: Floats, bandwidth_px: float) -> Floats:
    keep = np.ones(len(centres), dtype=np.bool_)
    for i in range(len(centres)):
        if keep[i]:
            for j in range(i + 1, len(centres)):
                dx, dy = centres[i, 0] - centres[j, 0], centres[i, 1] - centres[j, 1]
                if dx * dx + dy * dy <= bandwidth_px * bandwidth_px:
                    keep[j] = False
    return centres[keep]


def write_clusters(path: str | Path, keys: Sequence[Key], centres_px: Sequence[Floats]) -> None:
    """Write cluster centres as JSON: a list of {"name", "task", "centres"}.

    Parameters
    ----------
    path : path
        File to write.
    keys : sequence of (str, str)
        (name, task) of the stimuli.
    centres_px : sequence of ndarray, (C, 2)
        Their cluster centres, px of the 512×384 frame.
    """
    rows = zip(keys, centres_px, strict=True)
    write_json(path, [{"name": name, "task": task, "centres": centres.tolist()} for (name, task), centres in rows])


def read_clusters(path: str | Path, keys: Sequence[Key]) -> list[Floats]:
    """Read cluster centres that `write_clusters` wrote.

    Parameters
    ----------
    path : path
        File to read.
    keys : sequence of (str, str)
        (name, task) of the stimuli that are wanted.

    Returns
    -------
    list of ndarray, (C, 2)
        Their cluster centres, px of the 512×384 frame.

    Raises
    ------
    InputError
        When the file is malformed or lacks a stimulus.
    """
    content = read_json(path)
    if not isinstance(content, list):
        raise InputError(f"{path} holds {type(content).__name__}, not a list of {{name, task, centres}}")
    with reading(path):
        found = {(str(row["name"]), str(row.get("task", ""))): _centres(row, path) for row in content}
    missing = [key for key in keys if key not in found]
    if missing:
        raise InputError(
            f"{path} has no clusters for {len(missing)} of {len(keys)} stimuli, the first being {missing[0]}; "
            "leave --clusters out to compute them from the human fixations"
        )
    return [found[key] for key in keys]


def _centres(row: dict[str, Any], path: str | Path) -> Floats:
    centres = np.asarray(row.get("centres"), dtype=np.float64)
    if centres.ndim != 2 or centres.shape[1] != 2 or not np.isfinite(centres).all():
        raise InputError(f"{path}: the centres of {row.get('name')!r} are not a list of [x, y]")
    return centres
