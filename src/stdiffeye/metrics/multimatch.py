"""MM: MultiMatch without grouping, five similarities of aligned saccades.

Saccades u_i of one scanpath and v_j of the other are aligned along the cheapest monotone path on ‖u − v‖. Of equally
cheap steps back the diagonal one is taken, then the one in the first scanpath, then in the second. Each similarity is
1 − the median along the alignment of:

* **MM_vector** ‖u − v‖ / (2 · diagonal)
* **MM_direction** angle between u and v / π
* **MM_length** |‖u‖ − ‖v‖| / diagonal
* **MM_position** distance of the saccades' starts / diagonal
* **MM_duration** |s − t| / max(s, t) of the fixations at the starts, 0 when both are 0

The diagonal is that of the frame, 640 px. **MM** ↑ is the mean of the five, **MM4** of the first four, for systems
without durations.

Jarodzka, Holmqvist & Nyström 2010; Dewhurst et al. 2012. Undefined below 3 fixations. Ties may make it asymmetric.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.metrics.compiled import kernel
from stdiffeye.metrics.pairs import Pairs, Stretch, over
from stdiffeye.metrics.paths import EVALUATION_FRAME, PackedScanpaths

SHORTEST = 3
SORT_BY_TRANSPOSITION = 64  # longer lists are sorted by Shell's method, lane by lane
LANES = 8  # the five dimensions, filled up to two vector registers
DIMENSIONS = ("vector", "direction", "length", "position", "duration")


class Saccades(NamedTuple):
    """Per fixation the saccade that leaves it; the last fixation's is unused.

    Attributes
    ----------
    xy_px, step_px : ndarray, (N, 2)
        Position of the fixation, and vector to the next.
    length_px, angle_rad : ndarray, (N,)
        Of the vector.
    duration_ms : ndarray, (N,)
        Of the fixation, NaN where unknown.
    """

    xy_px: Floats
    step_px: Floats
    length_px: Floats
    angle_rad: Floats
    duration_ms: Floats


def score(a: PackedScanpaths, b: PackedScanpaths, pairs: Pairs) -> Floats:
    """Compute MultiMatch of pairs of scanpaths.

    Parameters
    ----------
    a, b : PackedScanpaths
        Human and generated scanpaths.
    pairs : Pairs
        Which scanpath of `a` is compared with which of `b`.

    Returns
    -------
    ndarray, (pairs, 7)
        Vector, direction, length, position, duration, the mean of the five and the mean of the first four. NaN below
        three fixations; duration and the mean of the five also without durations.
    """
    one, other = saccades(a), saccades(b)

    def fill(stretch: Stretch, out: Floats) -> None:
        _many(one, other, stretch, EVALUATION_FRAME.diagonal_px, out)

    return over(pairs, a.first, b.first, len(DIMENSIONS) + 2, fill)


def saccades(paths: PackedScanpaths) -> Saccades:
    """Return the saccades of packed scanpaths, computed once per scanpath and not per pair.

    Parameters
    ----------
    paths : PackedScanpaths
        Packed scanpaths.

    Returns
    -------
    Saccades
        Vectors, lengths and angles of all saccades.
    """

    def make() -> Saccades:
        step = np.diff(paths.xy_px, axis=0, append=0.0)
        return Saccades(paths.xy_px, step, np.hypot(*step.T), np.arctan2(step[:, 1], step[:, 0]), paths.duration_ms)

    return paths.derived("saccades", make)


@kernel(error_model="numpy")
def _many(one: Saccades, other: Saccades, stretch: Stretch, diagonal_px: float, out: Floats) -> None:
    first_a, first_b, a, b, start, stop = stretch
    longest_a = longest_b = SHORTEST
    for p in range(start, stop):
        longest_a = max(longest_a, first_a[a[p] + 1] - first_a[a[p]])
        longest_b = max(longest_b, first_b[b[p] + 1] - first_b[b[p]])
    cost = np.empty((longest_a, longest_b))
    apart = np.zeros((longest_a + longest_b, LANES))
    for p in range(start, stop):
        i, j = first_a[a[p]], first_b[b[p]]
        n, m = first_a[a[p] + 1] - i - 1, first_b[b[p] + 1] - j - 1
        if min(n, m) < SHORTEST - 1:
            out[p] = np.nan
            continue
        _fill_costs(one.step_px, other.step_px, i, j, n, m, cost)
        cells = _walk_back(one, other, i, j, n, m, cost, apart)
        _similarities(apart, cells, diagonal_px, out, p)


@kernel(error_model="numpy")
def _fill_costs(u: Floats, v: Floats, i0: int, j0: int, n: int, m: int, cost: Floats) -> None:
    """cost[i + 1, j + 1] of the cheapest monotone alignment up to saccades i and j, with a border of infinities."""
    for j in range(m + 1):
        cost[0, j] = np.inf
    cost[0, 0] = 0.0
    for i in range(n):
        x, y = u[i0 + i, 0], u[i0 + i, 1]
        left = np.inf
        cost[i + 1, 0] = left
        for j in range(m):
            dx, dy = x - v[j0 + j, 0], y - v[j0 + j, 1]
            diagonal, up = cost[i, j], cost[i, j + 1]
            best = diagonal if diagonal < up else up
            best = best if best < left else left
            left = best + np.sqrt(dx * dx + dy * dy)
            cost[i + 1, j + 1] = left


@kernel(error_model="numpy")
def _walk_back(one: Saccades, other: Saccades, i0: int, j0: int, n: int, m: int, cost: Floats, apart: Floats) -> int:
    """From the last cell back to the first, writing the differences of the aligned saccades to `apart`."""
    i, j, cells = n, m, 0
    while i > 0 and j > 0:
        _compare(one, other, i0 + i - 1, j0 + j - 1, apart, cells)
        cells += 1
        diagonal, up, left = cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1]
        if diagonal <= up and diagonal <= left:
            i -= 1
            j -= 1
        elif up <= left:
            i -= 1
        else:
            j -= 1
    return cells


@kernel(error_model="numpy")
def _compare(one: Saccades, other: Saccades, i: int, j: int, apart: Floats, cell: int) -> None:
    dx, dy = one.step_px[i, 0] - other.step_px[j, 0], one.step_px[i, 1] - other.step_px[j, 1]
    apart[cell, 0] = np.sqrt(dx * dx + dy * dy)
    angle = abs(one.angle_rad[i] - other.angle_rad[j])
    apart[cell, 1] = 2 * np.pi - angle if angle > np.pi else angle
    apart[cell, 2] = abs(one.length_px[i] - other.length_px[j])
    dx, dy = one.xy_px[i, 0] - other.xy_px[j, 0], one.xy_px[i, 1] - other.xy_px[j, 1]
    apart[cell, 3] = np.sqrt(dx * dx + dy * dy)
    s, t = one.duration_ms[i], other.duration_ms[j]
    apart[cell, 4] = 0.0 if s == t else abs(s - t) / max(s, t)


@kernel(error_model="numpy")
def _similarities(apart: Floats, cells: int, diagonal_px: float, out: Floats, p: int) -> None:
    _sort_lanes(apart, cells)
    low, high = (cells - 1) // 2, cells // 2
    vector = 1 - (apart[low, 0] + apart[high, 0]) / 2 / (2 * diagonal_px)
    direction = 1 - (apart[low, 1] + apart[high, 1]) / 2 / np.pi
    length = 1 - (apart[low, 2] + apart[high, 2]) / 2 / diagonal_px
    position = 1 - (apart[low, 3] + apart[high, 3]) / 2 / diagonal_px
    duration = 1 - (apart[low, 4] + apart[high, 4]) / 2
    out[p, 0], out[p, 1], out[p, 2], out[p, 3], out[p, 4] = vector, direction, length, position, duration
    out[p, 5] = (vector + direction + length + position + duration) / 5
    out[p, 6] = (vector + direction + length + position) / 4


def sort_by_numpy(apart: Floats, cells: int) -> None:
    """What `_sort_lanes` does, without compilation.

    Parameters
    ----------
    apart : array, shape (n, lanes)
        Sorted in place, each lane for itself.
    cells : int
        Number of rows that count.
    """
    apart[:cells].sort(axis=0)


@kernel(sort_by_numpy, error_model="numpy")
def _sort_lanes(apart: Floats, cells: int) -> None:
    """Sort the five columns at once by odd-even transposition: no branch depends on a value, so it vectorises.

    A column of NaN (unknown durations are unknown throughout a path) stays a column of NaN.
    """
    if cells > SORT_BY_TRANSPOSITION:
        gap = cells // 2
        while gap > 0:
            for c in range(gap, cells):
                for lane in range(LANES):
                    value, at = apart[c, lane], c
                    while at >= gap and apart[at - gap, lane] > value:
                        apart[at, lane] = apart[at - gap, lane]
                        at -= gap
                    apart[at, lane] = value
            gap //= 2
        return
    for turn in range(cells):
        for c in range(turn % 2, cells - 1, 2):
            for lane in range(LANES):
                above, below = apart[c, lane], apart[c + 1, lane]
                apart[c, lane] = below if below < above else above
                apart[c + 1, lane] = above if below < above else below
