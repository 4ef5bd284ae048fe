"""The dynamic programmes under the metrics, compiled; one kernel per idea.

Conventions: points are float64 (n, 2) px, symbols int64 (n,) dense from 0. Every kernel is one pair's; `pairs.py`
maps them over many pairs. Nothing here knows grids, durations or frames.

* `warp`: discrete Fréchet and dynamic time warping, which share their distances.
* `window_distance`, `scaled_window_distance`: time-delay embedding.
* `edit_distance`, `common_subsequence`: bit-parallel, 64 cells of a column at once (Hyyrö 2003, 2004).
* `align`: Needleman–Wunsch with a substitution table and free gaps.

Short paths run row by row; long ones anti-diagonal by anti-diagonal, whose cells do not depend on each other, so that
the compiler vectorises them. Wide sums stay in float64: 1500 × 1500 cells must agree with the plain recursion.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats, Ints
from stdiffeye.metrics.compiled import kernel

FAR = 1e30  # stands for infinity, which would disable vectorised minima
LONG = 48  # from this many points on, anti-diagonals win
WORD = 64

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_TOP = np.uint64(63)


@kernel(error_model="numpy")
def warp(a: Floats, b: Floats, want_sum: bool, want_max: bool) -> tuple[float, float]:
    """Dynamic time warping (sum along the cheapest path) and discrete Fréchet distance (its bottleneck).

    Parameters
    ----------
    a, b : array, shape (n, 2)
        Two paths, px.
    want_sum, want_max : bool
        Which of the two is wanted.

    Returns
    -------
    tuple of float
        Sum and bottleneck in px; only what is wanted is defined.
    """
    if min(len(a), len(b)) >= LONG:
        return _warp_diagonals(a, b, want_sum, want_max)
    return _warp_rows(a, b)


@kernel(error_model="numpy")
def _warp_rows(a: Floats, b: Floats) -> tuple[float, float]:
    m = len(b)
    total = np.full(m + 1, FAR)
    worst = np.full(m + 1, FAR)
    corner = 0.0
    for i in range(len(a)):
        x, y = a[i, 0], a[i, 1]
        total_diagonal = worst_diagonal = corner
        corner = FAR
        total_left = worst_left = FAR
        for j in range(m):
            dx, dy = x - b[j, 0], y - b[j, 1]
            d = np.sqrt(dx * dx + dy * dy)
            total_up, worst_up = total[j + 1], worst[j + 1]
            total_best = total_diagonal if total_diagonal < total_up else total_up
            worst_best = worst_diagonal if worst_diagonal < worst_up else worst_up
            total_best = total_best if total_best < total_left else total_left
            worst_best = worst_best if worst_best < worst_left else worst_left
            total_left = total_best + d
            worst_left = worst_best if worst_best > d else d
            total[j + 1], worst[j + 1] = total_left, worst_left
            total_diagonal, worst_diagonal = total_up, worst_up
    return total[m], worst[m]


@kernel(error_model="numpy")
def _warp_diagonals(a: Floats, b: Floats, want_sum: bool, want_max: bool) -> tuple[float, float]:
    """Cells (i, j) with i + j = s, kept by i; `b` is reversed so that both sides are read forwards."""
    n, m = len(a), len(b)
    ax, ay = a[:, 0].copy(), a[:, 1].copy()
    bx, by = b[::-1, 0].copy(), b[::-1, 1].copy()
    distance = np.empty(n)
    total = np.full((3, n + 1), FAR)  # index i + 1; index 0 stays far away
    worst = np.full((3, n + 1), FAR)
    total[1, 0] = worst[1, 0] = 0.0  # the corner before (0, 0), seen only by the first diagonal
    for s in range(n + m - 1):
        low, high = max(0, s - m + 1), min(n, s + 1)
        now, last, before = s % 3, (s + 2) % 3, (s + 1) % 3
        _diagonal_distances(ax[low:high], ay[low:high], bx[m - 1 - s + low :], by[m - 1 - s + low :], distance)
        if want_sum:
            _sum_step(distance, total[now], total[last], total[before], low, high)
        if want_max:
            _max_step(distance, worst[now], worst[last], worst[before], low, high)
        if s == 0:
            total[1, 0] = worst[1, 0] = FAR
    end = (n + m - 2) % 3
    return total[end, n], worst[end, n]


@kernel(error_model="numpy")
def _diagonal_distances(ax: Floats, ay: Floats, bx: Floats, by: Floats, out: Floats) -> None:
    for r in range(len(ax)):
        dx, dy = ax[r] - bx[r], ay[r] - by[r]
        out[r] = np.sqrt(dx * dx + dy * dy)


@kernel(error_model="numpy")
def _sum_step(d: Floats, now: Floats, last: Floats, before: Floats, low: int, high: int) -> None:
    up, left, diagonal, out = last[low:high], last[low + 1 : high + 1], before[low:high], now[low + 1 : high + 1]
    for r in range(high - low):
        best = up[r] if up[r] < left[r] else left[r]
        best = diagonal[r] if diagonal[r] < best else best
        out[r] = best + d[r]
    now[low] = FAR
    if high + 1 < len(now):
        now[high + 1] = FAR


@kernel(error_model="numpy")
def _max_step(d: Floats, now: Floats, last: Floats, before: Floats, low: int, high: int) -> None:
    up, left, diagonal, out = last[low:high], last[low + 1 : high + 1], before[low:high], now[low + 1 : high + 1]
    for r in range(high - low):
        best = up[r] if up[r] < left[r] else left[r]
        best = diagonal[r] if diagonal[r] < best else best
        out[r] = best if best > d[r] else d[r]
    now[low] = FAR
    if high + 1 < len(now):
        now[high + 1] = FAR


@kernel(error_model="numpy")
def window_distance(a: Floats, b: Floats, k: int, frobenius: bool) -> float:
    """Mean over the windows of `b` of the distance to the nearest window of `a`, divided by k.

    Parameters
    ----------
    a, b : array, shape (n, 2)
        Two paths, px.
    k : int
        Fixations in a window.
    frobenius : bool
        Distance of windows as one vector; otherwise the sum over fixations.

    Returns
    -------
    float
        Pixels; NaN where either path is shorter than k.
    """
    n, m = len(a) - k + 1, len(b) - k + 1
    if n < 1 or m < 1:
        return np.nan
    ax, ay = a[:, 0].copy(), a[:, 1].copy()
    summed = np.empty(n)
    total = 0.0
    for j in range(m):
        summed[:] = 0.0
        for t in range(k):
            x, y = b[j + t, 0], b[j + t, 1]
            for i in range(n):
                dx, dy = ax[i + t] - x, ay[i + t] - y
                square = dx * dx + dy * dy
                summed[i] += square if frobenius else np.sqrt(square)
        nearest = summed.min()
        total += np.sqrt(nearest) if frobenius else nearest
    return total / (m * k)


@kernel(error_model="numpy")
def scaled_window_distance(a: Floats, b: Floats) -> tuple[float, float]:
    """Window distance t_k (`sum` kind) over all window sizes k = 1 … min(n, m).

    Parameters
    ----------
    a, b : array, shape (n, 2)
        Two paths, px.

    Returns
    -------
    tuple of float
        Mean of t_k, and mean of exp(−t_k).
    """
    n, m = len(a), len(b)
    point = np.empty((m, n))
    for j in range(m):
        for i in range(n):
            dx, dy = a[i, 0] - b[j, 0], a[i, 1] - b[j, 1]
            point[j, i] = np.sqrt(dx * dx + dy * dy)
    window = np.zeros((m, n))
    largest = min(n, m)
    distance = similarity = 0.0
    for k in range(1, largest + 1):
        total = 0.0
        for j in range(m - k + 1):
            nearest = FAR
            for i in range(n - k + 1):
                window[j, i] += point[j + k - 1, i + k - 1]
                nearest = window[j, i] if window[j, i] < nearest else nearest
            total += nearest
        mean = total / ((m - k + 1) * k)
        distance += mean
        similarity += np.exp(-mean)
    return distance / largest, similarity / largest


@kernel()
def _match_table(pattern: Ints, symbols: int) -> NDArray[np.uint64]:
    """(symbols, words) bit i of word w says that pattern[64 w + i] is the symbol."""
    table = np.zeros((symbols, (len(pattern) + WORD - 1) // WORD), dtype=np.uint64)
    for i in range(len(pattern)):
        table[pattern[i], i // WORD] |= _ONE << np.uint64(i % WORD)
    return table


@kernel()
def edit_distance(a: Ints, b: Ints, symbols: int) -> int:
    """Levenshtein distance with unit costs; columns as bit vectors of vertical differences (Hyyrö 2003).

    Parameters
    ----------
    a, b : array, shape (n,)
        Symbols of two strings, from 0.
    symbols : int
        Number of different symbols.

    Returns
    -------
    int
        Symbols to insert, delete or replace.
    """
    if len(a) == 0 or len(b) == 0:
        return max(len(a), len(b))
    matches = _match_table(a, symbols)
    words = matches.shape[1]
    plus = np.full(words, _ALL)
    minus = np.zeros(words, dtype=np.uint64)
    last = np.uint64((len(a) - 1) % WORD)
    score = len(a)
    for j in range(len(b)):
        carry_plus, carry_minus = _ONE, _ZERO
        for w in range(words):
            equal, up, down = matches[b[j], w], plus[w], minus[w]
            vertical = equal | down
            equal |= carry_minus
            horizontal = (((equal & up) + up) ^ up) | equal
            rise = down | ~(horizontal | up)
            fall = up & horizontal
            if w == words - 1:
                score += int((rise >> last) & _ONE) - int((fall >> last) & _ONE)
            rise_out, fall_out = rise >> _TOP, fall >> _TOP
            rise = (rise << _ONE) | carry_plus
            fall = (fall << _ONE) | carry_minus
            carry_plus, carry_minus = rise_out, fall_out
            plus[w] = fall | ~(vertical | rise)
            minus[w] = rise & vertical
    return score


@kernel()
def common_subsequence(a: Ints, b: Ints, symbols: int) -> int:
    """Length of the longest common subsequence: the zeros of a bit vector, one addition per symbol (Hyyrö 2004).

    Parameters
    ----------
    a, b : array, shape (n,)
        Symbols of two strings, from 0.
    symbols : int
        Number of different symbols.

    Returns
    -------
    int
        Length of the subsequence.
    """
    if len(a) == 0 or len(b) == 0:
        return 0
    matches = _match_table(a, symbols)
    words = matches.shape[1]
    state = np.full(words, _ALL)
    for j in range(len(b)):
        carry = _ZERO
        for w in range(words):
            before = state[w]
            matched = before & matches[b[j], w]
            partial = before + matched
            summed = partial + carry
            carry = _ONE if (partial < before or summed < partial) else _ZERO
            state[w] = summed | (before & ~matches[b[j], w])
    zeros = 0
    for i in range(len(a)):
        zeros += 1 - int((state[i // WORD] >> np.uint64(i % WORD)) & _ONE)
    return zeros


def align_by_rows(a: Ints, b: Ints, substitution: Floats) -> float:
    """What `align` computes, a row at a time in numpy.

    Parameters
    ----------
    a, b : array, shape (n,)
        Symbols of two strings.
    substitution : array, shape (S, S)
        Score of replacing one symbol by another.

    Returns
    -------
    float
        Score of the best alignment.
    """
    best = np.zeros(len(b) + 1)
    for symbol in a:
        best[1:] = np.maximum.accumulate(np.maximum(best[1:], best[:-1] + substitution[symbol, b]))
    return float(best[-1])


@kernel(align_by_rows, error_model="numpy")
def align(a: Ints, b: Ints, substitution: Floats) -> float:
    """Best Needleman–Wunsch score with free gaps, F(i, j) = max(F(i, j−1), F(i−1, j), F(i−1, j−1) + s).

    A substitution that costs (s ≤ 0) is never better than a gap. Each row is therefore only computed between the first
    and the last symbol of `b` that the symbol of `a` gains from. Runs of a symbol share that row's gains.

    Parameters
    ----------
    a, b : array, shape (n,)
        Symbols of two strings, from 0.
    substitution : array, shape (S, S)
        Score s of replacing one symbol by another.

    Returns
    -------
    float
        Score of the best alignment.
    """
    m = len(b)
    best = np.zeros(m + 1)
    gain = np.empty(m)
    low, high = 0, 0
    for i in range(len(a)):
        if i == 0 or a[i] != a[i - 1]:
            low, high = m, 0
            for j in range(m):
                gain[j] = substitution[a[i], b[j]]
                if gain[j] > 0:
                    low, high = min(low, j), j + 1
        if high == 0:  # nothing to gain from: the row is the one before
            continue
        diagonal = running = best[low]
        for j in range(low, high):
            through = diagonal + gain[j]
            diagonal = best[j + 1]
            through = through if through > diagonal else diagonal
            running = through if through > running else running
            best[j + 1] = running
        j = high + 1
        while j <= m and best[j] < running:
            best[j] = running
            j += 1
    return best[m]
