"""How much noise at which step.

Every schedule is one list of noise levels (α_k, σ_k): the noisy token is z_k = α_k z0 + σ_k ε. Variance-preserving
schedules have α² = ᾱ and σ² = 1 − ᾱ; the variance-exploding one of EDM has α = 1. Samplers and objectives read only
α and σ, so each works with each schedule.

References
----------
sqrt: Li et al. 2022 (Diffusion-LM), as used by ScanDiff. cosine: Nichol & Dhariwal 2021. linear: Ho et al. 2020.
shifted: Hoogeboom et al. 2023 (simple diffusion). edm: Karras et al. 2022. Steps for solvers of higher order: Lu et
al. 2022 (DPM-Solver++).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

ScheduleName = Literal["sqrt", "cosine", "linear", "edm"]

MAX_BETA = 0.999
SHAPING_LOG_RATIO = (-1.9, 2.3)
"""ln(α/σ) where unit-variance tokens take shape: below it is all noise, above it all but clean."""


@dataclass(frozen=True)
class Schedule:
    """Noise levels from nearly clean (k = 0) to nearly all noise (k = K − 1)."""

    alpha: Tensor  # (K,) float64
    sigma: Tensor  # (K,) float64

    def __len__(self) -> int:
        return len(self.alpha)

    @property
    def alpha_bar(self) -> Tensor:
        """(K,) share of signal variance, ᾱ = α² / (α² + σ²)."""
        return self.alpha**2 / (self.alpha**2 + self.sigma**2)

    def at(self, step: Tensor) -> tuple[Tensor, Tensor]:
        """α and σ of these steps, on their device, as float32."""
        here = step.device
        return self.alpha.to(here)[step].float(), self.sigma.to(here)[step].float()

    def steps(self, count: int) -> Tensor:
        """(count,) evenly spaced steps from the noisiest one down to the cleanest."""
        return torch.linspace(len(self) - 1, 0, min(count, len(self)), dtype=torch.float64).round().long()

    def steps_even_in_snr(self, count: int) -> Tensor:
        """(count,) the noisiest step, then steps evenly spaced in log signal-to-noise where tokens take shape.

        Solvers of higher order extrapolate in this ratio (Lu et al. 2022), and overshoot where it jumps.
        """
        if count >= len(self):
            return self.steps(count)
        ratio = (self.alpha / self.sigma).log()  # falls with k
        low, high = (min(max(bound, float(ratio[-1])), float(ratio[0])) for bound in SHAPING_LOG_RATIO)
        wanted = torch.linspace(low, high, count - 1, dtype=torch.float64)
        nearest = (ratio[:, None] - wanted).abs().argmin(0)
        return torch.cat([torch.tensor([len(self) - 1]), nearest]).unique().flip(0)


def make_schedule(name: ScheduleName, steps: int = 1000, shift: float = 1.0) -> Schedule:
    """A variance-preserving schedule, or EDM's grid.

    Parameters
    ----------
    shift
        Divides α/σ at every step: more noise, for tokens whose neighbours say the same thing (1 leaves it alone).
    """
    if name == "edm":
        return karras_grid(steps, sigma_max=80.0 * shift, sigma_min=0.002)
    s = torch.arange(steps + 1, dtype=torch.float64) / steps
    if name == "linear":
        alpha_bar = torch.cumprod(1 - torch.linspace(1e-4, 0.02, steps, dtype=torch.float64) * (1000 / steps), 0)
    else:
        curve = 1 - (s + 1e-4).sqrt() if name == "sqrt" else torch.cos((s + 0.008) / 1.008 * torch.pi / 2) ** 2
        betas = (1 - curve[1:] / curve[:-1]).clamp(max=MAX_BETA)
        alpha_bar = torch.cumprod(1 - betas, 0)
    ratio = (alpha_bar / (1 - alpha_bar)).sqrt() / shift
    alpha = ratio / (1 + ratio**2).sqrt()
    return Schedule(alpha=alpha, sigma=(1 - alpha**2).sqrt())


def karras_grid(steps: int, sigma_max: float, sigma_min: float, rho: float = 7.0) -> Schedule:
    """EDM's noise levels, σ from `sigma_min` to `sigma_max`, dense near the clean end (Karras et al. 2022, Eq. 5)."""
    ramp = torch.linspace(0, 1, steps, dtype=torch.float64)
    sigma = (sigma_min ** (1 / rho) + ramp * (sigma_max ** (1 / rho) - sigma_min ** (1 / rho))) ** rho
    return Schedule(alpha=torch.ones(steps, dtype=torch.float64), sigma=sigma)
