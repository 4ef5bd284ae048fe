"""Scanpaths as CSV or TSV, one row per fixation; columns as in `fixation_table`. Files may be gzipped."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from stdiffeye.csv_cells import CsvWriter, plain_cell
from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write
from stdiffeye.gaze import Frame, Trial
from stdiffeye.io.bytes_in import open_unpacked
from stdiffeye.io.fixation_table import WORDS, table_from_trials, trials_from_table
from stdiffeye.io.pictures import with_pictures_inside


def read_scanpath_csv(path: str | Path, frame: Frame | None = None) -> list[Trial]:
    """All trials of a table of fixations; `frame` serves tables without width_px and height_px."""
    with open_unpacked(Path(path)) as unpacked, io.TextIOWrapper(unpacked, "utf-8-sig", newline="") as file:
        try:
            rows = csv.reader(file, delimiter=_delimiter(path))
            header = next(rows, [])
            if not header:
                raise InputError(f"{path} is empty: expected a header line")
            columns = _read_columns(rows, header, path)
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not text: {error}") from None
    return with_pictures_inside(trials_from_table(columns, str(path), frame), path)


def write_scanpath_csv(path: str | Path, trials: Iterable[Trial]) -> None:
    """Write trials as CSV (TSV when the name says so); gzipped when it ends in .gz. Whole or not at all."""
    table = table_from_trials(list(trials), Path(path).parent)
    with atomic_write(path) as temporary, _open_to_write(temporary) as file:
        writer = CsvWriter(file, _delimiter(path))
        writer.row(table)
        columns = [values.tolist() if key in WORDS else map(_cell, values.tolist()) for key, values in table.items()]
        writer.rows(zip(*columns, strict=True))


def _read_columns(rows: Iterable[list[str]], header: list[str], path: str | Path) -> dict[str, list[str]]:
    cells: list[list[str]] = [[] for _ in header]
    for number, row in enumerate(rows, start=2):
        if not row:
            continue
        if len(row) != len(header):
            raise InputError(f"{path}: line {number} has {len(row)} cells, the header has {len(header)}")
        for column, cell in zip(cells, row, strict=True):
            column.append(plain_cell(cell))
    return dict(zip(header, cells, strict=True))


def _delimiter(path: str | Path) -> str:
    return "\t" if ".tsv" in Path(path).suffixes else ","


def _open_to_write(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        stream: Any = gzip.GzipFile(path, "wb", mtime=0)
        return io.TextIOWrapper(stream, encoding="utf-8", newline="")
    return open(path, "w", encoding="utf-8", newline="")


def _cell(value: float) -> str:
    return "" if value != value else str(int(value)) if value.is_integer() else repr(value)
