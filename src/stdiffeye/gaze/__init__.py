"""The nouns of gaze, and what can be done to one of them."""

from stdiffeye.gaze.frame import Frame, Placement
from stdiffeye.gaze.nouns import Scanpath, Trajectory, Trial

__all__ = ["Frame", "Placement", "Scanpath", "Trajectory", "Trial"]
