"""The picture under the gaze: positioned in the frame of the gaze, and dimmed so that marks stay readable."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.border import reading
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Placement
from stdiffeye.io.pictures import PICTURE_FORMATS, require_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Pixels = NDArray[np.uint8]  # (H, W, 3)

FITS = ("stretch", "letterbox", "centre")
# Nobody sees more in a figure, and a vector file would carry every pixel of a 3000 px photograph.
MAX_SIDE_PX = 1800
DIM = 0.3
BLANK = 0.96
LUMA = np.array([0.2126, 0.7152, 0.0722])
SCREEN_GREY = 0.5


@dataclass(frozen=True)
class Backdrop:
    """A picture in the gaze's frame.

    Attributes
    ----------
    pixels : ndarray of uint8, (H, W, 3), or None
        None for a blank frame.
    box_px : (float, float, float, float)
        Left, top, width and height of the picture in the frame, px.
    """

    pixels: Pixels | None
    box_px: tuple[float, float, float, float]

    def show(self, ax: Axes, frame: Frame, dim: float, grey: bool = False) -> None:
        """Draw the frame's area and the picture in it, darkened by the share `dim`, in grey if asked."""
        from matplotlib.patches import Rectangle

        face = (BLANK if self.pixels is None else SCREEN_GREY,) * 3
        ground = Rectangle((-0.5, -0.5), frame.width_px, frame.height_px, facecolor=face, edgecolor="#bbbbbb", lw=0.8)
        ground.set_zorder(0.2)
        ax.add_patch(ground)
        if self.pixels is not None:
            left, top, width, height = self.box_px
            limits = ax.get_xlim(), ax.get_ylim()
            extent = (left - 0.5, left + width - 0.5, top + height - 0.5, top - 0.5)
            shade = (self.pixels * (1 - dim)).astype(np.uint8)
            if grey:
                shade = np.repeat((shade @ LUMA)[..., None], 3, axis=2).astype(np.uint8)
            ax.imshow(shade, extent=extent, interpolation="antialiased", aspect="equal", zorder=0.5)
            ax.set(xlim=limits[0], ylim=limits[1])


def backdrop(picture: Any, frame: Frame, fit: str | None = None) -> Backdrop:
    """Position a picture in the gaze's frame.

    Parameters
    ----------
    picture : path, PIL image, ndarray or None
        Arrays are (H, W), (H, W, 3) or (H, W, 4), uint8 or floats in [0, 1].
    frame : Frame
        Frame of the gaze.
    fit : {"stretch", "letterbox", "centre"} or None
        "stretch" for the same picture at another size, "letterbox" for a picture shown as large as the screen allows.
        "centre" for one shown at its own size. None needs the same aspect ratio.

    Returns
    -------
    Backdrop
        The picture and its box.

    Raises
    ------
    InputError
        When aspect ratios differ and `fit` is None, or the picture cannot be read.
    """
    if picture is None:
        return Backdrop(None, (0, 0, frame.width_px, frame.height_px))
    pixels, (width, height) = open_picture(picture)
    if fit is not None and fit not in FITS:
        raise InputError(f"fit must be one of {', '.join(FITS)}, got {fit!r}")
    if fit is None and not frame.same_shape(Frame(width, height)):
        raise InputError(
            f"the picture is {width}×{height} px but the frame of the gaze {frame.width_px:g}×{frame.height_px:g} px, "
            f"which has another shape: give fit='letterbox' (shown as large as the screen allows), 'centre' (at its "
            f"own size) or 'stretch', or check that this is the right picture"
        )
    if fit in (None, "stretch"):
        return Backdrop(pixels, (0, 0, frame.width_px, frame.height_px))
    placement = Placement.letterbox if fit == "letterbox" else Placement.centred
    shown = placement(Frame(width, height), frame)
    return Backdrop(pixels, (shown.left_px, shown.top_px, shown.width_px, shown.height_px))


def open_picture(picture: Any, max_side_px: int = MAX_SIDE_PX) -> tuple[Pixels, tuple[int, int]]:
    """Return pixels for drawing, at most `max_side_px` long, and the picture's true size (width, height)."""
    image = as_image(picture)
    size = image.size
    scale = max_side_px / max(size)
    if scale < 1:
        image = image.resize((max(1, round(size[0] * scale)), max(1, round(size[1] * scale))))
    return np.asarray(image), size


def as_image(picture: Any) -> Any:
    """Return an RGB PIL image of a file, a PIL image or an array; transparent areas become white."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    if isinstance(picture, str | Path):
        with reading(picture):
            try:
                with Image.open(picture, formats=PICTURE_FORMATS) as opened:
                    require_size(picture, opened.size)
                    image = ImageOps.exif_transpose(opened)
                    image.load()
            except UnidentifiedImageError:
                raise InputError(f"{picture} is not a picture that can be read: expected JPEG, PNG, GIF …") from None
    elif isinstance(picture, Image.Image):
        image = picture
    else:
        image = Image.fromarray(_as_bytes(np.asarray(picture)))
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image.convert("RGBA"))
    if image.mode in ("I;16", "I", "F"):
        image = Image.fromarray(_stretch(np.asarray(image)))
    return image.convert("RGB")


def _as_bytes(pixels: NDArray[Any]) -> Pixels:
    if pixels.ndim not in (2, 3) or pixels.size == 0 or (pixels.ndim == 3 and pixels.shape[2] not in (3, 4)):
        raise InputError(f"a picture must have shape (H, W), (H, W, 3) or (H, W, 4), got {pixels.shape}")
    if pixels.dtype == np.uint8:
        return pixels
    if np.issubdtype(pixels.dtype, np.floating) and np.nanmin(pixels) >= 0 and np.nanmax(pixels) <= 1:
        return np.round(np.nan_to_num(pixels) * 255).astype(np.uint8)
    raise InputError(f"a picture must be uint8 or floats in [0, 1], got {pixels.dtype} up to {pixels.max()}")


def _stretch(pixels: NDArray[Any]) -> Pixels:
    """Scale grey values of more than 8 bits to 0 … 255."""
    low, high = float(pixels.min()), float(pixels.max())
    return ((pixels - low) * (255 / max(high - low, 1e-12))).astype(np.uint8)
