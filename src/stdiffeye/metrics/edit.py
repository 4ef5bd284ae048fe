"""LD and its variants: how many symbols must change to turn one scanpath into the other?

* **LD** ↓ grid of 12 columns × 8 rows with whole-pixel steps (42 and 48 px), rows counted from below, two symbols per
  fixation (row, column), Levenshtein distance with unit costs.
* **sed-5**, **sed-10** ↓ string edit distance: an n × n grid, one symbol per fixation.

Levenshtein 1966; Brandt & Stark 1997. Symmetric; defined on scanpaths of any length. Positions outside the frame have
symbols of their own.
"""

from __future__ import annotations

from stdiffeye.arrays import Floats
from stdiffeye.metrics.pairs import Pairs, Stretch, many_edits, over
from stdiffeye.metrics.paths import PackedScanpaths
from stdiffeye.metrics.symbols import Symbols, row_and_column, square_grid, together

COLUMNS, ROWS = 12, 8


def score(a: PackedScanpaths, b: PackedScanpaths, pairs: Pairs) -> Floats:
    """Compute LD of pairs of scanpaths.

    Parameters
    ----------
    a, b : PackedScanpaths
        Human and generated scanpaths.
    pairs : Pairs
        Which scanpath of `a` is compared with which of `b`.

    Returns
    -------
    ndarray, (pairs, 1)
        LD, a number of symbols.
    """
    return _score(_letters(a), _letters(b), pairs)


def score_grid(a: PackedScanpaths, b: PackedScanpaths, pairs: Pairs, cells: int) -> Floats:
    """Compute the string edit distance of pairs of scanpaths.

    Parameters
    ----------
    a, b : PackedScanpaths
        Human and generated scanpaths.
    pairs : Pairs
        Which scanpath of `a` is compared with which of `b`.
    cells : int
        The grid has cells × cells cells.

    Returns
    -------
    ndarray, (pairs, 1)
        String edit distance, a number of symbols.
    """
    return _score(square_grid(a, cells), square_grid(b, cells), pairs)


def _letters(paths: PackedScanpaths) -> Symbols:
    return paths.derived("row and column", lambda: row_and_column(paths, COLUMNS, ROWS))


def _score(a: Symbols, b: Symbols, pairs: Pairs) -> Floats:
    one, other, symbols = together(a, b)

    def fill(stretch: Stretch, out: Floats) -> None:
        many_edits(one, other, stretch, symbols, out)

    return over(pairs, a.first, b.first, 1, fill)
