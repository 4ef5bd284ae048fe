"""Gaze as pictures and films. Matplotlib is loaded by the first drawing, not by this import; pyplot never.

`draw` overlays any gaze on its picture, `png` is the same as bytes, `save` writes PNG, PDF or SVG.
"""

from stdiffeye.plot.canvas import save
from stdiffeye.plot.drawing import draw, png

__all__ = ["draw", "png", "save"]
