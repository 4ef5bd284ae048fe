"""Precision by its definitions, validations as EyeLink writes them, drift by a known target."""

from __future__ import annotations

import numpy as np
import pytest

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.gaze.drift import DriftTarget, drift_corrected
from stdiffeye.gaze.precision import precision_of
from stdiffeye.gaze.recording import Message, Recording
from stdiffeye.gaze.samples import Samples
from stdiffeye.gaze.validations import ValidationPoint, validation_for, validations_in

FRAME = Frame(1000, 800, 20)
STILL = Scanpath([[500, 400]], FRAME, [2000], [0])
LEFT = "!CAL VALIDATION HV9 LR LEFT  GOOD ERROR 0.41 avg. 0.64 max  OFFSET 0.35 deg. 12.5,9.6 pix."
RIGHT = "!CAL VALIDATION HV9 LR RIGHT FAIR ERROR 0.91 avg. 1.84 max  OFFSET 0.27 deg. 9.2,8.4 pix."


def noise(sd_px: float, count: int = 2000) -> np.ndarray:
    return np.random.default_rng(0).normal([500, 400], sd_px, (count, 2))


def test_white_noise_has_the_precision_of_the_formulas():
    found = precision_of(Samples(np.arange(2000.0), noise(2), 1000, FRAME), STILL)
    sd = 2 / 20
    assert found.sd_deg == pytest.approx(np.sqrt(2) * sd, rel=0.05)
    assert found.rms_s2s_deg == pytest.approx(2 * sd, rel=0.05)  # √(2 axes · 2 σ²)
    assert found.bcea_deg2 == pytest.approx(-2 * np.log(0.32) * np.pi * sd**2, rel=0.05)
    assert found.fixation_count == 1


def test_the_ellipse_holds_68_percent_of_the_samples():
    xy = noise(2) / 20
    area = precision_of(Samples(np.arange(2000.0), noise(2), 1000, FRAME), STILL).bcea_deg2
    away = ((xy - xy.mean(axis=0)) ** 2 / xy.var(axis=0)).sum(axis=1)
    radius2 = area / (np.pi * np.sqrt(np.prod(xy.var(axis=0))))
    assert (away <= radius2).mean() == pytest.approx(0.68, abs=0.02)


def test_losses_gaps_and_unknown_scales_do_not_pass_for_noise():
    xy, time = noise(2), np.arange(2000.0)
    xy[500:600] = np.nan
    time[1500:] += 500
    xy[1500:] += 3
    whole = precision_of(Samples(np.arange(2000.0), noise(2), 1000, FRAME), STILL)
    broken = precision_of(Samples(time, xy, 1000, FRAME), Scanpath([[500, 400]], FRAME, [2500], [0]))
    assert broken.rms_s2s_deg == pytest.approx(whole.rms_s2s_deg, rel=0.03)
    assert precision_of(Samples(time, xy, 1000, Frame(1000, 800)), STILL) is None
    assert precision_of(Samples(time[:3], xy[:3], 1000, FRAME), STILL) is None


def test_the_targets_of_a_validation_are_read_and_summed_up_where_nothing_else_does():
    texts = [
        (1, "!CAL VALIDATION HV9 LR LEFT  GOOD ERROR 0.41 avg. 0.64 max  OFFSET 0.35 deg. 12.5,9.6 pix."),
        (1, "VALIDATE LR POINT 0  LEFT  at 960,540  OFFSET 0.48 deg.  20.7,7.9 pix."),
        (1, "VALIDATE LR 4POINT 1 RIGHT  at 960,92  OFFSET 0.50 deg.  5.9,-23.1 pix."),
        (1, "VALIDATE LR 4POINT 2 RIGHT  at 960,988  OFFSET 0.30 deg.  10.7,6.4 pix."),
    ]
    left, right = validations_in(Message(float(at), text) for at, text in texts)
    assert (left.mean_deg, left.verdict, [point.number for point in left.points]) == (0.41, "GOOD", [0])
    assert (right.eye, right.kind, right.verdict, right.mean_deg, right.max_deg) == ("right", "", "", 0.4, 0.5)
    assert right.points[0] == ValidationPoint(1, 960, 92, 0.5, 5.9, -23.1)


def test_a_trial_has_the_last_validation_before_it():
    messages = [
        Message(10, LEFT),
        Message(10, RIGHT),
        Message(50, LEFT.replace("0.41", "0.22")),
        Message(60, "TRIALID"),
    ]
    found = validations_in(messages)
    assert [(one.eye, one.kind, one.verdict, one.mean_deg, one.max_deg, one.offset_deg) for one in found] == [
        ("left", "HV9", "GOOD", 0.41, 0.64, 0.35),
        ("right", "HV9", "FAIR", 0.91, 1.84, 0.27),
        ("left", "HV9", "GOOD", 0.22, 0.64, 0.35),
    ]
    assert validation_for(found, "left", 40).mean_deg == 0.41
    assert validation_for(found, "left", 100).mean_deg == 0.22
    assert validation_for(found, "mean", 100).mean_deg == 0.91
    assert validation_for(found, "left", 5) is None


def trial(offset: tuple[float, float]) -> Recording:
    xy = np.random.default_rng(1).normal([500, 400], 1, (1000, 2)) + offset
    xy[300:] += [200, 100]
    return Recording(np.arange(1000.0) + 100, 1000, FRAME, left_px=xy, right_px=xy + 8)


def test_drift_is_what_lies_between_the_gaze_and_the_target():
    drifted = trial((30, -20))
    corrected = drift_corrected(drifted, [drifted], DriftTarget.parse("500,400"))
    for eye in ("left", "right"):
        assert np.median(corrected.xy_px(eye)[:150], axis=0) == pytest.approx([500, 400], abs=0.5)
        assert np.median(corrected.xy_px(eye)[300:], axis=0) == pytest.approx([700, 500], abs=0.5)
    assert corrected.details["drift_deg"] == pytest.approx(np.hypot(38, 12) / 20, abs=0.05)
    centred = drift_corrected(drifted, [drifted], DriftTarget.parse("centre@0,200"))
    np.testing.assert_allclose(centred.left_px, corrected.left_px, atol=0.5)


def test_gaze_far_from_the_target_is_left_alone():
    away = trial((150, 0))
    untouched = drift_corrected(away, [away], DriftTarget.parse("centre"))
    assert untouched.details["drift_deg"] is None
    np.testing.assert_array_equal(untouched.left_px, away.left_px)
    early = drift_corrected(away, [away], DriftTarget.parse("centre@-200,0"))
    assert early.details["drift_deg"] is None, "there is nothing before the trial"


@pytest.mark.parametrize("text", ["middle", "5", "1,2,3", "centre@5", "centre@200,100", "nan,3"])
def test_a_target_that_is_none_is_refused(text):
    with pytest.raises(InputError, match="target"):
        DriftTarget.parse(text)
