"""What the path code of a trajectory keeps, what it leaves out, and what is made of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial, extract, lift, path_code
from stdiffeye.statistics import kinematics

FRAME = Frame(1024, 768, 60)
RATE_HZ = 240.0
PATH = Scanpath(
    [[200, 200], [700, 240], [640, 600], [300, 420]],
    FRAME,
    duration_ms=[250, 400, 300, 350],
    onset_ms=[0, 310, 780, 1140],
)


def a_code(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.8, (len(PATH), path_code.WIDTH))


def fixations(trajectory: Trajectory) -> list[np.ndarray]:
    """Samples of each fixation of `PATH`."""
    edges = [(onset, onset + lasts) for onset, lasts in zip(PATH.onset_ms, PATH.duration_ms, strict=True)]
    return [trajectory.xy_px[slice(*np.rint(np.array(edge) * RATE_HZ / 1000).astype(int))] for edge in edges]


def test_compressing_is_undone_by_expanding():
    raw = path_code.raw_code(lift(PATH, RATE_HZ, np.random.default_rng(0)), PATH)[0]
    again = path_code.expanded(path_code.compressed(raw))
    known = np.isfinite(raw)
    assert np.allclose(again[known], raw[known])


def test_a_decoded_path_has_the_code_that_it_was_decoded_from():
    code = a_code()
    again = path_code.encode(path_code.decode(code, PATH, RATE_HZ, None), PATH)
    along = slice(path_code.SACCADE.start, path_code.SACCADE.start + path_code.ALONG)
    for part in (path_code.DRIFT, along):
        known = np.isfinite(again[:, part])
        assert np.corrcoef(code[:, part][known], again[:, part][known])[0, 1] > 0.95


def test_the_median_of_a_decoded_fixation_is_its_position():
    moved = path_code.decode(a_code(), PATH, RATE_HZ, np.random.default_rng(1))
    for samples, place in zip(fixations(moved), PATH.xy_px, strict=True):
        assert np.allclose(np.median(samples, axis=0), place, atol=0.5)


def test_decoded_gaze_lasts_as_long_as_its_scanpath():
    moved = path_code.decode(a_code(), PATH, RATE_HZ, np.random.default_rng(1))
    assert len(moved) == pytest.approx((PATH.onset_ms[-1] + PATH.duration_ms[-1]) * RATE_HZ / 1000, abs=1)
    assert moved.synthesised


def test_the_first_number_is_the_level_of_the_noise():
    found = []
    for level in (-2.0, 0.0, 2.0):
        code = np.zeros((len(PATH), path_code.WIDTH))
        code[:, 0] = level
        moved = path_code.decode(code, PATH, RATE_HZ, np.random.default_rng(2))
        found.append(np.nanmean(path_code.encode(moved, PATH)[:, 0]))
    assert found == pytest.approx([-2.0, 0.0, 2.0], abs=0.7)
    assert all(quieter < louder for quieter, louder in pairwise(found))


def test_without_a_source_of_noise_the_path_is_smooth_and_always_the_same():
    one, other = (path_code.decode(a_code(), PATH, RATE_HZ, None) for _ in range(2))
    assert np.array_equal(one.xy_px, other.xy_px)
    noisy = path_code.decode(a_code(), PATH, RATE_HZ, np.random.default_rng(0))
    roughness = [np.median(np.abs(np.diff(fixations(each)[1], n=2, axis=0))) for each in (one, noisy)]
    assert roughness[0] < 0.2 * roughness[1]


def test_what_is_unknown_is_decoded_as_usual():
    unknown, usual = np.full((len(PATH), path_code.WIDTH), np.nan), np.zeros((len(PATH), path_code.WIDTH))
    assert np.array_equal(
        path_code.decode(unknown, PATH, RATE_HZ, None).xy_px, path_code.decode(usual, PATH, RATE_HZ, None).xy_px
    )


def test_lost_samples_leave_their_fixation_unknown_and_no_other():
    moved = path_code.decode(a_code(), PATH, RATE_HZ, np.random.default_rng(1))
    xy_px = moved.xy_px.copy()
    middle = round((PATH.onset_ms[1] + 200) * RATE_HZ / 1000)
    xy_px[middle : middle + 5] = np.nan
    code = path_code.encode(replace(moved, xy_px=xy_px), PATH)
    assert np.isnan(code[1, path_code.DRIFT]).all()
    assert np.isfinite(code[[0, 2, 3], path_code.DRIFT]).all()


def test_the_first_fixation_settles_from_no_saccade_and_the_last_has_none_after_it():
    code = path_code.encode(path_code.decode(a_code(), PATH, RATE_HZ, np.random.default_rng(1)), PATH)
    assert np.isnan(code[0, path_code.SETTLING]).all()
    assert np.isnan(code[-1, path_code.SACCADE]).all()
    assert np.isfinite(code[1:-1]).all()


def test_a_wild_code_is_decoded_as_far_as_people_go():
    furthest = np.full((len(PATH), path_code.WIDTH), path_code.FURTHEST)
    assert np.array_equal(path_code.expanded(furthest), path_code.expanded(10 * furthest))


@pytest.mark.real_data
def test_recordings_keep_their_kinematics_through_the_code(real_data, tmp_path):
    from stdiffeye.data.preparation import prepare

    store = prepare("doves", real_data / "doves", tmp_path / "doves", quiet=True)
    human, decoded, rng = [], [], np.random.default_rng(0)
    for trial in store.trials("validation"):
        if trial.trajectory is not None and trial.scanpath is not None and len(trial.scanpath) > 1:
            code = path_code.encode(trial.trajectory, trial.scanpath)
            moved = path_code.decode(code, trial.scanpath, trial.trajectory.rate_hz, rng)
            human.append(trial)
            decoded.append(Trial(trial.name, trial.subject, extract(moved), moved))
    distance = kinematics(decoded).distance_to(kinematics(human))
    for quantity in ("fixation_duration", "saccade_amplitude", "peak_velocity", "main_sequence", "jitter"):
        assert distance[quantity] < 0.08
    assert distance["spectrum_decades"] < 0.15
