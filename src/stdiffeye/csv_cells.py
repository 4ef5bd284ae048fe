"""Words in tables that spreadsheets would take for formulas are written so that they stay words.

A cell that begins with = + - @ is a formula to a spreadsheet, which may then run commands or send data. Such a word
gets an apostrophe before it, as spreadsheets themselves mark text; our readers take it away again. Every CSV of the
program is written by `CsvWriter`, so that no table is forgotten.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import IO, Any

FORMULA = ("=", "+", "-", "@", "\t", "\r")
MARK = "'"
SUSPECT = frozenset((*FORMULA, MARK))


class CsvWriter:
    """Writes rows as CSV, every cell by `text_cell`.

    Parameters
    ----------
    file : file
        Open for text, with `newline=""`.
    delimiter, end_of_line : str
        Between cells, and after each row.
    """

    def __init__(self, file: IO[str], delimiter: str = ",", end_of_line: str = "\n") -> None:
        self._writer = csv.writer(file, delimiter=delimiter, lineterminator=end_of_line)

    def row(self, cells: Iterable[Any]) -> None:
        """Write one row."""
        self._writer.writerow(map(text_cell, cells))

    def rows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write many rows."""
        self._writer.writerows(map(text_cell, cells) for cells in rows)


def text_cell(value: Any) -> Any:
    """A word that no spreadsheet takes for a formula; numbers, also negative ones, stay as they are.

    Examples
    --------
    >>> text_cell("=1+1"), text_cell("-3.5"), text_cell("-"), text_cell("cup"), text_cell(-2)
    ("'=1+1", '-3.5', '-', 'cup', -2)
    """
    if not isinstance(value, str) or value[:1] not in SUSPECT:
        return value
    if not value.lstrip(MARK).startswith(FORMULA) or value == "-" or _is_number(value):
        return value
    return MARK + value


def plain_cell(word: str) -> str:
    """The word that `text_cell` was given.

    Examples
    --------
    >>> plain_cell("'=1+1"), plain_cell("'tis")
    ('=1+1', "'tis")
    """
    marked = word.startswith(MARK) and word.lstrip(MARK).startswith(FORMULA)
    return word[len(MARK) :] if marked else word


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word
