"""Areas of interest: named boxes, polygons and masks, and which fixations lie in them.

Conventions
-----------
* Coordinates are px of the areas' frame, origin at the top left; gaze of another size is rescaled to it.
* A point is within a polygon by the even-odd rule. The left and top edge of a box belong to it, the others do not.
* Areas may overlap. Measures of an area do not depend on the others; where each fixation needs one area (transitions,
  scarf plots), the smallest of those around it is taken: a face within a person is a face.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stdiffeye.arrays import Ints, Points
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.types import Scanpath

ELSEWHERE = "elsewhere"
ALL_PICTURES = "*"  # in place of a picture's name: areas of every picture that is not named
FEWEST_CORNERS = 3


@dataclass(frozen=True, eq=False)
class Area:
    """One area of interest: a polygon, or the set pixels of a mask.

    Parameters
    ----------
    name : str
        Unique among the areas of a picture.
    polygon_px : array, shape (V, 2), optional
        Corners in order; a box has four.
    mask : array of bool, shape (H, W), optional
        Instead of a polygon: True inside. It covers the whole picture, at any resolution.

    Raises
    ------
    InputError
        Without a name, with fewer than three corners, with both shapes or none, or with a mask that is empty.

    Examples
    --------
    >>> Area.box("logo", 10, 20, 100, 40).contains([[10, 20], [110, 20]], Frame(200, 100)).tolist()
    [True, False]
    """

    name: str
    polygon_px: Points | None = None
    mask: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        if not self.name or self.name == ELSEWHERE:
            raise InputError(f"an area needs a name other than {ELSEWHERE!r}, got {self.name!r}")
        if (self.polygon_px is None) == (self.mask is None):
            raise InputError(f"area {self.name!r} needs a polygon or a mask, and not both")
        if self.polygon_px is not None:
            object.__setattr__(self, "polygon_px", _corners(self.name, self.polygon_px))
        else:
            mask = np.array(self.mask, dtype=bool)
            if mask.ndim != 2 or not mask.any():
                raise InputError(f"the mask of area {self.name!r} must be (H, W) with a set pixel, got {mask.shape}")
            mask.setflags(write=False)
            object.__setattr__(self, "mask", mask)

    @classmethod
    def box(cls, name: str, x_px: float, y_px: float, width_px: float, height_px: float) -> Area:
        """A box by its top left corner and its size.

        Parameters
        ----------
        name : str
            Name of the area.
        x_px, y_px : float
            Top left corner.
        width_px, height_px : float
            Size, above 0.

        Returns
        -------
        Area
            An area whose polygon is the box.
        """
        if not (width_px > 0 and height_px > 0):
            raise InputError(f"the box of area {name!r} must have a positive size, got {width_px:g}×{height_px:g} px")
        right, bottom = x_px + width_px, y_px + height_px
        return cls(name, np.array([[x_px, y_px], [right, y_px], [right, bottom], [x_px, bottom]], dtype=np.float64))

    def contains(self, xy_px: ArrayLike, frame: Frame) -> NDArray[np.bool_]:
        """Find which points lie inside.

        Parameters
        ----------
        xy_px : array_like, shape (M, 2)
            Points, in pixels of `frame`.
        frame : Frame
            Frame of the points; a mask is stretched to it.

        Returns
        -------
        array of bool, shape (M,)
            True where a point lies inside.
        """
        points = np.asarray(xy_px, dtype=np.float64).reshape(-1, 2)
        if self.mask is None:
            assert self.polygon_px is not None
            return _inside(points, self.polygon_px)
        height, width = self.mask.shape
        cells = np.floor(points * (width / frame.width_px, height / frame.height_px)).astype(np.int64)
        on_it = ((cells >= 0) & (cells < (width, height))).all(axis=1)
        x, y = np.where(on_it[:, None], cells, 0).T
        return on_it & self.mask[y, x]

    def share_of(self, frame: Frame) -> float:
        """Share of the frame's surface that the area covers.

        Parameters
        ----------
        frame : Frame
            Frame that the area lies in.

        Returns
        -------
        float
            0 to 1, where the area lies inside the frame.
        """
        if self.mask is not None:
            return float(self.mask.mean())
        assert self.polygon_px is not None
        x, y = self.polygon_px.T
        surface = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
        return surface / (frame.width_px * frame.height_px)

    def centre_of(self, frame: Frame) -> Points:
        """Where a label goes: the mean of the corners, or of the mask's pixels.

        Parameters
        ----------
        frame : Frame
            Frame that the area lies in.

        Returns
        -------
        array, shape (2,)
            x and y in pixels of `frame`.
        """
        if self.polygon_px is not None:
            return np.asarray(self.polygon_px.mean(axis=0))
        assert self.mask is not None
        y, x = np.nonzero(self.mask)
        return np.array([x.mean() / self.mask.shape[1], y.mean() / self.mask.shape[0]]) * frame.size_px


class Areas(Sequence[Area]):
    """The areas of interest of one picture.

    Parameters
    ----------
    areas : sequence of Area
        At least one; names are unique.
    frame : Frame, optional
        Size of the picture that the coordinates are px of; by default that of the gaze.

    Raises
    ------
    InputError
        Without an area, or where two have the same name.

    Examples
    --------
    >>> areas = Areas.boxes({"left": (0, 0, 50, 80), "right": (50, 0, 50, 80)}, Frame(100, 80))
    >>> areas.labels(Scanpath([[20, 30], [70, 50], [200, 10]], Frame(100, 80))).tolist()
    [0, 1, -1]
    """

    def __init__(self, areas: Sequence[Area], frame: Frame | None = None) -> None:
        self._areas = tuple(areas)
        self.frame = frame
        if not self._areas:
            raise InputError("there is no area of interest: name at least one")
        twice = {name for name in self.names if self.names.count(name) > 1}
        if twice:
            raise InputError(f"two areas are called {min(twice)!r}: each needs a name of its own")

    @classmethod
    def boxes(cls, boxes: Mapping[str, Sequence[float]], frame: Frame | None = None) -> Areas:
        """Make areas from boxes.

        Parameters
        ----------
        boxes : mapping of str to sequence of float
            Name → x, y, width, height in px.
        frame : Frame, optional
            Frame of the boxes; by default that of the gaze.

        Returns
        -------
        Areas
            One area per box, in order.
        """
        return cls([Area.box(name, *box) for name, box in boxes.items()], frame)

    @classmethod
    def of_labels(cls, labels: ArrayLike, names: Mapping[int, str] | None = None, frame: Frame | None = None) -> Areas:
        """Make areas from a label map: each value but 0 is an area.

        Parameters
        ----------
        labels : array_like, shape (H, W)
            One whole number per pixel.
        names : mapping of int to str, optional
            Value → name; other values are named by their number.
        frame : Frame, optional
            Frame that the map covers; by default that of the gaze.

        Returns
        -------
        Areas
            One area per value, ascending.
        """
        values = np.asarray(labels)
        found = [int(value) for value in np.unique(values) if value != 0]
        known = {} if names is None else names
        return cls([Area(known.get(value, str(value)), mask=values == value) for value in found], frame)

    @property
    def names(self) -> tuple[str, ...]:
        """Names in order."""
        return tuple(area.name for area in self._areas)

    @overload
    def __getitem__(self, index: int) -> Area: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Area]: ...

    def __getitem__(self, index: int | slice) -> Area | Sequence[Area]:
        return self._areas[index]

    def __len__(self) -> int:
        return len(self._areas)

    def __iter__(self) -> Iterator[Area]:
        return iter(self._areas)

    def __repr__(self) -> str:
        return f"Areas({', '.join(self.names)})"

    def inside(self, path: Scanpath) -> NDArray[np.bool_]:
        """Find in which areas each fixation lies.

        Parameters
        ----------
        path : Scanpath
            M fixations.

        Returns
        -------
        array of bool, shape (M, A)
            True where fixation m lies in area a; areas may overlap.
        """
        frame = self.frame or path.frame
        points = path.frame.rescale(path.xy_px, frame)
        return np.stack([area.contains(points, frame) for area in self._areas], axis=1)

    def labels(self, path: Scanpath) -> Ints:
        """Assign each fixation to one area, the smallest where several hold it.

        Parameters
        ----------
        path : Scanpath
            M fixations.

        Returns
        -------
        array, shape (M,)
            Number of the area; −1 outside of all.
        """
        frame = self.frame or path.frame
        sizes = np.array([area.share_of(frame) for area in self._areas])
        within = self.inside(path)
        smallest = np.where(within, sizes, np.inf).argmin(axis=1)
        return np.where(within.any(axis=1), smallest, -1)


def areas_for(areas: Areas | Mapping[str, Areas], name: str) -> Areas | None:
    """Look up the areas of one picture.

    Parameters
    ----------
    areas : Areas or mapping of str to Areas
        Areas of all pictures, or picture → areas.
    name : str
        The picture's file name; its stem is looked up too.

    Returns
    -------
    Areas or None
        None where the mapping has neither the picture nor an entry for all pictures.
    """
    if isinstance(areas, Areas):
        return areas
    stem = name.rpartition(".")[0] or name
    return areas.get(name) or areas.get(stem) or areas.get(ALL_PICTURES)


def _corners(name: str, polygon_px: ArrayLike) -> Points:
    corners = np.array(polygon_px, dtype=np.float64)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < FEWEST_CORNERS:
        raise InputError(f"the polygon of area {name!r} needs three or more corners (x, y), got shape {corners.shape}")
    if not np.isfinite(corners).all():
        raise InputError(f"the polygon of area {name!r} has a corner that is no number")
    corners.setflags(write=False)
    return corners


def _inside(points: Points, corners: Points) -> NDArray[np.bool_]:
    """Even-odd rule: a ray to the left crosses the outline an odd number of times."""
    (x, y), ahead = points.T[:, :, None], np.roll(corners, -1, axis=0)
    (x0, y0), (x1, y1) = corners.T, ahead.T
    spans = (y0 <= y) != (y1 <= y)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = x0 + (y - y0) * (x1 - x0) / (y1 - y0)
    return np.asarray((spans & (crossing <= x)).sum(axis=1) % 2 == 1)
