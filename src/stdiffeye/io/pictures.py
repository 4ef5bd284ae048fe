"""Picture files: which there are, where one lies, and whether it can be opened.

A gaze file may name pictures in its own folder and below it only. What it names elsewhere is not opened: whoever made
the file could have any picture of the user's drawn under gaze, and passed on. Nor does a file that is written say
where on the disk a picture lies.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePath, PureWindowsPath

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from stdiffeye.border import printable, reading
from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial

MAX_MEGAPIXELS = 50.0
LONGEST_SHOWN = 60
PICTURE_SUFFIXES = (
    ".avif", ".bmp", ".gif", ".jp2", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp",
)  # fmt: skip
PICTURE_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "PPM", "JPEG2000")
"""What Pillow decodes itself: EPS and its like are programs, which Pillow hands on to an interpreter."""


def find_picture(folder: str | Path, name: str) -> Path | None:
    """The picture called `name` in a folder, with or without one of the known suffixes; None when it is not there."""
    candidates = (inside(Path(folder), f"{name}{suffix}") for suffix in ("", *PICTURE_SUFFIXES))
    return next((path for path in candidates if path is not None and path.is_file()), None)


def inside(folder: Path, word: str) -> Path | None:
    """What a word names in a folder or below it; None where it leads out, also by a link."""
    named = PurePath(word)
    if not word or named.is_absolute() or PureWindowsPath(word).drive or ".." in PureWindowsPath(word).parts:
        return None
    path = folder / named
    return path if path.resolve().is_relative_to(folder.resolve()) else None


def picture_word(picture: Path, folder: Path | None) -> str:
    """How a file in a folder names a picture: relative to the folder, or by its name alone when it lies elsewhere."""
    if folder is not None and picture.absolute().is_relative_to(folder.absolute()):
        return printable(picture.absolute().relative_to(folder.absolute()).as_posix())
    return printable(picture.name)


def with_pictures_inside(trials: Sequence[Trial], path: str | Path) -> list[Trial]:
    """Trials of a gaze file with the pictures that it names in its own folder, and none from elsewhere."""
    folder = Path(path).parent
    found: dict[Path, Path | None] = {}
    for trial in trials:
        if trial.picture is not None and trial.picture not in found:
            found[trial.picture] = inside(folder, str(trial.picture))
    outside = next((named for named, picture in found.items() if picture is None), None)
    if outside is not None:
        shown = str(outside)[:LONGEST_SHOWN]
        warnings.warn(f"{path} names pictures outside its folder ({shown}), which are not opened", stacklevel=3)
    return [one if one.picture is None else replace(one, picture=found[one.picture]) for one in trials]


@lru_cache(maxsize=65536)
def check_picture(path: Path) -> tuple[int, int]:
    """Width and height in px of a picture that can be opened and is of a reasonable size."""
    with reading(path):
        try:
            with Image.open(path, formats=PICTURE_FORMATS) as image:
                size_px = image.size
                image.verify()
        except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
            raise InputError(f"{path} is not a picture that can be opened ({type(error).__name__})") from None
    require_size(path, size_px)
    return size_px


def require_size(path: str | Path, size_px: tuple[int, int]) -> None:
    """Refuse a picture of more pixels than are looked at, before they are decoded."""
    width_px, height_px = size_px
    if width_px * height_px > MAX_MEGAPIXELS * 1e6:
        size = f"{width_px}×{height_px} px"
        raise InputError(f"{path} has {size}, more than {MAX_MEGAPIXELS:g} megapixels: make it smaller")


def read_grey(path: Path) -> NDArray[np.uint8]:
    """(H, W) grey levels of a picture that can be opened."""
    check_picture(path)
    with Image.open(path, formats=PICTURE_FORMATS) as image:
        return np.asarray(image.convert("L"))
