"""Predictions that mean the same clean token, and the loss-aware choice of steps."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from stdiffeye.diffusion import (
    LossAwareSteps,
    add_noise,
    estimate_z0,
    karras_grid,
    make_schedule,
    network_input,
    target,
)


@pytest.mark.parametrize("prediction", ["z0", "eps", "v", "edm"])
def test_the_right_output_gives_the_clean_token_back(prediction):
    generator = torch.Generator().manual_seed(0)
    z0, noise = (torch.randn(6, 5, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    schedule = karras_grid(6, 40.0, 0.01) if prediction == "edm" else make_schedule("cosine", 6)
    alpha, sigma = schedule.alpha, schedule.sigma
    z = add_noise(z0, noise, alpha, sigma)
    output = target(z0, noise, alpha, sigma, prediction)
    torch.testing.assert_close(estimate_z0(output, z, alpha, sigma, prediction), z0, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("std", [1.0, 0.02, 4.0])
def test_edm_targets_and_inputs_have_unit_variance_at_every_level(std):
    generator = torch.Generator().manual_seed(0)
    z0, noise = (torch.randn(5, 20_000, 1, generator=generator) for _ in range(2))
    z0 *= std
    sigma = torch.tensor([0.01, 0.3, 1.0, 5.0, 40.0])
    alpha = torch.ones(5)
    outputs = target(z0, noise, alpha, sigma, "edm", std).std((1, 2))
    inputs = network_input(add_noise(z0, noise, alpha, sigma), alpha, sigma, std).std((1, 2))
    torch.testing.assert_close(outputs, torch.ones(5), rtol=0.02, atol=0)
    torch.testing.assert_close(inputs, torch.ones(5), rtol=0.02, atol=0)


def seen_steps(losses: np.ndarray, memory: int = 3) -> LossAwareSteps:
    steps = LossAwareSteps(len(losses), memory)
    for _ in range(memory):
        steps.update(torch.arange(len(losses)), torch.from_numpy(losses))
    return steps


def test_steps_are_uniform_until_all_were_seen_often_enough():
    steps = LossAwareSteps(4, memory=2)
    steps.update(torch.tensor([0, 0, 1, 1, 2, 2, 3]), torch.tensor([9.0, 9, 1, 1, 1, 1, 1]))
    assert steps.probabilities().tolist() == [0.25] * 4
    steps.update(torch.tensor([3]), torch.tensor([1.0]))
    assert steps.probabilities().argmax() == 0


def test_weights_make_the_loss_unbiased():
    losses = np.array([4.0, 1.0, 0.5, 0.1, 2.0])
    steps = seen_steps(losses)
    p = steps.probabilities()
    cumulative = np.concatenate([[0.0], np.cumsum(p)[:-1]])
    chosen, weights = steps.choose(torch.from_numpy(cumulative + p / 2))
    assert chosen.tolist() == [0, 1, 2, 3, 4]
    assert np.isclose((p * weights.numpy() * losses).sum(), losses.mean(), rtol=1e-5)


def test_steps_come_as_often_as_their_probability_says():
    steps = seen_steps(np.array([3.0, 1.0, 0.0, 1.0]))
    uniform = torch.rand(20_000, generator=torch.Generator().manual_seed(1))
    counts = torch.bincount(steps.choose(uniform)[0], minlength=4) / len(uniform)
    np.testing.assert_allclose(counts, steps.probabilities(), atol=0.01)
    assert counts[2] < 0.002


def test_the_choice_survives_a_restart():
    first = seen_steps(np.array([3.0, 1.0, 2.0]))
    again = LossAwareSteps(3, 3)
    again.load(first.state())
    assert again.probabilities().tolist() == first.probabilities().tolist()
