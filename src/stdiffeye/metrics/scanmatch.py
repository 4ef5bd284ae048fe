"""SM and SM†: ScanMatch, an alignment that rewards near cells.

* **SM** ↑ grid of 16 × 12 cells (out of the frame: its edge); Needleman–Wunsch with substitution score
  3.5 − distance of the cells and free gaps; / (3.5 · the longer length).
* **SM_dur** (SM†) ↑ each cell repeated round(whole ms / 50) times, halves to even.

Cristino et al. 2010. Symmetric. SM_dur is undefined where durations are unknown or both strings become empty.
"""

from __future__ import annotations

import functools

import numpy as np

from stdiffeye.metrics.pairs import Floats, Pairs, Stretch, many_alignments, over
from stdiffeye.metrics.paths import Paths
from stdiffeye.metrics.symbols import Symbols, clamped_grid, repeats_rounded

COLUMNS, ROWS = 16, 12
THRESHOLD = 3.5  # cells nearer than this are rewarded


def score(a: Paths, b: Paths, pairs: Pairs, timed: bool = False) -> Floats:
    """(pairs, 1) ScanMatch; `timed` is SM†."""
    one, other = _cells(a, timed), _cells(b, timed)

    def fill(stretch: Stretch, out: Floats) -> None:
        many_alignments(one.codes, other.codes, stretch, substitution_scores(), THRESHOLD, out)

    return over(pairs, one.first, other.first, 1, fill)


@functools.cache
def substitution_scores() -> Floats:
    """(cells, cells) 3.5 − distance of the cells."""
    row, column = np.divmod(np.arange(COLUMNS * ROWS), COLUMNS)
    return THRESHOLD - np.hypot(row[:, None] - row, column[:, None] - column)


def _cells(paths: Paths, timed: bool) -> Symbols:
    cells = paths.derived("cells", lambda: clamped_grid(paths, COLUMNS, ROWS))
    return cells.repeated(repeats_rounded(paths.duration_ms)) if timed else cells
