"""Tables for people and R: CSV with a header, a row per observation, numbers rounded, unknown empty."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stdiffeye.csv_cells import CsvWriter
from stdiffeye.files import atomic_write
from stdiffeye.gaze import Trial
from stdiffeye.gaze.tidy import TableName, tidy_table

DECIMALS = {"direction_deg": 1, "_px": 1, "_ms": 1, "_deg": 3, "_deg_s": 1, "share": 4, "_hz": 1}
OTHER_DECIMALS = 4
ALWAYS = ("name", "task", "subject")


def write_rows(path: str | Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV, whole or not at all.

    Parameters
    ----------
    path : str or Path
        File to write.
    rows : iterable of dict
        A row each; the columns are the keys of all rows in the order of their first use.
    """
    listed = list(rows)
    columns = list(dict.fromkeys(key for row in listed for key in row))
    with atomic_write(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = CsvWriter(file)
        writer.row(columns)
        writer.rows([cell(row.get(column), column) for column in columns] for row in listed)


def write_tidy(path: str | Path, trials: Sequence[Trial], table: TableName) -> None:
    """Write fixations, saccades or samples of trials as CSV; columns that are unknown throughout are left out."""
    write_tidy_blocks(path, lambda: [trials], table)


def write_tidy_blocks(path: str | Path, blocks: Callable[[], Iterable[Sequence[Trial]]], table: TableName) -> None:
    """The same for trials that come in blocks, twice: first to find the known columns. Memory holds one block."""
    found = dict.fromkeys(key for block in blocks() for key, cells in _cells(block, table).items() if any(cells))
    known = [key for key in tidy_table([], table) | found if key in ALWAYS or key in found]
    with atomic_write(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = CsvWriter(file)
        writer.row(known)
        for block in blocks():
            cells = _cells(block, table)
            rows = len(cells["name"])
            writer.rows(zip(*(cells.get(key, [""] * rows) for key in known), strict=True))


def _cells(trials: Sequence[Trial], table: TableName) -> dict[str, list[str]]:
    return {key: [cell(value, key) for value in values.tolist()] for key, values in tidy_table(trials, table).items()}


def cell(value: Any, column: str = "") -> str:
    """A value as text: floats rounded by the unit at the end of the column's name, None and NaN empty.

    Examples
    --------
    >>> cell(123.456, "x_px"), cell(0.5), cell(float("nan")), cell(None), cell(3)
    ('123.5', '0.5', '', '', '3')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, float):
        return str(value)
    decimals = next((digits for unit, digits in DECIMALS.items() if column.endswith(unit)), OTHER_DECIMALS)
    return f"{value:.{decimals}f}".rstrip("0").rstrip(".") if decimals else f"{value:.0f}"
