from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, extract, lift, skeleton_of
from stdiffeye.gaze.lifting import extend_fixations
from stdiffeye.gaze.oculomotor import CONSTANTS, minimum_jerk, saccade_duration_ms

FRAME = Frame(800, 600, px_per_degree=24)


def path(*fixations: tuple[float, float, float], onset_ms: object = None) -> Scanpath:
    x, y, lasts_ms = np.array(fixations, dtype=float).T
    return Scanpath(np.stack([x, y], axis=1), FRAME, lasts_ms, onset_ms)  # type: ignore[arg-type]


THREE = path((400, 300, 250), (600, 200, 180), (590, 207, 300))


def test_fixations_are_held_for_their_durations() -> None:
    skeleton = skeleton_of(THREE, 240)
    lasts_ms = np.diff(skeleton.fixations, axis=1)[:, 0] * 1000 / 240
    np.testing.assert_allclose(lasts_ms, [250, 180, 300], atol=1000 / 240)
    for (start, stop), place in zip(skeleton.fixations, THREE.xy_px, strict=True):
        assert (skeleton.xy_px[start:stop] == place).all()
        assert skeleton.in_fixation[start:stop].all()
    for m, (start, stop) in enumerate(skeleton.saccades):
        assert not skeleton.in_fixation[start:stop].any()
        assert (skeleton.fixation[start:stop] == m).all()
    assert len(skeleton) == len(skeleton.trajectory) == skeleton.fixations[-1, 1]


def test_saccades_last_what_the_main_sequence_says_and_are_straight() -> None:
    skeleton = skeleton_of(path((100, 300, 300), (580, 300, 300)), 10_000)
    moving = np.flatnonzero(np.diff(skeleton.xy_px[:, 0]) > 1e-9)
    assert len(moving) / 10 == pytest.approx(float(saccade_duration_ms(np.array(20.0))), abs=2)
    assert (np.diff(skeleton.xy_px[:, 0]) >= 0).all()
    assert (skeleton.xy_px[:, 1] == 300).all()
    middle = skeleton.saccades[0].mean()
    assert skeleton.xy_px[round(middle), 0] == pytest.approx(340, abs=5)


def test_time_that_no_saccade_takes_is_spent_at_the_fixation_before() -> None:
    known = path((100, 300, 300), (300, 300, 200), (500, 300, 100), onset_ms=[280, 700, 960])
    moved = extend_fixations(known)
    natural_ms = float(saccade_duration_ms(np.array(200 / 24))) + CONSTANTS.shoulder_ms
    assert moved.duration_ms == pytest.approx([420 - natural_ms, 200, 100])  # the second leaves after 60 ms: a saccade
    assert (moved.onset_ms == known.onset_ms).all()
    assert (moved.xy_px == known.xy_px).all()
    assert extend_fixations(THREE) is THREE


def test_true_times_between_fixations_are_kept_where_known() -> None:
    known = path((100, 300, 300), (300, 300, 200), (500, 300, 100), onset_ms=[280, 700, 930])
    skeleton = skeleton_of(known, 1000)
    assert skeleton.saccades.tolist() == [[300, 420], [620, 650]]
    overlapping = path((100, 300, 300), (300, 300, 200), onset_ms=[0, 250])
    assert skeleton_of(overlapping, 1000).saccades.tolist() == [[300, 300]]


def test_fixations_shorter_than_a_sample_still_have_one() -> None:
    skeleton = skeleton_of(path((100, 300, 0), (300, 300, 1), (500, 300, 0)), 240)
    assert (np.diff(skeleton.fixations, axis=1) >= 1).all()
    assert len(lift(path((5, 5, 0)), 240, np.random.default_rng(0))) == 1


def test_a_lifted_trajectory_says_that_it_is_synthesised() -> None:
    assert lift(THREE, 240, np.random.default_rng(0)).synthesised
    assert lift(THREE).synthesised
    assert skeleton_of(THREE).trajectory.synthesised


def test_the_same_generator_gives_the_same_trajectory() -> None:
    first, again, other = (lift(THREE, 240, np.random.default_rng(seed)) for seed in (7, 7, 8))
    assert first == again
    assert first != other
    assert lift(THREE) == lift(THREE, 240, np.random.default_rng(7), noise=0)


def test_medians_of_lifted_fixations_are_the_scanpaths_places() -> None:
    gaze = lift(THREE, 240, np.random.default_rng(3))
    for (start, stop), place in zip(skeleton_of(THREE, overshoot=True).fixations, THREE.xy_px, strict=True):
        np.testing.assert_allclose(np.median(gaze.xy_px[start:stop], axis=0), place, atol=1e-9)


def test_noise_is_human_in_size_and_can_be_scaled() -> None:
    long = path((400, 300, 20_000))
    step_deg = [
        np.median(np.hypot(*np.diff(lift(long, 200, np.random.default_rng(0), noise).xy_px, axis=0).T)) / 24
        for noise in (1, 2)
    ]
    assert 0.9 < step_deg[0] * 200 < 2.4  # deg/s, 5 to 95 % of the recordings of DOVES
    assert step_deg[1] == pytest.approx(2 * step_deg[0])


def test_without_durations_there_is_nothing_to_lift() -> None:
    with pytest.raises(InputError, match="cannot be lifted without durations: the data set does not give them"):
        lift(replace(THREE, duration_ms=None))


def test_minimum_jerk_starts_and_ends_at_rest() -> None:
    tau = np.linspace(-0.5, 1.5, 401)
    course = minimum_jerk(tau)
    assert course[0] == 0
    assert course[-1] == 1
    assert minimum_jerk(np.array([0.5]))[0] == 0.5
    assert np.diff(course).max() / np.diff(tau)[0] == pytest.approx(1.875, rel=1e-3)


fixations = st.tuples(st.floats(0, 799), st.floats(0, 599), st.floats(80, 800))


@settings(deadline=None, max_examples=100)
@given(st.lists(fixations, min_size=2, max_size=16), st.integers(0, 2**32))
@example([(0, 0, 173), (0, 0, 800), (0, 0, 800), (734, 0, 800), (734, 0, 677)], 53)
@example([(0, 0, 173), (0, 0, 800), (0, 0, 800), (734, 0, 800), (734, 0, 677)], 175)
def test_extraction_gives_a_lifted_scanpath_back(places: list[tuple[float, float, float]], seed: int) -> None:
    wanted = path(*places)
    found = extract(lift(wanted, 240, np.random.default_rng(seed)))
    assert len(found) == len(wanted)
    assert np.median(np.hypot(*(found.xy_px - wanted.xy_px).T)) < 2
    assert np.median(np.abs(found.duration_ms - wanted.duration_ms)) < 15  # type: ignore[operator]


def test_two_fixations_at_the_very_same_place_come_back_as_two() -> None:
    twice = path((400, 300, 300), (400, 300, 300))
    assert len(extract(lift(twice, 240, np.random.default_rng(0)))) == 2
    assert (skeleton_of(twice).xy_px == [400, 300]).all()


def test_fixations_too_short_to_be_found_are_no_reason_to_sample_noise_again() -> None:
    short = path((400, 300, 300), (600, 300, 20), (200, 300, 300))
    rng, same = np.random.default_rng(1), np.random.default_rng(1)
    assert len(extract(lift(short, 240, rng))) == len(extract(lift(short)))
    lift(path((400, 300, 300), (600, 300, 200), (200, 300, 120)), 240, same)
    assert rng.bit_generator.state == same.bit_generator.state  # both as long, both sampled once


def test_small_saccades_overshoot_only_as_much_as_they_must() -> None:
    small = path((400, 300, 300), (407.2, 300, 300))  # 0.3 deg
    beyond_deg = (lift(small, 1000).xy_px[:, 0].max() - 407.2) / 24
    assert beyond_deg == pytest.approx(CONSTANTS.overshoot_deg - 0.3 * CONSTANTS.overshoot_deg_per_deg, rel=0.02)
    large = path((400, 300, 300), (448, 300, 300))
    assert lift(large, 1000).xy_px[:, 0].max() == 448


@pytest.mark.real_data
def test_osie_scanpaths_come_back_from_their_lift(real_data: Path) -> None:
    from stdiffeye.io.scanpath_json import read_scanpaths

    trials = read_scanpaths(real_data / "osie" / "osie_fixations.json", FRAME)
    rng = np.random.default_rng(0)
    same, place_px, duration_ms = [], [], []
    for trial in trials[::15]:
        assert trial.scanpath is not None
        wanted = Scanpath(trial.scanpath.xy_px, FRAME, trial.scanpath.duration_ms)
        if len(wanted) < 2 or wanted.duration_ms is None or wanted.duration_ms.min() < 80:
            continue
        found = extract(lift(wanted, 240, rng))
        same.append(len(found) == len(wanted))
        if same[-1]:
            place_px.extend(np.hypot(*(found.xy_px - wanted.xy_px).T))
            duration_ms.extend(np.abs(found.duration_ms - wanted.duration_ms))
    assert len(same) > 300
    assert np.mean(same) >= 0.98
    assert np.median(place_px) <= 2
    assert np.median(duration_ms) <= 15
