"""DeepGaze III: where the next fixation will be, given the picture and the last four fixations.

M. Kümmerer, M. Bethge and T. S. A. Wallis, "DeepGaze III: Modeling free-viewing human scanpaths with deep learning",
Journal of Vision 22(5), 2022. Written from the paper's equations.

Kept: a read-out of frozen picture features, cell by cell, to one priority map; a scanpath network on maps of dx, dy
and distance to each of the last four fixations; a selection network that joins both cell by cell; a Gaussian blur of
learned width; the centre bias added in log space; a softmax over positions, trained by the log-likelihood of the next
fixation; scanpaths sampled fixation by fixation. It has no durations; the number of fixations is sampled from the
training distribution.

Left out: pre-training on SALICON and the mean over many trained copies (the budget is the same for every system);
DenseNet features (every system here has the same encoder). Changed: words enter through the shared read-out, so
that search can be trained; fewer than four past fixations are marked by a flag, so that the first fixation is modelled
too, which the original takes as given.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from stdiffeye.arrays import Floats
from stdiffeye.diffusion import NoiseSource, categorical
from stdiffeye.model.fixation_tokens import SampledScanpaths
from stdiffeye.systems.base import SamplingOptions
from stdiffeye.systems.baseline import (
    Baseline,
    BaselineConfig,
    BaselineInput,
    Gaze,
    blurred,
    cell_of,
    in_cell,
    perceptron,
)
from stdiffeye.systems.next_fixation import Shape, resampled_log
from stdiffeye.systems.step_random import StepRandom

MAPS = 4  # per past fixation: dx, dy, distance, and whether there is one
SCANPATH_MAPS = 16  # that the scanpath network hands to the selection network


@dataclass(frozen=True)
class DeepGaze3Config(BaselineConfig):
    """Sizes of the three small networks."""

    history: int = 4
    """Past fixations that are seen."""
    hidden: int = 32


class DeepGaze3(Baseline):
    """p(next fixation | picture, last fixations) on the grid."""

    config: DeepGaze3Config

    def __init__(self, config: DeepGaze3Config) -> None:
        super().__init__(config)
        self.priority = nn.Sequential(
            nn.LayerNorm(config.image.width), perceptron(config.image.width, config.hidden, config.hidden, 1)
        )
        self.scanpath = perceptron(MAPS * config.history, config.hidden, SCANPATH_MAPS)
        self.selection = perceptron(1 + SCANPATH_MAPS, config.hidden, SCANPATH_MAPS, 1)
        self.log_blur = nn.Parameter(torch.zeros(()))

    def losses(self, seen: BaselineInput, gaze: Gaze, random: StepRandom) -> dict[str, Tensor]:
        log_p = self._next(seen, self._histories(gaze.xy), gaze.valid)  # (n, N)
        wanted = cell_of(gaze.xy, self.cells)[gaze.valid]  # (n,)
        log_likelihood = random.mean(log_p.gather(1, wanted[:, None])[:, 0], torch.ones_like(wanted, dtype=torch.bool))
        return {"total": -log_likelihood}

    def sample(
        self, seen: BaselineInput, seconds: Tensor, noise: NoiseSource, options: SamplingOptions
    ) -> SampledScanpaths:
        length = self.priors.sample_lengths(seen.per_row(seen.style), noise.uniform().to(seconds.device))
        xy = torch.full((seen.rows, 0, 2), torch.nan, device=seconds.device)
        everyone = torch.ones(seen.rows, 1, dtype=torch.bool, device=seconds.device)
        for _ in range(int(length.max())):
            log_p = self._next(seen, self._last(xy)[:, None], everyone)  # (B, N)
            cell = categorical(log_p, noise.uniform().to(seconds.device))
            xy = torch.cat([xy, in_cell(cell, noise, self.cells)[:, None]], 1)
        return SampledScanpaths(length, xy)

    def next_log_density(self, seen: BaselineInput, past: Gaze, shape: Shape) -> Floats:
        one_more = torch.nn.functional.pad(past.xy, (0, 0, 0, 1))  # (B, M + 1, 2)
        history = past.at_end(self._histories(one_more))[:, None]  # (B, 1, H, 2)
        everyone = torch.ones(seen.rows, 1, dtype=torch.bool, device=history.device)
        return resampled_log(self._next(seen, history, everyone), self.cells, shape)

    # ---------------------------------------------------------------- the network

    def _next(self, seen: BaselineInput, history: Tensor, wanted: Tensor) -> Tensor:
        """(n, N) log-density for the steps of (B, T) that are `wanted`, given their histories (B, T, H, 2)."""
        row = torch.arange(seen.rows, device=wanted.device)[:, None].expand_as(wanted)[wanted]  # (n,)
        picture = row // seen.viewers  # (n,)
        priority = self.priority(seen.tokens)[picture]  # (n, N, 1)
        past = self.scanpath(self._maps(history[wanted]))  # (n, N, maps)
        chosen = self.selection(torch.cat([priority.to(past.dtype), past], -1))[..., 0]  # (n, N)
        smooth = blurred(chosen.float().unflatten(-1, self.cells), self.log_blur.exp()).flatten(-2)  # (n, N)
        return (smooth + self.priors.log_centre_bias(seen.style)[picture]).log_softmax(-1)

    def _maps(self, history: Tensor) -> Tensor:
        """(n, H, 2) past fixations, NaN where there is none → (n, N, 4·H)."""
        rows, columns = self.cells
        shape = torch.tensor([1.0, rows / columns], device=history.device)  # in units of the picture's width
        there = ~history.isnan().any(-1)  # (n, H)
        apart = (self.position[:, None] - history.nan_to_num()[:, None]) * shape  # (n, N, H, 2)
        flag = there[:, None, :, None].expand(-1, len(self.position), -1, 1).to(apart.dtype)  # (n, N, H, 1)
        maps = torch.cat([apart * flag, apart.norm(dim=-1, keepdim=True) * flag, flag], -1)  # (n, N, H, 4)
        return maps.flatten(-2)

    def _histories(self, xy: Tensor) -> Tensor:
        """(B, M, H, 2): before each of the fixations (B, M, 2), the last ones, newest first."""
        padded = torch.nn.functional.pad(xy, (0, 0, self.config.history, 0), value=torch.nan)
        return padded.unfold(1, self.config.history, 1)[:, :-1].transpose(-1, -2).flip(2)

    def _last(self, xy: Tensor) -> Tensor:
        """(B, H, 2): the last fixations of (B, n, 2), newest first, NaN where there are fewer."""
        padded = torch.nn.functional.pad(xy, (0, 0, self.config.history, 0), value=torch.nan)
        return padded[:, -self.config.history :].flip(1)
