"""SS, SS†, SSS, SSS†: do two scanpaths visit the same regions in the same order?

* **SS** ↑ Sequence Score: a letter per fixation, the nearest cluster of human fixations (see `clusters.py`). Longest
  common subsequence / the longer length, both cut to 16 letters first.
* **SSS** ↑ the same with the class of a semantic map under the fixation.
* **SS_dur**, **SSS_dur** (†) ↑ each letter repeated int(ms / 50) times, after the cut.

Borji, Tavakoli, Sihite & Itti 2013; Yang et al. 2022. Symmetric. † is undefined where durations are unknown or both
strings become empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats, Ints
from stdiffeye.metrics.pairs import Pairs, Stretch, many_subsequences, over
from stdiffeye.metrics.paths import PackedScanpaths
from stdiffeye.metrics.symbols import Symbols, class_under, first_fixations, nearest_centre, repeats_floored

LETTERS = 16  # longer scanpaths are cut to this many fixations


def score_clusters(
    a: PackedScanpaths, b: PackedScanpaths, pairs: Pairs, centres_px: Sequence[Floats], timed: bool = False
) -> Floats:
    """Compute the Sequence Score of pairs of scanpaths.

    Parameters
    ----------
    a, b : PackedScanpaths
        Human and generated scanpaths.
    pairs : Pairs
        Which scanpath of `a` is compared with which of `b`.
    centres_px : sequence of ndarray, (C, 2)
        Cluster centres of each stimulus, px of the 512×384 frame.
    timed : bool
        Repeat each letter once per 50 ms (SS†).

    Returns
    -------
    ndarray, (pairs, 1)
        Similarity in [0, 1]; NaN where both strings are empty.
    """

    def letters(stimulus: int, xy_px: Floats) -> Ints:
        return nearest_centre(xy_px, centres_px[stimulus])

    return _score(a, b, pairs, "letters", letters, timed)


def score_semantics(
    a: PackedScanpaths,
    b: PackedScanpaths,
    pairs: Pairs,
    maps: Sequence[NDArray[np.integer[Any]] | None],
    timed: bool = False,
) -> Floats:
    """Compute the Semantic Sequence Score of pairs of scanpaths.

    Parameters
    ----------
    a, b : PackedScanpaths
        Human and generated scanpaths.
    pairs : Pairs
        Which scanpath of `a` is compared with which of `b`.
    maps : sequence of ndarray, (320, 512), or None
        Semantic map of each stimulus.
    timed : bool
        Repeat each letter once per 50 ms (SSS†).

    Returns
    -------
    ndarray, (pairs, 1)
        Similarity in [0, 1]; NaN without a map or where both strings are empty.
    """

    def classes(stimulus: int, xy_px: Floats) -> Ints:
        semantic = maps[stimulus]
        return np.zeros(len(xy_px), dtype=np.int64) if semantic is None else class_under(xy_px, semantic)

    values = _score(a, b, pairs, "classes", classes, timed)
    unknown = np.array([semantic is None for semantic in maps])
    values[unknown[a.stimulus[pairs.a]]] = np.nan
    return values


def _score(
    a: PackedScanpaths, b: PackedScanpaths, pairs: Pairs, name: str, letters: Callable[[int, Floats], Ints], timed: bool
) -> Floats:
    one, other = _strings(a, name, letters, timed), _strings(b, name, letters, timed)
    symbols = 1 + int(max(one.codes.max(initial=0), other.codes.max(initial=0)))

    def fill(stretch: Stretch, out: Floats) -> None:
        many_subsequences(one.codes, other.codes, stretch, symbols, out)

    return over(pairs, one.first, other.first, 1, fill)


def _strings(paths: PackedScanpaths, name: str, letters: Callable[[int, Floats], Ints], timed: bool) -> Symbols:
    kept, first = paths.derived("kept", lambda: first_fixations(paths, LETTERS))
    codes = paths.derived(name, lambda: _codes(paths, kept, first, letters))
    strings = Symbols(codes, first)
    return strings.repeated(repeats_floored(paths.duration_ms[kept])) if timed else strings


def _codes(paths: PackedScanpaths, kept: Ints, first: Ints, letters: Callable[[int, Floats], Ints]) -> Ints:
    """(N,) letters, one stimulus at a time because clusters and maps belong to a stimulus."""
    xy_px = paths.xy_px[kept]
    owner = np.repeat(paths.stimulus, np.diff(first))
    order = np.argsort(owner, kind="stable")
    starts = np.flatnonzero(np.diff(owner[order], prepend=-1))
    codes = np.empty(len(kept), dtype=np.int64)
    for group in np.split(order, starts[1:]):
        codes[group] = letters(int(owner[group[0]]), xy_px[group])
    return codes
