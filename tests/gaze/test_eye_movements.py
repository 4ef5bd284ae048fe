"""Saccades, oscillations, microsaccades and blinks: made gaze has what it was made of, experts and peers agree."""

from __future__ import annotations

import numpy as np
import pytest

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.gaze.eye_movements import eye_movements
from stdiffeye.gaze.lifting import lift
from stdiffeye.gaze.microsaccades import fast_intervals, microsaccades, velocity
from stdiffeye.gaze.recording import Event, Recording
from stdiffeye.gaze.saccades import find_saccades

FRAME = Frame(1024, 768, 34)
PATH = Scanpath([[200, 200], [600, 400], [300, 500]], FRAME, [300, 300, 300], [0, 345, 690])


def recorded(rate_hz: float = 1000.0, **changes: object) -> Recording:
    gaze = lift(PATH, rate_hz, np.random.default_rng(1))
    return Recording(gaze.time_ms + 5000, rate_hz, FRAME, left_px=gaze.xy_px, **changes)


def of(events, kind):
    return [event for event in events if event.event == kind]


@pytest.mark.parametrize("rate_hz", [250.0, 500.0, 1000.0])
def test_a_made_recording_has_the_saccades_that_it_was_made_with(rate_hz):
    found = eye_movements(recorded(rate_hz), PATH)
    saccades = of(found, "saccade")
    steps = np.diff(PATH.xy_px, axis=0)
    assert len(saccades) == 2
    for one, (dx, dy) in zip(saccades, steps, strict=True):
        assert one.amplitude_deg == pytest.approx(np.hypot(dx, dy) / 34, abs=0.6)
        assert one.direction_deg == pytest.approx(np.degrees(np.arctan2(-dy, dx)), abs=5)
        assert 150 < one.peak_deg_s < 700
        assert one.eye == "left"
    assert [event.onset_ms for event in of(found, "fixation")] == [0, 345, 690]
    assert [event.onset_ms for event in found] == sorted(event.onset_ms for event in found)


def test_slow_trackers_have_no_saccades_and_lost_stretches_none_either():
    assert {event.event for event in eye_movements(recorded(60.0), PATH)} == {"fixation"}
    lost = np.full((500, 2), np.nan)
    found = find_saccades(lost, 1000, 34)
    assert len(found.saccades) == len(found.oscillations) == 0


def test_an_oscillation_after_a_saccade_is_found():
    gaze = recorded()
    xy = np.array(gaze.left_px)
    (first, stop), _ = find_saccades(xy, 1000, 34).saccades.tolist()
    time = np.arange(30)
    xy[stop : stop + 30, 0] += 12 * np.exp(-time / 12) * np.sin(2 * np.pi * time / 20)
    found = find_saccades(xy, 1000, 34)
    assert abs(found.saccades[0, 0] - first) <= 1
    assert found.oscillations[0, 0] == found.saccades[0, 1]
    assert 15 <= found.oscillations[0, 1] - found.oscillations[0, 0] <= 45


def test_a_saccade_that_only_slows_down_has_no_oscillation():
    share = np.clip((np.arange(1000) - 500) / 60, 0, 1)
    x = 200 + 300 * (10 * share**3 - 15 * share**4 + 6 * share**5)
    xy = np.stack([x, np.full(1000, 300.0)], axis=1) + np.random.default_rng(0).normal(0, 0.02, (1000, 2))
    found = find_saccades(xy, 1000, 34)
    assert len(found.saccades) == 1
    assert len(found.oscillations) == 0


def test_blinks_come_from_the_tracker_or_from_losses():
    xy = np.array(recorded().left_px)
    xy[400:520] = np.nan
    gap = Recording(np.arange(len(xy), dtype=float), 1000, FRAME, left_px=xy)
    (blink,) = of(eye_movements(gap), "blink")
    assert (blink.onset_ms, blink.duration_ms) == (400, 120)
    tracker = recorded(events=(Event("blink", "left", 5100.0, 80.0), Event("blink", "right", 5200.0, 80.0)))
    (blink,) = of(eye_movements(tracker), "blink")
    assert (blink.onset_ms, blink.duration_ms) == (100, 80)


def two_eyes(rng: np.random.Generator, both: bool) -> list[np.ndarray]:
    eyes = [np.cumsum(rng.normal(0, 0.02, (1000, 2)), axis=0) + 400 for _ in range(2)]
    for eye in eyes if both else eyes[:1]:
        eye[500:506] += np.linspace(0, 1, 6)[:, None] * [17, 0]
        eye[506:] += [17, 0]
    return eyes


def test_a_microsaccade_is_one_that_both_eyes_make():
    found = microsaccades(two_eyes(np.random.default_rng(0), both=True), 500, 34)
    assert len(found) == 1
    assert 495 <= found[0, 0] <= 501
    assert len(microsaccades(two_eyes(np.random.default_rng(0), both=False), 500, 34)) == 0
    assert len(microsaccades(two_eyes(np.random.default_rng(0), both=False)[:1], 500, 34)) == 1
    assert len(microsaccades(two_eyes(np.random.default_rng(0), both=True), 500, 10)) == 0, "a saccade of 1.7 degrees"
    left, right = two_eyes(np.random.default_rng(0), both=True)
    still = Scanpath([[400, 400]], FRAME, [2000], [0])
    raw = Recording(np.arange(1000) * 2.0, 500, FRAME, left_px=left, right_px=right)
    (one,) = of(eye_movements(raw, still), "microsaccade")
    assert (one.eye, one.direction_deg) == ("both", pytest.approx(0, abs=3))


def test_the_rule_of_engbert_and_kliegl_is_that_of_pymovements():
    pm = pytest.importorskip("pymovements")
    rng = np.random.default_rng(3)
    for xy in (*two_eyes(rng, both=True), np.array(recorded(500.0).left_px)):
        speed = velocity(xy, 500)
        theirs = pm.events.microsaccades(speed[2:-2], minimum_duration=3, threshold="engbert2015").frame
        ours = fast_intervals(xy, 500)
        assert ours[:, 0].tolist() == (theirs["onset"].to_numpy() + 2).tolist()
        assert (ours[:, 1] - 1).tolist() == (theirs["offset"].to_numpy() + 2).tolist()


def test_the_eye_that_is_asked_for_must_be_there():
    with pytest.raises(InputError, match="has no right eye, only the left one"):
        eye_movements(recorded(), eye="right")
