"""The peers learn what they are shown, stop where people stopped, and say no durations where they have none."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from baselines import COLUMNS, FIXATIONS, FRAME, PEERS, ROWS, TIMED, UNTIMED, batch_of, drawn, learn, peer, queries

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame
from stdiffeye.systems.base import Query, SamplingOptions
from stdiffeye.systems.step_random import StepRandom

CELL_PX = np.hypot(FRAME.width_px / COLUMNS, FRAME.height_px / ROWS)
PATHS = [
    np.array([[0.45, 0.55], [0.1, 0.1], [0.9, 0.85], [0.2, 0.8]]),
    np.array([[0.8, 0.3], [0.3, 0.35], [0.6, 0.9]]),
]
STEPS = {"deepgaze3": 300, "tpp-gaze": 350, "hat": 200, "gazeformer": 150, "gazexplain": 150}
TIMES = [np.array([200.0, 300.0, 150.0, 400.0]), np.array([500.0, 120.0, 250.0])]


@pytest.fixture(scope="module")
def learned():
    """Baseline → the system after it has learned one scanpath on each of two pictures by heart."""
    batch = batch_of([[(xy, times)] * 2 for xy, times in zip(PATHS, TIMES, strict=True)])
    return {name: learn(peer(name), batch, STEPS[name]) for name in PEERS}


def px(xy: np.ndarray) -> np.ndarray:
    return FRAME.denormalise(xy)


@pytest.mark.parametrize("name", PEERS)
def test_a_scanpath_of_each_picture_is_learned_by_heart(name, learned):
    samples = drawn(learned[name], pictures=2, samples=12)
    for number, (paths, xy) in enumerate(zip(samples, PATHS, strict=True)):
        right = [np.hypot(*(path.xy_px[:3] - px(xy)[: len(path)][:3]).T).mean() for path in paths if len(path) >= 3]
        other = np.hypot(*(px(PATHS[1 - number])[:3] - px(xy)[:3]).T).mean()
        assert len(right) >= 10
        assert np.median(right) < 0.7 * CELL_PX < other


@pytest.mark.parametrize("name", ["hat", "gazeformer", "gazexplain"])
def test_it_stops_where_people_stopped(name, learned):
    for paths, xy in zip(drawn(learned[name], 2, 12), PATHS, strict=True):
        assert np.mean([len(path) == len(xy) for path in paths]) > 0.8


def test_deepgaze_takes_the_number_of_fixations_from_the_training_distribution(learned):
    lengths = np.array([len(path) for path in drawn(learned["deepgaze3"], 1, 200)[0]])
    assert set(lengths) == {3, 4}
    assert 0.35 < np.mean(lengths == 3) < 0.65


@pytest.mark.parametrize("name", TIMED)
def test_durations_are_learned(name, learned):
    for paths, times in zip(drawn(learned[name], 2, 12), TIMES, strict=True):
        first = np.median([path.duration_ms[0] for path in paths])
        assert first == pytest.approx(times[0], rel=0.2)


@pytest.mark.parametrize("name", UNTIMED)
def test_a_system_without_durations_draws_none(name, learned):
    assert all(path.duration_ms is None for path in drawn(learned[name], 1, 3)[0])


@pytest.mark.parametrize("name", PEERS)
def test_nobody_invents_durations_that_the_data_do_not_have(name):
    part = learn(peer(name), batch_of([[(PATHS[0], None)] * 2]), steps=3)
    assert all(path.duration_ms is None for path in drawn(part, 1, 3)[0])


def test_tpp_gaze_looks_until_the_viewing_time_is_over(learned):
    for seconds in (0.5, 2.0, 6.0):
        for path in drawn(learned["tpp-gaze"], 1, 5, seconds)[0]:
            end_ms = path.duration_ms.sum() + 40 * (len(path) - 1)
            assert seconds * 1000 - 41 <= end_ms <= seconds * 1000 + 1
    assert len(drawn(learned["tpp-gaze"], 1, 1, 6.0)[0][0]) > FIXATIONS


def test_what_people_spend_between_fixations_is_counted_where_all_of_a_look_is_known():
    part, batch = peer("tpp-gaze"), batch_of([[(xy, times)] for xy, times in zip(PATHS, TIMES, strict=True)])
    anybody, made = torch.tensor([0]), torch.tensor([1])
    assert float(part.priors.between_ms(made)) == 40
    batch.conditions.seconds[0] = 1.5  # 1050 ms in four fixations; of the other look nothing is known
    part.loss(batch, StepRandom(0, 0))
    assert float(part.priors.between_ms(made)) == pytest.approx(112.5)
    batch.conditions.seconds[1] = 1.5  # 870 ms in three
    for _ in range(9):
        part.loss(batch, StepRandom(0, 0))
    wanted = (10 * 112.5 + 9 * 210) / 19
    assert float(part.priors.between_ms(anybody)) == pytest.approx(wanted, rel=1e-3)
    for path in drawn(part.eval(), 1, 5, 6.0)[0]:
        assert path.duration_ms.sum() + wanted * (len(path) - 1) <= 6001


@pytest.mark.parametrize("name", PEERS)
def test_sample_k_is_the_same_whatever_it_is_drawn_with(name, learned):
    together = drawn(learned[name], pictures=2, samples=4, seconds=2.0)
    alone = learned[name].scanpaths(queries(2, 2.0)[1:], [[2]], SamplingOptions())[0][0]
    assert len(alone) == len(together[1][2])
    np.testing.assert_allclose(alone.xy_px, together[1][2].xy_px, atol=0.01)


@pytest.mark.parametrize("name", PEERS)
def test_validation_counts_nothing(name, learned):
    part = learned[name]
    before = part.priors.stimuli.clone()
    with torch.no_grad():
        part.loss(batch_of([[(PATHS[0], TIMES[0])]]), StepRandom(0, 0))
    assert torch.equal(part.priors.stimuli, before)


def test_gazeformer_may_give_its_mean_which_is_always_the_same(learned):
    part = peer("gazeformer", mean=True)
    part.load_state_dict(learned["gazeformer"].state_dict())
    one, other = drawn(part.eval(), 1, 2)[0]
    assert one == other


def test_the_absolute_error_of_a_draw_teaches_gazeformer_no_spread_and_likelihood_does():
    rng = np.random.default_rng(0)
    batch = batch_of([[(0.5 + rng.normal(0, 0.1, (3, 2)), np.full(3, 250.0)) for _ in range(20)]])
    spread = {}
    for objective in ("l1", "likelihood"):
        paths = drawn(learn(peer("gazeformer", objective=objective), batch, 150), 1, 60)[0]
        spread[objective] = np.std([path.xy_px[0] / FRAME.size_px for path in paths], axis=0).mean()
    assert spread["l1"] < 0.03
    assert spread["likelihood"] == pytest.approx(0.1, abs=0.03)


@pytest.mark.parametrize("name", PEERS)
def test_a_stimulus_without_a_picture_is_refused(name):
    query = Query(None, torch.zeros(1, 512), Frame(800, 600))
    with pytest.raises(InputError, match="this model needs a picture: the stimulus has none"):
        peer(name).eval().scanpaths([query], [[1]], SamplingOptions())
