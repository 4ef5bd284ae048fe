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
from stdiffeye.files import atomic_write

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
    """Use our settings of matplotlib within the block, the caller's own outside it."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        yield


def new_figure(width_in: float, height_in: float, constrained: bool = True) -> Figure:
    """Return an empty white figure with its own canvas."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(width_in, height_in), dpi=DPI, layout="constrained" if constrained else None)
    FigureCanvasAgg(figure)
    return figure


def save(drawing: Figure | Axes, path: str | Path, dpi: float = DPI) -> Path:
    """Write a figure.

    Parameters
    ----------
    drawing : matplotlib Figure or Axes
        The figure, or axes in it.
    path : path
        Where to write; the suffix (.png, .pdf, .svg) chooses the format.
    dpi : float
        Resolution of PNG.

    Returns
    -------
    Path
        The file that was written. The same drawing gives the same bytes.

    Raises
    ------
    InputError
        For another suffix.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"cannot draw into {path.name!r}: expected a file ending in {', '.join(SUFFIXES)}")
    with style(), atomic_write(path) as temporary:
        figure_of(drawing).savefig(temporary, dpi=dpi, format=path.suffix[1:].lower(), metadata=_metadata(path))
    return path


def png_bytes(drawing: Figure | Axes, dpi: float = DPI) -> bytes:
    """Return the figure as a PNG file in memory."""
    buffer = io.BytesIO()
    with style():
        figure_of(drawing).savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def figure_of(drawing: Figure | Axes) -> Figure:
    """Return the figure itself, or the one that the axes belong to."""
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    figure = drawing.get_figure(root=True) if isinstance(drawing, Axes) else drawing
    if not isinstance(figure, Figure):
        raise InputError(f"expected a matplotlib Figure or Axes, got {type(drawing).__name__}")
    return figure


def size_pt(ax: Axes) -> tuple[float, float]:
    """Return width and height of the axes on paper, in points; sizes of marks follow from them."""
    box = ax.get_position()
    width_in, height_in = figure_of(ax).get_size_inches()
    return float(box.width * width_in * POINTS_PER_INCH), float(box.height * height_in * POINTS_PER_INCH)


def points_per_px(ax: Axes) -> float:
    """Return points on paper per pixel of the frame shown in `ax`, whose limits are set and whose aspect is equal."""
    span_px = np.abs([np.diff(ax.get_xlim())[0], np.diff(ax.get_ylim())[0]])
    return float(np.min(np.asarray(size_pt(ax)) / span_px))


def _metadata(path: Path) -> dict[str, Any]:
    # The same drawing gives the same bytes: no time of writing inside.
    return {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(path.suffix.lower(), {})
