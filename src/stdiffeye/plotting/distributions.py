"""Panels of statistics, as in the paper's appendix: humans as a grey area, each system as a line of its own dash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.plotting import canvas
from stdiffeye.plotting.colours import HUMAN as HUMAN_COLOUR
from stdiffeye.plotting.colours import category
from stdiffeye.statistics.comparison import HUMAN, Comparison, Distribution
from stdiffeye.statistics.motion import Kinematics
from stdiffeye.statistics.search import Search

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PANEL_IN = 3.0, 2.5
LEGEND_IN = 0.35
COLUMNS = 3
CELLS = 240
HUMAN_FILL = "#D9D9D9"
# Shown up to this quantile: the last percent would squeeze all the rest.
SHOWN_TO = 0.99
SHOWN_QUARTILES = 6.0
BEYOND_HUMAN = 2.0  # axes end at this multiple of the humans' range, in value and in density
NOTED = 4  # systems whose distances are noted in a panel
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (5, 1.5, 1, 1.5)))


def distributions(comparison: Comparison) -> Figure:
    """Draw one panel per quantity: amplitude, direction, angle between saccades, duration, number of fixations.

    Parameters
    ----------
    comparison : Comparison
        What `stdiffeye.statistics.compare` returned.

    Returns
    -------
    matplotlib.figure.Figure
        Densities of the humans and of each system, with their KS distances.
    """
    figure, axes = _panels(len(comparison.distributions))
    with canvas.style():
        for ax, one in zip(axes, comparison.distributions.values(), strict=True):
            _distribution(ax, one)
    _legend(figure, axes[0])
    return figure


def motion(sides: Mapping[str, Kinematics]) -> Figure:
    """Draw kinematics: main sequence, spectrum, jitter, peak velocity, duration, fixations per second.

    Parameters
    ----------
    sides : dict of str to Kinematics
        "human" first, then each system.

    Returns
    -------
    matplotlib.figure.Figure
        Six panels.
    """
    figure, axes = _panels(6)
    with canvas.style():
        _main_sequence(axes[0], sides)
        _spectrum(axes[1], sides)
        for ax, (name, label) in zip(axes[2:], _MOTION_PANELS, strict=True):
            values = {side: getattr(one, name) for side, one in sides.items()}
            _curves(ax, values, circular=False, bounds=None)
            ax.set_xlabel(label)
    _legend(figure, axes[0])
    return figure


def search_curves(sides: Mapping[str, Search]) -> Figure:
    """Draw target fixation probability over the number of fixations.

    Parameters
    ----------
    sides : dict of str to Search
        "human" first, then each system.

    Returns
    -------
    matplotlib.figure.Figure
        One panel.
    """
    figure, axes = _panels(1)
    with canvas.style():
        ax = axes[0]
        for number, (side, one) in enumerate(sides.items()):
            line = _line_style(side, number)
            ax.plot(np.arange(len(one.probability)), one.probability, marker="o", markersize=3, label=side, **line)
        ax.set(xlabel="fixations made", ylabel="target fixated by then", ylim=(-0.02, 1.02))
    _legend(figure, axes[0])
    return figure


_MOTION_PANELS = (
    ("jitter_deg_s", "jitter within fixations (deg/s)"),
    ("peak_velocity_deg_s", "peak velocity (deg/s)"),
    ("fixation_duration_ms", "fixation duration (ms)"),
    ("fixations_per_second", "fixations per second"),
)


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    columns = min(count, COLUMNS)
    rows = -(-count // columns)
    figure = canvas.new_figure(PANEL_IN[0] * columns, PANEL_IN[1] * rows + LEGEND_IN)
    with canvas.style():
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in grid[count:]:
        ax.set_axis_off()
    return figure, list(grid[:count])


def _legend(figure: Figure, ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    with canvas.style():
        figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 6))


def _line_style(side: str, number: int) -> dict[str, Any]:
    """Colour and dash of a side; the first side is the humans."""
    if side == HUMAN:
        return {"color": HUMAN_COLOUR, "linestyle": "-", "linewidth": 1.4}
    return {"color": category(number - 1), "linestyle": DASHES[(number - 1) % len(DASHES)], "linewidth": 1.6}


def _distribution(ax: Axes, one: Distribution) -> None:
    quantity = one.quantity
    bounds = {"saccade_direction": (-180.0, 180.0), "inter_saccade_angle": (0.0, 180.0)}.get(quantity.name)
    if quantity.whole:
        _counts(ax, one.values)
    else:
        _curves(ax, one.values, quantity.circular, bounds)
    if bounds is not None:
        ax.set_xticks(np.arange(bounds[0], bounds[1] + 1, 90 if quantity.circular else 45))
    ax.set_xlabel(f"{quantity.label} ({quantity.unit})" if quantity.unit else quantity.label)
    _note_distances(ax, one)


def _note_distances(ax: Axes, one: Distribution) -> None:
    """KS of each system, in its colour, above the panel where no curve passes; none where they would not fit."""
    words = [(f"KS {distance.ks:.2f}", category(n)) for n, distance in enumerate(one.distances.values())]
    for column, (text, colour) in enumerate(reversed(words) if len(words) <= NOTED else ()):
        ax.text(1 - 0.27 * column, 1.0, text, color=colour, fontsize=7, ha="right", va="bottom", transform=ax.transAxes)


def _curves(ax: Axes, values: Mapping[str, Floats], circular: bool, bounds: tuple[float, float] | None) -> None:
    samples = [sample for sample in values.values() if len(sample)]
    if not samples:
        return
    low, high = bounds or (0.0, max(_shown_to(sample) for sample in samples))
    human = values.get(HUMAN)
    if bounds is None and human is not None and len(human):
        high = min(high, BEYOND_HUMAN * _shown_to(human))
    high = high if high > low else low + 1
    middle = (np.arange(CELLS) + 0.5) * ((high - low) / CELLS) + low
    for number, (side, sample) in enumerate(values.items()):
        if not len(sample):
            continue
        height = smooth_density(sample, low, high, circular)
        if side == HUMAN:
            ax.fill_between(middle, height, color=HUMAN_FILL, lw=0)
        ax.plot(middle, height, label=side, **_line_style(side, number))
    ax.set(xlim=(low, high), ylabel="density")
    ax.set_ylim(bottom=0)
    if human is not None and len(human):  # the peak of a degenerate system would flatten all others
        peak = float(smooth_density(human, low, high, circular).max())
        ax.set_ylim(top=min(ax.get_ylim()[1], BEYOND_HUMAN * peak))


def _shown_to(sample: Floats) -> float:
    """Where a panel ends: almost all values, unless a few wild ones would take most of the width."""
    middle, upper, last = np.quantile(sample, [0.5, 0.75, SHOWN_TO])
    return float(min(last, middle + SHOWN_QUARTILES * (upper - middle))) or float(last)


def _counts(ax: Axes, values: Mapping[str, Floats]) -> None:
    """Whole numbers: the share of each, as steps."""
    last = int(max(float(np.quantile(sample, SHOWN_TO)) for sample in values.values())) + 1
    for number, (side, sample) in enumerate(values.items()):
        share = np.bincount(sample.astype(np.int64), minlength=last + 1)[: last + 1] / len(sample)
        if side == HUMAN:
            ax.bar(np.arange(last + 1), share, width=1.0, color=HUMAN_FILL)
        ax.plot(np.arange(last + 1), share, label=side, drawstyle="steps-mid", **_line_style(side, number))
    ax.set(xlim=(-0.5, last + 0.5), ylabel="share of trials")
    ax.set_ylim(bottom=0)


def smooth_density(sample: Floats, low: float, high: float, circular: bool = False) -> Floats:
    """Return (CELLS,) density between bounds, smoothed by Silverman's rule, reflected there (wrapped if circular).

    Values beyond the bounds count in the total, so that curves of different tails stay comparable.
    """
    from scipy.ndimage import gaussian_filter1d

    counts, _ = np.histogram(sample, bins=CELLS, range=(low, high))
    std = float(sample.std())
    robust_std = min(std, float(np.subtract(*np.quantile(sample, [0.75, 0.25]))) / 1.34) or std
    width = 0.9 * robust_std * len(sample) ** -0.2
    sigma_cells = float(np.clip(width / ((high - low) / CELLS), 1.0, CELLS / 8))
    smooth = gaussian_filter1d(counts.astype(np.float64), sigma_cells, mode="wrap" if circular else "reflect")
    return smooth / (len(sample) * (high - low) / CELLS)


def _main_sequence(ax: Axes, sides: Mapping[str, Kinematics]) -> None:
    for number, (side, one) in enumerate(sides.items()):
        amplitude, velocity = one.main_sequence()
        if side == HUMAN:
            ax.plot(one.saccade_amplitude_deg, one.peak_velocity_deg_s, ".", color=HUMAN_FILL, ms=1.5, rasterized=True)
        ax.plot(amplitude, velocity, marker="o", markersize=3, label=side, **_line_style(side, number))
        if side == HUMAN and len(one.peak_velocity_deg_s):
            ax.set_xlim(0.3, max(1.0, float(np.quantile(one.saccade_amplitude_deg, 0.995))))
            ax.set_ylim(10, max(100.0, 1.5 * float(np.quantile(one.peak_velocity_deg_s, 0.99))))
    ax.set(xscale="log", yscale="log", xlabel="saccade amplitude (deg)", ylabel="peak velocity (deg/s)")


def _spectrum(ax: Axes, sides: Mapping[str, Kinematics]) -> None:
    for number, (side, one) in enumerate(sides.items()):
        ax.plot(one.frequency_hz, one.power_deg2_hz, label=side, **_line_style(side, number))
    ax.set(xscale="log", yscale="log", xlabel="frequency (Hz)", ylabel="power in fixations (deg²/Hz)")
