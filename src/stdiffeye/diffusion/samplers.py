"""From noise to gaze: samplers as pure functions.

Each takes `denoise(z, level)`, which returns the estimate of z0 for z at noise level number `level` of `levels` (a
`Schedule` read from its noisy end), the noise to start from, and `noise`, a source of fresh noise where the sampler is
stochastic. `callback(i, n)` is told of progress.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from torch import Tensor

from stdiffeye.diffusion.noise import NoiseSource, Trimmed
from stdiffeye.diffusion.schedule import Schedule

Denoise = Callable[[Tensor, int], Tensor]
Callback = Callable[[int, int], None]
Choose = Callable[[Tensor], Tensor]
"""Estimate of z0 half of the way through → numbers of the samples that go on, in their new order."""
SamplerName = Literal["ddpm", "ddim", "dpm++", "unipc", "heun"]
MULTISTEP = ("dpm++", "unipc")
"""Samplers that learn from their steps before: their steps are even in log ratio of signal to noise, and may choose."""


def sample(
    name: SamplerName,
    denoise: Denoise,
    schedule: Schedule,
    noise: NoiseSource,
    shape: tuple[int, ...],
    steps: int | None = None,
    eta: float = 0.0,
    trim: int | None = None,
    callback: Callback | None = None,
    choose: Choose | None = None,
) -> Tensor:
    """Draw (samples, *shape) tokens with the sampler called `name` in `steps` steps (default: all of the schedule).

    `trim` keeps only so many tokens of each sequence, of noise always drawn whole: what a sample looks like must not
    depend on the longest one beside it. `choose` is for dpm++ and unipc alone.
    """
    if trim is not None:
        noise = Trimmed(noise, shape[0], trim)
    count = steps or len(schedule)
    chosen = schedule.steps_even_in_snr(count) if name in MULTISTEP else schedule.steps(count)
    levels = Schedule(schedule.alpha[chosen], schedule.sigma[chosen])
    at_step = [int(step) for step in chosen]
    z = noise.normal(*shape) * float((levels.alpha[0] ** 2 + levels.sigma[0] ** 2).sqrt())

    def at(z: Tensor, level: int) -> Tensor:
        return denoise(z, at_step[level])

    if name == "ddpm":
        return ddpm(at, z, levels, noise, callback)
    if name == "ddim":
        return ddim(at, z, levels, noise, eta, callback)
    if name in MULTISTEP:
        return {"dpm++": dpm_solver_pp_2m, "unipc": unipc}[name](at, z, levels, callback, choose)
    return heun(at, z, levels, callback)


def ddpm(denoise: Denoise, z: Tensor, levels: Schedule, noise: NoiseSource, callback: Callback | None = None) -> Tensor:
    """Ancestral sampling (Ho et al. 2020): the posterior q(z_next | z, ẑ0), variance β̃."""
    return ddim(denoise, z, levels, noise, eta=1.0, callback=callback)


def ddim(
    denoise: Denoise,
    z: Tensor,
    levels: Schedule,
    noise: NoiseSource | None = None,
    eta: float = 0.0,
    callback: Callback | None = None,
) -> Tensor:
    """Song et al. 2021, Eq. 12: deterministic at eta = 0, ancestral DDPM at eta = 1; Euler's method for EDM levels."""
    alpha, sigma = levels.alpha.tolist(), levels.sigma.tolist()
    for i in range(len(levels)):
        z0 = denoise(z, i)
        if i + 1 == len(levels):
            return _told(callback, i, len(levels), z0)
        epsilon = (z - alpha[i] * z0) / sigma[i]
        # Share of the next level's noise that is fresh: σ_next √(1 − (α_i σ_next / (α_next σ_i))²).
        kept = alpha[i] * sigma[i + 1] / (alpha[i + 1] * sigma[i])
        fresh = eta * sigma[i + 1] * max(0.0, 1 - kept**2) ** 0.5
        z = alpha[i + 1] * z0 + max(0.0, sigma[i + 1] ** 2 - fresh**2) ** 0.5 * epsilon
        if fresh and noise is not None:
            z = z + fresh * noise.fresh(*z.shape[1:])
        _told(callback, i, len(levels), z)
    return z


def dpm_solver_pp_2m(
    denoise: Denoise, z: Tensor, levels: Schedule, callback: Callback | None = None, choose: Choose | None = None
) -> Tensor:
    """DPM-Solver++(2M) (Lu et al. 2022, Algorithm 2): one evaluation a step, of second order but at both ends."""
    return _multistep(denoise, z, levels, callback, choose, corrected=False)


def unipc(
    denoise: Denoise, z: Tensor, levels: Schedule, callback: Callback | None = None, choose: Choose | None = None
) -> Tensor:
    """UniPC-2 with B₂ (Zhao et al. 2023): DPM-Solver++(2M), each step put right by the evaluation that follows it."""
    return _multistep(denoise, z, levels, callback, choose, corrected=True)


def _multistep(
    denoise: Denoise, z: Tensor, levels: Schedule, callback: Callback | None, choose: Choose | None, corrected: bool
) -> Tensor:
    alpha, sigma = levels.alpha.tolist(), levels.sigma.tolist()
    half_log_snr = (levels.alpha / levels.sigma).log().tolist()
    before = z  # where the last step began
    past: list[Tensor] = []  # estimates of z0 there and one step earlier
    for i in range(len(levels)):
        z0 = denoise(z, i)
        if choose is not None and i == len(levels) // 2:
            rows = choose(z0)
            z, z0, before, past = z[rows], z0[rows], before[rows], [one[rows] for one in past]
        if i + 1 == len(levels):
            return _told(callback, i, len(levels), z0)
        if corrected and len(past) == 2:
            h, r = half_log_snr[i] - half_log_snr[i - 1], _ratio(half_log_snr, i - 1)
            slope, bend = (past[0] - past[1]) / r, z0 - past[0]
            first, second = _corrector(h, r)
            ahead = past[0] + first * slope + second * bend
            z = sigma[i] / sigma[i - 1] * before - alpha[i] * math.expm1(-h) * ahead
        ahead = z0 + (z0 - past[0]) / (2 * _ratio(half_log_snr, i)) if past else z0
        before, past = z, [z0, *past[:1]]
        h = half_log_snr[i + 1] - half_log_snr[i]
        z = sigma[i + 1] / sigma[i] * z - alpha[i + 1] * math.expm1(-h) * ahead
        _told(callback, i, len(levels), z)
    return z


def _ratio(half_log_snr: list[float], i: int) -> float:
    """Length of the step to level i over that of the step from it."""
    return (half_log_snr[i] - half_log_snr[i - 1]) / (half_log_snr[i + 1] - half_log_snr[i])


def _corrector(h: float, r: float) -> tuple[float, float]:
    """Weights of UniC-2 with B₂(h) = e^-h − 1: of how z0 changed over the step before, and over the step itself."""
    b1 = -1 / h - 1 / math.expm1(-h)
    b2 = 2 * (-b1 / h) - 1 / math.expm1(-h)
    first = (b1 - b2) / (1 + r)
    return first, b1 - first


def heun(denoise: Denoise, z: Tensor, levels: Schedule, callback: Callback | None = None) -> Tensor:
    """EDM's second-order sampler (Karras et al. 2022, Algorithm 1, without churn), on z/α and σ/α for any schedule."""
    alpha, sigma = levels.alpha.tolist(), (levels.sigma / levels.alpha).tolist()
    x = z / alpha[0]
    for i in range(len(levels)):
        z0 = denoise(x * alpha[i], i)
        if i + 1 == len(levels):
            return _told(callback, i, len(levels), z0)
        slope = (x - z0) / sigma[i]
        trial = x + (sigma[i + 1] - sigma[i]) * slope
        slope_next = (trial - denoise(trial * alpha[i + 1], i + 1)) / sigma[i + 1]
        x = x + (sigma[i + 1] - sigma[i]) * (slope + slope_next) / 2
        _told(callback, i, len(levels), x)
    return x


def _told(callback: Callback | None, i: int, n: int, z: Tensor) -> Tensor:
    if callback is not None:
        callback(i + 1, n)
    return z
