"""The nouns of gaze, and what can be done to one of them."""

from stdiffeye.gaze.cleaning import fill_gaps, resample, trim_to_fixations, truncate
from stdiffeye.gaze.fixations import extract, fixation_intervals
from stdiffeye.gaze.frame import Frame, Placement
from stdiffeye.gaze.index import anchors, fixation_index, fixation_indices
from stdiffeye.gaze.lifting import Skeleton, lift, skeleton
from stdiffeye.gaze.nouns import Scanpath, Trajectory, Trial
from stdiffeye.gaze.quality import Quality, QualityReport, QualityThresholds

__all__ = [
    "Frame",
    "Placement",
    "Quality",
    "QualityReport",
    "QualityThresholds",
    "Scanpath",
    "Skeleton",
    "Trajectory",
    "Trial",
    "anchors",
    "extract",
    "fill_gaps",
    "fixation_index",
    "fixation_indices",
    "fixation_intervals",
    "lift",
    "resample",
    "skeleton",
    "trim_to_fixations",
    "truncate",
]
