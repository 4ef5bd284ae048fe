"""The figure of `stdiffeye.benchmark.figure3`: above what the generators make, below what the protocols say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stdiffeye.plotting import canvas
from stdiffeye.plotting.colours import CATEGORIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from stdiffeye.benchmark.figure3 import Figure3

TRUTH, GENERATED, LOSER = CATEGORIES[0], CATEGORIES[1], "#C4C4C4"
SHOWN_POINTS = 220
WIDTH_IN, HEIGHT_IN = 9.6, 5.2
REACH = 3.4


def draw_figure3(found: Figure3) -> Figure:
    """Points of every generator over the truth, and a bar chart for each protocol with its winner in colour."""
    figure = canvas.new_figure(WIDTH_IN, HEIGHT_IN)
    with canvas.style():
        axes = figure.subplots(2, len(found.main_rows), height_ratios=[1.0, 0.85])
        for ax, name in zip(axes[0], found.points, strict=True):
            _points(ax, found, name)
        for ax, row in zip(axes[1], found.main_rows, strict=True):
            _bars(ax, found, row)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure


def save_figure3(found: Figure3, stem: Path) -> list[Path]:
    """Write the figure as PNG and PDF."""
    figure = draw_figure3(found)
    return [canvas.save(figure, stem.with_name(f"{stem.name}{suffix}")) for suffix in (".png", ".pdf")]


def _points(ax: Axes, found: Figure3, name: str) -> None:
    ax.plot(*found.truth[:SHOWN_POINTS].T, "o", ms=3.2, color=TRUTH, alpha=0.35, mew=0, label="truth")
    ax.plot(*found.points[name][:SHOWN_POINTS].T, "^", ms=3.6, color=GENERATED, alpha=0.75, mew=0, label="generated")
    ax.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), xticks=[], yticks=[], title=name)
    ax.set_aspect("equal")
    ax.spines[["left", "bottom"]].set_visible(False)


def _bars(ax: Axes, found: Figure3, row: str) -> None:
    scores = found.scores[row]
    best = found.winner(row)
    names = list(scores)
    colours = [GENERATED if name == best else LOSER for name in names]
    bars = ax.barh(range(len(names)), [scores[name] for name in names], color=colours)
    words = [f"{scores[name]:#.3g}{'  ★' if name == best else ''}" for name in names]
    ax.bar_label(bars, words, padding=3, fontsize=8)
    ax.set_yticks(range(len(names)), names if row == found.main_rows[0] else [""] * len(names))
    ax.invert_yaxis()
    ax.set_xlim(0, 1.35 * max(scores.values()))
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_title(row)
