"""Compiled loops. Imported on first use only, because numba takes half a second to load."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from stdiffeye.arrays import Floats, Ints

UNREACHABLE = 1e30


@njit(cache=True, nogil=True)
def anchors(xy: Floats, positions: Floats) -> Ints:
    """Strictly rising sample numbers t_m with the least Σ ‖xy[t_m] − places[m]‖; (-1, …) where there is none.

    D[m, t] = dist(m, t) + min_{t' < t} D[m − 1, t']; `nearest[m, t]` is the earliest t' ≤ t with the least D[m, t'].
    """
    length, count = len(xy), len(positions)
    nearest = np.zeros((count, length), dtype=np.int32)
    px, py = xy[:, 0].copy(), xy[:, 1].copy()
    cost = np.empty(length)
    before = np.zeros(length)  # min_{t' < t} D[m − 1, t']
    for m in range(count):
        best, best_t = UNREACHABLE, m
        x, y = positions[m, 0], positions[m, 1]
        stop = length - count + 1 + m  # later samples are needed for later fixations
        for t in range(m, stop):  # apart from the scan below, so that it is vectorised
            dx, dy = px[t] - x, py[t] - y
            cost[t] = np.sqrt(dx * dx + dy * dy) + before[t]
        for t in range(m, stop):
            before[t] = best
            if cost[t] < best:  # never for a lost sample, whose cost is NaN
                best, best_t = cost[t], t
            nearest[m, t] = best_t
        if stop < length:
            before[stop] = best
        if best >= UNREACHABLE:
            return np.full(count, -1, dtype=np.int64)
    result = np.empty(count, dtype=np.int64)
    last = length - 1
    for m in range(count - 1, -1, -1):
        result[m] = nearest[m, last]
        last = result[m] - 1
    return result


@njit(cache=True, nogil=True)
def ramp(anchor: Ints, length: int) -> Floats:
    """ρ̃ of every sample: m at anchor m (counted from 1), linear between, 0 and M + 1 at the ends, over M + 1."""
    count = len(anchor)
    rho = np.empty(length)
    left_t, left_rho = 0, 0.0
    for m in range(count + 1):
        right_t = anchor[m] if m < count else length - 1
        right_rho = m + 1.0
        span = right_t - left_t
        for t in range(left_t, right_t):
            rho[t] = (left_rho + (t - left_t) / span * (right_rho - left_rho)) / (count + 1)
        left_t, left_rho = right_t, right_rho
    # An anchor on the last sample wins over the boundary.
    rho[length - 1] = (count if anchor[count - 1] == length - 1 else count + 1) / (count + 1)
    return rho


@njit(cache=True, nogil=True)
def two_nearest(xy: Floats, positions: Floats) -> Floats:
    """Mean of the numbers (from 1) of the two nearest places, weighted by inverse distance, over M + 1."""
    length, count = len(xy), len(positions)
    rho = np.empty(length)
    for t in range(length):
        near, nearer = UNREACHABLE, UNREACHABLE
        near_m, nearer_m = 0, 0
        for m in range(count):
            dx, dy = xy[t, 0] - positions[m, 0], xy[t, 1] - positions[m, 1]
            distance = np.sqrt(dx * dx + dy * dy)
            if distance < nearer:
                near, near_m = nearer, nearer_m
                nearer, nearer_m = distance, m + 1
            elif distance < near:
                near, near_m = distance, m + 1
        if nearer_m == 0:
            rho[t] = np.nan
        elif near_m == 0 or nearer == 0.0:
            rho[t] = nearer_m / (count + 1)
        else:
            rho[t] = (nearer_m * near + near_m * nearer) / (near + nearer) / (count + 1)
    return rho


@njit(cache=True, nogil=True)
def speed_change(xy: Floats, window: int, gap: int, factor: float) -> Floats:
    """a_k = factor · (path of the `window` samples after k + gap − path of the `window` samples up to k).

    Zero where the window ahead reaches beyond the data; the window behind is cut at the start.
    """
    length = len(xy)
    path = np.zeros(length)
    for k in range(1, length):
        path[k] = np.sqrt((xy[k, 0] - xy[k - 1, 0]) ** 2 + (xy[k, 1] - xy[k - 1, 1]) ** 2)
    change = np.zeros(length)
    for k in range(1, length - gap - window):
        ahead, behind = 0.0, 0.0
        for j in range(window):
            ahead += path[k + gap + 1 + j]
            if k - j >= 0:
                behind += path[k - j]
        change[k] = factor * (ahead - behind)
    return change


@njit(cache=True, nogil=True)
def judd_saccades(change: Floats, usable: int, critical: float, min_run: int, min_above: int, look_ahead: int) -> Ints:
    """(S, 2) first and last sample of each saccade: from a run of `change` > critical to the end of one < −critical.

    A run that ends the usable data (`usable` values, less lost ones at their end) counts without its counterpart.
    """
    length = len(change)
    found = np.empty((length, 2), dtype=np.int64)
    count, above = 0, 0
    for k in range(length):
        above += change[k] > critical
    while usable > 0 and np.isnan(change[usable - 1]):
        usable -= 1
    if above < min_above:
        return found[:0]
    k = 0
    while k < length:
        if not change[k] > critical:
            k += 1
            continue
        start = k
        while k < length and change[k] > critical:
            k += 1
        if k - start < min_run:
            continue
        end, j = -1, k
        while j < length and j < k + look_ahead:
            if change[j] < -critical:
                while j < length and change[j] < -critical:
                    j += 1
                end = j - 1
                break
            j += 1
        if end < 0 and k == usable:
            end = length - 1
        if end >= 0:
            found[count, 0], found[count, 1] = start, end
            count += 1
    return found[:count]


@njit(cache=True, nogil=True)
def dispersion_windows(xy: Floats, max_dispersion: float, min_samples: int) -> Ints:
    """(M, 2) [start, stop) of the greedy windows with (max x − min x) + (max y − min y) ≤ `max_dispersion`."""
    length = len(xy)
    found = np.empty((length // min_samples + 1, 2), dtype=np.int64)
    count, start = 0, 0
    while start + min_samples <= length:
        stop = start
        left = top = np.inf
        right = bottom = -np.inf
        while stop < length and not (np.isnan(xy[stop, 0]) or np.isnan(xy[stop, 1])):
            new_left, new_right = min(left, xy[stop, 0]), max(right, xy[stop, 0])
            new_top, new_bottom = min(top, xy[stop, 1]), max(bottom, xy[stop, 1])
            if new_right - new_left + new_bottom - new_top > max_dispersion:
                break
            left, right, top, bottom = new_left, new_right, new_top, new_bottom
            stop += 1
        if stop - start >= min_samples:
            found[count, 0], found[count, 1] = start, stop
            count += 1
            start = stop
        else:
            start += 1
    return found[:count]


@njit(cache=True, nogil=True)
def median_positions(xy: Floats, lost: NDArray[np.bool_], intervals: Ints) -> Floats:
    """(M, 2) median x and median y of the samples of each interval [start, stop) that are not lost."""
    positions = np.empty((len(intervals), 2))
    for m in range(len(intervals)):
        start, stop = intervals[m]
        seen = ~lost[start:stop]
        for axis in range(2):
            positions[m, axis] = np.median(xy[start:stop, axis][seen])
    return positions


@njit(cache=True, nogil=True)
def persistent(shock: Floats, keep: float) -> Floats:
    """v_t = keep · v_{t−1} + √(1 − keep²) · shock_t, of unit variance from the first sample on; (T, 2)."""
    value = shock.copy()
    fresh = np.sqrt(1 - keep * keep)
    for t in range(1, len(shock)):
        for axis in range(shock.shape[1]):
            value[t, axis] = keep * value[t - 1, axis] + fresh * shock[t, axis]
    return value
