"""Gazeformer: all fixations of a scanpath at once, from learned queries.

S. Mondal, Z. Yang, S. Ahn, D. Samaras, G. Zelinsky and M. Hoai, "Gazeformer: Scalable, Effective and Fast Prediction of
Goal-Directed Human Attention", CVPR 2023. Written from the paper's equations.

Kept: picture and words encoded jointly; a learned query per fixation (16), decoded in parallel; per fixation a Gaussian
(mean and log-variance) for x, y and duration, and whether it is valid; absolute error of a reparameterised sample and
cross-entropy of validity; the scanpath ends before the first fixation that is not valid.

Left out: the transformer encoder over picture tokens (the shared read-out mixes neighbours by convolution at a fraction
of the cost) and RoBERTa (all systems read words alike). Added: `objective: likelihood`, because the absolute error of a
sample is smallest at no variance: trained as published, Gazeformer gives nearly the same scanpath every time. Its
table in the paper shows the mean; `mean: true` gives that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from stdiffeye.arrays import Floats
from stdiffeye.diffusion import NoiseSource
from stdiffeye.model.fixation_tokens import CHANNELS, SampledScanpaths, from_tokens, position_to_token, to_tokens
from stdiffeye.model.image import grid_centres
from stdiffeye.systems.base import SamplingOptions
from stdiffeye.systems.baseline import Baseline, BaselineConfig, BaselineInput, Gaze, ParallelDecoder, perceptron
from stdiffeye.systems.next_fixation import Shape, normalised_log
from stdiffeye.systems.step_random import StepRandom

GAUSSIANS = 3  # x, y, log duration, in the units of scanpath tokens
LOG_VARIANCE = -12.0, 3.0  # beyond which it is clamped


@dataclass(frozen=True)
class GazeformerConfig(BaselineConfig):
    """Sizes, and how it is trained and sampled from."""

    depth: int = 4
    heads: int = 4
    dropout: float = 0.1
    objective: Literal["l1", "likelihood"] = "l1"
    """Absolute error of a sample (as published), or the Gaussians' likelihood, which keeps their variance."""
    mean: bool = False
    """Give the means, always the same scanpath, instead of samples."""


class Gazeformer(Baseline):
    """A Gaussian and a validity for each of the fixations."""

    config: GazeformerConfig

    def __init__(self, config: GazeformerConfig) -> None:
        super().__init__(config)
        width = config.image.width
        self.decoder = ParallelDecoder(width, config.max_fixations, config.depth, config.heads, config.dropout)
        self.gaussians = perceptron(width, width, 2 * GAUSSIANS)
        self.valid = perceptron(width, width, 2)

    def losses(self, seen: BaselineInput, gaze: Gaze, random: StepRandom) -> dict[str, Tensor]:
        mean, log_variance, valid = (seen.per_row(one) for one in self._decode(seen))
        tokens, _ = to_tokens(gaze.xy, gaze.duration_ms, torch.full_like(gaze.duration_ms, torch.nan))
        wanted = tokens[..., :GAUSSIANS]  # (B, M, 3)
        mask = torch.stack([gaze.valid, gaze.valid, gaze.timed], -1)  # (B, M, 3)
        if self.config.objective == "l1":
            sampled = mean + (0.5 * log_variance).exp() * random.normal(*mean.shape)
            error = (sampled - wanted).abs()
        else:
            error = 0.5 * ((wanted - mean) ** 2 / log_variance.exp() + log_variance + math.log(2 * math.pi))
        entropy = F.cross_entropy(valid.transpose(1, 2), gaze.valid.long(), reduction="none")  # (B, M)
        losses = {"gaze": random.mean(error, mask), "valid": random.mean(entropy, torch.ones_like(gaze.valid))}
        return losses | {"total": losses["gaze"] + losses["valid"]}

    def sample(
        self, seen: BaselineInput, seconds: Tensor, noise: NoiseSource, options: SamplingOptions
    ) -> SampledScanpaths:
        mean, log_variance, valid = (seen.per_row(one) for one in self._decode(seen))
        ended = valid[..., 1] < valid[..., 0]  # (B, M)
        if not self.config.mean:
            mean = mean + (0.5 * log_variance).exp() * noise.normal(*mean.shape[1:]).to(mean.device)
            shares = valid.softmax(-1)[..., 1]
            random = torch.stack([noise.uniform() for _ in range(shares.shape[1])], 1).to(mean.device)
            ended = random >= shares
        length = (ended.cumsum(1) == 0).sum(1).clamp(min=1)
        xy, duration_ms, _ = from_tokens(F.pad(mean, (0, CHANNELS - GAUSSIANS)))
        return SampledScanpaths(length, xy, duration_ms if self.priors.has_durations else None)

    def next_log_density(self, seen: BaselineInput, past: Gaze, shape: Shape) -> Floats:
        """The Gaussian of the next fixation, inside the picture; of the past only its length matters."""
        number = past.length.clamp(max=self.max_fixations - 1)
        mean, log_variance, _ = self._decode(seen)  # (1, M, 3)
        mean, log_variance = (one[0, number, None, :2].double() for one in (mean, log_variance))  # (B, 1, 2)
        at = position_to_token(grid_centres(*shape)).to(mean)  # (N, 2)
        log_density = -0.5 * ((at - mean) ** 2 / log_variance.exp()).sum(-1)  # (B, N)
        return normalised_log(log_density, shape)

    def _decode(self, seen: BaselineInput) -> tuple[Tensor, Tensor, Tensor]:
        """Means and log-variances (P, M, 3) and logits of (not valid, valid) (P, M, 2)."""
        queries = self.decoder(seen.tokens, self.position)  # (P, M, D)
        mean, log_variance = self.gaussians(queries).float().chunk(2, -1)  # (P, M, 3)
        return mean, log_variance.clamp(*LOG_VARIANCE), self.valid(queries).float()
