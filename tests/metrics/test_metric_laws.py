"""Laws that hold whatever the scanpaths: identity, symmetry, translation, scale, short paths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stdiffeye import metrics
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory
from stdiffeye.metrics import METRICS, dfd, dtw, ld, mm, mm_dimensions, pairwise, sm, sm_dur, ss, tde
from stdiffeye.metrics.paths import EVALUATION_FRAME

CENTRES = np.array([[100.0, 100.0], [256.0, 192.0], [400.0, 300.0]])
SEMANTIC = np.add.outer(np.arange(320) // 80, np.arange(512) // 128 * 4)
coordinate = st.floats(0, 380, allow_nan=False, width=32)
fixation = st.tuples(coordinate, coordinate, st.floats(50, 900, width=32))


def scanpaths(shortest: int = 1) -> st.SearchStrategy[np.ndarray]:
    return st.lists(fixation, min_size=shortest, max_size=16).map(lambda rows: np.array(rows, dtype=np.float64))


def value(metric: str, a: np.ndarray, b: np.ndarray) -> float:
    return float(pairwise(metric, [a], [b], centres_px=CENTRES, semantic=SEMANTIC)[0, 0])


@settings(max_examples=40, deadline=None)
@given(path=scanpaths(3))
def test_a_path_is_at_no_distance_from_itself(path: np.ndarray) -> None:
    for name, spec in METRICS.items():
        assert value(name, path, path) == pytest.approx(0 if spec.direction == "lower" else 1, abs=1e-6), name


@settings(max_examples=40, deadline=None)
@given(a=scanpaths(3), b=scanpaths(3))
def test_symmetric_metrics_do_not_care_who_is_first(a: np.ndarray, b: np.ndarray) -> None:
    for name, spec in METRICS.items():
        if spec.symmetric:
            assert value(name, a, b) == pytest.approx(value(name, b, a), rel=1e-9, abs=1e-9), name


@settings(max_examples=40, deadline=None)
@given(a=scanpaths(3), b=scanpaths(3))
def test_similarities_lie_between_0_and_1_and_distances_are_not_negative(a: np.ndarray, b: np.ndarray) -> None:
    for name, spec in METRICS.items():
        found = value(name, a, b)
        assert found >= -1e-9, name
        assert spec.direction == "lower" or found <= 1 + 1e-6, name


@settings(max_examples=40, deadline=None)
@given(a=scanpaths(3), b=scanpaths(3), shift=st.tuples(coordinate, coordinate))
def test_moving_both_paths_alike_changes_no_distance_in_space(
    a: np.ndarray, b: np.ndarray, shift: tuple[float, float]
) -> None:
    moved = [path + [*shift, 0] for path in (a, b)]
    for name in ("DTW", "DFD", "TDE", "TDE_sum", "TDE_scaled", "MM_vector", "MM_length", "MM_position"):
        assert value(name, *moved) == pytest.approx(value(name, a, b), rel=1e-6, abs=1e-5), name


@settings(max_examples=40, deadline=None)
@given(a=scanpaths(3), b=scanpaths(3))
def test_twice_the_size_is_twice_the_distance(a: np.ndarray, b: np.ndarray) -> None:
    larger = [path * [2, 2, 1] for path in (a, b)]
    for name in ("DTW", "DFD", "TDE", "TDE_sum"):
        assert value(name, *larger) == pytest.approx(2 * value(name, a, b), rel=1e-9), name


@settings(max_examples=40, deadline=None)
@given(a=scanpaths(), b=scanpaths())
def test_warping_lies_between_the_bottleneck_and_the_longest_path_of_bottlenecks(a: np.ndarray, b: np.ndarray) -> None:
    assert dfd(a, b) <= dtw(a, b) * (1 + 1e-12) + 1e-9
    assert dfd(a, b) >= max(math.dist(a[0, :2], b[0, :2]), math.dist(a[-1, :2], b[-1, :2])) - 1e-9


@pytest.mark.parametrize("length", [1, 2])
def test_metrics_that_need_three_fixations_are_undefined_below(length: int) -> None:
    short, long = np.full((length, 3), 100.0), np.column_stack([np.arange(30).reshape(10, 3) * 9.0])
    for name in METRICS:
        undefined = name.startswith("MM") or name in ("TDE", "TDE_sum")
        assert math.isnan(value(name, short, long)) is undefined, name
        assert math.isnan(value(name, long, short)) is undefined, name


def test_metrics_of_durations_are_undefined_without_them() -> None:
    timed = np.array([[10.0, 10, 200], [200, 90, 300], [300, 40, 100], [50, 60, 120]])
    for name, spec in METRICS.items():
        assert math.isnan(value(name, timed, timed[:, :2])) is spec.needs_duration, name


def test_durations_that_repeat_no_symbol_on_either_side_leave_nothing_to_compare() -> None:
    flash = np.array([[10.0, 10, 5], [200, 90, 8], [300, 40, 9]])
    assert math.isnan(sm_dur(flash, flash))
    assert math.isnan(ss(flash, flash, CENTRES, timed=True))
    assert sm_dur(flash, flash * [1, 1, 50]) == 0
    assert mm(flash, flash * [1, 1, 0]) < 1


def test_two_durations_of_zero_are_the_same_duration() -> None:
    path = np.array([[10.0, 10, 0], [200, 90, 0], [300, 40, 100]])
    assert mm_dimensions(path, path)["duration"] == 1


def test_scanmatch_rounds_half_to_even_and_sequence_score_cuts() -> None:
    """75 ms are round(1.5) = 2 symbols but one letter; 125 ms are round(2.5) = 2 of both; 49.9 ms are one symbol."""
    one = np.array([[10.0, 10, 75]])
    two = np.array([[10.0, 10, 125]])
    assert sm_dur(one, two) == 1
    assert ss(one, two, CENTRES, timed=True) == 0.5
    assert sm_dur(np.array([[10.0, 10, 49.9]]), np.array([[10.0, 10, 60.0]])) == 1
    assert math.isnan(ss(np.array([[10.0, 10, 49.9]]), np.array([[10.0, 10, 49.0]]), CENTRES, timed=True))


def test_sequence_score_is_cut_to_sixteen_letters_before_repeating() -> None:
    far, near = [400.0, 300.0, 100.0], [100.0, 100.0, 100.0]
    assert ss(np.array([near] * 16 + [far] * 20), np.array([near] * 16), CENTRES) == 1
    assert ss(np.array([near] * 16 + [far] * 20), np.array([near] * 16), CENTRES, timed=True) == 1


def test_hand_made_values() -> None:
    a = np.array([[0.0, 0, 100], [100, 0, 100], [100, 100, 100]])
    b = np.array([[0.0, 30, 100], [100, 30, 100], [100, 130, 200]])
    assert dtw(a, b) == pytest.approx(90)
    assert dfd(a, b) == pytest.approx(30)
    assert tde(a, b) == pytest.approx(math.sqrt(3) * 30 / 512 / 3)
    assert tde(a, b, distance="sum") == pytest.approx(30 / 512)
    assert mm_dimensions(a, b) == pytest.approx(
        {"vector": 1, "direction": 1, "length": 1, "position": 1 - 30 / 640, "duration": 1}
    )
    assert ld(a[:1], b[:1]) == 1  # same column; y = 0 is row 8, y = 30 is row 7, counted from below
    assert sm(a[:1], b[:1]) == 1  # both in the first cell of 32 px
    assert sm(a[1:2], b[2:3]) == pytest.approx(0)  # four rows apart: worth less than a gap
    assert sm(a[1:2], np.array([[100.0, 70, 100]])) == pytest.approx((3.5 - 2) / 3.5)


def test_frames_are_rescaled_before_comparing() -> None:
    path = np.array([[10.0, 10], [200, 90], [300, 40]])
    small = Scanpath(path, EVALUATION_FRAME)
    large = Scanpath(path * 2, Frame(1024, 768))
    assert dtw(small, large) == 0
    assert dtw(small, Scanpath(path, Frame(1024, 768))) > 0


def test_a_trajectory_is_compared_by_its_samples() -> None:
    samples = np.column_stack([np.linspace(0, 500, 400), np.linspace(0, 300, 400)])
    one, other = (Trajectory(samples + shift, 240, EVALUATION_FRAME) for shift in (0, 3))
    assert dfd(one, other) == pytest.approx(math.hypot(3, 3))
    with pytest.raises(InputError, match="1 lost samples"):
        dtw(one, Trajectory(np.vstack([samples, [np.nan, np.nan]]), 240, EVALUATION_FRAME))


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (np.zeros((3, 4)), r"got shape \(3, 4\)"),
        (np.zeros((0, 3)), "at least one fixation"),
        (np.array([[1.0, np.nan, 3]]), "fixation 1 has no place"),
        (np.array([[1.0, 2, -3]]), "cannot last -3 ms"),
    ],
)
def test_malformed_scanpaths_are_refused_with_what_is_wrong(path: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dtw(path, np.zeros((2, 2)))


def test_unknown_metrics_and_missing_material_are_named() -> None:
    with pytest.raises(InputError, match="there is no metric 'DWT': did you mean 'DTW'"):
        pairwise("DWT", [np.zeros((1, 2))])
    with pytest.raises(InputError, match="SS needs cluster centres"):
        pairwise("SS", [np.zeros((1, 2))])
    with pytest.raises(InputError, match="SSS needs a semantic map"):
        pairwise("SSS", [np.zeros((1, 2))])
    with pytest.raises(InputError, match="tde knows frobenius, sum and scaled"):
        tde(np.zeros((3, 2)), np.zeros((3, 2)), distance="cosine")


def test_the_room_names_what_it_offers() -> None:
    assert "evaluate" in dir(metrics)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        metrics.nothing
