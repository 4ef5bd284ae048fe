"""Samplers against diffusers' and against what is known in closed form of Gaussians."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from diffusers import DDIMScheduler, DDPMScheduler, DPMSolverMultistepScheduler, UniPCMultistepScheduler

from stdiffeye.diffusion import NoiseSource, Schedule, karras_grid, make_schedule, sample
from stdiffeye.diffusion.noise import Trimmed
from stdiffeye.diffusion.samplers import Levels, begin, ddim, dpm_solver_pp_2m, heun, multistep, unipc

SHAPE = (7, 2)


def wavy(z, level: float):
    """Any smooth function will do as a network that predicts z0."""
    return 0.6 * torch.sin(z) + 0.1 * level


def betas(schedule: Schedule) -> np.ndarray:
    bar = schedule.alpha_bar.numpy()
    return 1 - bar / np.concatenate([[1.0], bar[:-1]])


def by_diffusers(scheduler, steps: int, seed: int, noisy: bool, levels: int, **options):
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(1, *SHAPE, generator=generator)
    scheduler.set_timesteps(steps)
    for t in scheduler.timesteps:
        extra = {"generator": generator} if noisy else {}
        z = scheduler.step(wavy(z, float(t) / levels), t, z, **extra, **options).prev_sample
    return z


def test_ddpm_is_that_of_diffusers():
    schedule = make_schedule("cosine", 30)
    peer = DDPMScheduler(30, trained_betas=betas(schedule), clip_sample=False, prediction_type="sample")
    ours = sample("ddpm", lambda z, k: wavy(z, k / 30), schedule, NoiseSource([5]), SHAPE)
    torch.testing.assert_close(ours, by_diffusers(peer, 30, 5, True, 30), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
def test_ddim_is_that_of_diffusers(eta):
    schedule = make_schedule("linear", 30)
    peer = DDIMScheduler(30, trained_betas=betas(schedule), clip_sample=False, prediction_type="sample")
    levels, noise = Levels.of("ddim", schedule), NoiseSource([5])
    denoise = levels.numbered(lambda z, k: wavy(z, k / 30))
    ours = ddim(denoise, levels.start(noise, SHAPE), levels.schedule, noise, eta)
    theirs = by_diffusers(peer, 30, 5, eta > 0, 30, eta=eta)
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


def of_diffusers(kind, schedule: Schedule, **options):
    betas_of = betas(schedule)
    return kind(len(schedule), trained_betas=betas_of, prediction_type="sample", final_sigmas_type="zero", **options)


@pytest.mark.parametrize(
    ("solver", "kind", "options"),
    [(dpm_solver_pp_2m, DPMSolverMultistepScheduler, {}), (unipc, UniPCMultistepScheduler, {"disable_corrector": [0]})],
    ids=["dpm++", "unipc"],
)
def test_multistep_solvers_are_those_of_diffusers(solver, kind, options):
    schedule = make_schedule("cosine", 100)
    peer = of_diffusers(kind, schedule, **options)
    peer.set_timesteps(8)
    chosen = peer.timesteps
    levels = Schedule(schedule.alpha[chosen], schedule.sigma[chosen])
    z = torch.randn(1, *SHAPE, generator=torch.Generator().manual_seed(2))
    ours = solver(lambda z, i: wavy(z, float(chosen[i]) / 100), z, levels)
    torch.testing.assert_close(ours, by_diffusers(peer, 8, 2, False, 100), rtol=1e-3, atol=1e-3)


SPREAD = 0.5


def gaussian_denoiser(schedule: Schedule):
    """The best z0 for data of standard deviation 0.5."""

    def denoise(z, k):
        alpha, sigma = float(schedule.alpha[k]), float(schedule.sigma[k])
        return alpha * SPREAD**2 / (alpha**2 * SPREAD**2 + sigma**2) * z

    return denoise


def flow_error(name: str, steps: int, schedule: Schedule) -> float:
    """Distance of a deterministic sampler's end from the probability flow's, which is a mere scaling."""
    noise = NoiseSource([1]).normal(50)[0].double()
    chosen = schedule.steps(steps)
    levels = Schedule(schedule.alpha[chosen], schedule.sigma[chosen])
    denoise = gaussian_denoiser(levels)
    z = noise * float((levels.alpha[0] ** 2 + levels.sigma[0] ** 2).sqrt())
    end = {"heun": heun, "dpm++": dpm_solver_pp_2m, "unipc": unipc}[name](denoise, z, levels)
    x, sigma = z / levels.alpha[0], levels.sigma / levels.alpha
    flow = x * ((SPREAD**2 + sigma[-1] ** 2) / (SPREAD**2 + sigma[0] ** 2)).sqrt() * levels.alpha[-1]
    return float((end - denoise(flow, len(levels) - 1)).abs().max())


@pytest.mark.parametrize(
    ("name", "kind"), [("heun", "edm"), ("dpm++", "edm"), ("dpm++", "linear"), ("unipc", "linear")]
)
def test_second_order_samplers_follow_the_flow_and_are_of_second_order(name, kind):
    def error(steps: int) -> float:
        schedule = karras_grid(steps, 40.0, 0.003) if kind == "edm" else make_schedule("linear", 4000)
        return flow_error(name, steps, schedule)

    assert error(200) < 0.01
    assert 3.5 < error(200) / error(400) < 4.5


@pytest.mark.parametrize("name", ["ddpm", "ddim", "dpm++", "unipc", "heun"])
def test_samples_of_a_gaussian_have_its_spread(name):
    schedule = make_schedule("cosine", 1000)
    drawn = sample(name, gaussian_denoiser(schedule), schedule, NoiseSource([3]), (4000,), steps=200)
    assert abs(float(drawn.std()) - SPREAD) < 0.02
    assert abs(float(drawn.mean())) < 0.03


@pytest.mark.parametrize("name", ["ddpm", "ddim", "dpm++", "unipc", "heun"])
def test_a_sample_is_the_same_whatever_it_is_drawn_with(name):
    schedule = make_schedule("cosine", 20)

    def draw(seeds):
        return sample(name, lambda z, k: wavy(z, k / 20), schedule, NoiseSource(seeds), SHAPE)

    torch.testing.assert_close(draw([1, 2, 3])[1:2], draw([2]))
    assert not torch.allclose(draw([1]), draw([2]))


def test_trimming_does_not_change_the_tokens_that_are_kept():
    schedule = make_schedule("cosine", 20)
    whole, cut = (
        sample("ddpm", lambda z, k: wavy(z, k / 20), schedule, Trimmed(NoiseSource([4]), SHAPE[0], tokens), SHAPE)
        for tokens in (SHAPE[0], 3)
    )
    torch.testing.assert_close(whole[:, :3], cut)


@pytest.mark.parametrize("name", ["ddpm", "ddim", "dpm++", "unipc", "heun"])
def test_the_callback_sees_every_step_with_its_noisy_tokens_and_their_estimate(name):
    steps, estimates = [], []

    def preview(step, z, z0_hat):
        assert z.shape == z0_hat.shape == (1, *SHAPE)
        steps.append(step)
        estimates.append(z0_hat)

    schedule = make_schedule("cosine", 50)
    found = sample(name, lambda z, k: torch.tanh(z), schedule, NoiseSource([0]), SHAPE, 4, callback=preview)
    assert steps == [0, 1, 2, 3]
    assert torch.equal(estimates[-1], found)


def off_the_flow(solver, steps_of) -> float:
    """How far from the exact flow a solver ends, on average, that draws two points in the steps of a schedule."""
    schedule = make_schedule("cosine", 1000)

    def two_points(z, step):
        alpha, sigma = float(schedule.alpha[step]), float(schedule.sigma[step])
        near = 0.4  # standard deviation about each of −1 and 1
        variance = (alpha * near) ** 2 + sigma**2
        mean = torch.tanh(alpha * z / variance)
        return mean + alpha * near**2 / variance * (z - alpha * mean)

    def drawn(solver, steps):
        levels, noise = Schedule(schedule.alpha[steps], schedule.sigma[steps]), NoiseSource([5]).normal(2000)
        return solver(lambda z, level: two_points(z, int(steps[level])), noise, levels)

    exact = drawn(dpm_solver_pp_2m, schedule.steps(1000))
    return float((drawn(solver, steps_of(schedule)) - exact).abs().mean())


def test_second_order_draws_better_in_steps_that_are_even_in_snr():
    even = off_the_flow(dpm_solver_pp_2m, lambda schedule: schedule.steps(8))
    in_snr = off_the_flow(dpm_solver_pp_2m, lambda schedule: schedule.steps_even_in_snr(8))
    assert in_snr < even / 3


@pytest.mark.parametrize("corrected", [False, True], ids=["dpm++", "unipc"])
def test_samples_that_are_selected_half_of_the_way_through_end_as_they_would_have(corrected):
    name, chosen = "unipc" if corrected else "dpm++", torch.tensor([4, 0, 2])
    levels = Levels.of(name, make_schedule("cosine", 1000), 7)
    rows: list[int] = []

    def denoise(z, level):
        rows.append(len(z))
        return torch.tanh(3 * z)

    every = sample(name, denoise, make_schedule("cosine", 1000), NoiseSource(range(6)), (5, 2), 7)
    half = multistep(
        denoise, begin(denoise, levels.start(NoiseSource(range(6)), (5, 2))), levels.schedule, corrected, 3
    )
    some = multistep(denoise, half.select(chosen), levels.schedule, corrected)
    torch.testing.assert_close(some.z0_hat, every[chosen])
    assert rows == [6] * 7 + [6] * 4 + [3] * 3
