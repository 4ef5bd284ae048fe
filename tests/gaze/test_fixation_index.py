from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory, anchors, fixation_index

FRAME = Frame(100, 100)


def trajectory(*xy: tuple[float, float]) -> Trajectory:
    return Trajectory(np.array(xy, dtype=float), 240, FRAME)


def scanpath(*xy: tuple[float, float]) -> Scanpath:
    return Scanpath(np.array(xy, dtype=float), FRAME)


def line(*x: float) -> list[tuple[float, float]]:
    return [(value, 0.0) for value in x]


def cost(gaze: Trajectory, path: Scanpath, chosen: tuple[int, ...]) -> float:
    return float(np.hypot(*(gaze.xy_px[list(chosen)] - path.xy_px).T).sum())


@st.composite
def small_cases(draw: st.DrawFn, on_a_line: bool = False) -> tuple[Trajectory, Scanpath]:
    whole = st.integers(0, 6).map(float)
    place = st.tuples(whole, st.just(0.0)) if on_a_line else st.tuples(st.floats(0, 100), st.floats(0, 100))
    fixations = draw(st.lists(place, min_size=1, max_size=4))
    samples = draw(st.lists(place, min_size=len(fixations), max_size=9))
    return trajectory(*samples), scanpath(*fixations)


@settings(deadline=None, max_examples=200)
@given(small_cases())
def test_anchors_rise_and_cost_as_little_as_any_choice(case: tuple[Trajectory, Scanpath]) -> None:
    gaze, path = case
    found = anchors(gaze, path)
    assert (np.diff(found) > 0).all()
    best = min(cost(gaze, path, chosen) for chosen in combinations(range(len(gaze)), len(path)))
    assert cost(gaze, path, tuple(found)) == pytest.approx(best, abs=1e-9)


@settings(deadline=None, max_examples=200)
@given(small_cases(on_a_line=True))
def test_of_several_best_choices_the_earliest_is_taken(case: tuple[Trajectory, Scanpath]) -> None:
    gaze, path = case  # whole distances, so that sums are exact and ties are ties
    every = list(combinations(range(len(gaze)), len(path)))
    best = min(cost(gaze, path, chosen) for chosen in every)
    optimal = np.array([chosen for chosen in every if cost(gaze, path, chosen) == best])
    assert anchors(gaze, path).tolist() == optimal.min(axis=0).tolist()


@settings(deadline=None, max_examples=100)
@given(small_cases())
def test_the_index_runs_from_start_to_end_without_going_back(case: tuple[Trajectory, Scanpath]) -> None:
    gaze, path = case
    rho = fixation_index(gaze, path)
    found = anchors(gaze, path)
    top = len(path) + 1
    assert rho.shape == (len(gaze),)
    assert (np.diff(rho) > 0).all()
    np.testing.assert_allclose(rho[found], np.arange(1, top) / top)
    knots_t = [*([0] if found[0] > 0 else []), *found, *([len(gaze) - 1] if found[-1] < len(gaze) - 1 else [])]
    knots = [*([0] if found[0] > 0 else []), *range(1, top), *([top] if found[-1] < len(gaze) - 1 else [])]
    np.testing.assert_allclose(rho, np.interp(np.arange(len(gaze)), knots_t, knots) / top)


def test_the_eye_that_comes_back_is_anchored_in_order() -> None:
    gaze = trajectory(*line(0, 10, 20, 10, 0))
    assert anchors(gaze, scanpath(*line(10, 20, 10))).tolist() == [1, 2, 3]
    assert anchors(gaze, scanpath(*line(0, 0))).tolist() == [0, 4]


def test_a_greedy_choice_would_be_worse() -> None:
    gaze = trajectory(*line(5, 9, 0, 10))
    assert anchors(gaze, scanpath(*line(10, 0))).tolist() == [1, 2]


def test_the_last_samples_are_kept_for_the_last_fixations() -> None:
    gaze = trajectory(*line(50, 50, 50, 0))
    assert anchors(gaze, scanpath(*line(0, 50, 50))).tolist() == [0, 1, 2]


def test_an_anchor_on_the_boundary_wins() -> None:
    gaze = trajectory(*line(0, 10, 20))
    assert (3 * fixation_index(gaze, scanpath(*line(0, 20)))).tolist() == [1, 1.5, 2]
    assert fixation_index(trajectory((3, 3)), scanpath((0, 0))).tolist() == [0.5]
    assert fixation_index(trajectory(*line(0, 9)), scanpath(*line(9))).tolist() == [0, 0.5]
    assert fixation_index(trajectory(*line(9, 0)), scanpath(*line(9))).tolist() == [0.5, 1]


def test_as_many_fixations_as_samples_take_one_each() -> None:
    assert anchors(trajectory(*line(5, 3, 1)), scanpath(*line(1, 3, 5))).tolist() == [0, 1, 2]


def test_lost_samples_stand_for_nothing_but_have_an_index() -> None:
    gaze = trajectory((0, 0), (np.nan, np.nan), (10, 0), (20, 0))
    path = scanpath((1, 0), (10, 0))
    assert anchors(gaze, path).tolist() == [0, 2]
    assert (3 * fixation_index(gaze, path)).tolist() == [1, 1.5, 2, 3]


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(InputError, match="3 fixations need as many samples to stand for them, the trajectory has 2;"):
        anchors(trajectory(*line(0, 1)), scanpath(*line(0, 1, 2)))
    lost = trajectory((0, 0), (np.nan, np.nan), (np.nan, np.nan))
    with pytest.raises(InputError, match="the trajectory has 1 that are not lost; are scanpath and trajectory of"):
        anchors(lost, scanpath(*line(0, 1)))


def test_frames_must_agree() -> None:
    with pytest.raises(InputError, match=r"must share a frame, .* convert one with \.rescaled\(to=…\)"):
        fixation_index(trajectory((0, 0)), Scanpath(np.zeros((1, 2)), Frame(5, 5)))


def test_the_distance_index_weighs_the_two_nearest_fixations_by_inverse_distance() -> None:
    path = scanpath((0, 0), (10, 0), (100, 0))
    gaze = trajectory((0, 0), (5, 0), (2, 0), (90, 0), (np.nan, 0))
    rho = 4 * fixation_index(gaze, path, interpolation="distance")
    np.testing.assert_allclose(
        rho[:4], [1, 1.5, (1 / 2 + 2 / 8) / (1 / 2 + 1 / 8), (3 / 10 + 2 / 80) / (1 / 10 + 1 / 80)]
    )
    assert np.isnan(rho[4])
    assert fixation_index(gaze[:2], scanpath((3, 3)), "distance").tolist() == [0.5, 0.5]


def test_an_unknown_interpolation_is_named() -> None:
    with pytest.raises(InputError, match="no interpolation 'cubic'; choose one of uniform, distance"):
        fixation_index(trajectory((0, 0)), scanpath((0, 0)), "cubic")
