"""Kinematics of raw gaze: on trajectories whose movements are known, and on real ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from stdiffeye import Frame, Scanpath, Trajectory, Trial
from stdiffeye.errors import InputError
from stdiffeye.gaze.lifting import lift
from stdiffeye.statistics import kinematics

FRAME = Frame(1024, 768, px_per_degree=40)


def jump(amplitude_px: float, noise_px: float = 0.0, rate_hz: float = 240, seed: int = 0) -> Trial:
    """Half a second still, a minimum-jerk saccade of 40 ms, half a second still."""
    time = np.linspace(0, 1, round(0.04 * rate_hz) + 1)
    course = 10 * time**3 - 15 * time**4 + 6 * time**5
    x = np.concatenate([np.zeros(round(rate_hz / 2)), course, np.ones(round(rate_hz / 2))]) * amplitude_px + 300
    xy = np.stack([x, np.full_like(x, 300)], axis=1)
    xy += np.random.default_rng(seed).normal(0, noise_px, xy.shape)
    return Trial("p", str(seed), trajectory=Trajectory(xy, rate_hz, FRAME))


def test_amplitude_and_peak_velocity_of_a_minimum_jerk_saccade_are_known() -> None:
    found = kinematics([jump(200)])
    assert found.saccade_amplitude_deg == pytest.approx([5.0], rel=0.01)
    peak = 1.875 * 5 / (10 / 240)  # of a minimum-jerk course of ten samples
    assert found.peak_velocity_deg_s == pytest.approx([peak], rel=0.05)
    assert found.fixations_per_second == pytest.approx([2 / 1.04], rel=0.02)
    assert found.out_of_frame_share.tolist() == [0]


def test_jitter_and_spectrum_of_white_noise_are_known() -> None:
    noise_px = 0.4
    found = kinematics([jump(200, noise_px, seed=seed) for seed in range(30)])
    step_deg = noise_px / 40 * np.sqrt(2)  # per axis, from sample to sample
    assert np.median(found.jitter_deg_s) == pytest.approx(240 * step_deg * np.sqrt(2 * np.log(2)), rel=0.08)
    flat = 2 * 2 * (noise_px / 40) ** 2 / 240  # both axes, one-mirror_embedding
    inner = (found.frequency_hz > 12) & (found.frequency_hz < 110)
    median_of_mean = 1.678 / 2  # median of a gamma variable of shape 2 over its mean
    assert np.median(found.power_deg2_hz[inner]) == pytest.approx(flat * median_of_mean, rel=0.1)


def test_the_distance_to_itself_is_zero_and_grows_with_noise_and_speed() -> None:
    human = kinematics([jump(60 + 20 * seed, 0.3, seed=seed) for seed in range(20)])
    assert set(human.distance_to(human).values()) == {0.0}
    noisy = kinematics([jump(60 + 20 * seed, 0.9, seed=seed) for seed in range(20)])
    assert noisy.distance_to(human)["jitter"] > 0.9
    assert noisy.distance_to(human)["spectrum_decades"] == pytest.approx(2 * np.log10(3), abs=0.25)
    assert noisy.distance_to(human)["saccade_amplitude"] < 0.2


def test_a_bent_saccade_and_a_fixation_that_moves_are_counted() -> None:
    straight, bent = jump(200, 0.1), jump(200, 0.1)
    assert bent.trajectory is not None
    xy = bent.trajectory.xy_px.copy()
    xy[120:131, 1] += 0.3 * 200 * np.sin(np.pi * np.linspace(0, 1, 11))  # leaves the line by .3 of its length
    xy[:120, 0] -= np.linspace(50, 0, 120)  # 1.25 degrees of drift
    curved = Trial("p", "2", trajectory=Trajectory(xy, 240, FRAME))
    plain, odd = kinematics([straight]), kinematics([curved])
    assert plain.rates() == {"bent saccades": 0.0, "fixations that move": 0.0}
    assert plain.saccade_bend == pytest.approx([0], abs=0.01)
    assert odd.saccade_bend == pytest.approx([0.3], abs=0.05)
    assert odd.rates() == {"bent saccades": 1.0, "fixations that move": 0.5}
    assert odd.distance_to(plain)["bent_saccades_excess"] == 1.0
    assert odd.distance_to(plain)["moving_fixations_excess"] == 0.5


def test_samples_outside_the_frame_are_counted_and_lost_ones_are_not() -> None:
    xy = np.full((240, 2), 100.0)
    xy[100:160] = -5
    xy[:20] = np.nan
    found = kinematics([Trial("p", "1", trajectory=Trajectory(xy, 240, FRAME))])
    assert found.out_of_frame_share == pytest.approx([60 / 220])


def test_numbers_go_into_json_even_where_there_is_no_saccade() -> None:
    still = Trial("p", "1", trajectory=Trajectory(np.full((30, 2), 100.0), 240, FRAME))
    plain = json.loads(json.dumps(kinematics([still]).to_json(), allow_nan=False))
    assert plain["peak_velocity_deg_s"] == {"n": 0, "mean": None, "q25": None, "median": None, "q75": None}
    assert plain["spectrum"]["power_deg2_hz"][0] is None


def test_what_cannot_be_measured_is_said() -> None:
    scanpath = Trial("p", "1", Scanpath([[1, 1]], FRAME))
    with pytest.raises(InputError, match="none of the 1 trials has a trajectory"):
        kinematics([scanpath])
    with pytest.raises(InputError, match="different rates cannot be pooled"):
        kinematics([jump(100), jump(100, rate_hz=500)])
    with pytest.raises(InputError, match="gaze at 500 Hz cannot be compared with gaze at 240 Hz"):
        kinematics([jump(100, rate_hz=500)]).distance_to(kinematics([jump(100)]))
    unknown = Trial("p", "1", trajectory=Trajectory(np.full((90, 2), 5.0), 240, Frame(100, 100)))
    with pytest.raises(InputError, match="px_per_degree"):
        kinematics([unknown])


@pytest.mark.real_data
def test_two_halves_of_real_viewers_move_alike_and_lifted_scanpaths_do_not(real_data: Path) -> None:
    with np.load(real_data / "doves" / "doves_gaze.npz", allow_pickle=False) as archive:
        gaze = {name: archive[name] for name in ("xy", "offsets", "subject", "split")}
    frame = Frame(1024, 768, px_per_degree=60)
    trials = []
    for i in np.flatnonzero(gaze["split"] == "test")[:160]:
        xy = gaze["xy"][gaze["offsets"][i] : gaze["offsets"][i + 1]]
        trials.append(Trial("p", str(gaze["subject"][i]), trajectory=Trajectory(xy, 200.0, frame)))
    one, other = kinematics(trials[::2]), kinematics(trials[1::2])
    distance = other.distance_to(one)
    assert distance["fixation_duration"] < 0.1
    assert distance["main_sequence"] < 0.1
    slow = [Trial("p", "1", trajectory=lift(Scanpath([[100, 100], [700, 500]], frame, [900, 900]), 200.0))]
    assert kinematics(slow).distance_to(one)["fixation_duration"] > 0.5
