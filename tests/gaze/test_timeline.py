"""Looks that must fit in the time there is."""

import pytest

from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.gaze.timeline import rescale_time

PATH = Scanpath([[10, 10], [60, 40], [30, 70]], Frame(100, 100), duration_ms=[200, 300, 400], onset_ms=[0, 250, 600])


@pytest.mark.parametrize(("seconds", "pace"), [(0.5, 0.5), (1.5, 1.5)])
def test_a_look_of_another_pace_keeps_its_fixations_and_ends_in_time(seconds, pace):
    other = rescale_time(PATH, seconds)
    assert other.xy_px.tolist() == PATH.xy_px.tolist()
    assert other.duration_ms.tolist() == pytest.approx([200 * pace, 300 * pace, 400 * pace])
    assert other.onset_ms.tolist() == pytest.approx([0, 250 * pace, 600 * pace])
