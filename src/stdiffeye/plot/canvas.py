"""Figures without global state: every figure is an object of its own, drawn by Agg, saved as PNG, PDF or SVG.

`pyplot` is never touched, so that drawing is safe in threads and servers and keeps no figure alive.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".pdf", ".svg")
DPI = 150
POINTS_PER_INCH = 72
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    # Text stays text in vector files, so that a paper's author can edit and search it.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "stdiffeye",
}


@contextmanager
def style() -> Iterator[None]:
    """Our settings of matplotlib within the block, the caller's own outside it."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        yield


def new_figure(width_in: float, height_in: float, constrained: bool = True) -> Figure:
    """An empty white figure of its own canvas."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(width_in, height_in), dpi=DPI, layout="constrained" if constrained else None)
    FigureCanvasAgg(figure)
    return figure


def save(drawing: Figure | Axes, path: str | Path, dpi: float = DPI) -> Path:
    """Write a figure, or the figure that some axes belong to; the suffix (.png, .pdf, .svg) chooses the format."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"cannot draw into {path.name!r}: expected a file ending in {', '.join(SUFFIXES)}")
    with style(), whole_file(path) as temporary:
        figure_of(drawing).savefig(temporary, dpi=dpi, format=path.suffix[1:].lower(), metadata=_metadata(path))
    return path


def png_bytes(drawing: Figure | Axes, dpi: float = DPI) -> bytes:
    """The figure as a PNG file in memory."""
    buffer = io.BytesIO()
    with style():
        figure_of(drawing).savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def figure_of(drawing: Figure | Axes) -> Figure:
    """The figure itself, or the one that the axes belong to."""
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    figure = drawing.get_figure(root=True) if isinstance(drawing, Axes) else drawing
    if not isinstance(figure, Figure):
        raise InputError(f"expected a matplotlib Figure or Axes, got {type(drawing).__name__}")
    return figure


def size_pt(ax: Axes) -> tuple[float, float]:
    """Width and height that the axes take on paper, in points; sizes of marks follow from it."""
    box = ax.get_position()
    width_in, height_in = figure_of(ax).get_size_inches()
    return float(box.width * width_in * POINTS_PER_INCH), float(box.height * height_in * POINTS_PER_INCH)


def points_per_px(ax: Axes) -> float:
    """Points on paper per pixel of the frame shown in `ax`, whose limits are set and whose aspect is equal."""
    span_px = np.abs([np.diff(ax.get_xlim())[0], np.diff(ax.get_ylim())[0]])
    return float(np.min(np.asarray(size_pt(ax)) / span_px))


def _metadata(path: Path) -> dict[str, Any]:
    # The same drawing gives the same bytes: no time of writing inside.
    return {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(path.suffix.lower(), {})
