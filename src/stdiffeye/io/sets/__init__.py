"""Readers of the public data sets, one file each.

A reader is a module with two functions. `items(description, source)` walks the set in a fixed order and yields what
is cheap to know about each trial; `load(description, source, item)` makes a `Trial` of it, raw gaze at its own rate,
nothing cleaned, or None when the trial holds no gaze at all. `items` runs once, `load` in many processes.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, cast

from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial
from stdiffeye.io.descriptions import Description

READERS = ("scanpath_json", "osie_mat", "doves", "mit1003", "coco")


class Reader(Protocol):
    """What a module of this folder offers."""

    def items(self, description: Description, source: Path) -> Iterator[Any]: ...

    def load(self, description: Description, source: Path, item: Any) -> Trial | None: ...


def reader_of(description: Description) -> Reader:
    """The reader that a description names."""
    if description.reader not in READERS:
        raise InputError(
            f"data set {description.name!r} names the reader {description.reader!r}: known are {', '.join(READERS)}"
        )
    return cast(Reader, importlib.import_module(f"stdiffeye.io.sets.{description.reader}"))


def read_set(name: str | Path, source: str | Path) -> Iterator[Trial]:
    """All trials of a data set, raw, one after the other."""
    from stdiffeye.io.descriptions import describe, require

    description, source = describe(name), Path(source)
    require(description, source)
    reader = reader_of(description)
    for item in reader.items(description, source):
        trial = reader.load(description, source, item)
        if trial is not None:
            yield trial
