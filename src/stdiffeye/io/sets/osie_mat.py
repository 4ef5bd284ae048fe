"""OSIE as its authors give it: data/eye/fixations.mat, a cell of pictures, each with a cell of viewers.

fixations{i}.img is the picture's name, fixations{i}.subjects{j} holds fix_x, fix_y (px, from 1) and fix_duration (ms).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trial
from stdiffeye.io.descriptions import Description
from stdiffeye.io.matlab import read_mat

FIRST_PIXEL = 1  # MATLAB counts from 1


class OsieTrial(NamedTuple):
    name: str
    subject: int
    xy_px: NDArray[np.float64]  # (M, 2)
    duration_ms: NDArray[np.float64]  # (M,)


def items(description: Description, source: Path) -> Iterator[OsieTrial]:
    path = source / description.files[0].path
    variables = read_mat(path)
    try:
        for picture in np.atleast_1d(variables["fixations"]):
            for number, viewer in enumerate(np.atleast_1d(picture.subjects), start=1):
                yield _item(str(picture.img), number, viewer)
    except (KeyError, AttributeError, ValueError, TypeError) as error:
        raise InputError(f"{path} does not hold the fixations of OSIE: {error}") from None


def _item(name: str, number: int, viewer: Any) -> OsieTrial:
    keys = ("fix_x", "fix_y", "fix_duration")
    x, y, duration = (np.asarray(getattr(viewer, key), np.float64).ravel() for key in keys)
    return OsieTrial(name, number, np.column_stack([x, y]) - FIRST_PIXEL, duration)


def load(description: Description, source: Path, item: OsieTrial) -> Trial | None:
    if len(item.xy_px) == 0:
        return None
    frame = description.frame
    if frame is None:
        raise InputError(f"the description of {description.name} must give width_px and height_px")
    return Trial(
        item.name,
        str(item.subject),
        Scanpath(item.xy_px, frame, item.duration_ms),
        dataset=description.name,
        viewing_ms=description.viewing_ms,
    )
