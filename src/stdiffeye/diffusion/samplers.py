"""From noise to gaze: samplers as pure functions, named after their algorithm.

Each takes `denoise(z, level)`, which returns the estimate of z0 for z at noise level number `level` of `levels` (a
`Schedule` read from its noisy end), the noise to start from, and `noise`, a source of fresh noise where the sampler is
stochastic. `callback(step, z, z0_hat)` is called after every evaluation, for a preview or a progress bar.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from stdiffeye.diffusion.noise import NoiseSource
from stdiffeye.diffusion.schedule import Schedule

Denoise = Callable[[Tensor, int], Tensor]
Callback = Callable[[int, Tensor, Tensor], None]
SamplerName = Literal["ddpm", "ddim", "dpm++", "unipc", "heun"]
MULTISTEP = ("dpm++", "unipc")
"""Samplers that use the steps before: their steps are even in the log ratio of signal to noise."""


@dataclass(frozen=True)
class Levels:
    """The noise levels that a sampler visits, from the noisiest, and the steps of the whole schedule that they are."""

    schedule: Schedule
    steps: tuple[int, ...]

    @classmethod
    def of(cls, name: SamplerName, schedule: Schedule, steps: int | None = None) -> Levels:
        """Those of `name` in `steps` steps (default: all of the schedule)."""
        count = steps or len(schedule)
        chosen = schedule.steps_even_in_snr(count) if name in MULTISTEP else schedule.steps(count)
        return cls(Schedule(schedule.alpha[chosen], schedule.sigma[chosen]), tuple(int(step) for step in chosen))

    def start(self, noise: NoiseSource, shape: tuple[int, ...]) -> Tensor:
        """(samples, *shape) pure noise of the first level."""
        alpha, sigma = self.schedule.alpha[0], self.schedule.sigma[0]
        return noise.normal(*shape) * float((alpha**2 + sigma**2).sqrt())

    def numbered(self, denoise: Denoise) -> Denoise:
        """`denoise` of steps of the whole schedule → of levels."""
        return lambda z, level: denoise(z, self.steps[level])


def sample(
    name: SamplerName,
    denoise: Denoise,
    schedule: Schedule,
    noise: NoiseSource,
    shape: tuple[int, ...],
    steps: int | None = None,
    callback: Callback | None = None,
) -> Tensor:
    """Sample (samples, *shape) tokens with the sampler called `name` in `steps` steps; default: all there are."""
    levels = Levels.of(name, schedule, steps)
    z, at = levels.start(noise, shape), levels.numbered(denoise)
    if name == "ddpm":
        return ddpm(at, z, levels.schedule, noise, callback)
    if name == "ddim":
        return ddim(at, z, levels.schedule, noise, callback=callback)
    if name == "heun":
        return heun(at, z, levels.schedule, callback)
    return {"dpm++": dpm_solver_pp_2m, "unipc": unipc}[name](at, z, levels.schedule, callback)


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
        z0 = _reported(callback, i, z, denoise(z, i))
        if i + 1 == len(levels):
            return z0
        epsilon = (z - alpha[i] * z0) / sigma[i]
        # Share of the next level's noise that is fresh: σ_next √(1 − (α_i σ_next / (α_next σ_i))²).
        kept = alpha[i] * sigma[i + 1] / (alpha[i + 1] * sigma[i])
        fresh = eta * sigma[i + 1] * max(0.0, 1 - kept**2) ** 0.5
        z = alpha[i + 1] * z0 + max(0.0, sigma[i + 1] ** 2 - fresh**2) ** 0.5 * epsilon
        if fresh and noise is not None:
            z = z + fresh * noise.fresh(*z.shape[1:])
    return z


def dpm_solver_pp_2m(denoise: Denoise, z: Tensor, levels: Schedule, callback: Callback | None = None) -> Tensor:
    """DPM-Solver++(2M) (Lu et al. 2022, Algorithm 2): one evaluation a step, of second order but at both ends."""
    return multistep(denoise, begin(denoise, z, callback), levels, False, callback=callback).z0_hat


def unipc(denoise: Denoise, z: Tensor, levels: Schedule, callback: Callback | None = None) -> Tensor:
    """UniPC-2 with B₂ (Zhao et al. 2023): DPM-Solver++(2M), each step corrected by the evaluation that follows it."""
    return multistep(denoise, begin(denoise, z, callback), levels, True, callback=callback).z0_hat


@dataclass(frozen=True)
class MultistepState:
    """Where a multistep solver is: what it needs to go on, for all samples or some of them."""

    level: int
    z: Tensor
    z0_hat: Tensor  # estimated at z
    previous_z: Tensor  # where the last step began
    past: tuple[Tensor, ...] = ()  # estimates of z0 there and one step earlier

    def select(self, rows: Tensor) -> MultistepState:
        """The same for some of the samples, in a new order."""
        past = tuple(estimate[rows] for estimate in self.past)
        return MultistepState(self.level, self.z[rows], self.z0_hat[rows], self.previous_z[rows], past)


def begin(denoise: Denoise, z: Tensor, callback: Callback | None = None) -> MultistepState:
    """At the noisiest level."""
    return MultistepState(0, z, _reported(callback, 0, z, denoise(z, 0)), z)


def multistep(
    denoise: Denoise,
    state: MultistepState,
    levels: Schedule,
    corrected: bool,
    until: int | None = None,
    callback: Callback | None = None,
) -> MultistepState:
    """On to level number `until` (default: the last one)."""
    last = len(levels) - 1 if until is None else until
    while state.level < last:
        state = _advance(denoise, state, levels, corrected, callback)
    return state


def _advance(
    denoise: Denoise, state: MultistepState, levels: Schedule, corrected: bool, callback: Callback | None
) -> MultistepState:
    """One step of the solver, and the evaluation where it ends."""
    alpha, sigma = levels.alpha.tolist(), levels.sigma.tolist()
    half_log_snr = (levels.alpha / levels.sigma).log().tolist()
    i, z, z0, past = state.level, state.z, state.z0_hat, state.past
    if corrected and len(past) == 2:
        h, r = half_log_snr[i] - half_log_snr[i - 1], _ratio(half_log_snr, i - 1)
        slope, bend = (past[0] - past[1]) / r, z0 - past[0]
        first, second = _corrector(h, r)
        ahead = past[0] + first * slope + second * bend
        z = sigma[i] / sigma[i - 1] * state.previous_z - alpha[i] * math.expm1(-h) * ahead
    ahead = z0 + (z0 - past[0]) / (2 * _ratio(half_log_snr, i)) if past else z0
    h = half_log_snr[i + 1] - half_log_snr[i]
    next_z = sigma[i + 1] / sigma[i] * z - alpha[i + 1] * math.expm1(-h) * ahead
    z0_hat = _reported(callback, i + 1, next_z, denoise(next_z, i + 1))
    return MultistepState(i + 1, next_z, z0_hat, z, (z0, *past[:1]))


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
        z0 = _reported(callback, i, x, denoise(x * alpha[i], i))
        if i + 1 == len(levels):
            return z0
        slope = (x - z0) / sigma[i]
        trial = x + (sigma[i + 1] - sigma[i]) * slope
        slope_next = (trial - denoise(trial * alpha[i + 1], i + 1)) / sigma[i + 1]
        x = x + (sigma[i + 1] - sigma[i]) * (slope + slope_next) / 2
    return x


def _reported(callback: Callback | None, step: int, z: Tensor, z0_hat: Tensor) -> Tensor:
    if callback is not None:
        callback(step, z, z0_hat)
    return z0_hat
