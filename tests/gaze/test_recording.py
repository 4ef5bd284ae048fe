"""The noun `Recording`: what it refuses, which eye it gives, how it is cut and joined."""

from __future__ import annotations

import numpy as np
import pytest

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, resample
from stdiffeye.gaze.recording import Event, Message, Recording
from stdiffeye.gaze.recording_blocks import joined

FRAME = Frame(1000, 800, 30)


def made(start: float = 0, count: int = 200, rate: float = 500, **more) -> Recording:
    time = start + np.arange(count) * 1000 / rate
    xy = np.stack([np.linspace(100, 200, count), np.full(count, 50.0)], axis=1)
    more.setdefault("left_px", xy)
    return Recording(time, rate, FRAME, name="r", **more)


def test_time_is_never_closed_up_over_a_gap():
    recording = joined([made(0), made(5000)])
    assert recording.duration_ms == 5400
    gaze = resample(recording.time_ms, recording.xy_px(), 240, FRAME)
    assert gaze.duration_ms == pytest.approx(5400, abs=5)
    assert gaze.missing_share == pytest.approx(4600 / 5400, abs=0.02)


def test_the_best_eye_is_the_one_less_often_lost_and_the_mean_needs_both():
    left, right = np.full((200, 2), 100.0), np.full((200, 2), 200.0)
    left[:30], right[100:110] = np.nan, np.nan
    recording = made(left_px=left, right_px=right)
    assert recording.missing_share("left") == 0.15
    np.testing.assert_array_equal(recording.xy_px("best"), right)
    assert recording.missing_share("mean") == 0.2
    assert np.nanmax(recording.xy_px("mean")) == 150


def test_an_eye_that_was_not_recorded_is_an_error_but_best_and_mean_take_the_other():
    recording = made()
    assert recording.xy_px("mean") is recording.left_px
    with pytest.raises(InputError, match="has no right eye, only the left one"):
        recording.xy_px("right")
    with pytest.raises(InputError, match="eye must be one of best, left, right, mean, got 'both'"):
        recording.xy_px("both")


def test_a_part_keeps_its_own_events_and_messages():
    events = (Event("fixation", "left", 300, 50), Event("blink", "left", 10, 20))
    recording = made(events=events, messages=(Message(399, "late"), Message(5, "early")))
    assert [message.text for message in recording.messages] == ["early", "late"]
    part = recording.within(200, 350)
    assert part.time_ms[[0, -1]].tolist() == [200, 348]
    assert part.events == events[:1]
    assert part.messages == ()
    with pytest.raises(InputError, match="no sample between 900 and 950 ms"):
        recording.within(900, 950)


def test_samples_that_the_lid_bends_around_a_blink_are_lost_and_no_others():
    events = (
        Event("saccade", "left", 100, 60),
        Event("blink", "left", 120, 20),
        Event("saccade", "left", 200, 40),
        Event("blink", "right", 210, 10),
    )
    cleaned = made(events=events).without_blink_edges()
    lost = cleaned.time_ms[np.isnan(cleaned.left_px[:, 0])]
    np.testing.assert_array_equal(lost, np.arange(100, 160, 2))
    np.testing.assert_array_equal(made().without_blink_edges().left_px, made().left_px)


def test_blocks_of_two_rates_or_two_eyes_cannot_be_joined():
    with pytest.raises(InputError, match=r"spans blocks of two rates \(500 and 250 Hz\): choose --start and --end"):
        joined([made(), made(5000, rate=250)])
    right = made(5000, left_px=None, right_px=np.zeros((200, 2)))
    with pytest.raises(InputError, match="no eye was recorded throughout"):
        joined([made(), right])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time_ms": []}, "needs at least one sample"),
        ({"time_ms": [0, 2, 1]}, r"after 2 ms comes 1 ms \(sample 3\)"),
        ({"time_ms": [0, np.nan, 1]}, "sample 2 has no time"),
        ({"rate_hz": 0}, "the rate must be a positive number of Hz, got 0"),
        ({"left_px": None}, "has neither a left nor a right eye"),
        ({"left_px": np.zeros((2, 2))}, r"left_px must have shape \(3, 2\), got \(2, 2\)"),
        ({"left_px": np.full((3, 2), np.inf)}, "holds an infinite value"),
    ],
)
def test_what_cannot_be_a_recording_is_refused(change, message):
    good = {"time_ms": [0, 1, 2], "rate_hz": 1000, "frame": FRAME, "left_px": np.zeros((3, 2))}
    with pytest.raises(InputError, match=message):
        Recording(**(good | change))


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        made().left_px[0] = 1
