"""DOVES: raw gaze at 200 Hz in one .npz: xy (N, 2) px, offsets, image, subject, split, rate_hz, px_per_degree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Trajectory, Trial
from stdiffeye.io.descriptions import Description
from stdiffeye.io.npz import read_npz

KEYS = ("xy", "offsets", "image", "subject", "split", "rate_hz", "px_per_degree", "width", "height")


class DovesTrial(NamedTuple):
    image: str
    subject: str
    split: str
    rate_hz: float
    frame: Frame
    xy_px: NDArray[np.float32]  # (T, 2)


def items(description: Description, source: Path) -> Iterator[DovesTrial]:
    path = source / description.files[0].path
    arrays = read_npz(path, KEYS)
    offsets = arrays["offsets"]
    rising = offsets[0] == 0 and (np.diff(offsets) >= 0).all()
    if len(offsets) != len(arrays["image"]) + 1 or offsets[-1] != len(arrays["xy"]) or not rising:
        raise InputError(f"{path}: offsets do not fit {len(arrays['image'])} trials of {len(arrays['xy'])} samples")
    frame = Frame(float(arrays["width"]), float(arrays["height"]), float(arrays["px_per_degree"]))
    for number in range(len(offsets) - 1):
        name, subject, split = (str(arrays[key][number]) for key in ("image", "subject", "split"))
        xy_px = arrays["xy"][offsets[number] : offsets[number + 1]]
        yield DovesTrial(name, subject, split, float(arrays["rate_hz"]), frame, xy_px)


def load(description: Description, source: Path, item: DovesTrial) -> Trial | None:
    if len(item.xy_px) == 0:
        return None
    return Trial(
        f"{item.image}.jpg",
        item.subject,
        trajectory=Trajectory(item.xy_px.astype(np.float64), item.rate_hz, item.frame),
        dataset=description.name,
        split=item.split,
        viewing_ms=description.viewing_ms,
    )
