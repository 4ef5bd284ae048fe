"""The nouns of gaze, and what can be done to one of them."""

from stdiffeye.gaze.cleaning import fill_gaps, fixation_span, resample, truncate
from stdiffeye.gaze.extraction import extract, fixation_intervals
from stdiffeye.gaze.frame import Frame, Placement
from stdiffeye.gaze.gaze_list import GazeList
from stdiffeye.gaze.index import anchors, fixation_index
from stdiffeye.gaze.lifting import Skeleton, lift, skeleton_of
from stdiffeye.gaze.quality import Quality, QualityReport, QualityThresholds
from stdiffeye.gaze.types import Scanpath, Trajectory, Trial

__all__ = [
    "Frame",
    "GazeList",
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
    "fixation_intervals",
    "fixation_span",
    "lift",
    "resample",
    "skeleton_of",
    "truncate",
]
