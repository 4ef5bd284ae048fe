"""Gaze drawn over the picture: scanpaths as numbered circles and arrows, trajectories as a line coloured by time.

All sizes of marks follow the size of the axes on paper, never the picture's pixels, so that a 300 px and a 3000 px
picture give the same drawing. Every mark has a light rim and a dark one: one of the two stands out on any picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.gaze import Frame, Scanpath, Trajectory
from stdiffeye.plotting.canvas import figure_of, points_per_px, size_pt
from stdiffeye.plotting.colours import by_time, text_on, time_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Radii of circles as shares of the square root of the frame's area on paper.
RADIUS_SMALLEST, RADIUS_LARGEST = 0.016, 0.042
RADIUS_WITHOUT_DURATION = 0.024
# A fixation of this length has the largest circle; areas are proportional to duration below it.
LONGEST_MS = 800.0
RIM_SHARE = 0.07
SMALLEST_FONT_PT = 5.0
MARGIN_LIMIT = 0.25
# Rims reach a little beyond a circle's radius.
WITH_RIM = 1.15
# The bar of time: its height, and the room around it, as shares of the square root of the frame's area on paper.
BAR_HEIGHT, BAR_ROOM = 0.018, 0.035


@dataclass(frozen=True)
class Marks:
    """Sizes on paper, in points, for one pair of axes."""

    side_pt: float

    @classmethod
    def of(cls, ax: Axes, frame: Frame) -> Marks:
        return cls(points_per_px(ax) * float(np.sqrt(frame.width_px * frame.height_px)))

    def radii_pt(self, scanpath: Scanpath) -> Floats:
        """(M,) radius of each fixation's circle."""
        return radius_shares(scanpath) * self.side_pt

    @property
    def line_pt(self) -> float:
        return max(0.6, 0.0042 * self.side_pt)

    @property
    def font_pt(self) -> float:
        return max(SMALLEST_FONT_PT, 0.024 * self.side_pt)


def radius_shares(scanpath: Scanpath) -> Floats:
    """Return (M,) radii of circles, areas proportional to duration, as shares of √(frame's area)."""
    if scanpath.duration_ms is None:
        return np.full(len(scanpath), RADIUS_WITHOUT_DURATION)
    share = np.sqrt(np.clip(scanpath.duration_ms / LONGEST_MS, 0, 1))
    return np.maximum(share * RADIUS_LARGEST, RADIUS_SMALLEST)


def circles_px(scanpath: Scanpath) -> Floats:
    """Return (2M, 2) the upper left and the lower right corner of the box around each fixation's circle."""
    radii_px = radius_shares(scanpath)[:, None] * (WITH_RIM * float(np.sqrt(scanpath.frame.size_px.prod())))
    return np.concatenate([scanpath.xy_px - radii_px, scanpath.xy_px + radii_px])


def view_px(frame: Frame, points_px: list[Floats], room_px: float | None = None) -> tuple[float, float, float, float]:
    """Return left, right, top and bottom of the shown area: the frame, and so much beyond that no mark is cut.

    Marks extend `room_px` around their points, by default as far as the largest circle. At most a quarter of the frame
    is added on each side, so that an outlier of the tracker does not make the picture tiny.
    """
    size = frame.size_px
    room = RADIUS_LARGEST * float(np.sqrt(size.prod())) * WITH_RIM if room_px is None else room_px
    seen = [xy[np.isfinite(xy).all(axis=1)] for xy in points_px]
    xy = np.concatenate([points for points in seen if len(points)] or [size[None] / 2])
    left, top = np.clip(xy.min(axis=0) - room, -MARGIN_LIMIT * size, 0) - 0.5
    right, bottom = np.clip(xy.max(axis=0) + room, size, (1 + MARGIN_LIMIT) * size) - 0.5
    return float(left), float(right), float(top), float(bottom)


def set_view(ax: Axes, frame: Frame, points_px: list[Floats]) -> None:
    """Set axes to equal aspect without ticks, y down, so that they show the frame and the points beyond it."""
    left, right, top, bottom = view_px(frame, points_px, room_px=0.0)
    ax.set_aspect("equal")
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    ax.set_axis_off()


def draw_scanpath(ax: Axes, scanpath: Scanpath, colour: Any = None, numbers: bool = True, hollow: bool = False) -> None:
    """Draw numbered circles, area by duration, joined by arrows.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes whose view is set.
    scanpath : Scanpath
        In the frame of the axes.
    colour : str, optional
        One colour for all; by default by time.
    numbers : bool
        Number the fixations.
    hollow : bool
        Rings without filling, for use over a trajectory.
    """
    marks = Marks.of(ax, scanpath.frame)
    radii_pt = marks.radii_pt(scanpath)
    faces = by_time(time_share(scanpath)) if colour is None else [colour] * len(scanpath)
    if not hollow:
        _arrows(ax, scanpath.xy_px, radii_pt, marks, "white" if colour is None else colour)
    _circles(ax, scanpath.xy_px, radii_pt, faces, hollow)
    if numbers:
        _numbers(ax, scanpath.xy_px, radii_pt, marks, faces, hollow)


def draw_trajectory(ax: Axes, trajectory: Trajectory, colour: Any = None) -> Any:
    """The gaze's path, coloured by time (or one colour), broken where the eye was lost; returns the coloured line."""
    from matplotlib.collections import LineCollection

    marks = Marks.of(ax, trajectory.frame)
    xy = trajectory.xy_px
    segments = np.stack([xy[:-1], xy[1:]], axis=1)
    whole = np.isfinite(segments).all(axis=(1, 2))
    ends = {"capstyle": "round", "joinstyle": "round"}
    width = marks.line_pt
    for rim_pt, rim in ((width * 2.4, "black"), (width * 1.7, "white")):
        ax.plot(*xy.T, color=rim, linewidth=rim_pt, alpha=0.85, solid_capstyle="round", zorder=2)
    line = LineCollection(list(segments[whole]), linewidths=width, zorder=2.2, **ends)
    if colour is None:
        line.set_array(trajectory.time_ms[1:][whole] / 1000)
        line.set_cmap(time_scale())
        line.set_clim(0, trajectory.duration_ms / 1000)
    else:
        line.set_color(colour)
    ax.add_collection(line, autolim=False)
    return line


def time_bar(ax: Axes, line: Any, trajectory: Trajectory) -> None:
    """Draw a small legend of the colours of time, in the corner with the least gaze."""
    from matplotlib.patheffects import withStroke

    marks = Marks.of(ax, trajectory.frame)
    font = marks.font_pt
    inset = ax.inset_axes(_emptiest_corner(ax, trajectory.xy_px, marks))
    bar = figure_of(ax).colorbar(line, cax=inset, orientation="horizontal", ticks=[])
    bar.outline.set(edgecolor="white", linewidth=0.8)
    halo = [withStroke(linewidth=font * 0.3, foreground="black")]
    last_s = line.get_clim()[1]
    for x, words, side in ((0.0, "0", "left"), (1.0, f"{last_s:.3g} s", "right")):
        inset.text(x, 1.4, words, transform=inset.transAxes, ha=side, fontsize=font, color="white", path_effects=halo)


def _emptiest_corner(ax: Axes, xy_px: Floats, marks: Marks) -> tuple[float, float, float, float]:
    """Left, bottom, width, height of the time bar, as shares of the axes; the lower left corner if all are alike."""
    across, up = marks.side_pt / np.asarray(size_pt(ax))
    width, height, left, bottom = 0.22, float(BAR_HEIGHT * up), float(BAR_ROOM * across), float(BAR_ROOM * up)
    # Above the bar stand its words.
    right, top = 1 - left - width, float(1 - bottom - height - 1.3 * marks.font_pt / marks.side_pt * up)
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    x, y = (xy_px[:, 0] - x0) / (x1 - x0), (xy_px[:, 1] - y0) / (y1 - y0)

    def nearby(corner: tuple[float, float]) -> int:
        near_x, near_y = np.abs(x - corner[0] - width / 2) < 0.17, np.abs(y - corner[1]) < 0.12
        return int((near_x & near_y).sum())

    best = min(((left, bottom), (right, bottom), (right, top), (left, top)), key=nearby)
    return (*best, width, height)


def draw_target(ax: Axes, box_px: tuple[float, float, float, float]) -> None:
    """Draw the target of a search as a dashed box."""
    from matplotlib.patches import Rectangle

    x, y, width, height = box_px
    for colour, dash, line_pt in (("black", "solid", 2.4), ("#FFD60A", (0, (3, 2)), 1.4)):
        ax.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=colour, linestyle=dash, lw=line_pt))


def time_share(scanpath: Scanpath) -> Floats:
    """Return (M,) onsets of fixations as shares of the time from the first to the last; by number when unknown."""
    if scanpath.onset_ms is not None:
        time = scanpath.onset_ms - scanpath.onset_ms[0]
    elif scanpath.duration_ms is not None:
        time = np.concatenate([[0.0], np.cumsum(scanpath.duration_ms[:-1])])
    else:
        time = np.arange(len(scanpath), dtype=np.float64)
    return time / max(float(time[-1]), 1e-9)


def _arrows(ax: Axes, xy_px: Floats, radii_pt: Floats, marks: Marks, colour: Any) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.patheffects import Normal, Stroke

    scale = points_per_px(ax)
    line = marks.line_pt
    halo = [Stroke(linewidth=line * 2.8, foreground="black", alpha=0.55), Normal()]
    if colour != "white":
        halo = [
            Stroke(linewidth=line * 3.2, foreground="black", alpha=0.55),
            Stroke(linewidth=line * 2.2, foreground="white"),
            Normal(),
        ]
    for m in range(len(xy_px) - 1):
        gap_pt = np.hypot(*(xy_px[m + 1] - xy_px[m])) * scale - radii_pt[m] - radii_pt[m + 1]
        if gap_pt <= line:
            continue
        head = float(np.clip(gap_pt * 0.5, 0.5 * line, 3.2 * line))
        arrow = FancyArrowPatch(
            tuple(xy_px[m]),
            tuple(xy_px[m + 1]),
            arrowstyle=f"-|>,head_length={head},head_width={head * 0.55}",
            mutation_scale=1,
            shrinkA=radii_pt[m],
            shrinkB=radii_pt[m + 1],
            linewidth=line,
            color=colour,
            path_effects=halo,
            zorder=3,
        )
        ax.add_patch(arrow)


def _circles(ax: Axes, xy_px: Floats, radii_pt: Floats, faces: Any, hollow: bool) -> None:
    rim = np.maximum(0.5, radii_pt * 2 * RIM_SHARE)
    areas = (2 * radii_pt) ** 2
    for m, (x, y) in enumerate(xy_px):
        rings = [("none", "black", 2.4), ("none" if hollow else faces[m], "white", 1.3)]
        if hollow:
            rings = [("none", "black", 3.3), ("none", "white", 2.5), ("none", faces[m], 1.5)]
        for face, edge, share in rings:
            ax.scatter(*(x, y), s=areas[m], facecolor=face, edgecolor=edge, lw=share * rim[m], zorder=4)


def _numbers(ax: Axes, xy_px: Floats, radii_pt: Floats, marks: Marks, faces: Any, hollow: bool) -> None:
    from matplotlib.patheffects import withStroke

    font = marks.font_pt
    offsets = label_offsets(xy_px * points_per_px(ax), radii_pt, font, 0.0 if hollow else radii_pt)
    for m, (x, y) in enumerate(xy_px):
        dx, dy = offsets[m]
        centred = dx == 0 and dy == 0 and not hollow
        colour = text_on(faces[m]) if centred else "white"
        halo = [] if centred else [withStroke(linewidth=font * 0.3, foreground="black")]
        ax.annotate(
            str(m + 1),
            (x, y),
            (dx, -dy),
            textcoords="offset points",
            ha="center",
            va="center_baseline",
            fontsize=font,
            fontweight="bold",
            color=colour,
            path_effects=halo,
            zorder=5,
            annotation_clip=False,
        )


def label_offsets(xy_pt: Floats, radii_pt: Floats, font_pt: float, room_pt: Floats | float) -> Floats:
    """Return (M, 2) positions of the numbers in points from their fixations (y down), so that no two overlap.

    A number stays in its circle if it fits there (`room_pt` is the room inside), no later circle covers it and no
    earlier number is in the way. Otherwise the first free position around the circle is taken, or the freest one.
    """
    room = np.broadcast_to(np.asarray(room_pt, dtype=np.float64), (len(xy_pt),))
    placed: list[Floats] = []
    offsets = np.zeros((len(xy_pt), 2))
    angles = np.deg2rad([-45, 45, -135, 135, -90, 90, 0, 180])
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for m, centre in enumerate(xy_pt):
        width = font_pt * 0.7 * len(str(m + 1))
        distance_pt = radii_pt[m] + 0.35 * font_pt + 0.25 * width
        within = np.zeros((int(room[m] >= 0.6 * width), 2))
        candidates = np.concatenate([within, around * distance_pt, around * distance_pt * 1.6])
        clearance = np.full(len(candidates), np.inf)
        for other in placed:
            clearance = np.minimum(
                clearance, (np.abs(centre + candidates - other) / (width + 0.2 * font_pt, font_pt)).max(axis=1)
            )
        for k in range(len(xy_pt)):
            gap = (np.hypot(*(centre + candidates - xy_pt[k]).T) - radii_pt[k]) / (0.3 * font_pt)
            counts = np.arange(len(candidates)) >= (len(within) if k <= m else 0)
            clearance = np.where(counts, np.minimum(clearance, gap), clearance)
        free = np.flatnonzero(clearance >= 1)
        offsets[m] = candidates[free[0] if len(free) else int(clearance.argmax())]
        placed.append(centre + offsets[m])
    return offsets
