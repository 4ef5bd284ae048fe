"""How much noise a training row gets, and which levels a sampler walks down: one object for every schedule."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from stdiffeye.diffusion import LossAwareSteps, Prediction, Schedule, ScheduleName, karras_grid, make_schedule
from stdiffeye.errors import InputError
from stdiffeye.systems.step_random import Ranks, StepRandom

TIME_STEPS = 1000  # the time embedding is spaced for numbers up to about this


@dataclass(frozen=True)
class NoiseConfig:
    """Schedule, and what the network predicts; the defaults are the paper's (as ScanDiff)."""

    schedule: ScheduleName = "sqrt"
    diffusion_steps: int = 1000
    shift: float = 1.0
    """Divides α/σ at every step: more noise, for tokens whose neighbours say the same thing."""
    prediction: Prediction = "z0"
    loss_aware: bool = True
    """Sample steps in proportion to the root mean square of their last losses, and weight them back."""
    log_sigma: tuple[float, float] = (-0.8, 1.3)
    """With schedule edm: mean and std of ln σ in training."""
    sigma_range: tuple[float, float] = (0.003, 40.0)
    """With schedule edm: where sampling ends and begins."""

    def __post_init__(self) -> None:
        if (self.schedule == "edm") != (self.prediction == "edm"):
            raise InputError(
                f"schedule edm and prediction edm go together, got {self.schedule} and {self.prediction}: "
                "the other schedules keep the variance, for z0, eps or v"
            )
        if self.schedule == "edm" and self.loss_aware:
            raise InputError(
                "loss_aware samples from a list of steps, and schedule edm has none: set loss_aware to false"
            )


@dataclass(frozen=True)
class NoiseLevel:
    """The noise of B rows."""

    alpha: Tensor  # (B,)
    sigma: Tensor  # (B,)
    time: Tensor  # (B,) as the time embedding takes it
    weight: Tensor  # (B,) that makes the loss unbiased
    step: Tensor | None = None  # (B,)


class NoiseLevels:
    """Samples noise levels for training, and lists them for sampling."""

    def __init__(self, config: NoiseConfig) -> None:
        self.config = config
        low, high = config.sigma_range
        if config.schedule == "edm":
            self.schedule = karras_grid(config.diffusion_steps, sigma_max=high, sigma_min=low)
        else:
            self.schedule = make_schedule(config.schedule, config.diffusion_steps, config.shift)
        self.steps = LossAwareSteps(config.diffusion_steps) if config.loss_aware else None

    def sample(self, random: StepRandom, rows: int) -> NoiseLevel:
        """Levels for the rows of a training batch."""
        if self.config.schedule == "edm":
            mean, std = self.config.log_sigma
            return self._edm((mean + std * random.normal(rows)).exp())
        if self.steps is None:
            return self._at_steps(random.integers(len(self.schedule), rows))
        step, weight = self.steps.choose(random.uniform(rows))
        return self._at_steps(step, weight)

    def learn(self, level: NoiseLevel, losses: Tensor, ranks: Ranks) -> None:
        """Remember the losses of these rows, and of those of all other processes."""
        if self.steps is not None and level.step is not None:
            self.steps.update(ranks.gather(level.step), ranks.gather(losses))

    def sampling_schedule(self, steps: int) -> Schedule:
        """What a sampler of so many steps is to be given: EDM's grid depends on their number."""
        if self.config.schedule != "edm":
            return self.schedule
        low, high = self.config.sigma_range
        return karras_grid(steps, sigma_max=high, sigma_min=low)

    def at(self, schedule: Schedule, step: int, rows: int, device: torch.device | str) -> NoiseLevel:
        """One level of `sampling_schedule`, for all rows."""
        steps = torch.full((rows,), step, device=device)
        return self._edm(schedule.at(steps)[1]) if self.config.schedule == "edm" else self._at_steps(steps)

    def _at_steps(self, step: Tensor, weight: Tensor | None = None) -> NoiseLevel:
        alpha, sigma = self.schedule.at(step)
        time = step.float() * (TIME_STEPS / len(self.schedule))
        return NoiseLevel(alpha, sigma, time, torch.ones_like(alpha) if weight is None else weight, step)

    def _edm(self, sigma: Tensor) -> NoiseLevel:
        # ln σ between −5 and 4, on the time embedding's scale.
        return NoiseLevel(torch.ones_like(sigma), sigma, (sigma.log() + 5) * 100, torch.ones_like(sigma))
