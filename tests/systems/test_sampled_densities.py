"""The density of the next fixation, of systems that can only be sampled from."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from baselines import COLUMNS, FIXATIONS, FRAME, PICTURE, ROWS, batch_of, learn, queries
from tiny import TOKENS

from stdiffeye.diffusion import noise_of
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath
from stdiffeye.systems.base import SamplingOptions
from stdiffeye.systems.coarse_to_fine.scanpath_sampling import QuerySampler
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage, StageBatch
from stdiffeye.systems.history_factors import Situation
from stdiffeye.systems.next_fixation import NextFixationConfig, kernel_density, resampled, sampled_log_density
from stdiffeye.systems.presets import load_preset, overlay
from stdiffeye.systems.st_diffeye.model import STDiffEye
from stdiffeye.systems.st_diffeye.next_position import history_rows

CELLS = ROWS, COLUMNS
FEW = {"samples": 32, "steps": 10}


def stage(**changes) -> ScanpathStage:
    torch.manual_seed(0)
    network = {"width": 32, "depth": 2, "heads": 2, "feedforward": 64, "max_tokens": FIXATIONS}
    small = {"image": PICTURE, "denoiser": network, "sets": ["made"], "next_fixation": FEW} | changes
    return ScanpathStage(overlay(load_preset("coarse-to-fine").stages["scanpath"], small, "scanpath"))


def system(preset: str) -> STDiffEye:
    torch.manual_seed(0)
    small = TOKENS | {"image": PICTURE, "sets": ["made"], "next_fixation": {"samples": 6, "steps": 3}}
    if preset == "scandiff":
        small = {key: value for key, value in small.items() if key != "max_points"}
    return STDiffEye(overlay(load_preset(preset).stages["gaze"], small, preset)).eval()


def test_a_density_on_another_grid_keeps_what_every_part_of_the_picture_has():
    density = np.random.default_rng(0).random((6, 8))
    finer = resampled(density, (24, 16))
    np.testing.assert_allclose(finer.reshape(6, 4, 8, 2).sum((1, 3)), density)
    odd = resampled(density, (5, 7))
    assert odd.sum() == pytest.approx(density.sum())
    np.testing.assert_allclose(resampled(density, (2, 2))[0, 0], density[:3, :4].sum())


def test_a_kernel_density_is_that_of_gaussians_and_keeps_all_of_its_mass_inside():
    density = kernel_density(np.array([[0.5, 0.5], [0.0, 1.0]]), (120, 160), 0.05, aspect=4 / 3)
    assert density.sum() == pytest.approx(1)
    assert density[:60, 80:].sum() == pytest.approx(0.125, abs=0.01)
    x = (np.arange(160) + 0.5) / 160
    middle = density[:90, 40:].sum(0)
    middle = middle / middle.sum()
    assert np.sqrt((middle * (x[40:] - 0.5) ** 2).sum()) == pytest.approx(0.05, rel=0.02)


def test_the_pooled_density_follows_samples_and_picture_and_leaves_nothing_impossible():
    picture = np.full(CELLS, 1e-9)
    picture[:, 6:] = 1
    xy = np.array([[0.1, 0.5], [0.9, 0.5]])
    now = Situation(np.empty((0, 2)), 0, 4 / 3)
    density = np.exp(sampled_log_density(xy, picture / picture.sum(), (24, 32), now, NextFixationConfig()))
    assert density.sum() == pytest.approx(1)
    assert density[:, 16:].sum() > 0.8
    assert density.min() >= 0.02 / density.size
    alone = np.exp(sampled_log_density(xy, None, (24, 32), now, NextFixationConfig()))
    assert alone[:, 16:].sum() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [("samples", 0, "samples must be between 1"), ("bandwidth", 0.0, "bandwidth must be positive")]
    + [("even_share", 0.0, "even_share must be above 0"), ("picture_power", -1.0, "must not be negative")],
)
def test_settings_that_give_no_density_are_refused(field, value, words):
    with pytest.raises(InputError, match=words):
        NextFixationConfig(**{field: value})


def test_with_the_history_clamped_the_network_states_the_density_that_it_was_trained_on():
    rng = np.random.default_rng(0)
    first = rng.uniform(0.1, 0.35, 64) + np.where(rng.random(64) < 0.5, 0.0, 0.55)
    paths = [(np.array([[x, 0.5], [1 - x, 0.3]]), np.array([200.0, 300.0])) for x in first]
    trained = learn(stage(), StageBatch(batch_of([paths])), 250)
    histories = [Scanpath([[x * 800, 300.0]], FRAME, [200.0]) for x in (0.2, 0.8)]
    left, right = np.exp(trained.log_densities(queries(1)[0], histories, (24, 32)))
    assert left.sum() == pytest.approx(1)
    assert right.sum() == pytest.approx(1)
    assert left[:, 16:].sum() > 0.75
    assert right[:, :16].sum() > 0.75
    before = np.exp(trained.log_densities(queries(1)[0], [None], (24, 32))[0])
    assert 0.3 < before[:, 16:].sum() < 0.7


def test_a_clamped_history_is_kept_as_it_is_and_trials_are_longer_than_it():
    untrained = stage().eval()
    history = Scanpath([[100.0, 100.0], [700.0, 500.0], [400.0, 200.0]], FRAME, [200.0, 300.0, 250.0])
    sampler = QuerySampler(untrained, queries(1)[0], SamplingOptions(steps=3, sampler="ddpm"))
    with torch.inference_mode():
        known = sampler._known(history).expand(8, -1, -1)
        noise = noise_of(range(8), stratified=False)
        denoiser = sampler._with_lengths(noise, np.zeros(8), known=known, more_than=3)
        tokens = sampler._sample_tokens(denoiser, noise)
    assert (denoiser.conditions.length > 3).all()
    torch.testing.assert_close(tokens[:, :3, :3], known[..., :3])
    assert tokens[:, 3].std(0).min() > 0.01


def test_a_history_of_more_fixations_than_tokens_is_known_by_its_last_ones():
    long = Scanpath(np.tile([[100.0, 100.0], [700.0, 500.0]], (10, 1)), FRAME)
    density = np.exp(stage().eval().log_densities(queries(1)[0], [long], CELLS)[0])
    assert density.sum() == pytest.approx(1)


@pytest.mark.parametrize("preset", ["scandiff", "joint-small", "diffeye", "paper-freeview"])
def test_the_papers_forms_state_a_density_given_any_history(preset):
    form = system(preset)
    histories = [None, Scanpath([[100.0, 100.0], [700.0, 500.0]], FRAME, [150.0, 150.0])]
    log_densities = form.log_densities(queries(1)[0], histories, (24, 32))
    assert log_densities.shape == (2, 24, 32)
    np.testing.assert_allclose(np.exp(log_densities).sum((1, 2)), 1)


def test_of_a_history_longer_than_a_trajectory_the_last_fixations_are_lifted():
    config = system("joint-small").config
    history = Scanpath(np.tile([[100.0, 100.0], [700.0, 500.0]], (10, 1)), FRAME, np.full(20, 300.0))
    rows = history_rows(history, config)
    assert 0 < len(rows) <= 0.75 * config.max_samples
    np.testing.assert_allclose(rows[-1, :2], [700 / 800, 500 / 600], atol=0.02)
