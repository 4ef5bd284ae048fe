"""Noise schedules against their formulas and against diffusers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from diffusers import DDPMScheduler

from stdiffeye.diffusion import karras_grid, make_schedule
from stdiffeye.diffusion.schedule import SHAPING_LOG_RATIO


def test_sqrt_follows_its_formula_until_beta_is_capped():
    schedule = make_schedule("sqrt", 1000)
    s = np.arange(1001) / 1000
    curve = 1 - np.sqrt(s + 1e-4)
    expected = curve[1:] / curve[0]
    np.testing.assert_allclose(schedule.alpha_bar[:-1], expected[:-1], rtol=1e-10)
    # The curve falls below zero at the end; a step never destroys more than 99.9 % of the signal.
    np.testing.assert_allclose(schedule.alpha_bar[-1] / schedule.alpha_bar[-2], 1 - 0.999, rtol=1e-9)


@pytest.mark.parametrize(("name", "peer"), [("cosine", "squaredcos_cap_v2"), ("linear", "linear")])
def test_schedules_are_those_of_diffusers(name, peer):
    expected = DDPMScheduler(num_train_timesteps=1000, beta_schedule=peer).alphas_cumprod
    torch.testing.assert_close(make_schedule(name, 1000).alpha_bar.float(), expected, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["sqrt", "cosine", "linear"])
def test_noise_only_grows_and_variance_is_kept(name):
    schedule = make_schedule(name, 200, shift=6.0)
    assert ((schedule.alpha / schedule.sigma).diff() < 0).all()
    torch.testing.assert_close(schedule.alpha**2 + schedule.sigma**2, torch.ones(200, dtype=torch.float64))


def test_a_shift_divides_alpha_over_sigma():
    plain, shifted = make_schedule("cosine", 100), make_schedule("cosine", 100, shift=7.0)
    torch.testing.assert_close(7 * shifted.alpha / shifted.sigma, plain.alpha / plain.sigma)


def test_the_karras_grid_is_equation_5():
    grid = karras_grid(18, sigma_max=80.0, sigma_min=0.002)
    i = np.arange(18)
    expected = (80 ** (1 / 7) + i / 17 * (0.002 ** (1 / 7) - 80 ** (1 / 7))) ** 7
    np.testing.assert_allclose(grid.sigma.flip(0), expected, rtol=1e-10)
    assert (grid.alpha == 1).all()


def test_steps_are_even_from_noise_to_clean():
    schedule = make_schedule("cosine", 1000)
    assert schedule.steps(5).tolist() == [999, 749, 500, 250, 0]
    assert schedule.steps(5000).tolist() == list(range(999, -1, -1))


@pytest.mark.parametrize("name", ["cosine", "linear", "edm"])
def test_steps_even_in_snr_begin_at_noise_and_are_even_where_it_tells(name):
    schedule = make_schedule(name)
    steps = schedule.steps_even_in_snr(9)
    assert steps[0] == len(schedule) - 1
    assert (steps.diff() < 0).all()
    ratio = (schedule.alpha / schedule.sigma).log()[steps[1:]]
    torch.testing.assert_close(ratio, torch.linspace(*SHAPING_LOG_RATIO, 8, dtype=torch.float64), atol=0.15, rtol=0)


def test_all_steps_are_taken_where_more_are_asked_for_than_there_are():
    schedule = make_schedule("cosine", 20)
    assert schedule.steps_even_in_snr(50).tolist() == list(range(19, -1, -1))
