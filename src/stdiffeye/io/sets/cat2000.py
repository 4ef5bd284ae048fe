"""CAT2000: images/CATEGORY/NNN.jpg with FIXATIONLOCS/CATEGORY/NNN.mat (`fixLocs`) or saliency map/CATEGORY/NNN.jpg.

A picture with neither is counted as dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Trial
from stdiffeye.io.descriptions import Description
from stdiffeye.io.matlab import read_mat
from stdiffeye.io.pictures import read_grey
from stdiffeye.io.sets.fixation_maps import fixated_pixels, pooled_trial, sample_map

LOCATIONS, MAPS = "FIXATIONLOCS", "saliency map"


def items(description: Description, source: Path) -> Iterator[str]:
    """Names of the pictures, CATEGORY/NNN.jpg."""
    folder = source / description.pictures
    yield from (path.relative_to(folder).as_posix() for path in sorted(folder.glob("*/*.jpg")))


def load(description: Description, source: Path, item: str) -> Trial | None:
    locations, smooth = source / LOCATIONS / Path(item).with_suffix(".mat"), source / MAPS / item
    if locations.is_file():
        pixels = _fixation_locations(locations)
        xy_px = fixated_pixels(pixels)
    elif smooth.is_file():
        pixels = read_grey(smooth)
        xy_px = sample_map(pixels)
    else:
        return None
    if len(xy_px) == 0:
        return None
    height_px, width_px = pixels.shape
    frame = Frame(width_px, height_px, description.px_per_degree)
    return pooled_trial(description, item, xy_px, frame, "")


def _fixation_locations(path: Path) -> NDArray[np.uint8]:
    pixels = np.asarray(read_mat(path).get("fixLocs"))
    if pixels.ndim != 2 or not np.issubdtype(pixels.dtype, np.number):
        raise InputError(f"{path} holds no map fixLocs: is it a file of CAT2000?")
    return (pixels != 0).astype(np.uint8)
