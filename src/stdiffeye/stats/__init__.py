"""Distributions of gaze, human against generated. Never imports torch.

`compare` the distributions of scanpaths, `kinematics` the movements of raw gaze, `search.compare` how soon a target
is looked at, `saliency.compare` the same gaze as a saliency map.
"""

from stdiffeye.stats import saliency, search
from stdiffeye.stats.comparison import Comparison, compare
from stdiffeye.stats.motion import Kinematics, kinematics

__all__ = ["Comparison", "Kinematics", "compare", "kinematics", "saliency", "search"]
