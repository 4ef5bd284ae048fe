"""Where coordinates live, and the only place where they are converted.

Origin at the top left corner, x to the right, y down, pixel centres at whole numbers, 0-based.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stdiffeye.arrays import Points
from stdiffeye.errors import InputError

LARGEST_PX = 1e9
"""Beyond it no gaze is meant, and sums of squares lose their precision."""
FASTEST_HZ = 1e6
ASPECT_TOLERANCE = 0.02  # of the logarithm of width over height: pictures are rounded to whole pixels


@dataclass(frozen=True)
class Frame:
    """A rectangle that gaze is measured in: a screen or a picture.

    Parameters
    ----------
    width_px, height_px : float
        Its size.
    px_per_degree : float, optional
        Pixels per degree of visual angle, where the viewing distance is known.

    Raises
    ------
    InputError
        When one of them is not a positive number.

    Examples
    --------
    >>> osie = Frame(800, 600, px_per_degree=24)
    >>> osie.rescale([400, 300], to=Frame(512, 384)).tolist()
    [256.0, 192.0]
    """

    width_px: float
    height_px: float
    px_per_degree: float | None = None

    def __post_init__(self) -> None:
        for name in ("width_px", "height_px", "px_per_degree"):
            value = getattr(self, name)
            if value is None and name == "px_per_degree":
                continue
            number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            if not (number and 0 < value <= LARGEST_PX):
                raise InputError(f"Frame.{name} must be a positive number, got {value!r:.60}")

    @property
    def diagonal_px(self) -> float:
        """Length of the diagonal."""
        return float(np.hypot(self.width_px, self.height_px))

    @property
    def centre_px(self) -> Points:
        """(2,) x and y of the middle."""
        return np.array([self.width_px / 2, self.height_px / 2])

    @property
    def size_px(self) -> Points:
        """(2,) width and height."""
        return np.array([self.width_px, self.height_px], dtype=np.float64)

    def normalise(self, xy_px: ArrayLike) -> Points:
        """Convert pixels to [0, 1] × [0, 1] of this frame.

        Parameters
        ----------
        xy_px : array_like, shape (…, 2)
            Positions in pixels.

        Returns
        -------
        array, shape (…, 2)
            The same, as shares of width and height.
        """
        return as_points(xy_px) / self.size_px

    def denormalise(self, xy: ArrayLike) -> Points:
        """Convert [0, 1] × [0, 1] of this frame to pixels.

        Parameters
        ----------
        xy : array_like, shape (…, 2)
            Positions as shares of width and height.

        Returns
        -------
        array, shape (…, 2)
            The same in pixels.
        """
        return as_points(xy) * self.size_px

    def to_degrees(self, xy_px: ArrayLike) -> Points:
        """Convert pixels to degrees of visual angle from the frame's centre.

        Parameters
        ----------
        xy_px : array_like, shape (…, 2)
            Positions in pixels.

        Returns
        -------
        array, shape (…, 2)
            Degrees; x to the right, y down.

        Raises
        ------
        InputError
            When the frame has no `px_per_degree`.
        """
        return (as_points(xy_px) - self.centre_px) / self.require_px_per_degree()

    def rescale(self, xy_px: ArrayLike, to: Frame) -> Points:
        """Convert pixels of this frame to pixels of another that shows the same thing.

        Parameters
        ----------
        xy_px : array_like, shape (…, 2)
            Positions in this frame.
        to : Frame
            The other frame; gaze is stretched where its shape differs.

        Returns
        -------
        array, shape (…, 2)
            Positions in `to`.
        """
        return as_points(xy_px) * (to.size_px / self.size_px)

    def resized(self, width_px: float, height_px: float) -> Frame:
        """Make the frame of the same thing shown at another size.

        Parameters
        ----------
        width_px, height_px : float
            The new size.

        Returns
        -------
        Frame
            Its px per degree follow the width.
        """
        scale = width_px / self.width_px
        return Frame(width_px, height_px, None if self.px_per_degree is None else self.px_per_degree * scale)

    def same_shape(self, other: Frame) -> bool:
        """Tell whether two frames have the same aspect ratio, up to rounding to whole pixels.

        Parameters
        ----------
        other : Frame
            The other frame.

        Returns
        -------
        bool
            True within 2 %.
        """
        ratio = (self.width_px * other.height_px) / (self.height_px * other.width_px)
        return bool(abs(np.log(ratio)) <= ASPECT_TOLERANCE)

    def contains(self, xy_px: ArrayLike) -> NDArray[np.bool_]:
        """Find which points lie inside.

        Parameters
        ----------
        xy_px : array_like, shape (…, 2)
            Positions in pixels.

        Returns
        -------
        array of bool, shape (…)
            False for NaN.
        """
        xy = as_points(xy_px)
        with np.errstate(invalid="ignore"):
            return np.asarray(((xy >= 0) & (xy < self.size_px)).all(axis=-1))

    def require_px_per_degree(self) -> float:
        """Pixels per degree, which must be known.

        Returns
        -------
        float
            Pixels per degree of visual angle.

        Raises
        ------
        InputError
            When the frame has none.
        """
        if self.px_per_degree is None:
            raise InputError(f"{self} has no px_per_degree: degrees of visual angle need Frame(…, px_per_degree=…)")
        return self.px_per_degree


@dataclass(frozen=True)
class Placement:
    """A picture shown on a screen: `image` fills the box (left, top, width, height) of `screen`.

    Parameters
    ----------
    image, screen : Frame
        The picture at its own size, and the screen.
    left_px, top_px, width_px, height_px : float
        The box on the screen.

    Examples
    --------
    >>> shown = Placement.letterbox(Frame(640, 480), Frame(1680, 1050))
    >>> shown.to_image([840, 525]).tolist()
    [320.0, 240.0]
    """

    image: Frame
    screen: Frame
    left_px: float
    top_px: float
    width_px: float
    height_px: float

    def __post_init__(self) -> None:
        if not (self.width_px > 0 and self.height_px > 0):
            raise InputError(f"Placement needs a box of positive size, got {self.width_px} × {self.height_px} px")

    @classmethod
    def letterbox(cls, image: Frame, screen: Frame) -> Placement:
        """Show the picture as large as fits, centred, aspect kept: what most experiments do.

        Parameters
        ----------
        image : Frame
            The picture at its own size.
        screen : Frame
            The screen.

        Returns
        -------
        Placement
            Where the picture lies on the screen.
        """
        scale = min(screen.width_px / image.width_px, screen.height_px / image.height_px)
        width, height = image.width_px * scale, image.height_px * scale
        return cls(image, screen, (screen.width_px - width) / 2, (screen.height_px - height) / 2, width, height)

    @classmethod
    def centred(cls, image: Frame, screen: Frame) -> Placement:
        """Show the picture at its own size in the middle of the screen.

        Parameters
        ----------
        image : Frame
            The picture at its own size.
        screen : Frame
            The screen.

        Returns
        -------
        Placement
            Where the picture lies on the screen.
        """
        left, top = (screen.size_px - image.size_px) / 2
        return cls(image, screen, float(left), float(top), image.width_px, image.height_px)

    @property
    def scale(self) -> Points:
        """Screen px per image px, (2,)."""
        return np.array([self.width_px, self.height_px]) / self.image.size_px

    def to_image(self, screen_xy_px: ArrayLike) -> Points:
        """Convert pixels of the screen to pixels of the picture.

        Parameters
        ----------
        screen_xy_px : array_like, shape (…, 2)
            Positions on the screen.

        Returns
        -------
        array, shape (…, 2)
            Positions in the picture; outside of it negative or too large.
        """
        return (as_points(screen_xy_px) - [self.left_px, self.top_px]) / self.scale


def as_points(xy: ArrayLike) -> Points:
    """Convert anything with a last axis (x, y) to float64.

    Parameters
    ----------
    xy : array_like, shape (…, 2)
        Positions.

    Returns
    -------
    array, shape (…, 2)
        The same numbers.

    Raises
    ------
    InputError
        When the last axis is not of length 2.
    """
    points = np.asarray(xy, dtype=np.float64)
    if points.ndim == 0 or points.shape[-1] != 2:
        raise InputError(f"points need a last axis of length 2 (x, y), got shape {points.shape}")
    return points


def require_px(xy_px: Points, what: str) -> None:
    """Refuse positions that cannot be pixels of anything.

    Parameters
    ----------
    xy_px : array, shape (…, 2)
        Positions; NaN, a lost sample, is fine.
    what : str
        What they are, for the message.

    Raises
    ------
    InputError
        When one is infinite or beyond `LARGEST_PX`.
    """
    if np.isinf(xy_px).any():
        raise InputError(f"{what} holds an infinite value")
    if xy_px.size and np.nanmax(np.abs(xy_px), initial=0) > LARGEST_PX:
        raise InputError(f"{what} holds {np.nanmax(np.abs(xy_px)):g} px, expected at most {LARGEST_PX:g}")
