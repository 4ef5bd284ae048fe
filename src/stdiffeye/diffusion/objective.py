"""What the network predicts, and how its output becomes an estimate of the clean token.

* ``z0``  the clean token itself (the paper, ScanDiff)
* ``eps`` the noise (DDPM, DiffEye)
* ``v``   α ε − σ z0 (Salimans & Ho 2022)
* ``edm`` the preconditioned residual of Karras et al. 2022, for data of standard deviation `std`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

Prediction = Literal["z0", "eps", "v", "edm"]
Std = Tensor | float  # standard deviation of a token's numbers: one for all, or (Z,) one for each


def add_noise(z0: Tensor, noise: Tensor, alpha: Tensor, sigma: Tensor) -> Tensor:
    """z = α z0 + σ ε, with α and σ broadcast over all but the first axis."""
    return over_tokens(alpha, z0) * z0 + over_tokens(sigma, z0) * noise


def network_input(z: Tensor, alpha: Tensor, sigma: Tensor, std: Std = 1.0) -> Tensor:
    """z scaled to unit variance; nothing to do for variance-preserving noise."""
    a, s = over_tokens(alpha, z), over_tokens(sigma, z)
    return z / ((a * std) ** 2 + s**2).sqrt()


def estimate_z0(
    output: Tensor, z: Tensor, alpha: Tensor, sigma: Tensor, prediction: Prediction, std: Std = 1.0
) -> Tensor:
    """The clean token that a network output stands for."""
    a, s = over_tokens(alpha, z), over_tokens(sigma, z)
    if prediction == "z0":
        return output
    if prediction == "eps":
        return (z - s * output) / a
    if prediction == "v":
        return a * z - s * output
    return z * _kept(s, std) + output * edm_gain(sigma, z, std)


def target(z0: Tensor, noise: Tensor, alpha: Tensor, sigma: Tensor, prediction: Prediction, std: Std = 1.0) -> Tensor:
    """What the network's output is compared with."""
    a, s = over_tokens(alpha, z0), over_tokens(sigma, z0)
    if prediction == "z0":
        return z0
    if prediction == "eps":
        return noise
    if prediction == "v":
        return a * noise - s * z0
    z = z0 + s * noise
    return (z0 - z * _kept(s, std)) / edm_gain(sigma, z0, std)


def edm_gain(sigma: Tensor, like: Tensor, std: Std = 1.0) -> Tensor:
    """What the network's output is multiplied by: the error of the best linear estimate of z0."""
    s = over_tokens(sigma, like)
    return s * std / (s**2 + std**2) ** 0.5


def _kept(s: Tensor, std: Std) -> Tensor:
    """The share of z in the best linear estimate of z0."""
    return std**2 / (s**2 + std**2)


def over_tokens(level: Tensor, like: Tensor) -> Tensor:
    """One number per sequence, shaped to multiply its tokens: (B,) → (B, 1, …), in the tokens' type."""
    return level.to(like.dtype).reshape(-1, *([1] * (like.ndim - 1)))


@dataclass
class LossAwareSteps:
    """Samples steps in proportion to the root mean square of their last losses (Nichol & Dhariwal 2021).

    Uniform until every step has been seen `memory` times.
    """

    steps: int
    memory: int = 10
    uniform_share: float = 1e-3

    def __post_init__(self) -> None:
        self.losses = np.zeros((self.steps, self.memory))
        self.seen = np.zeros(self.steps, dtype=np.int64)

    def probabilities(self) -> np.ndarray:
        if (self.seen < self.memory).any():
            return np.full(self.steps, 1 / self.steps)
        weight = np.sqrt((self.losses**2).mean(axis=1))
        return weight / weight.sum() * (1 - self.uniform_share) + self.uniform_share / self.steps

    def choose(self, uniform: Tensor) -> tuple[Tensor, Tensor]:
        """Steps for (B,) numbers uniform in [0, 1), and the weights that make the loss unbiased."""
        p = self.probabilities()
        steps = np.searchsorted(np.cumsum(p), uniform.cpu().double().numpy(), side="right").clip(max=self.steps - 1)
        weights = torch.from_numpy(1 / (self.steps * p[steps])).float()
        return torch.from_numpy(steps).to(uniform.device), weights.to(uniform.device)

    def update(self, steps: Tensor, losses: Tensor) -> None:
        """Remember the unweighted losses of these steps."""
        for step, loss in zip(steps.tolist(), losses.tolist(), strict=True):
            self.losses[step] = np.roll(self.losses[step], -1)
            self.losses[step, -1] = loss
            self.seen[step] += 1

    def state(self) -> dict[str, Tensor]:
        return {"losses": torch.from_numpy(self.losses.copy()), "seen": torch.from_numpy(self.seen.copy())}

    def load(self, state: dict[str, Tensor]) -> None:
        self.losses, self.seen = state["losses"].numpy().copy(), state["seen"].numpy().copy()
