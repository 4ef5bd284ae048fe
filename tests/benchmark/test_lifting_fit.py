from __future__ import annotations

import math
from dataclasses import asdict, replace

import numpy as np
import pytest

from stdiffeye.benchmark.lifting_constants import RoundTrip, drift_and_noise, round_trip, saccades_of, shoulders
from stdiffeye.benchmark.lifting_report import document
from stdiffeye.gaze import Frame, Scanpath, Trajectory, lift
from stdiffeye.gaze.oculomotor import CONSTANTS

FRAME = Frame(800, 600, px_per_degree=24)


def held(seconds: float, seed: int) -> Trajectory:
    path = Scanpath(np.array([[400.0, 300.0]]), FRAME, np.array([1000 * seconds]))
    return lift(path, 200, np.random.default_rng(seed))


def test_the_fit_finds_the_drift_and_noise_that_were_put_in() -> None:
    drift_deg2_s, persistence_ms, noise_deg = drift_and_noise([held(30, seed) for seed in range(6)])
    assert drift_deg2_s == pytest.approx(CONSTANTS.drift_deg2_s, rel=0.2)
    assert noise_deg == pytest.approx(CONSTANTS.noise_deg, rel=0.1)
    assert persistence_ms == pytest.approx(CONSTANTS.drift_persistence_ms, rel=0.5)


def test_the_shoulders_in_use_are_those_of_the_extractor() -> None:
    shoulder_ms, share_before = shoulders(CONSTANTS)
    assert shoulder_ms == pytest.approx(CONSTANTS.shoulder_ms, abs=1)
    assert share_before == pytest.approx(CONSTANTS.shoulder_share_before, abs=0.05)


def test_saccades_are_measured_between_fixations() -> None:
    path = Scanpath(np.array([[100.0, 300.0], [340.0, 300.0]]), FRAME, np.array([300.0, 300.0]))
    (saccade,) = saccades_of(lift(path, 240))
    assert saccade.amplitude_deg == pytest.approx(10)
    assert saccade.path_deg == pytest.approx(10)
    lasts_s = (CONSTANTS.saccade_base_ms + 10 * CONSTANTS.saccade_ms_per_deg) / 1000
    assert saccade.peak_deg_s == pytest.approx(1.875 * 10 / lasts_s, rel=0.05)


def test_the_round_trip_counts_what_does_not_come_back() -> None:
    far = Scanpath(np.array([[100.0, 300.0], [340.0, 300.0]]), FRAME, np.array([300.0, 300.0]))
    near = Scanpath(np.array([[100.0, 300.0], [103.0, 300.0]]), FRAME, np.array([300.0, 300.0]))
    assert round_trip([far, near]).same_count_share == 1
    straight = round_trip([far, near], replace(CONSTANTS, overshoot_deg=0))
    assert straight.same_count_share == 0.5
    assert straight.trials == 2
    assert straight.median_duration_ms < 15


def test_the_report_shows_constants_in_use_beside_fitted_ones() -> None:
    path = Scanpath(np.array([[100.0, 300.0], [340.0, 300.0]]), FRAME, np.array([300.0, 300.0]))
    saccades = list(saccades_of(lift(path, 240)))
    fitted = asdict(replace(CONSTANTS, noise_deg=0.123))
    text = document(asdict(CONSTANTS), fitted, {"all": RoundTrip(7, 0.985, 0.1, 2.0, 5.0)}, saccades, saccades)
    assert f"| `noise_deg` | {CONSTANTS.noise_deg} | 0.123 |" in text
    assert "| all | 7 | 98.50% | 0.100 | 2.0 | 5.0 |" in text
    assert text.count("| 8–16 | 1 |") == 1
    assert not math.isnan(saccades[0].gap_ms)
