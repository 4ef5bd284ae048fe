"""A picture as it was uploaded: opened with care, since nobody knows what is in the file."""

from __future__ import annotations

import io

from PIL import Image, UnidentifiedImageError

from stdiffeye.encoders import load_picture
from stdiffeye.errors import InputError
from stdiffeye.io.pictures import PICTURE_FORMATS
from stdiffeye.web.limits import Limits

NO_PICTURE = "that file is not a picture that can be read here: expected JPEG, PNG, WebP, GIF, BMP, TIFF or AVIF"


def open_picture(data: bytes, limits: Limits) -> Image.Image:
    """The picture in an upload as RGB; what is too large is refused before its pixels are decoded."""
    if not data:
        raise InputError("the picture is empty: choose a file")
    try:
        opened = Image.open(io.BytesIO(data), formats=PICTURE_FORMATS)
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError):
        raise InputError(NO_PICTURE) from None
    image = load_picture(opened, limits.megapixels)
    if min(image.size) < limits.smallest_side_px:
        width, height = image.size
        raise InputError(
            f"the picture has {width}×{height} px: both sides need at least {limits.smallest_side_px}, "
            "there is nothing to see in less"
        )
    return image
