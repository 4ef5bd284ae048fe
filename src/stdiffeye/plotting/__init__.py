"""Gaze as pictures and films. Matplotlib is loaded by the first drawing, not by this import; pyplot never.

`plot` draws any gaze in any way. Below it: `draw` overlays gaze on its picture, `png` is the same as bytes, `trace`
shows it over time, `multiples` shows humans and systems side by side. `distributions`, `motion` and `search_curves`
draw statistics, `statistics_figures` all of a report. `save` writes PNG, PDF or SVG. `replay` shows gaze moving, as
HTML, GIF or MP4.
"""

from stdiffeye.plotting.canvas import save
from stdiffeye.plotting.distributions import distributions, motion, search_curves
from stdiffeye.plotting.drawing import draw, png
from stdiffeye.plotting.figures import plot, statistics_figures
from stdiffeye.plotting.multiples import multiples
from stdiffeye.plotting.replays import replay
from stdiffeye.plotting.trace import trace, traces

__all__ = [
    "distributions",
    "draw",
    "motion",
    "multiples",
    "plot",
    "png",
    "replay",
    "save",
    "search_curves",
    "statistics_figures",
    "trace",
    "traces",
]
