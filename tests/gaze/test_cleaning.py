from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory, fill_gaps, fixation_span, resample, truncate

FRAME = Frame(1680, 1050)
LOST = (np.nan, np.nan)


def steps(*places: tuple[float, float], each: int = 50) -> Trajectory:
    return Trajectory(np.repeat(np.array(places, dtype=float), each, axis=0), 240, FRAME)


def path(*places: tuple[float, float]) -> Scanpath:
    return Scanpath(np.array(places, dtype=float), FRAME)


def test_a_thousand_hertz_become_240_by_time() -> None:
    time_ms = np.arange(3000.0)
    trajectory = resample(time_ms, np.stack([time_ms, -time_ms], axis=1), 240, FRAME)
    assert len(trajectory) == 720
    assert trajectory.rate_hz == 240
    np.testing.assert_allclose(trajectory.xy_px[:, 0], np.arange(720) * 1000 / 240)
    np.testing.assert_allclose(trajectory.xy_px[:, 1], -np.arange(720) * 1000 / 240)


@settings(deadline=None, max_examples=50)
@given(st.floats(30, 2000), st.floats(30, 2000), st.integers(2, 300), st.integers(0, 9))
def test_resampling_a_straight_line_keeps_it_straight_at_any_rate(
    rate_in: float, rate_out: float, count: int, seed: int
) -> None:
    jitter = np.random.default_rng(seed).uniform(-0.3, 0.3, count)
    time_ms = 5000 + (np.arange(count) + jitter) * 1000 / rate_in
    trajectory = resample(time_ms, np.stack([2 * time_ms, time_ms], axis=1), rate_out, FRAME)
    wanted = time_ms[0] + np.arange(len(trajectory)) * 1000 / rate_out
    np.testing.assert_allclose(trajectory.xy_px[:, 1], wanted, rtol=1e-9)
    assert wanted[-1] <= time_ms[-1] + 1e-5 < wanted[-1] + 1000 / rate_out + 2e-5


@pytest.mark.parametrize(("lost", "bridged"), [(1, True), (37, True), (38, False), (100, False)])
def test_gaps_up_to_75_ms_are_bridged_and_longer_ones_stay_lost(lost: int, bridged: bool) -> None:
    time_ms = np.arange(0.0, 600, 2)  # 500 Hz: 37 samples are 74 ms, 38 are 76 ms
    xy = np.stack([time_ms, time_ms], axis=1)
    xy[50 : 50 + lost] = np.nan
    by_time = resample(time_ms, xy, 240, FRAME)
    by_rate = fill_gaps(Trajectory(xy, 500, FRAME))
    kept = ~np.isnan(xy[:, 0])
    without_rows = resample(time_ms[kept], xy[kept], 240, FRAME)
    assert (by_time.missing_share == 0) == bridged
    assert (by_rate.missing_share == 0) == bridged
    assert without_rows == by_time
    assert len(by_time) == 144  # time is never closed up
    seen = ~by_time.lost
    np.testing.assert_allclose(by_time.xy_px[seen, 0], by_time.time_ms[seen])


def test_samples_lost_at_the_ends_stay_lost() -> None:
    filled = fill_gaps(Trajectory([LOST, (1, 1), LOST, (3, 3), LOST], 240, FRAME))
    assert filled.lost.tolist() == [True, False, False, False, True]
    assert filled.xy_px[2].tolist() == [2, 2]


def test_filling_nothing_changes_nothing() -> None:
    whole = steps((1, 1))
    assert fill_gaps(whole) is whole
    assert resample([0, 5], [LOST, LOST], 240, FRAME).missing_share == 1


@pytest.mark.parametrize(
    ("time_ms", "xy", "rate", "message"),
    [
        ([0, 1], [[0, 0]], 240, "samples need one time each, got (2,) times and (1, 2) places"),
        ([], np.zeros((0, 2)), 240, "there are no samples to resample"),
        ([0, np.nan], [[0, 0]] * 2, 240, "sample times must be finite numbers of ms"),
        ([0, 4, 4], [[0, 0]] * 3, 240, "sample times must rise, but 4 ms is followed by 4 ms (row 2)"),
        ([0, 1], [[0, 0]] * 2, 0, "the rate to resample to must be a positive number of Hz, got 0"),
    ],
)
def test_samples_that_cannot_be_resampled_are_refused(time_ms: list, xy: list, rate: float, message: str) -> None:
    with pytest.raises(InputError) as caught:
        resample(time_ms, xy, rate, FRAME)
    assert str(caught.value) == message


def test_trimming_cuts_before_the_first_and_after_the_last_fixation() -> None:
    gaze = steps((500, 500), (100, 100), (300, 100), (900, 900))
    assert fixation_span(gaze.xy_px, path((112, 116), (300, 119))) == (50, 150)  # 20.0 px and 19 px away
    assert fixation_span(gaze.xy_px, path((100, 100), (300, 100))) == (50, 150)


def test_trimming_refuses_a_scanpath_of_another_trial() -> None:
    gaze = steps((100, 100), (300, 100))
    with pytest.raises(InputError, match=r"no sample within 20 px of the first fixation; the nearest is 21 px away"):
        fixation_span(gaze.xy_px, path((100, 121), (300, 100)))
    with pytest.raises(InputError, match="no sample within 20 px of the last fixation; the nearest is 600 px away"):
        fixation_span(gaze.xy_px, path((100, 100), (900, 100)))
    with pytest.raises(InputError, match="are scanpath and trajectory of the same trial"):
        fixation_span(gaze.xy_px, path((300, 100), (100, 100)))
    with pytest.raises(InputError, match="all samples are lost"):
        fixation_span([LOST], path((1, 1)))


def test_sixteen_fixations_are_kept_and_the_trajectory_ends_with_the_sixteenth() -> None:
    places = [(100.0 * m, 50.0) for m in range(1, 19)]
    places[17] = places[15]  # the eye comes back to fixation 16, which must not count
    gaze = steps(*places, each=20)
    short_gaze, short_path = truncate(gaze, path(*places))
    assert short_path == path(*places)[:16]
    assert short_gaze == gaze[: 16 * 20]


def test_1500_points_are_kept_and_fixations_beyond_them_go() -> None:
    places = [(100.0 * m, 50.0) for m in range(1, 11)]
    gaze = steps(*places, each=200)
    short_gaze, short_path = truncate(gaze, path(*places))
    assert len(short_gaze) == 1500
    assert short_path == path(*places)[:8]  # the eighth begins at sample 1400


def test_what_is_short_enough_is_left_alone() -> None:
    gaze, fixations = steps((1, 1), (50, 50)), path((1, 1), (50, 50))
    assert truncate(gaze, fixations) == (gaze, fixations)
    assert truncate(gaze, fixations, max_points=10) == (gaze[:10], fixations[:1])
