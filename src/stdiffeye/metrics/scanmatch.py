"""SM and SM†: ScanMatch, an alignment that rewards near cells.

* **SM** ↑ grid of 16 × 12 cells; positions outside the frame belong to its edge. Needleman–Wunsch alignment with
  substitution score 3.5 − distance of the cells and free gaps, divided by 3.5 · the longer length.
* **SM_dur** (SM†) ↑ each cell repeated round(whole ms / 50) times, halves to even.

Cristino et al. 2010. Symmetric. SM_dur is undefined where durations are unknown or both strings become empty.
"""

from __future__ import annotations

import functools

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.metrics.pairs import Pairs, Stretch, many_alignments, over
from stdiffeye.metrics.paths import PackedScanpaths
from stdiffeye.metrics.symbols import Symbols, clamped_grid, repeats_rounded

COLUMNS, ROWS = 16, 12
THRESHOLD = 3.5  # cells nearer than this are rewarded


def score(a: PackedScanpaths, b: PackedScanpaths, pairs: Pairs, timed: bool = False) -> Floats:
    """Compute ScanMatch of pairs of scanpaths.

    Parameters
    ----------
    a, b : PackedScanpaths
        Human and generated scanpaths.
    pairs : Pairs
        Which scanpath of `a` is compared with which of `b`.
    timed : bool
        Repeat each cell once per 50 ms (SM†).

    Returns
    -------
    ndarray, (pairs, 1)
        Similarity, at most 1; NaN where both strings are empty.
    """
    one, other = _cells(a, timed), _cells(b, timed)

    def fill(stretch: Stretch, out: Floats) -> None:
        many_alignments(one.codes, other.codes, stretch, substitution_scores(), THRESHOLD, out)

    return over(pairs, one.first, other.first, 1, fill)


@functools.cache
def substitution_scores() -> Floats:
    """Return the substitution scores: 3.5 − distance of the cells.

    Returns
    -------
    array, shape (cells, cells)
        In steps of the grid.
    """
    row, column = np.divmod(np.arange(COLUMNS * ROWS), COLUMNS)
    return THRESHOLD - np.hypot(row[:, None] - row, column[:, None] - column)


def _cells(paths: PackedScanpaths, timed: bool) -> Symbols:
    cells = paths.derived("cells", lambda: clamped_grid(paths, COLUMNS, ROWS))
    return cells.repeated(repeats_rounded(paths.duration_ms)) if timed else cells
