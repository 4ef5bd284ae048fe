"""Pictures are looked at before they are relied on."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from stdiffeye.errors import InputError

MAX_MEGAPIXELS = 50.0


@lru_cache(maxsize=65536)
def check_picture(path: Path) -> tuple[int, int]:
    """Width and height in px of a picture that can be opened and is of a reasonable size."""
    try:
        with Image.open(path) as image:
            width_px, height_px = image.size
            image.verify()
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise InputError(f"{path} is not a picture that can be opened ({type(error).__name__})") from None
    if width_px * height_px > MAX_MEGAPIXELS * 1e6:
        size = f"{width_px}×{height_px} px"
        raise InputError(f"{path} has {size}, more than {MAX_MEGAPIXELS:g} megapixels: make it smaller")
    return width_px, height_px
