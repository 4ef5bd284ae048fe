"""SALICON: images/NAME.jpg and fixations/{train,val}/NAME.png, non-zero where any viewer fixated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Trial
from stdiffeye.io.descriptions import Description
from stdiffeye.io.pictures import read_grey
from stdiffeye.io.sets.fixation_maps import fixated_pixels, pooled_trial

SPLITS = {"train": "train", "val": "validation", "test": "test"}


def items(description: Description, source: Path) -> Iterator[Path]:
    yield from sorted(source.glob(description.files[0].path))


def load(description: Description, source: Path, item: Path) -> Trial | None:
    if item.parent.name not in SPLITS:
        raise InputError(f"{item} lies in {item.parent.name!r}: expected a folder {', '.join(SPLITS)}")
    pixels = read_grey(item)
    if not pixels.any():
        return None
    height_px, width_px = pixels.shape
    frame = Frame(width_px, height_px, description.px_per_degree)
    return pooled_trial(description, f"{item.stem}.jpg", fixated_pixels(pixels), frame, SPLITS[item.parent.name])
