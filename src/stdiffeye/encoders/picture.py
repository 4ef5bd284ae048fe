"""Any picture that users have, as 8-bit RGB, or one sentence on why not.

Conventions
-----------
* EXIF orientation is applied: the picture is turned as a viewer shows it.
* Transparent pictures lie on white, as in a browser.
* Of an animation the first frame counts.
* 16-bit values are divided by 257; floats are taken as 0..1, or as 0..255 when any exceeds 1.
* A picture beyond the size limit is refused from its header, before its pixels are decoded.
"""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageOps, UnidentifiedImageError

from stdiffeye.border import refuse_pipe
from stdiffeye.errors import InputError
from stdiffeye.io.pictures import MAX_MEGAPIXELS, PICTURE_FORMATS, PICTURE_SUFFIXES

Picture: TypeAlias = "str | Path | Image.Image | NDArray[Any]"


# A picture is only made smaller cheaply (in the JPEG decoder, or by box averages) down to this many times the size
# that is wanted; the proper resampling filter does the rest, so the shortcut cannot be seen in the result.
REDUCING_GAP = 2.0

_WHITE = (255, 255, 255, 255)
_UINT16_PER_UINT8 = 257
_BYTES = 255
_GREY_SHARE = 0.3
_JITTER_FACTORS = (0.7, 1.3)
# What Pillow's many decoders throw at broken files.
_BROKEN = (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError, RuntimeError)


def load_picture(
    source: Picture, max_megapixels: float = MAX_MEGAPIXELS, shrink_to_px: tuple[int, int] | None = None
) -> Image.Image:
    """Open a picture of any format and mode as RGB, 8 bits per channel.

    Parameters
    ----------
    source
        A file, a PIL image, or an array (H, W), (H, W, 1), (H, W, 3) or (H, W, 4).
    max_megapixels
        Larger pictures are refused before decoding. Pillow itself never opens more than 178.
    shrink_to_px
        (width, height) that the caller will resize to; a large JPEG is then decoded at a fraction of its size, never
        below `REDUCING_GAP` times the one given.

    Examples
    --------
    >>> load_picture(np.zeros((2, 3), np.uint16)).size
    (3, 2)
    """
    if isinstance(source, str | Path):
        return _from_file(Path(source), max_megapixels, shrink_to_px)
    if not isinstance(source, Image.Image | np.ndarray):
        raise InputError(f"a picture is a file, a PIL image or an array, got {type(source).__name__}")
    name = "the array" if isinstance(source, np.ndarray) else "the picture"
    image = _from_array(source) if isinstance(source, np.ndarray) else source
    _check_size(name, image.size, max_megapixels)
    with _explained(name):
        return _to_rgb(ImageOps.exif_transpose(image), name)


def squash(source: Picture, height_px: int, width_px: int, flip: bool = False) -> NDArray[np.uint8]:
    """Load a picture and stretch it to a size, aspect not kept; optionally mirrored left to right.

    Returns
    -------
    array of uint8, shape (height, width, 3)
        Red, green and blue.
    """
    image = load_picture(source, shrink_to_px=(width_px, height_px))
    image = image.resize((width_px, height_px), Image.Resampling.BICUBIC, reducing_gap=REDUCING_GAP)
    pixels = np.asarray(image)
    return np.ascontiguousarray(pixels[:, ::-1] if flip else pixels)


def colour_jittered(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """The picture brighter or darker, with more or less contrast and colour, or without any colour.

    Viewers fixate the same positions, so training may see it either way.
    """
    if rng.random() < _GREY_SHARE:
        image = image.convert("L").convert("RGB")
    enhancers = (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color)
    for enhancer, factor in zip(enhancers, rng.uniform(*_JITTER_FACTORS, size=len(enhancers)), strict=True):
        image = enhancer(image).enhance(float(factor))
    return image


def find_pictures(folder: str | Path) -> list[Path]:
    """All picture files below a folder, by suffix, sorted."""
    return sorted(
        path for path in Path(folder).rglob("*") if path.suffix.lower() in PICTURE_SUFFIXES and path.is_file()
    )


def _from_file(path: Path, max_megapixels: float, shrink_to_px: tuple[int, int] | None) -> Image.Image:
    if path.is_dir():
        raise InputError(f"{path} is a folder, expected a picture file")
    refuse_pipe(path)
    try:
        with _explained(str(path)), path.open("rb") as file, _opened(file) as image:
            _check_size(str(path), image.size, max_megapixels)
            if shrink_to_px is not None:
                _draft(image, shrink_to_px)
            return _to_rgb(ImageOps.exif_transpose(image), str(path))
    except FileNotFoundError:
        raise InputError(f"there is no picture {path}: check the name") from None
    except Image.DecompressionBombError:
        raise InputError(
            f"{path} has more pixels than the limit of {max_megapixels:g} megapixels: make it smaller first"
        ) from None


def _opened(file: IO[bytes]) -> Image.Image:
    with warnings.catch_warnings():  # our own limit speaks instead of Pillow's
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        return Image.open(file, formats=PICTURE_FORMATS)


def _check_size(name: str, size_px: tuple[int, int], max_megapixels: float) -> None:
    width, height = size_px
    if width < 1 or height < 1:
        raise InputError(f"{name} is empty ({width}×{height} px), expected at least 1×1 px")
    megapixels = width * height / 1e6
    if megapixels > max_megapixels:
        raise InputError(
            f"{name} has {width}×{height} px ({megapixels:.0f} megapixels), the limit is {max_megapixels:g}: "
            "make it smaller first"
        )


@contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except (InputError, FileNotFoundError, PermissionError, MemoryError):
        raise
    except UnidentifiedImageError:
        raise InputError(f"{name} is not a picture that Pillow can read (PNG, JPEG, WebP, TIFF, …)") from None
    except (*_BROKEN, struct.error, zlib.error) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{name} is broken or cut short and cannot be decoded: {reason}") from None


def _draft(image: Image.Image, size_px: tuple[int, int]) -> None:
    # Before decoding the picture may still lie on its side, so both sides must be large enough for either.
    side = int(max(size_px) * REDUCING_GAP)
    image.draft(None, (side, side))


def _to_rgb(image: Image.Image, name: str) -> Image.Image:
    if image.mode in ("I", "F") or image.mode.startswith("I;"):
        return _from_array(np.asarray(image), name).convert("RGB")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, _WHITE), image).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")


def _from_array(values: NDArray[Any], name: str = "the array") -> Image.Image:
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[:, :, 0]
    if not (values.ndim == 2 or (values.ndim == 3 and values.shape[2] in (3, 4))):
        raise InputError(f"{name} has shape {values.shape}, expected (H, W), (H, W, 3) or (H, W, 4)")
    if values.size == 0:
        raise InputError(f"{name} is empty (shape {values.shape}), expected at least 1×1 px")
    return Image.fromarray(np.ascontiguousarray(_to_uint8(values, name)))


def _to_uint8(values: NDArray[Any], name: str) -> NDArray[np.uint8]:
    if values.dtype == np.uint8:
        return values
    if values.dtype == np.bool_:
        return values.astype(np.uint8) * np.uint8(_BYTES)
    if not (np.issubdtype(values.dtype, np.integer) or np.issubdtype(values.dtype, np.floating)):
        raise InputError(f"{name} holds {values.dtype}, expected numbers")
    if not np.isfinite(values).all():
        raise InputError(f"{name} holds NaN or infinity, expected brightness values")
    low, high = values.min(), values.max()
    if np.issubdtype(values.dtype, np.floating):
        limit, scale = (1, 1 / _BYTES) if high <= 1 else (_BYTES, 1)
    else:
        limit, scale = (_BYTES, 1) if high <= _BYTES and values.dtype != np.uint16 else (65535, _UINT16_PER_UINT8)
    if low < 0 or high > limit:
        raise InputError(f"{name} holds values from {low:g} to {high:g}, expected 0 to {limit}")
    return np.rint(values / scale).astype(np.uint8)
