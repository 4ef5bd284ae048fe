"""The letters of Sequence Score: where on a stimulus the human fixations gather.

Per stimulus: pool the human fixations; bandwidth₀ = mean distance to the 30 %-th neighbour; mean shift with the flat
kernel at bandwidth₀ × (.2, .5, .8, 1, 1.2, 1.5, 1.8); keep the clustering with the largest
(transitions between clusters − transitions within) / number of clusters, of equals the first.

Comaniciu & Meer 2002; Yang et al. 2020. The numbers are those of scikit-learn's `estimate_bandwidth` and `MeanShift`,
which the tests compare with; compiled here because it runs seven times for each stimulus. Saved as plain JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from stdiffeye.errors import InputError
from stdiffeye.files import read_json, write_json
from stdiffeye.metrics.pairs import Floats, Ints
from stdiffeye.metrics.paths import Paths
from stdiffeye.metrics.symbols import nearest_centre
from stdiffeye.processes import threads_available

QUANTILE = 0.3
FACTORS = (0.2, 0.5, 0.8, 1.0, 1.2, 1.5, 1.8)
MOST_STEPS = 300
STANDS_STILL = 1e-3  # of the bandwidth: a seed that moves less has arrived

Key = tuple[str, str]


def cluster(paths: Paths, stimuli: int) -> list[Floats]:
    """Per stimulus the (C, 2) cluster centres of its human fixations, px of the evaluation frame."""
    members: list[list[int]] = [[] for _ in range(stimuli)]
    for path, stimulus in enumerate(paths.stimulus.tolist()):
        members[stimulus].append(path)

    def one(which: list[int]) -> Floats:
        part = paths.taken(np.array(which, dtype=np.int64))
        return best_centres(part.xy_px, part.first)

    with ThreadPoolExecutor(threads_available()) as pool:
        return list(pool.map(one, members))


def best_centres(xy_px: Floats, first: Ints) -> Floats:
    """(C, 2) centres of one stimulus; `first` says where its scanpaths begin."""
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


@njit(cache=True, nogil=True)
def neighbour_distance(xy_px: Floats, rank: int) -> float:
    """Mean over the points of the distance to the `rank`-th nearest point, the point itself being the first."""
    n = len(xy_px)
    total = 0.0
    distance = np.empty(n)
    for i in range(n):
        for j in range(n):
            dx, dy = xy_px[i, 0] - xy_px[j, 0], xy_px[i, 1] - xy_px[j, 1]
            distance[j] = dx * dx + dy * dy
        total += np.sqrt(np.partition(distance, rank - 1)[rank - 1])
    return total / n


def mean_shift(xy_px: Floats, bandwidth_px: float) -> Floats:
    """(C, 2) where seeds at every point come to rest, the most populated first, none nearer than the bandwidth."""
    arrived, population = _climb(xy_px, bandwidth_px)
    order = np.lexsort((arrived[:, 1], arrived[:, 0], population))[::-1]
    return _thin(arrived[order], bandwidth_px)


@njit(cache=True, nogil=True)
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
            if moved <= STANDS_STILL * bandwidth_px:
                break
        arrived[seed, 0], arrived[seed, 1] = x, y
    return arrived, population


@njit(cache=True, nogil=True)
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
    """Clusters as JSON: a list of {"name", "task", "centres"}, px of the 512×384 frame."""
    rows = zip(keys, centres_px, strict=True)
    write_json(path, [{"name": name, "task": task, "centres": centres.tolist()} for (name, task), centres in rows])


def read_clusters(path: str | Path, keys: Sequence[Key]) -> list[Floats]:
    """The clusters of these stimuli; each must be in the file."""
    content = read_json(path)
    if not isinstance(content, list):
        raise InputError(f"{path} holds {type(content).__name__}, not a list of {{name, task, centres}}")
    known = {(str(row["name"]), str(row.get("task", ""))): _centres(row, path) for row in content}
    missing = [key for key in keys if key not in known]
    if missing:
        raise InputError(
            f"{path} has no clusters for {len(missing)} of {len(keys)} stimuli, the first being {missing[0]}; "
            "leave --clusters out to compute them from the human fixations"
        )
    return [known[key] for key in keys]


def _centres(row: dict[str, Any], path: str | Path) -> Floats:
    centres = np.asarray(row.get("centres"), dtype=np.float64)
    if centres.ndim != 2 or centres.shape[1] != 2 or not np.isfinite(centres).all():
        raise InputError(f"{path}: the centres of {row.get('name')!r} are not a list of [x, y]")
    return centres
