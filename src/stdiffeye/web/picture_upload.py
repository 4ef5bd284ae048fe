"""A picture as it was uploaded: opened with care, since nobody knows what is in the file."""

from __future__ import annotations

import io

from PIL import Image, UnidentifiedImageError

from stdiffeye.encoders import load_picture
from stdiffeye.errors import InputError
from stdiffeye.io.pictures import PICTURE_FORMATS
from stdiffeye.web.limits import Limits

JPEG_DIVISORS = (1, 2, 4, 8)
NO_PICTURE = "that file is not a picture that can be read here: expected JPEG, PNG, WebP, GIF, BMP, TIFF or AVIF"


def open_picture(data: bytes, limits: Limits) -> Image.Image:
    """The picture in an upload as RGB.

    What is too large is made smaller while it is decoded where its format allows that (JPEG), and refused before that
    elsewhere. The page makes any picture smaller before it sends it.
    """
    if not data:
        raise InputError("the picture is empty: choose a file")
    try:
        opened = Image.open(io.BytesIO(data), formats=PICTURE_FORMATS)
    except Image.DecompressionBombError:
        raise InputError("the picture has more pixels than can be opened here: make it smaller") from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):
        raise InputError(NO_PICTURE) from None
    _shrink_while_decoding(opened, limits.megapixels)
    image = load_picture(opened, limits.megapixels)
    if min(image.size) < limits.smallest_side_px:
        width, height = image.size
        raise InputError(
            f"the picture has {width}×{height} px: both sides need at least {limits.smallest_side_px}, "
            "there is nothing to see in less"
        )
    return image


def _shrink_while_decoding(image: Image.Image, megapixels: float) -> None:
    """Have a JPEG decoded at 1/2, 1/4 or 1/8 of its size, where it would be larger than the limit."""
    width, height = image.size
    for divisor in JPEG_DIVISORS:
        if width * height / divisor**2 <= megapixels * 1e6:
            image.draft(None, (-(-width // divisor), -(-height // divisor)))
            return
