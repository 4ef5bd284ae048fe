"""Visual search: by hand, and the laws of the curves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from stdiffeye import Frame, Scanpath, Trial, read_trials
from stdiffeye.errors import InputError
from stdiffeye.statistics import search

FRAME = Frame(1000, 500)
BOX = (700.0, 200.0, 100.0, 100.0)  # its centre is at (750, 250)


def searcher(
    *xy: tuple[float, float], task: str = "cup", name: str = "p", box: object = BOX, **kwargs: object
) -> Trial:
    durations = np.full(len(xy), 200.0)
    return Trial(name, "1", Scanpath(xy, FRAME, durations, **kwargs), task=task, target_box_px=box)  # type: ignore[arg-type]


DIRECT = searcher((500, 250), (750, 250))
ROUND = searcher((500, 250), (500, 50), (750, 50), (750, 250))
NEVER = searcher((500, 250), (100, 100), (200, 300))


def test_the_curve_counts_the_share_that_found_the_target_by_each_fixation() -> None:
    found = search.efficiency([DIRECT, ROUND, NEVER], average="trial")
    assert found.probability == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3])
    assert found.area == pytest.approx(2 / 3 + 4 * 2 / 3)
    assert found.found_share == pytest.approx(2 / 3)
    assert found.fixations_to_target == pytest.approx((1 + 3) / 2)
    assert found.time_to_target_ms == pytest.approx((200 + 600) / 2)


def test_the_scanpath_ratio_is_the_straight_way_over_the_way_taken() -> None:
    assert search.scanpath_ratio(DIRECT) == 1
    assert search.scanpath_ratio(ROUND) == pytest.approx(250 / (200 + 250 + 200))
    assert np.isnan(search.scanpath_ratio(searcher((750, 250), (10, 10))))


def test_a_fixation_on_the_edge_is_not_on_the_target() -> None:
    assert search.first_on_target(searcher((0, 0), (700, 250))) is None
    assert search.first_on_target(searcher((0, 0), (700.1, 250))) == 1


def test_tasks_weigh_the_same_however_many_trials_they_have() -> None:
    trials = [DIRECT, DIRECT, DIRECT, searcher((500, 250), (1, 1), task="clock")]
    assert search.efficiency(trials).found_share == pytest.approx(0.5)
    assert search.efficiency(trials, average="trial").found_share == pytest.approx(0.75)


def test_onsets_tell_the_time_where_they_are_known() -> None:
    assert search.time_to_target_ms(searcher((500, 250), (750, 250), onset_ms=[100, 350])) == 250


def test_mismatch_is_zero_for_humans_themselves_and_counts_every_step_otherwise() -> None:
    human = [DIRECT, ROUND, NEVER]
    bare = [searcher((500, 250), (750, 250), box=None) for _ in range(3)]  # takes the box of the same stimulus
    found = search.compare(human, {"self": human, "direct": bare})
    assert found["self"].mismatch == pytest.approx(0)
    assert found["direct"].mismatch == pytest.approx(2 * 2 / 3 + 4 * 1 / 3)
    assert found["human"].mismatch is None
    json.dumps({name: one.to_json() for name, one in found.items()}, allow_nan=False)


def test_a_box_is_rescaled_to_the_frame_of_the_system() -> None:
    small = Trial("p", "s", Scanpath([[250, 125], [375, 125]], Frame(500, 250)), task="cup")
    assert search.compare([DIRECT], {"small": [small]})["small"].found_share == 1


def test_the_curve_never_falls_and_never_exceeds_one() -> None:
    rng = np.random.default_rng(0)
    trials = [searcher(*rng.uniform((0, 0), (1000, 500), (8, 2))) for _ in range(200)]
    curve = search.efficiency(trials).probability
    assert (np.diff(curve) >= 0).all()
    assert 0 <= curve[0] <= curve[-1] <= 1


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="none of the trials has a scanpath and a target box"):
        search.efficiency([searcher((1, 1), box=None)])
    with pytest.raises(InputError, match="average must be one of task, trial, got 'mean'"):
        search.efficiency([DIRECT], average="mean")
    with pytest.raises(InputError, match="trial 'p' of '1' has no target box"):
        search.on_target(searcher((1, 1), box=None))


@pytest.mark.real_data
def test_humans_who_found_the_target_are_as_efficient_as_published(real_data: Path) -> None:
    """Yang et al. (CVPR 2020), Table 2, row Human: TFP-AUC 5.200, scanpath ratio 0.862; other pictures, same humans."""
    trials = read_trials(real_data / "coco_search18" / "coco_search18_fixations_TP_validation_split1.json")
    found = [trial for trial in trials if trial.details["correct"] == 1 and search.first_on_target(trial) is not None]
    humans = search.efficiency(found)
    assert humans.area == pytest.approx(5.2, abs=0.1)
    assert humans.scanpath_ratio == pytest.approx(0.862, abs=0.015)
