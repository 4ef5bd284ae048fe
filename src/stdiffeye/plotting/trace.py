"""Gaze over time: x(t) and y(t) with the fixations shaded, and the fixation index below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trajectory, Trial
from stdiffeye.plotting import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


X_COLOUR, Y_COLOUR, RHO_COLOUR = "#0072B2", "#D55E00", "#222222"
SHADE = "#E8E8E8"
WIDTH_IN, GAZE_HEIGHT_IN, INDEX_HEIGHT_IN = 8.0, 2.3, 1.1
# A fixation shorter than this share of the axis has no room for its number.
NARROWEST_NUMBERED = 0.018
# Titles stay clear of the row of numbers.
TITLE_PAD_PT = 11


def trace(noun: Scanpath | Trajectory | Trial, title: str | None = None) -> Figure:
    """Draw x(t) and y(t) of one viewer, with fixations shaded and numbered, and the fixation index ρ̃ below.

    Parameters
    ----------
    noun : Scanpath, Trajectory or Trial
        A trajectory without a scanpath has it extracted (Judd's rule). A scanpath without a trajectory is drawn as
        steps, without a fixation index.
    title : str, optional
        By default a trial's name and viewer.

    Returns
    -------
    matplotlib.figure.Figure
        One or two panels over time.

    Raises
    ------
    InputError
        When a scanpath has neither durations nor a trajectory.
    """
    scanpath, trajectory = _gaze_of(noun)
    heights = [GAZE_HEIGHT_IN] + ([INDEX_HEIGHT_IN] if trajectory is not None else [])
    figure = canvas.new_figure(WIDTH_IN, sum(heights) + 0.5)
    with canvas.style():
        axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
        _draw_gaze(axes[0], scanpath, trajectory)
        if trajectory is not None:
            _draw_index(axes[1], scanpath, trajectory)
        axes[-1].set_xlabel("time (s)")
        if title is None and isinstance(noun, Trial):
            title = f"{noun.name} · {noun.subject}"
        if title:
            axes[0].set_title(title, loc="left", pad=TITLE_PAD_PT)
    return figure


def traces(nouns: Sequence[Scanpath | Trajectory | Trial], columns: int = 1, titles: Sequence[str] = ()) -> Figure:
    """Draw x(t) and y(t) of several viewers side by side on one scale.

    Parameters
    ----------
    nouns : sequence of Scanpath, Trajectory or Trial
        One panel each.
    columns : int
        Panels per row.
    titles : sequence of str
        Of the panels.

    Returns
    -------
    matplotlib.figure.Figure
        The panels.
    """
    if not nouns:
        raise InputError("nothing to draw: the list of gaze is empty")
    rows = -(-len(nouns) // columns)
    figure = canvas.new_figure(WIDTH_IN if columns == 1 else 5.0 * columns, 0.4 + 1.65 * rows)
    with canvas.style():
        axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        scales = []
        for number, ax in enumerate(axes.ravel()):
            if number >= len(nouns):
                ax.set_axis_off()
                continue
            _draw_gaze(ax, *_gaze_of(nouns[number]), legend=number == min(columns, len(nouns)) - 1)
            scales.append((*ax.get_xlim(), *ax.get_ylim()))
            if number < len(titles):
                ax.set_title(titles[number], loc="left", fontsize=8, pad=TITLE_PAD_PT)
        first_s, last_s, bottom_px, top_px = zip(*scales, strict=True)
        axes[0, 0].set(xlim=(min(first_s), max(last_s)), ylim=(max(bottom_px), min(top_px)))
        for ax in axes[:, 1:].ravel():
            ax.set_ylabel("")
        for ax in axes[-1]:
            ax.set_xlabel("time (s)")
    return figure


def _gaze_of(noun: Any) -> tuple[Scanpath, Trajectory | None]:
    from stdiffeye.gaze.extraction import extract

    if isinstance(noun, Trial):
        scanpath, trajectory = noun.scanpath, noun.trajectory
    elif isinstance(noun, Trajectory):
        scanpath, trajectory = None, noun
    elif isinstance(noun, Scanpath):
        scanpath, trajectory = noun, None
    else:
        raise InputError(f"cannot draw a {type(noun).__name__}: expected Scanpath, Trajectory or Trial")
    if scanpath is None:
        assert trajectory is not None
        scanpath = extract(trajectory)
    if scanpath.duration_ms is None:
        if trajectory is None:
            raise InputError("a trace needs time: this scanpath has no durations and no trajectory")
        scanpath = extract(trajectory)
    return scanpath, trajectory


def _draw_gaze(ax: Axes, scanpath: Scanpath, trajectory: Trajectory | None, legend: bool = True) -> None:
    start_s, end_s = _times_s(scanpath, trajectory)
    last_s = max(float(end_s[-1]), 0.0 if trajectory is None else trajectory.duration_ms / 1000)
    for number, (start, end) in enumerate(zip(start_s, end_s, strict=True), start=1):
        ax.axvspan(start, end, facecolor=SHADE, edgecolor="white", lw=1.0, zorder=0)
        if end - start >= NARROWEST_NUMBERED * last_s:
            above = ax.get_xaxis_transform()
            ax.text((start + end) / 2, 1.0, str(number), transform=above, ha="center", va="bottom", fontsize=6.5)
    for axis, (name, colour) in enumerate((("x", X_COLOUR), ("y", Y_COLOUR))):
        if trajectory is not None:
            ax.plot(trajectory.time_ms / 1000, trajectory.xy_px[:, axis], color=colour, lw=1.0, label=name)
        else:
            time = np.stack([start_s, end_s], axis=1).ravel()
            ax.plot(time, np.repeat(scanpath.xy_px[:, axis], 2), color=colour, lw=1.4, label=name)
    ax.set_xlim(min(0.0, float(start_s[0])), last_s)
    ax.set_ylim(*_limits_px(scanpath, trajectory))
    ax.set_ylabel("position (px)")
    if legend:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)


def _limits_px(scanpath: Scanpath, trajectory: Trajectory | None) -> tuple[float, float]:
    """The frame, downwards as on the screen, or more when gaze left it; an outlier adds half a frame at most."""
    gaze = scanpath.xy_px if trajectory is None else trajectory.xy_px[~trajectory.lost]
    side = float(scanpath.frame.size_px.max())
    low = max(min(0.0, float(gaze.min())), -0.5 * side)
    high = min(max(side, float(gaze.max())), 1.5 * side)
    return high, low


def _draw_index(ax: Axes, scanpath: Scanpath, trajectory: Trajectory) -> None:
    from stdiffeye.gaze.index import anchors, fixation_index

    time_s = trajectory.time_ms / 1000
    rho = fixation_index(trajectory, scanpath)
    ax.plot(time_s, rho, color=RHO_COLOUR, lw=1.2)
    at = anchors(trajectory, scanpath)
    ax.plot(time_s[at], rho[at], "o", color=RHO_COLOUR, markersize=3)
    ax.set_ylim(-0.03, 1.03)
    ax.set_ylabel("fixation\nindex ρ̃")


def _times_s(scanpath: Scanpath, trajectory: Trajectory | None) -> tuple[Floats, Floats]:
    """When each fixation starts and ends on the trace's clock, whose zero is the trajectory's first sample."""
    assert scanpath.duration_ms is not None
    onset_ms = scanpath.onset_ms
    if onset_ms is None and trajectory is None:
        onset_ms = np.concatenate([[0.0], np.cumsum(scanpath.duration_ms)[:-1]])
    elif onset_ms is None:
        onset_ms = _onsets_from_anchors(scanpath, trajectory)
    return onset_ms / 1000, (onset_ms + scanpath.duration_ms) / 1000


def _onsets_from_anchors(scanpath: Scanpath, trajectory: Any) -> Floats:
    """Without onsets: each fixation is centred on the sample that stands for it, and never overlaps the one before."""
    from stdiffeye.gaze.index import anchors

    assert scanpath.duration_ms is not None
    onset_ms = trajectory.time_ms[anchors(trajectory, scanpath)] - scanpath.duration_ms / 2
    for m in range(1, len(onset_ms)):
        onset_ms[m] = max(onset_ms[m], onset_ms[m - 1] + scanpath.duration_ms[m - 1])
    return np.maximum(onset_ms, 0.0)
