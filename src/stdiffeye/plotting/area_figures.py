"""Areas of interest as figures: on the picture, measures with intervals, transitions, scarf plots, two designs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stdiffeye.gaze import Frame
from stdiffeye.gaze.area_visits import LABELS
from stdiffeye.gaze.areas import Area, Areas
from stdiffeye.plotting import canvas, overlay
from stdiffeye.plotting.backdrop import DIM, backdrop
from stdiffeye.plotting.colours import category, text_on
from stdiffeye.statistics.aoi import AreaReport, DesignDifference
from stdiffeye.statistics.aoi.area_group import AreaGroup
from stdiffeye.statistics.aoi.area_text import SHARES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN = ("hit", "dwell_ms", "time_to_first_ms", "first_duration_ms", "visits", "revisits")
ELSEWHERE_COLOUR = "#C8C8C8"
ROW_IN, PANEL_IN, LABEL_IN = 0.26, 2.3, 1.4
SCARF_ROW_IN, SCARF_WIDTH_IN = 0.13, 8.0
MOST_SCARVES = 40  # viewers of a group in a scarf plot; more are hairlines
MATRIX_CELL_IN = 0.62
SHOWN_FROM = 0.005  # smaller shares of a transition matrix stay blank


def draw_areas(
    areas: Areas, frame: Frame, picture: Any = None, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw areas of interest with their names over a picture.

    Parameters
    ----------
    areas : Areas
        What to draw.
    frame : Frame
        Frame of the gaze, used where the areas name no size of their own.
    picture : path, PIL image or ndarray, optional
        The picture; a blank frame by default.
    ax : matplotlib Axes, optional
        Axes to draw in; by default those of a new figure.
    title : str, optional
        Above the drawing.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn in.
    """
    frame = areas.frame or frame
    behind = backdrop(picture, frame, "stretch")
    with canvas.style():
        if ax is None:
            figure = canvas.new_figure(7.0, 7.0 * frame.height_px / frame.width_px + 0.3)
            ax = figure.add_subplot()
        overlay.set_view(ax, frame, [])
        behind.show(ax, frame, DIM)
        for number, area in enumerate(areas):
            _draw_area(ax, area, frame, category(number))
        if title:
            ax.set_title(title)
    return ax


def area_measures(report: AreaReport, name: str, task: str = "") -> Figure:
    """Draw the measures of one picture: a panel each, a row per area, a dot with its interval per group.

    Parameters
    ----------
    report : AreaReport
        What `stdiffeye.aoi` returned.
    name, task : str
        The picture.

    Returns
    -------
    matplotlib.figure.Figure
        The panels.
    """
    groups = report.of(name, task)
    found = [report.estimates(group) for group in groups]
    measures = [measure for measure in DRAWN if any(measure in one for one in found)]
    names = groups[0].areas.names
    columns = min(3, len(measures))
    rows = -(-len(measures) // columns)
    height_in = rows * (len(names) * max(ROW_IN * len(groups), 0.34) + 0.75) + 0.35
    figure = canvas.new_figure(columns * PANEL_IN + LABEL_IN, height_in)
    with canvas.style():
        axes = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
        for ax, measure in zip(axes, measures, strict=False):
            for number, (group, one) in enumerate(zip(groups, found, strict=True)):
                if measure in one:
                    offset = (number - (len(groups) - 1) / 2) * 0.7 / len(groups)
                    _dots(ax, one[measure], np.arange(len(names)) + offset, category(number), group.group)
            _finish(ax, measure, names)
        for ax in axes[len(measures) :]:
            ax.set_axis_off()
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(groups))
    return figure


def transition_matrices(report: AreaReport, name: str, task: str = "") -> Figure:
    """Draw where gaze goes next, one matrix per group.

    Parameters
    ----------
    report : AreaReport
        What `stdiffeye.aoi` returned.
    name, task : str
        The picture.

    Returns
    -------
    matplotlib.figure.Figure
        Rows are the areas that gaze leaves, columns those that it goes to; each row sums to 100 %.
    """
    groups = report.of(name, task)
    nodes = groups[0].nodes
    side_in = len(nodes) * MATRIX_CELL_IN + 1.3
    figure = canvas.new_figure(len(groups) * side_in, side_in + 0.2)
    with canvas.style():
        for number, group in enumerate(groups, start=1):
            ax = figure.add_subplot(1, len(groups), number)
            _matrix(ax, group)
            if number == 1:
                ax.set_ylabel("from")
    return figure


def scarf(report: AreaReport, name: str, task: str = "") -> Figure:
    """Draw the sequence of areas over time, a row per viewer.

    Parameters
    ----------
    report : AreaReport
        What `stdiffeye.aoi` returned; its gaze needs durations.
    name, task : str
        The picture.

    Returns
    -------
    matplotlib.figure.Figure
        A colour per area, grey elsewhere, white between fixations; at most 40 viewers of each group.
    """
    groups = [group for group in report.of(name, task) if any(group.stays)]
    heights = [min(len(group.stays), MOST_SCARVES) * SCARF_ROW_IN + 0.3 for group in groups]
    figure = canvas.new_figure(SCARF_WIDTH_IN, sum(heights) + 0.9)
    with canvas.style():
        axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False, height_ratios=heights).ravel()
        for ax, group in zip(axes, groups, strict=True):
            _scarves(ax, group)
        axes[-1].set_xlabel("time from the picture's onset (s)")
        _area_legend(figure, groups[0])
    return figure


def design_differences(found: Sequence[DesignDifference], a: str, b: str) -> Figure:
    """Draw B − A of two designs: a panel per measure, a row per area, a dot with its interval per group.

    Parameters
    ----------
    found : sequence of DesignDifference
        What `AreaReport.designs` returned.
    a, b : str
        Names of the designs, for the title.

    Returns
    -------
    matplotlib.figure.Figure
        Filled dots: the interval leaves out 0.
    """
    from matplotlib.lines import Line2D

    measures = [measure for measure in DRAWN if any(one.measure == measure for one in found)]
    names = list(dict.fromkeys(one.area for one in found))
    groups = list(dict.fromkeys(one.group for one in found))
    columns = min(3, len(measures))
    rows = -(-len(measures) // columns)
    height_in = rows * (len(names) * max(ROW_IN * len(groups), 0.34) + 0.75) + 0.6
    figure = canvas.new_figure(columns * PANEL_IN + LABEL_IN, height_in)
    with canvas.style():
        axes = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
        for ax, measure in zip(axes, measures, strict=False):
            for number, group in enumerate(groups):
                offset = (number - (len(groups) - 1) / 2) * 0.7 / len(groups)
                own = {one.area: one.difference for one in found if (one.measure, one.group) == (measure, group)}
                heights = np.array([names.index(area) for area in own]) + offset
                _dots(ax, list(own.values()), heights, category(number), group, hollow=True)
            ax.axvline(0, color="#888888", lw=0.8, zorder=1)
            _finish(ax, measure, names)
        for ax in axes[len(measures) :]:
            ax.set_axis_off()
        figure.suptitle(f"B − A, with A = {a} and B = {b}; filled where the interval leaves out 0", fontsize=10)
        if len(groups) > 1:
            handles = [
                Line2D([], [], color=category(number), marker="o", label=one) for number, one in enumerate(groups)
            ]
            figure.legend(handles=handles, loc="outside lower center", ncols=len(groups))
    return figure


def area_figures(report: AreaReport, name: str, task: str, frame: Frame, picture: Any = None) -> dict[str, Figure]:
    """Every figure of one picture, by the name of its file."""
    group = report.of(name, task)[0]
    figures = {
        "areas": canvas.figure_of(draw_areas(group.areas, frame, picture, title=Path(name).name or None)),
        "measures": area_measures(report, name, task),
        "transitions": transition_matrices(report, name, task),
    }
    if any(any(one.stays) for one in report.of(name, task)):
        figures["scarf"] = scarf(report, name, task)
    return figures


def _draw_area(ax: Axes, area: Area, frame: Frame, colour: str) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Polygon

    if area.polygon_px is not None:
        ax.add_patch(
            Polygon(area.polygon_px - 0.5, closed=True, facecolor=(*to_rgb(colour), 0.25), edgecolor=colour, lw=2)
        )
    else:
        assert area.mask is not None
        tint = np.zeros((*area.mask.shape, 4))
        tint[area.mask] = (*to_rgb(colour), 0.45)
        limits = ax.get_xlim(), ax.get_ylim()
        ax.imshow(tint, extent=(-0.5, frame.width_px - 0.5, frame.height_px - 0.5, -0.5), zorder=1, aspect="equal")
        ax.set(xlim=limits[0], ylim=limits[1])
    box = {"boxstyle": "round,pad=0.25", "facecolor": colour, "edgecolor": "none", "alpha": 0.9}
    x, y = area.centre_of(frame)
    ax.text(x, y, area.name, ha="center", va="center", fontsize=9, color=text_on(colour), bbox=box, zorder=3)


def _dots(ax: Axes, found: Sequence[Any], heights: Any, colour: str, label: str, hollow: bool = False) -> None:
    for number, (one, height) in enumerate(zip(found, heights, strict=True)):
        if not np.isnan(one.low):
            ax.plot([one.low, one.high], [height, height], color=colour, lw=1.8, solid_capstyle="butt", zorder=2)
        face = "white" if hollow and not one.decided else colour
        name = label if number == 0 else None
        ax.plot([one.value], [height], "o", ms=5, mfc=face, mec=colour, mew=1.4, label=name, zorder=3, ls="none")


def _finish(ax: Axes, measure: str, names: Sequence[str]) -> None:
    from matplotlib.ticker import PercentFormatter

    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlabel(LABELS[measure])
    ax.grid(axis="x", color="#e4e4e4", lw=0.6, zorder=0)
    ax.tick_params(axis="y", length=0)
    if measure in SHARES:
        ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _matrix(ax: Axes, group: AreaGroup) -> None:
    from matplotlib import colormaps

    shares, nodes = group.transition_shares, group.nodes
    ax.imshow(np.nan_to_num(shares), cmap="Blues", vmin=0, vmax=1, aspect="equal")
    for row in range(len(nodes)):
        for column in range(len(nodes)):
            share = shares[row, column]
            if np.isfinite(share) and share >= SHOWN_FROM:
                colour = text_on(colormaps["Blues"](share))
                ax.text(column, row, f"{share:.0%}", ha="center", va="center", fontsize=8, color=colour)
    ax.set_xticks(range(len(nodes)), nodes, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(nodes)), nodes)
    ax.set_xlabel("to")
    ax.set_title(f"{group.group} ({int(group.transition_counts.sum())} transitions)")
    for side in ax.spines.values():
        side.set_visible(False)
    ax.tick_params(length=0)


def _scarves(ax: Axes, group: AreaGroup) -> None:
    shown = group.stays[:MOST_SCARVES]
    for row, stays in enumerate(shown):
        spans = [(stay.start_ms / 1000, (stay.end_ms - stay.start_ms) / 1000) for stay in stays]
        colours = [ELSEWHERE_COLOUR if stay.area < 0 else category(stay.area) for stay in stays]
        ax.broken_barh(spans, (row - 0.42, 0.84), facecolors=colours)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_yticks([])
    more = f", the first {MOST_SCARVES}" if len(group.stays) > MOST_SCARVES else ""
    ax.set_ylabel(f"{group.group}\n{len(group.stays)} viewers{more}")
    ax.spines["left"].set_visible(False)


def _area_legend(figure: Figure, group: AreaGroup) -> None:
    from matplotlib.patches import Patch

    names = list(group.nodes)
    patches = [Patch(facecolor=category(number), label=name) for number, name in enumerate(names[:-1])]
    patches.append(Patch(facecolor=ELSEWHERE_COLOUR, label=names[-1]))
    figure.legend(handles=patches, loc="outside upper center", ncols=min(len(patches), 6))
