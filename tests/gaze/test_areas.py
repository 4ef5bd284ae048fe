"""Areas of interest of one scanpath: which fixations lie where, and every measure by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stdiffeye import Area, Areas, Frame, InputError, Scanpath
from stdiffeye.gaze.area_visits import MEASURES, area_visits

FRAME = Frame(100, 80)
HALVES = Areas.boxes({"left": (0, 0, 50, 80), "right": (50, 0, 50, 80)}, FRAME)


def test_the_left_and_top_edge_of_a_box_belong_to_it_and_the_others_do_not():
    box = Area.box("logo", 10, 20, 30, 40)
    edges = [[10, 20], [39.9, 59.9], [40, 30], [20, 60], [9.9, 30]]
    assert box.contains(edges, FRAME).tolist() == [True, True, False, False, False]


@given(st.floats(0, 99), st.floats(0, 79))
def test_two_halves_hold_every_point_of_the_picture_exactly_once(x, y):
    assert HALVES.inside(Scanpath([[x, y]], FRAME)).sum() == 1


def test_a_polygon_that_is_not_convex_is_held_by_the_even_odd_rule():
    horseshoe = Area("u", [[0, 0], [10, 0], [10, 60], [40, 60], [40, 0], [50, 0], [50, 70], [0, 70]])
    assert horseshoe.contains([[5, 30], [25, 30], [25, 65], [45, 5]], FRAME).tolist() == [True, False, True, True]
    assert horseshoe.share_of(FRAME) == pytest.approx((50 * 70 - 30 * 60) / 8000)


def test_a_mask_of_any_resolution_covers_the_picture():
    labels = np.array([[0, 1], [2, 2]])
    areas = Areas.of_labels(labels, {1: "sky"})
    path = Scanpath([[75, 10], [10, 10], [10, 70], [99.9, 79.9], [100, 10]], FRAME)
    assert areas.names == ("sky", "2")
    assert areas.labels(path).tolist() == [0, -1, 1, 1, -1]


def test_gaze_of_another_size_is_rescaled_to_the_areas():
    assert HALVES.labels(Scanpath([[1500, 300]], Frame(2000, 1600))).tolist() == [1]


def test_of_nested_areas_the_smallest_names_a_fixation_and_each_counts_it():
    nested = Areas.boxes({"person": (0, 0, 60, 80), "face": (20, 0, 20, 20)})
    path = Scanpath([[30, 10], [10, 60]], FRAME, [100, 200])
    assert nested.labels(path).tolist() == [1, 0]
    assert area_visits(path, nested)["dwell_ms"].tolist() == [300, 100]


def test_every_measure_of_a_scanpath_by_hand():
    path = Scanpath(
        [[70, 5], [10, 5], [20, 5], [70, 5], [10, 5]], FRAME, [100, 200, 300, 100, 50], [0, 150, 400, 750, 900]
    )
    found = area_visits(path, HALVES)
    by_hand = {
        "hit": [1, 1],
        "fixations": [3, 2],
        "dwell_ms": [550, 200],
        "dwell_share": [550 / 750, 200 / 750],
        "time_to_first_ms": [150, 0],
        "first_duration_ms": [200, 100],
        "visits": [2, 2],
        "revisits": [1, 1],
    }
    assert tuple(found) == MEASURES == tuple(by_hand)
    for measure, values in by_hand.items():
        assert found[measure].tolist() == pytest.approx(values), measure


def test_without_onsets_a_time_is_the_sum_of_durations_and_without_durations_there_is_none():
    points = [[70, 5], [10, 5]]
    timed = area_visits(Scanpath(points, FRAME, [100, 200]), HALVES)
    assert timed["time_to_first_ms"].tolist() == [100, 0]
    untimed = area_visits(Scanpath(points, FRAME), HALVES)
    assert np.isnan(untimed["dwell_ms"]).all()
    assert untimed["hit"].tolist() == [1, 1]


def test_an_area_that_nobody_fixates_has_no_time_to_first_fixation_and_no_dwell_time():
    found = area_visits(Scanpath([[70, 5]], FRAME, [100]), HALVES)
    assert np.isnan(found["time_to_first_ms"][0])
    assert (found["dwell_ms"][0], found["visits"][0], found["hit"][0]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Area("", [[0, 0], [1, 0], [1, 1]]), "needs a name"),
        (lambda: Area("elsewhere", [[0, 0], [1, 0], [1, 1]]), "other than 'elsewhere'"),
        (lambda: Area("a", [[0, 0], [1, 0]]), "three or more corners"),
        (lambda: Area("a"), "needs a polygon or a mask"),
        (lambda: Area("a", [[0, 0], [1, 0], [np.nan, 1]]), "no number"),
        (lambda: Area("a", mask=np.zeros((3, 3), bool)), "with a set pixel"),
        (lambda: Area.box("a", 0, 0, 0, 5), "positive size"),
        (lambda: Areas([]), "at least one"),
        (lambda: Areas([Area.box("a", 0, 0, 1, 1)] * 2), "two areas are called 'a'"),
    ],
)
def test_an_area_that_cannot_be_is_refused_in_words(make, message):
    with pytest.raises(InputError, match=message):
        make()
