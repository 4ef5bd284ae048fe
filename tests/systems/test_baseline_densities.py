"""What the peers call a probability is one, and what they draw follows it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from baselines import COLUMNS, FRAME, PEERS, ROWS, batch_of, drawn, learn, peer, queries

from stdiffeye.diffusion import NoiseSource, categorical
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath
from stdiffeye.model.fixation_tokens import DURATION_LOG_STD
from stdiffeye.systems.base import SamplingOptions
from stdiffeye.systems.baseline import blurred, cell_of, in_cell, log_time
from stdiffeye.systems.coarse_to_fine.scanpath_config import ScanpathStageConfig
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage
from stdiffeye.systems.hat import focal_loss, log_calibrated
from stdiffeye.systems.presets import overlay
from stdiffeye.systems.saliency_sampler import SaliencySampler
from stdiffeye.systems.tpp_gaze import Mixture

CELLS = ROWS, COLUMNS


def shares_of(xy_px: np.ndarray) -> np.ndarray:
    """(rows·columns,) share of places in each cell."""
    cells = cell_of(torch.from_numpy(xy_px / FRAME.size_px), CELLS).numpy()
    return np.bincount(cells, minlength=ROWS * COLUMNS) / len(cells)


def test_a_place_is_drawn_within_its_cell():
    cell = torch.arange(ROWS * COLUMNS)
    assert torch.equal(cell_of(in_cell(cell, NoiseSource(range(len(cell))), CELLS), CELLS), cell)


def test_a_blurred_density_stays_one():
    maps = torch.zeros(2, *CELLS)
    maps[0, 0, 0] = maps[1, 3, 4] = 1
    smooth = blurred(maps, torch.tensor(1.5))
    torch.testing.assert_close(smooth.sum((1, 2)), torch.ones(2))
    assert smooth[1].argmax() == 3 * COLUMNS + 4


def density_of(part, history_px=(), shape=CELLS) -> np.ndarray:
    """(rows, columns) of the next fixation on the first picture, given these."""
    history = Scanpath(history_px, FRAME) if len(history_px) else None
    return np.exp(part.log_densities(queries(1)[0], [history], shape)[0])


@pytest.mark.parametrize("shape", [CELLS, (7, 11), (60, 80)])
@pytest.mark.parametrize("name", PEERS)
def test_a_peers_density_is_one_over_the_picture_whatever_the_history(name, shape):
    part = peer(name).eval()
    past = [None, Scanpath([[400.0, 300.0]], FRAME), Scanpath([[10.0, 20.0]] * 9, FRAME, [100.0] * 9)]
    log_densities = part.log_densities(queries(1)[0], past, shape)
    assert log_densities.shape == (3, *shape)
    np.testing.assert_allclose(np.exp(log_densities).sum((1, 2)), 1, atol=1e-5)
    alone = [part.log_densities(queries(1)[0], [history], shape)[0] for history in past]
    np.testing.assert_allclose(log_densities, alone, atol=1e-4, err_msg="a density depends on other histories")


@pytest.mark.parametrize("name", PEERS)
def test_first_fixations_are_sampled_from_the_density_that_a_peer_states(name):
    paths = [(np.array([[x, 0.5], [1 - x, 0.5]]), np.array([200.0, 300.0])) for x in (0.2, 0.3, 0.35, 0.4, 0.8)]
    part = learn(peer(name, **({"objective": "likelihood"} if name == "gazeformer" else {})), batch_of([paths]), 40)
    first = np.stack([path.xy_px[0] for path in drawn(part, 1, 3000)[0]])
    inside = (first > 1).all(1) & (first < FRAME.size_px - 1).all(1)  # samples beyond the picture are put on its edge
    fine = density_of(part, shape=(ROWS * 10, COLUMNS * 10)).reshape(ROWS, 10, COLUMNS, 10)
    assert np.abs(shares_of(first[inside]) - fine.sum((1, 3)).ravel()).sum() < 0.2


@pytest.mark.parametrize("name", ["deepgaze3", "tpp-gaze", "hat"])
def test_the_density_of_a_peer_with_a_memory_depends_on_where_the_last_fixation_was(name):
    part = peer(name).eval()
    left, right = (density_of(part, [[x_px, 300.0]]) for x_px in (100.0, 700.0))
    assert np.abs(left - right).sum() > 1e-4


def test_deepgaze_learns_that_the_next_fixation_depends_on_the_last():
    rng = np.random.default_rng(0)
    first = rng.uniform(0.1, 0.4, (60, 1)) + np.where(rng.random((60, 1)) < 0.5, 0.0, 0.5)
    paths = [(np.concatenate([[[x, 0.5]], [[1 - x, 0.5]]]), None) for x in first[:, 0]]
    part = learn(peer("deepgaze3"), batch_of([paths]), 120)
    for x, side in ((0.2, slice(4, 8)), (0.8, slice(0, 4))):
        assert density_of(part, [[x * 800, 300.0]])[:, side].sum() > 0.85


def test_information_gain_is_a_bit_when_the_picture_tells_the_side_and_nothing_at_first():
    def mirror_embedding(seed: int) -> list[np.ndarray]:
        """Of two pictures, 40 viewers' two fixations: all on its left, all on its right."""
        rng = np.random.default_rng(seed)
        return [rng.uniform([low, 0], [low + 0.5, 1], (40, 2, 2)) for low in (0.0, 0.5)]

    def gain(part) -> float:
        viewers = [[Scanpath(FRAME.denormalise(xy), FRAME) for xy in picture] for picture in mirror_embedding(1)]
        return float(np.mean([part.information_gain(*pair) for pair in zip(queries(2), viewers, strict=True)]))

    batch = batch_of([[(xy, None) for xy in picture] for picture in mirror_embedding(0)])
    assert gain(learn(peer("deepgaze3"), batch, 60)) == pytest.approx(0.9, abs=0.25)
    assert abs(gain(learn(peer("deepgaze3"), batch, 1, rate=0.0))) < 0.2


def test_information_gain_is_the_mean_of_what_the_densities_of_all_steps_say():
    part = learn(peer("deepgaze3"), batch_of([[(np.array([[0.2, 0.3], [0.7, 0.6], [0.4, 0.9]]), None)]]), 5)
    query, paths = queries(1)[0], [Scanpath([[100, 50], [700, 500], [20, 590]], FRAME), Scanpath([[400, 300]], FRAME)]
    bias = part.priors.log_centre_bias(torch.tensor([1]))[0].double().numpy()
    told = []
    for path in paths:
        for step, xy_px in enumerate(path.xy_px):
            cell = int(cell_of(torch.from_numpy(xy_px / FRAME.size_px), CELLS))
            told.append(np.log(density_of(part, path.xy_px[:step])).ravel()[cell] - bias[cell])
    assert part.information_gain(query, paths) == pytest.approx(np.mean(told) / np.log(2), abs=1e-5)


def test_deepgaze_draws_what_its_density_says():
    part = peer("deepgaze3").eval()
    part.priors.lengths[:] = torch.tensor([1.0, 0, 0, 0, 0, 0])
    part.priors.stimuli += 1
    hand_made = torch.rand(ROWS * COLUMNS, generator=torch.Generator().manual_seed(3)) ** 4
    part.priors.positions[1] = hand_made / hand_made.sum()
    first = np.concatenate([path.xy_px for path in drawn(part, 1, 4000)[0]])
    density = density_of(part).ravel()
    assert np.abs(shares_of(first) - density).sum() < 0.12
    assert np.corrcoef(density, hand_made.numpy())[0, 1] > 0.6


def test_a_mixture_is_a_density_and_is_drawn_from():
    mixture = Mixture(
        torch.tensor([[0.3, 0.7]]).log(), torch.tensor([[[-1.0], [2.0]]]), torch.tensor([[[0.5], [0.2]]]).log()
    )
    z = torch.linspace(-8, 8, 4001)
    density = mixture.log_density(z[:, None, None].expand(-1, 1, 1)[:, 0][:, None]).exp()[:, 0]
    assert torch.trapezoid(density, z).item() == pytest.approx(1, abs=1e-4)
    many = Mixture(*(part.expand(5000, *part.shape[1:]) for part in vars(mixture).values()))
    noise = NoiseSource(range(5000))
    values = many.sample(noise.uniform(), noise.normal(1))[:, 0]
    assert (values < 0.5).float().mean().item() == pytest.approx(0.3, abs=0.03)
    assert values[values > 0.5].std().item() == pytest.approx(0.2, abs=0.02)


def test_tpp_gazes_time_to_the_next_fixation_is_a_density_over_milliseconds():
    part = peer("tpp-gaze").eval()
    seen = part.encode_queries(queries(1))
    time_ms = torch.exp(torch.linspace(np.log(4.0), np.log(60_000.0), 4000))
    states = part.start.expand(1, len(time_ms), -1)
    with torch.no_grad():
        when, _ = part._mixtures(seen, states)
        per_log = when.log_density(log_time(time_ms)[None, :, None])[0]
        density = (per_log - (DURATION_LOG_STD * time_ms).log()).exp()
    assert torch.trapezoid(density, time_ms).item() == pytest.approx(1, abs=0.01)


def test_gazexplains_actions_and_stop_are_one_together():
    part = peer("gazexplain").eval()
    with torch.no_grad():
        actions = part.log_actions(part.encode_queries(queries(2))).exp()
    assert actions.shape == (2, 6, ROWS * COLUMNS + 1)
    torch.testing.assert_close(actions.sum(-1), torch.ones(2, 6))


def test_gazexplain_draws_its_action_maps_and_stops_as_often_as_it_says():
    part = peer("gazexplain").eval()
    with torch.no_grad():
        actions = part.log_actions(part.encode_queries(queries(1)))[0].exp().numpy()
    paths = drawn(part, 1, 4000)[0]
    first = np.stack([path.xy_px[0] for path in paths])
    wanted = actions[0, :-1] / actions[0, :-1].sum()
    assert np.abs(shares_of(first) - wanted).sum() < 0.12
    assert np.mean([len(path) == 1 for path in paths]) == pytest.approx(actions[1, -1], abs=0.03)


def test_hat_draws_its_heat_map():
    part = peer("hat", max_fixations=1).eval()
    seen = part.encode_queries(queries(1))
    with torch.no_grad():
        heat, _ = part._steps(seen, torch.zeros(1, 0, 2))
    wanted = log_calibrated(heat[0, 0]).exp().numpy()
    first = np.concatenate([path.xy_px for path in drawn(part, 1, 4000)[0]])
    assert np.abs(shares_of(first) - wanted / wanted.sum()).sum() < 0.12


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.9])
def test_hats_heat_is_turned_back_into_the_share_that_the_focal_loss_was_shown(share):
    logit = torch.linspace(-9, 9, 20_001)
    hit, miss = (focal_loss(logit[:, None], torch.full((len(logit), 1), target)) for target in (1.0, 0.0))
    best = logit[(share * hit + (1 - share) * miss).argmin()]
    assert log_calibrated(best).exp().item() == pytest.approx(share, abs=0.005)


def test_hat_stops_at_once_or_never_when_told():
    part = peer("hat").eval()
    with torch.no_grad():
        part.stop.weight.zero_()
        for logit, length in ((20.0, 1), (-20.0, 6)):
            part.stop.bias.fill_(logit)
            assert {len(path) for path in drawn(part, 1, 5)[0]} == {length}


@pytest.fixture(scope="module")
def coarse():
    torch.manual_seed(0)
    picture = {"channels": 8, "rows": ROWS, "columns": COLUMNS, "width": 32, "mixing": 0}
    denoiser = {"width": 32, "depth": 1, "heads": 2, "feedforward": 64}
    return ScanpathStage(
        overlay(ScanpathStageConfig(sets=("made",)), {"image": picture, "denoiser": denoiser}, "scanpath")
    ).eval()


def test_the_saliency_sampler_draws_the_density_in_any_order(coarse):
    sampler = SaliencySampler(coarse)
    (paths,) = sampler.scanpaths(queries(1), [list(range(400))], SamplingOptions())
    assert all(path.duration_ms is None for path in paths)
    with torch.no_grad():
        query = queries(1)[0]
        density = (
            coarse.encode_image(query.features, query.text_embedding, torch.tensor([1])).log_density[0].exp().numpy()
        )
    early = np.concatenate([path.xy_px[: len(path) // 2] for path in paths if len(path) > 1])
    late = np.concatenate([path.xy_px[len(path) // 2 :] for path in paths])
    assert np.abs(shares_of(early) - density).sum() < 0.2
    assert np.abs(shares_of(late) - density).sum() < 0.2


def test_the_saliency_sampler_needs_a_density_head_and_is_not_trained(coarse):
    with pytest.raises(InputError, match="needs a scanpath stage with a density head"):
        SaliencySampler(peer("hat"))
    with pytest.raises(TypeError, match="is not trained"):
        SaliencySampler(coarse).loss(None, None)


def test_categories_are_drawn_by_inverting_their_distribution():
    logits = torch.tensor([[0.2, 0.3, 0.5]]).log().expand(3, -1)
    assert categorical(logits, torch.tensor([0.1, 0.4, 0.99])).tolist() == [0, 1, 2]
