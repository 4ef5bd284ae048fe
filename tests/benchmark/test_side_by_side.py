"""Gaze that is shown side by side is not all of one person."""

import numpy as np

from stdiffeye.benchmark.scoring import _side_by_side
from stdiffeye.gaze import Frame, Trajectory, Trial


def trials(who: str, count: int) -> list[Trial]:
    gaze = Trajectory(np.zeros((8, 2)), 240, Frame(64, 48))
    return [Trial(f"{p}.jpg", f"{who}{viewer}", trajectory=gaze) for p in "abc" for viewer in range(count)]


def test_each_picture_shows_another_viewer_and_begins_anew_when_there_are_no_more():
    shown = _side_by_side(trials("person", 2), trials("sample", 5))
    assert [trial.name for trial in shown] == ["a.jpg", "a.jpg", "b.jpg", "b.jpg", "c.jpg", "c.jpg"]
    assert [trial.subject for trial in shown] == ["person0", "sample0", "person1", "sample1", "person0", "sample2"]
