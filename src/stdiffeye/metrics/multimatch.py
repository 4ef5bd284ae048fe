"""MM: MultiMatch without grouping, five similarities of aligned saccades.

Saccades u_i of one path and v_j of the other are aligned along the cheapest monotone path on ‖u − v‖ (of equal ways
back the diagonal one, then the one that steps in the first path, then in the second). Along it, the medians of
* **MM_vector** ‖u − v‖ / (2 · diagonal), * **MM_direction** angle between them / π,
* **MM_length** |‖u‖ − ‖v‖| / diagonal, * **MM_position** distance of the saccades' starts / diagonal,
* **MM_duration** |s − t| / max(s, t) of the fixations at the starts (0 when both are 0);
similarity = 1 − each. The diagonal is that of the frame, 640 px. **MM** ↑ is the mean of the five, **MM4** of the first
four, for systems without durations.

Jarodzka, Holmqvist & Nyström 2010; Dewhurst et al. 2012. Undefined below 3 fixations. Ties may make it asymmetric.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from stdiffeye.metrics.pairs import Floats, Ints, Pairs, Stretch, over
from stdiffeye.metrics.paths import EVALUATION_FRAME, Paths

SHORTEST = 3
SORT_BY_INSERTION = 64  # longer lists are left to numpy
DIMENSIONS = ("vector", "direction", "length", "position", "duration")
_DIAGONAL, _UP, _LEFT = 0, 1, 2


class Saccades(NamedTuple):
    """Per fixation the saccade that leaves it (the last fixation's is unused)."""

    xy_px: Floats
    step_px: Floats
    length_px: Floats
    angle_rad: Floats
    duration_ms: Floats


def score(a: Paths, b: Paths, pairs: Pairs) -> Floats:
    """(pairs, 7) vector, direction, length, position, duration, mean of the five, mean of the first four."""
    one, other = saccades(a), saccades(b)

    def fill(stretch: Stretch, out: Floats) -> None:
        _many(one, other, stretch, EVALUATION_FRAME.diagonal_px, out)

    return over(pairs, a.first, b.first, len(DIMENSIONS) + 2, fill)


def saccades(paths: Paths) -> Saccades:
    """What MultiMatch needs of each path, once per path and not per pair."""

    def make() -> Saccades:
        step = np.diff(paths.xy_px, axis=0, append=0.0)
        return Saccades(paths.xy_px, step, np.hypot(*step.T), np.arctan2(step[:, 1], step[:, 0]), paths.duration_ms)

    return paths.derived("saccades", make)


@njit(cache=True, nogil=True, error_model="numpy")
def _many(one: Saccades, other: Saccades, stretch: Stretch, diagonal_px: float, out: Floats) -> None:
    first_a, first_b, a, b, start, stop = stretch
    for p in range(start, stop):
        i0, j0 = first_a[a[p]], first_b[b[p]]
        n, m = first_a[a[p] + 1] - i0 - 1, first_b[b[p] + 1] - j0 - 1
        if min(n, m) < SHORTEST - 1:
            out[p] = np.nan
            continue
        rows, columns = _path(one.step_px[i0 : i0 + n], other.step_px[j0 : j0 + m])
        _medians(one, other, rows + i0, columns + j0, diagonal_px, out[p])


@njit(cache=True, nogil=True, error_model="numpy")
def _path(u: Floats, v: Floats) -> tuple[Ints, Ints]:
    """The cheapest monotone alignment, last cell first."""
    n, m = len(u), len(v)
    way = np.empty((n, m), dtype=np.uint8)
    cost = np.full(m + 1, np.inf)
    cost[0] = 0.0
    for i in range(n):
        diagonal = cost[0]
        cost[0] = np.inf
        for j in range(m):
            dx, dy = u[i, 0] - v[j, 0], u[i, 1] - v[j, 1]
            best, step = diagonal, _DIAGONAL
            diagonal = cost[j + 1]
            if diagonal < best:
                best, step = diagonal, _UP
            if cost[j] < best:
                best, step = cost[j], _LEFT
            cost[j + 1] = best + np.sqrt(dx * dx + dy * dy)
            way[i, j] = step
    rows, columns = np.empty(n + m - 1, dtype=np.int64), np.empty(n + m - 1, dtype=np.int64)
    i, j, cells = n - 1, m - 1, 0
    while i >= 0 and j >= 0:
        rows[cells], columns[cells] = i, j
        cells += 1
        step = way[i, j]
        i -= step != _LEFT
        j -= step != _UP
    return rows[:cells], columns[:cells]


@njit(cache=True, nogil=True, error_model="numpy")
def _medians(one: Saccades, other: Saccades, rows: Ints, columns: Ints, diagonal_px: float, out: Floats) -> None:
    cells = len(rows)
    apart = np.empty((5, cells))
    for c in range(cells):
        i, j = rows[c], columns[c]
        dx, dy = one.step_px[i, 0] - other.step_px[j, 0], one.step_px[i, 1] - other.step_px[j, 1]
        apart[0, c] = np.sqrt(dx * dx + dy * dy)
        angle = abs(one.angle_rad[i] - other.angle_rad[j])
        apart[1, c] = 2 * np.pi - angle if angle > np.pi else angle
        apart[2, c] = abs(one.length_px[i] - other.length_px[j])
        dx, dy = one.xy_px[i, 0] - other.xy_px[j, 0], one.xy_px[i, 1] - other.xy_px[j, 1]
        apart[3, c] = np.sqrt(dx * dx + dy * dy)
        s, t = one.duration_ms[i], other.duration_ms[j]
        apart[4, c] = 0.0 if s == t else abs(s - t) / max(s, t)
    out[0] = 1 - _median(apart[0]) / (2 * diagonal_px)
    out[1] = 1 - _median(apart[1]) / np.pi
    out[2] = 1 - _median(apart[2]) / diagonal_px
    out[3] = 1 - _median(apart[3]) / diagonal_px
    out[4] = 1 - _median(apart[4])
    out[6] = (out[0] + out[1] + out[2] + out[3]) / 4
    out[5] = (4 * out[6] + out[4]) / 5


@njit(cache=True, nogil=True, error_model="numpy")
def _median(values: Floats) -> float:
    """Median in place; NaN if any value is. Insertion sort, the fastest on a dozen values."""
    n = len(values)
    if np.isnan(values.sum()):
        return np.nan
    if n > SORT_BY_INSERTION:
        return np.median(values)
    for c in range(n):
        value = values[c]
        k = c
        while k > 0 and values[k - 1] > value:
            values[k] = values[k - 1]
            k -= 1
        values[k] = value
    return (values[(n - 1) // 2] + values[n // 2]) / 2
