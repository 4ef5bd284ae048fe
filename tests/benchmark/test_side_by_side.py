"""Gaze that is shown side by side is not all of one person."""

import numpy as np
import pytest

from stdiffeye.benchmark.scoring import _side_by_side, stated_gap
from stdiffeye.gaze import Frame, Trajectory, Trial


def trials(who: str, count: int) -> list[Trial]:
    gaze = Trajectory(np.zeros((8, 2)), 240, Frame(64, 48))
    return [Trial(f"{p}.jpg", f"{who}{viewer}", trajectory=gaze) for p in "abc" for viewer in range(count)]


def test_each_picture_shows_another_viewer_and_begins_anew_when_there_are_no_more():
    shown = _side_by_side(trials("person", 2), trials("sample", 5))
    assert [trial.name for trial in shown] == ["a.jpg", "a.jpg", "b.jpg", "b.jpg", "c.jpg", "c.jpg"]
    assert [trial.subject for trial in shown] == ["person0", "sample0", "person1", "sample1", "person0", "sample2"]


@pytest.mark.parametrize(
    ("estimate", "said"),
    [
        ((0.61, 0.52, 0.70), "61 % (52 to 70)"),
        ((0.63, 0.10, 2.95), "not decidable here (10 to 295 %)"),
        ((0.5, float("nan"), float("nan")), "not decidable here"),
    ],
)
def test_a_gap_is_stated_only_where_its_interval_is_narrow(estimate, said):
    assert stated_gap(estimate).startswith(said)
