"""Words in tables that spreadsheets would take for formulas are written so that they stay words.

A cell that begins with = + - @ is a formula to a spreadsheet, which may then run commands or send data. Such a word
gets an apostrophe before it, as spreadsheets themselves mark text; our readers take it away again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r")
MARK = "'"


def text_cell(value: Any) -> Any:
    """A word that no spreadsheet takes for a formula; numbers, also negative ones, stay as they are.

    Examples
    --------
    >>> text_cell("=1+1"), text_cell("-3.5"), text_cell("-"), text_cell("cup"), text_cell(-2)
    ("'=1+1", '-3.5', '-', 'cup', -2)
    """
    if not isinstance(value, str) or not value.lstrip(MARK).startswith(FORMULA) or value == "-" or _is_number(value):
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


def text_cells(row: Iterable[Any]) -> list[Any]:
    """`text_cell` of every cell."""
    return [text_cell(value) for value in row]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word
