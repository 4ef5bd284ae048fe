"""Kernels over many pairs of scanpaths, in parallel over threads.

Every `many_*` fills `out[p]` for p = start … stop − 1 of a `Stretch` (first_a, first_b, a, b, start, stop): where the
scanpaths of either side begin, and which two are compared. They release the interpreter's lock, so `over` gives each
thread its own stretch.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from stdiffeye.arrays import Floats, Ints
from stdiffeye.metrics.compiled import kernel
from stdiffeye.metrics.kernels import (
    align,
    common_subsequence,
    edit_distance,
    scaled_window_distance,
    warp,
    window_distance,
)
from stdiffeye.processes import threads_available

PAIRS_PER_TASK = 2048
Stretch = tuple[Ints, Ints, Ints, Ints, int, int]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which scanpath of one side is compared with which of the other.

    Attributes
    ----------
    a, b : ndarray of int, (pairs,)
        Numbers of the scanpaths.
    """

    a: Ints
    b: Ints

    def __len__(self) -> int:
        return len(self.a)


def over(pairs: Pairs, first_a: Ints, first_b: Ints, columns: int, fill: Callable[[Stretch, Floats], None]) -> Floats:
    """Run a kernel over all pairs, in parallel over threads.

    Parameters
    ----------
    pairs : Pairs
        Which scanpaths are compared.
    first_a, first_b : ndarray of int
        Where the scanpaths (or strings) of either side begin.
    columns : int
        Values per pair.
    fill : callable
        (stretch, out) writes the values of a stretch of the pairs.

    Returns
    -------
    ndarray, (pairs, columns)
        The values.
    """
    out = np.empty((len(pairs), columns))

    def task(start: int, stop: int) -> None:
        with np.errstate(over="ignore"):  # bit vectors wrap around
            fill((first_a, first_b, pairs.a, pairs.b, start, stop), out)

    starts = range(0, len(pairs), PAIRS_PER_TASK)
    workers = min(threads_available(), len(starts))
    if workers < 2:
        task(0, len(pairs))
        return out
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda start: task(start, min(start + PAIRS_PER_TASK, len(pairs))), starts))
    return out


@kernel()
def _pair(values_a: Any, values_b: Any, stretch: Stretch, p: int) -> tuple[Any, Any]:
    """Positions or symbols of the two scanpaths of pair p."""
    first_a, first_b, a, b = stretch[0], stretch[1], stretch[2][p], stretch[3][p]
    return values_a[first_a[a] : first_a[a + 1]], values_b[first_b[b] : first_b[b + 1]]


@kernel(error_model="numpy")
def many_warps(xy_a: Floats, xy_b: Floats, stretch: Stretch, want_sum: bool, want_max: bool, out: Floats) -> None:
    """Dynamic time warping and discrete Fréchet distance.

    Parameters
    ----------
    xy_a, xy_b : array, shape (N, 2)
        Positions of packed scanpaths.
    stretch : Stretch
        Which pairs.
    want_sum, want_max : bool
        As in `warp`.
    out : array, shape (pairs, 2)
        Filled for these pairs.
    """
    for p in range(stretch[4], stretch[5]):
        one, other = _pair(xy_a, xy_b, stretch, p)
        out[p, 0], out[p, 1] = warp(one, other, want_sum, want_max)


@kernel(error_model="numpy")
def many_windows(xy_a: Floats, xy_b: Floats, stretch: Stretch, k: int, frobenius: bool, out: Floats) -> None:
    """Time-delay embedding distance with windows of k.

    Parameters
    ----------
    xy_a, xy_b : array, shape (N, 2)
        Positions of packed scanpaths.
    stretch : Stretch
        Which pairs.
    k, frobenius : int, bool
        As in `window_distance`.
    out : array, shape (pairs, 1)
        Filled for these pairs.
    """
    for p in range(stretch[4], stretch[5]):
        one, other = _pair(xy_a, xy_b, stretch, p)
        out[p, 0] = window_distance(one, other, k, frobenius)


@kernel(error_model="numpy")
def many_scaled_windows(xy_a: Floats, xy_b: Floats, stretch: Stretch, out: Floats) -> None:
    """Scaled time-delay embedding: distance, similarity.

    Parameters
    ----------
    xy_a, xy_b : array, shape (N, 2)
        Positions of packed scanpaths.
    stretch : Stretch
        Which pairs.
    out : array, shape (pairs, 2)
        Filled for these pairs.
    """
    for p in range(stretch[4], stretch[5]):
        one, other = _pair(xy_a, xy_b, stretch, p)
        out[p, 0], out[p, 1] = scaled_window_distance(one, other)


@kernel()
def many_edits(codes_a: Ints, codes_b: Ints, stretch: Stretch, symbols: int, out: Floats) -> None:
    """Levenshtein distance.

    Parameters
    ----------
    codes_a, codes_b : array, shape (N,)
        Symbols of packed strings.
    stretch : Stretch
        Which pairs.
    symbols : int
        Number of different symbols.
    out : array, shape (pairs, 1)
        Filled for these pairs.
    """
    for p in range(stretch[4], stretch[5]):
        one, other = _pair(codes_a, codes_b, stretch, p)
        out[p, 0] = edit_distance(one, other, symbols)


@kernel(error_model="numpy")
def many_subsequences(codes_a: Ints, codes_b: Ints, stretch: Stretch, symbols: int, out: Floats) -> None:
    """Longest common subsequence / the longer length, NaN for two empty strings.

    Rounded to single precision as the references do: such fractions often lie on the edge between two bins of KLD, and
    the last bit decides which one they fall into.

    Parameters
    ----------
    codes_a, codes_b : array, shape (N,)
        Symbols of packed strings.
    stretch : Stretch
        Which pairs.
    symbols : int
        Number of different symbols.
    out : array, shape (pairs, 1)
        Filled for these pairs.
    """
    for p in range(stretch[4], stretch[5]):
        one, other = _pair(codes_a, codes_b, stretch, p)
        out[p, 0] = np.float32(common_subsequence(one, other, symbols) / max(len(one), len(other)))


@kernel(error_model="numpy")
def many_alignments(
    codes_a: Ints, codes_b: Ints, stretch: Stretch, substitution: Floats, scale: float, out: Floats
) -> None:
    """Alignment score / (scale · the longer length); NaN for two empty strings.

    Parameters
    ----------
    codes_a, codes_b : array, shape (N,)
        Symbols of packed strings.
    stretch : Stretch
        Which pairs.
    substitution : array, shape (S, S)
        As in `align`.
    scale : float
        Score of a perfect match.
    out : array, shape (pairs, 1)
        Filled for these pairs.
    """
    for p in range(stretch[4], stretch[5]):
        one, other = _pair(codes_a, codes_b, stretch, p)
        out[p, 0] = align(one, other, substitution) / (scale * max(len(one), len(other)))
