"""MIT1003 in its original layout: DATA/<viewer>/<picture>.mat and ALLSTIMULI/<picture>.jpeg.

Each .mat holds one struct named after the picture, cut at the 63 characters that MATLAB allows; its
`DATA(1).eyeData` is N × 2 px of the picture at 240 Hz, negative where the eye was lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Trajectory, Trial
from stdiffeye.io.descriptions import Description, picture_path
from stdiffeye.io.matlab import read_mat
from stdiffeye.io.pictures import check_picture

LONGEST_MATLAB_NAME = 63


class Mit1003File(NamedTuple):
    subject: str
    path: Path


def items(description: Description, source: Path) -> Iterator[Mit1003File]:
    for folder in sorted(path for path in (source / "DATA").iterdir() if path.is_dir()):
        for path in sorted(folder.glob("*.mat")):
            yield Mit1003File(folder.name, path)


def load(description: Description, source: Path, item: Mit1003File) -> Trial | None:
    xy_px = eye_data(item.path)
    if len(xy_px) == 0:
        return None
    pictures = source / description.pictures
    picture = picture_path(description, pictures, f"{item.path.stem}.jpeg", "")
    if picture is None:
        raise InputError(
            f"the picture of {item.path} is missing: expected {pictures / (item.path.stem + '.jpeg')}; "
            "its size is the gaze's frame"
        )
    width_px, height_px = check_picture(pictures / picture)
    frame = Frame(width_px, height_px, description.px_per_degree)
    return Trial(
        picture,
        item.subject,
        trajectory=Trajectory(xy_px, description.rate_hz or 0, frame),
        dataset=description.name,
        viewing_ms=description.viewing_ms,
    )


def eye_data(path: Path) -> NDArray[np.float64]:
    """(N, 2) gaze in px of one file, NaN where lost."""
    structs = read_mat(path)
    named = path.stem[:LONGEST_MATLAB_NAME]
    struct = structs.get(named, next(iter(structs.values()), None))
    try:
        values = _first(_first(struct).DATA).eyeData
        xy_px = np.array(values, dtype=np.float64)
        xy_px = xy_px.reshape(-1, 2) if xy_px.size <= 2 else xy_px[:, :2].copy()
    except (AttributeError, IndexError, TypeError, ValueError):
        raise InputError(f"{path} holds no {named}.DATA(1).eyeData with x and y: is it a file of MIT1003?") from None
    xy_px[(xy_px < 0).any(axis=1)] = np.nan
    return xy_px


def _first(value: Any) -> Any:
    """MATLAB's value(1); a lone struct comes without an array around it."""
    return value.ravel()[0] if isinstance(value, np.ndarray) else value
