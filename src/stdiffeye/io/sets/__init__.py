"""Readers of the public data sets, one file each.

A reader is a module with two functions. `items(description, source)` walks the set in a fixed order and yields what
is cheap to know about each trial; `load(description, source, item)` makes a `Trial` of it, or a `RawTrial` of a
tracker's samples; nothing is cleaned. It returns None when the trial holds no gaze at all. `items` runs in one process,
`load` in many.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from stdiffeye.border import reading
from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial
from stdiffeye.gaze.samples import RawTrial
from stdiffeye.io.descriptions import Description
from stdiffeye.io.sets import cat2000, coco, doves, mit1003, osie_mat, salicon, scanpath_rows, tracker_files


class Reader(Protocol):
    """What a module of this folder offers."""

    def items(self, description: Description, source: Path) -> Iterator[Any]: ...

    def load(self, description: Description, source: Path, item: Any) -> Trial | RawTrial | None: ...


READERS: dict[str, Reader] = {
    "scanpath_rows": scanpath_rows,
    "osie_mat": osie_mat,
    "doves": doves,
    "mit1003": mit1003,
    "coco": coco,
    "salicon": salicon,
    "cat2000": cat2000,
    "recordings": tracker_files,
}


class BorderedReader:
    """A reader behind the border: whatever its parsers raise is an `InputError` with the item's or the set's place."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def items(self, description: Description, source: Path) -> Iterator[Any]:
        walk = self.reader.items(description, source)
        while True:
            with reading(source):  # not around the yield: what the caller raises is not the file's fault
                item = next(walk, _END)
            if item is _END:
                return
            yield item

    def load(self, description: Description, source: Path, item: Any) -> Trial | RawTrial | None:
        with reading(_named(item, source)):
            return self.reader.load(description, source, item)


_END = object()


def _named(item: Any, source: Path) -> str | Path:
    """The file that an item lies in, or the words that say where it stands."""
    pieces = item if isinstance(item, tuple) else (item,)
    named = next((piece for piece in pieces if isinstance(piece, Path)), None)
    return named or (pieces[0] if isinstance(pieces[0], str) and pieces[0].startswith("row ") else source)


def reader_of(description: Description) -> Reader:
    """The reader that a description names, behind the border."""
    if description.reader not in READERS:
        raise InputError(
            f"data set {description.name!r} names the reader {description.reader!r}: known are {', '.join(READERS)}"
        )
    return BorderedReader(READERS[description.reader])


def read_set(name: str | Path, source: str | Path) -> Iterator[Trial | RawTrial]:
    """All trials of a data set, raw, one after the other."""
    from stdiffeye.io.descriptions import describe, require

    description, source = describe(name), Path(source)
    require(description, source)
    reader = reader_of(description)
    for item in reader.items(description, source):
        trial = reader.load(description, source, item)
        if trial is not None:
            yield trial
