"""Picture files: which there are, where one lies, and whether it can be opened."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from stdiffeye.errors import InputError

MAX_MEGAPIXELS = 50.0
PICTURE_SUFFIXES = (
    ".avif", ".bmp", ".gif", ".jp2", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp",
)  # fmt: skip
PICTURE_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "PPM", "JPEG2000")
"""What Pillow decodes itself: EPS and its like are programs, which Pillow hands on to an interpreter."""


def find_picture(folder: str | Path, name: str) -> Path | None:
    """The picture called `name` in a folder, with or without one of the known suffixes; None when it is not there."""
    candidates = (Path(folder) / f"{name}{suffix}" for suffix in ("", *PICTURE_SUFFIXES))
    return next((path for path in candidates if path.is_file()), None)


@lru_cache(maxsize=65536)
def check_picture(path: Path) -> tuple[int, int]:
    """Width and height in px of a picture that can be opened and is of a reasonable size."""
    try:
        with Image.open(path, formats=PICTURE_FORMATS) as image:
            width_px, height_px = image.size
            image.verify()
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise InputError(f"{path} is not a picture that can be opened ({type(error).__name__})") from None
    if width_px * height_px > MAX_MEGAPIXELS * 1e6:
        size = f"{width_px}×{height_px} px"
        raise InputError(f"{path} has {size}, more than {MAX_MEGAPIXELS:g} megapixels: make it smaller")
    return width_px, height_px


def read_grey(path: Path) -> NDArray[np.uint8]:
    """(H, W) grey levels of a picture that can be opened."""
    check_picture(path)
    with Image.open(path, formats=PICTURE_FORMATS) as image:
        return np.asarray(image.convert("L"))
