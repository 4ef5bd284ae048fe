"""Looks that must fit in the time there is."""

import pytest

from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.gaze.timeline import hurried

PATH = Scanpath([[10, 10], [60, 40], [30, 70]], Frame(100, 100), duration_ms=[200, 300, 400], onset_ms=[0, 250, 600])


def test_a_look_that_ends_too_late_keeps_its_fixations_and_is_faster():
    faster = hurried(PATH, 0.5)
    assert faster.xy_px.tolist() == PATH.xy_px.tolist()
    assert faster.duration_ms.tolist() == pytest.approx([100, 150, 200])
    assert faster.onset_ms.tolist() == pytest.approx([0, 125, 300])


@pytest.mark.parametrize("seconds", [1.0, 2.5, float("nan")])
def test_a_look_that_ends_in_time_or_has_no_time_given_is_left_alone(seconds):
    assert hurried(PATH, seconds) is PATH
