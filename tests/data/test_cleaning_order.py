"""One order of cleaning for every way in: hand-made recordings for which the order matters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stdiffeye.data.clean import CleaningSettings, clean
from stdiffeye.data.preparation import prepare
from stdiffeye.data.recording_fixations import fixations
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.gaze.lifting import lift
from stdiffeye.gaze.quality import Quality, QualityReport
from stdiffeye.gaze.recording import Event, Message, Recording
from stdiffeye.gaze.samples import RawTrial, Samples
from stdiffeye.gaze.trial_messages import split_trials
from stdiffeye.io.eyelink_asc_write import write_asc

SCREEN = Frame(1024, 768, 34)
PATH = Scanpath([[512, 384], [200, 150], [800, 600], [300, 650]], SCREEN, duration_ms=[400, 300, 280, 420])
LOST = [np.nan, np.nan]


def gaze_at(rate_hz: float = 1000) -> np.ndarray:
    return np.array(lift(PATH, rate_hz, np.random.default_rng(0)).xy_px)


def raw(xy_px: np.ndarray, rate_hz: float = 1000, **more: object) -> RawTrial:
    time_ms = 5000 + np.arange(len(xy_px)) * 1000 / rate_hz
    return RawTrial("a.png", "ann", Recording(time_ms, rate_hz, SCREEN, left_px=xy_px), **more)


def outcome(trial: RawTrial | Trial) -> tuple[Trial | None, list[str]]:
    report = QualityReport()
    cleaned = clean(trial, CleaningSettings(), report)
    assert report.total == 1
    return cleaned, list(report.dropped)


def test_good_gaze_passes_and_is_resampled_to_240_hz() -> None:
    cleaned, dropped = outcome(raw(gaze_at()))
    assert not dropped
    assert cleaned is not None
    assert cleaned.trajectory.rate_hz == 240
    np.testing.assert_allclose(cleaned.scanpath.xy_px, PATH.xy_px, atol=3)


def test_losses_are_counted_before_they_are_bridged() -> None:
    """A third of the samples is lost, 50 ms at a time: bridged, nothing would be missing."""
    xy_px = gaze_at()
    for start in range(100, len(xy_px) - 100, 150):
        xy_px[start : start + 50] = LOST
    cleaned, dropped = outcome(raw(xy_px))
    assert cleaned is None
    assert dropped == ["more than 25% of samples lost"]


def test_a_single_impossible_sample_is_seen_before_resampling_steps_over_it() -> None:
    spiked = gaze_at()
    spiked[201] += 400  # between two of the 240 Hz samples
    cleaned, dropped = outcome(raw(spiked))
    assert cleaned is None
    assert dropped == ["faster than 1000 deg/s"]
    stepped_over = Samples(np.arange(len(spiked)) * 1.0, spiked, 1000, SCREEN)[::4]
    assert Quality.of(replace(stepped_over, rate_hz=250)).impossible_speed_count == 0


def blinked() -> Recording:
    """A lid closes and opens around 80 lost samples; the tracker says saccade around blink."""
    xy_px = gaze_at()
    xy_px[200:280] = LOST
    xy_px[190:200] += np.arange(0, 400, 40)[:, None]
    xy_px[280:290] += np.arange(400, 0, -40)[:, None]
    events = (Event("saccade", "left", 5190, 100), Event("blink", "left", 5200, 80))
    return Recording(5000.0 + np.arange(len(xy_px)), 1000, SCREEN, left_px=xy_px, events=events)


def test_moving_lids_are_cut_before_the_gate_takes_them_for_lost_tracking() -> None:
    with_lids = RawTrial("a.png", "ann", blinked())
    assert outcome(with_lids)[1] == ["faster than 1000 deg/s"]
    (recording,) = split_trials([blinked()])
    cleaned, dropped = outcome(RawTrial("a.png", "ann", recording))
    assert not dropped
    assert cleaned is not None
    assert cleaned.trajectory.lost.sum() == pytest.approx(100 * 0.24, abs=2)  # longer than a gap that is bridged


def test_a_lid_that_closed_before_the_trial_began_is_cut_all_the_same() -> None:
    block = replace(blinked(), messages=(Message(5195.0, "TRIALID 7"),))
    (trial,) = split_trials([block])
    assert trial.time_ms[0] == 5195
    assert np.isnan(trial.left_px[: 5290 - 5195]).all()
    assert not np.isnan(trial.left_px[5290 - 5195]).any()


def test_the_eye_is_chosen_after_lids_are_cut() -> None:
    block = blinked()
    right = gaze_at()
    right[100:190] = LOST  # more than the left's lost samples, fewer than those with its lids
    (trial,) = split_trials([replace(block, right_px=right)])
    assert trial.xy_px("best") is trial.right_px
    assert replace(block, right_px=right).xy_px("best") is not right


def test_what_lies_outside_the_given_fixations_is_not_judged() -> None:
    """Before the picture the viewer looks away, blinks and is lost for most of the time."""
    before = np.full((1500, 2), 5000.0)
    before[:1400] = LOST
    trial = raw(np.concatenate([before, gaze_at()]), scanpath=PATH)
    cleaned, dropped = outcome(trial)
    assert not dropped
    assert cleaned is not None
    assert cleaned.details["trimmed_ms"] == pytest.approx(1500)
    assert outcome(replace(trial, scanpath=None))[1] == ["more than 25% of samples lost"]


def test_gaze_is_interpolated_once() -> None:
    """Samples of a jittering clock lie on a line; going by an even grid of their own rate would bend it."""
    rng = np.random.default_rng(1)
    time_ms = np.cumsum(rng.uniform(3, 13, 300))
    xy_px = np.stack([100 + 0.2 * time_ms, np.full(300, 300.0)], axis=1)
    recording = Recording(time_ms, 125, SCREEN, left_px=xy_px)
    scanpath = Scanpath(xy_px[[0, -1]], SCREEN)
    cleaned, dropped = outcome(RawTrial("a.png", "ann", recording, scanpath=scanpath))
    assert not dropped
    assert cleaned is not None
    at_ms = cleaned.details.get("trimmed_ms", 0) + cleaned.trajectory.time_ms + time_ms[0]
    np.testing.assert_allclose(cleaned.trajectory.xy_px[:, 0], 100 + 0.2 * at_ms, atol=1e-9)


@pytest.mark.parametrize("lids", [False, True])
def test_fixations_and_prepare_give_the_same_trials(tmp_path, lids) -> None:
    block = blinked() if lids else raw(gaze_at()).recording
    messages = (Message(4990.0, "TRIALID a.png"), Message(float(block.time_ms[-1]) + 5, "TRIAL_RESULT 0"))
    (tmp_path / "recordings").mkdir()
    write_asc(tmp_path / "recordings" / "ann.asc", [replace(block, messages=messages)])
    (one,) = fixations(tmp_path / "recordings" / "ann.asc").trials
    (other,) = prepare(tmp_path / "recordings", out=tmp_path / "store", quiet=True).trials()
    assert one.name == other.name == "a.png"
    assert one.subject == other.subject != "ann"  # the same pseudonym
    assert one.scanpath == other.scanpath
    np.testing.assert_allclose(one.trajectory.xy_px, other.trajectory.xy_px, atol=1e-4)  # the store keeps float32
