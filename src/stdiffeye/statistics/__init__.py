"""Distributions of gaze, human against generated. Never imports torch.

`stats` gathers everything in one report. `compare` gives the distributions of scanpaths, `kinematics` the movements of
raw gaze, `search.compare` how soon a target is fixated, `saliency.compare` the fixations as a saliency map.
"""

from stdiffeye.statistics import saliency, search
from stdiffeye.statistics.comparison import Comparison, compare
from stdiffeye.statistics.motion import Kinematics, kinematics
from stdiffeye.statistics.report import Statistics, stats

__all__ = ["Comparison", "Kinematics", "Statistics", "compare", "kinematics", "saliency", "search", "stats"]
