"""OSIE, crowd, scene, FIGRIM, MCS and one's own: scanpaths in the style of COCO-Search18, in one file or many."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stdiffeye.gaze import Frame, Trial
from stdiffeye.io.descriptions import Description
from stdiffeye.io.scanpath_json import iterate_rows, trial_from_row

PlacedRow = tuple[str, dict[str, Any]]  # where it stands, for errors; the row


def items(description: Description, source: Path) -> Iterator[PlacedRow]:
    """The rows of every expected JSON file, file by file in the order of the description."""
    for expected in description.files:
        if ".json" not in expected.path:
            continue
        for path in sorted(source.glob(expected.path)):
            for number, row in enumerate(iterate_rows(path), start=1):
                yield f"row {number} of {path}", row


def load(description: Description, source: Path, item: PlacedRow) -> Trial | None:
    where, row = item
    frame = description.frame
    if frame is None and description.px_per_degree is not None and "width" in row and "height" in row:
        frame = Frame(row["width"], row["height"], description.px_per_degree)
    return trial_from_row(
        row,
        where,
        frame,
        dataset=description.name,
        task=description.task,
        viewing_ms=description.viewing_ms,
    )
