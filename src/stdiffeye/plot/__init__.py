"""Gaze as pictures and films. Matplotlib is loaded by the first drawing, not by this import; pyplot never.

`draw` overlays any gaze on its picture, `png` is the same as bytes, `trace` shows it over time, `multiples` people and
systems side by side, `distributions`, `motion` and `search_curves` statistics; `save` writes PNG, PDF or SVG;
`replay` shows gaze moving, as HTML, GIF or MP4.
"""

from stdiffeye.plot.canvas import save
from stdiffeye.plot.drawing import draw, png
from stdiffeye.plot.multiples import multiples
from stdiffeye.plot.replay import replay
from stdiffeye.plot.statistics import distributions, motion, search_curves
from stdiffeye.plot.trace import trace, traces

__all__ = ["distributions", "draw", "motion", "multiples", "png", "replay", "save", "search_curves", "trace", "traces"]
