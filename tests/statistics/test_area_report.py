"""Areas of interest of many viewers: means, differences, transitions, designs and study sizes, by hand and by law."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_ind

from stdiffeye import Areas, Frame, GazeList, InputError, Scanpath, Trial
from stdiffeye.statistics.aoi import measure_areas
from stdiffeye.statistics.aoi.study_size import per_design

FRAME = Frame(100, 80)
HALVES = Areas.boxes({"left": (0, 0, 50, 80), "right": (50, 0, 50, 80)})
LEFT, RIGHT = (20.0, 40.0), (70.0, 40.0)


def trial(name: str, subject: object, *places: tuple[float, float], ms: float = 200.0) -> Trial:
    path = Scanpath(places, FRAME, np.full(len(places), ms), np.arange(len(places)) * (ms + 40))
    return Trial(name, str(subject), path)


def viewers(name: str, left_share: float, count: int = 30, seed: int = 0) -> list[Trial]:
    rng = np.random.default_rng(seed)
    places = [[LEFT if rng.random() < left_share else RIGHT for _ in range(8)] for _ in range(count)]
    return [trial(name, number, *path) for number, path in enumerate(places)]


def test_the_summary_is_the_mean_over_viewers_for_whom_a_measure_is_defined():
    report = measure_areas([trial("a", 1, LEFT, RIGHT), trial("a", 2, RIGHT, RIGHT)], HALVES)
    found = {(row["area"], row["measure"]): row for row in report.summary()}
    assert found["left", "hit"]["value"] == 0.5
    assert found["left", "dwell_ms"]["value"] == 100
    assert found["left", "time_to_first_ms"]["value"] == 0
    assert found["left", "time_to_first_ms"]["viewers"] == 1
    assert found["right", "time_to_first_ms"]["value"] == 120


def test_few_viewers_give_no_interval_and_many_give_one_that_holds_the_mean():
    few = measure_areas(viewers("a", 0.5, 4), HALVES).summary()
    many = measure_areas(viewers("a", 0.5), HALVES).summary()
    assert all(math.isnan(row["low"]) for row in few if row["measure"] == "dwell_ms")
    assert all(row["low"] <= row["value"] <= row["high"] for row in many if row["measure"] == "dwell_ms")


def test_viewers_who_all_hit_an_area_do_not_prove_that_all_ever_will():
    row = measure_areas(viewers("a", 1.0, 10), HALVES).summary()[0]
    assert (row["measure"], row["value"], row["high"]) == ("hit", 1.0, pytest.approx(1))
    assert row["low"] == pytest.approx(10 / (10 + 1.959964**2))  # Wilson's at a share of 1


def test_transitions_count_every_step_and_elsewhere_is_a_place():
    report = measure_areas([trial("a", 1, LEFT, RIGHT, (200, 10), LEFT, LEFT)], HALVES)
    group = report.groups[0]
    assert group.nodes == ("left", "right", "elsewhere")
    assert group.transition_counts.tolist() == [[1, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert {row["share"] for row in report.transitions() if row["from"] == "left"} == {0.0, 0.5}


def test_a_group_compared_with_itself_differs_by_nothing():
    people = viewers("a", 0.4)
    rows = measure_areas({"human": people, "copy": people}, HALVES).compared()
    assert rows
    assert all(row["value"] == 0 for row in rows)
    assert all(row["low"] <= 0 <= row["high"] for row in rows)


def test_the_design_that_draws_more_gaze_to_an_area_wins_it():
    report = measure_areas(viewers("old", 0.3) + viewers("new", 0.8, seed=1), HALVES)
    found = {(one.area, one.measure): one for one in report.designs("old", "new")}
    assert found["left", "dwell_ms"].winner == "B"
    assert found["right", "dwell_ms"].winner == "A"
    assert found["left", "time_to_first_ms"].winner == "B"  # sooner
    assert found["left", "dwell_ms"].paired


def test_two_alike_designs_have_no_winner():
    report = measure_areas(viewers("old", 0.5) + viewers("new", 0.5), HALVES)
    assert {one.winner for one in report.designs("old", "new")} == {"–"}


def test_a_design_that_nobody_saw_is_named_with_those_that_were():
    with pytest.raises(InputError, match="no gaze on the design 'newer': the pictures are old"):
        measure_areas(viewers("old", 0.5), HALVES).designs("old", "newer")


def test_a_study_of_the_size_that_is_needed_sees_the_difference_four_times_in_five():
    size = per_design(0.5, 2.0)
    rng = np.random.default_rng(0)
    one, other = rng.normal(0, 1, (4000, size)), rng.normal(0.5, 1, (4000, size))
    assert (ttest_ind(one, other, axis=1).pvalue < 0.05).mean() == pytest.approx(0.8, abs=0.025)


def test_fewer_viewers_than_tell_a_spread_are_refused():
    report = measure_areas(viewers("a", 0.5, 5), HALVES)
    with pytest.raises(InputError, match="gaze has 5 viewers of a: the spread over viewers needs at least 10"):
        report.viewers_needed("dwell_ms", 100)
    with pytest.raises(InputError, match="there is no measure 'dwell'"):
        report.viewers_needed("dwell", 100)


def test_viewers_needed_fall_with_the_difference_and_their_interval_holds_them():
    report = measure_areas(viewers("a", 0.5), HALVES)
    small, large = (report.viewers_needed("dwell_ms", ms)[0] for ms in (50, 200))
    assert small.viewers > large.viewers
    assert small.low <= small.viewers <= small.high


def test_long_and_wide_tables_hold_the_same_values():
    report = measure_areas(viewers("a", 0.5, 3), HALVES)
    wide = {row["subject"]: row for row in report.wide()}
    assert all(wide[row["subject"]][f"{row['area']}.{row['measure']}"] == row["value"] for row in report.long())
    assert len(report.long()) == 3 * 2 * 8


def test_gaze_measures_itself_whatever_noun_it_is():
    path = Scanpath([LEFT, RIGHT], FRAME, [100, 300])
    for gaze in (path, Trial("a", "1", path), GazeList([path])):
        assert gaze.aoi(HALVES).groups[0].values["dwell_ms"].tolist() == [[100, 300]]
    assert "left" in str(path.aoi(HALVES))


def test_pictures_without_areas_are_left_out_and_none_at_all_is_an_error():
    trials = [trial("a.png", 1, LEFT), trial("b.png", 1, LEFT)]
    assert measure_areas(trials, {"a": HALVES}).stimuli == [("a.png", "")]
    with pytest.raises(InputError, match="no picture of the gaze has areas of interest"):
        measure_areas(trials, {"c": HALVES})


def test_gaze_of_other_lengths_and_without_onsets_is_named():
    short = [Trial("a", str(k), Scanpath([LEFT, RIGHT], FRAME, [200, 200])) for k in range(3)]
    text = str(measure_areas({"human": viewers("a", 0.5, 3), "short": short}, HALVES))
    assert "short has no onsets" in text
    assert "gaze ends at different times on a: short after 0.4 s, human after 1.9 s" in text
