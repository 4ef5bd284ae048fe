"""LD and its variants: how many symbols must change to turn one path into the other?

* **LD** ↓ grid of 12 columns × 8 rows with whole-pixel steps (42 and 48 px), rows counted from below, two symbols per
  fixation (row, column), Levenshtein distance with unit costs.
* **sed-5**, **sed-10** ↓ string edit distance: an n × n grid, one symbol per fixation.

Levenshtein 1966; Brandt & Stark 1997. Symmetric; defined on paths of any length. Places out of the frame have symbols
of their own.
"""

from __future__ import annotations

from stdiffeye.metrics.pairs import Floats, Pairs, Stretch, many_edits, over
from stdiffeye.metrics.paths import Paths
from stdiffeye.metrics.symbols import Symbols, row_and_column, square_grid, together

COLUMNS, ROWS = 12, 8


def score(a: Paths, b: Paths, pairs: Pairs) -> Floats:
    """(pairs, 1) LD."""
    return _score(_letters(a), _letters(b), pairs)


def score_grid(a: Paths, b: Paths, pairs: Pairs, cells: int) -> Floats:
    """(pairs, 1) string edit distance on a cells × cells grid."""
    return _score(square_grid(a, cells), square_grid(b, cells), pairs)


def _letters(paths: Paths) -> Symbols:
    return paths.derived("row and column", lambda: row_and_column(paths, COLUMNS, ROWS))


def _score(a: Symbols, b: Symbols, pairs: Pairs) -> Floats:
    one, other, symbols = together(a, b)

    def fill(stretch: Stretch, out: Floats) -> None:
        many_edits(one, other, stretch, symbols, out)

    return over(pairs, a.first, b.first, 1, fill)
