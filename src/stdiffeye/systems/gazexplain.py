"""GazeXplain, its scanpath branch: an action map, a duration and a stop for every fixation.

X. Chen, M. Jiang and Q. Zhao, "GazeXplain: Learning to Predict Natural Language Explanations of Visual Scanpaths",
ECCV 2024; the action maps and log-normal durations are those of the same authors' "Predicting Human Scanpaths in Visual
Question Answering", CVPR 2021. Written from the papers' equations.

Kept: picture and words encoded jointly; for every fixation a distribution over the cells of the picture and one more
action, to stop; a log-normal duration (mean and variance of its logarithm); cross-entropy and likelihood.

Left out: the explanations in words, with the alignment of fixations and words that they are trained by, since no set
here has such text: this row says nothing about the published system's explanations; and the later reinforcement of
whole scanpaths by their ScanMatch, which would train on what is judged.
"""

from __future__ import annotations

import math
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
    ParallelDecoder,
    cell_of,
    from_log_time,
    in_cell,
    log_time,
    perceptron,
)
from stdiffeye.systems.next_fixation import Shape, resampled_log
from stdiffeye.systems.step_random import StepRandom

LOG_STD = -3.0, 1.0  # of log durations, in units of the human one


@dataclass(frozen=True)
class GazeXplainConfig(BaselineConfig):
    """Sizes of the decoder."""

    depth: int = 4
    heads: int = 4
    dropout: float = 0.1


class GazeXplain(Baseline):
    """p(action of each fixation), the last action being to stop, and p(duration)."""

    config: GazeXplainConfig

    def __init__(self, config: GazeXplainConfig) -> None:
        super().__init__(config)
        width = config.image.width
        self.decoder = ParallelDecoder(width, config.max_fixations, config.depth, config.heads, config.dropout)
        self.key = perceptron(width, width, width)
        self.pixel = nn.Linear(width, width)
        self.stop = nn.Linear(width, 1)
        self.duration = perceptron(width, width, 2)
        with torch.no_grad():  # at first, stopping is as likely as the other cells together are over sixteen fixations
            self.stop.bias.fill_(math.log(len(self.position) / config.max_fixations))

    def losses(self, seen: BaselineInput, gaze: Gaze, random: StepRandom) -> dict[str, Tensor]:
        log_action, mean, log_std = (seen.per_row(one) for one in self._decode(seen))
        step = torch.arange(gaze.xy.shape[1], device=gaze.xy.device)
        ends = step == gaze.length[:, None]  # (B, M) the action after the last fixation is to stop
        action = torch.where(ends, len(self.position), cell_of(gaze.xy, self.cells))  # (B, M)
        entropy = -log_action.gather(2, action[..., None])[..., 0]  # (B, M)
        z = (log_time(gaze.duration_ms) - mean) / log_std.exp()
        time = 0.5 * z**2 + log_std + 0.5 * math.log(2 * math.pi)  # (B, M)
        losses = {"action": random.mean(entropy, gaze.valid | ends), "duration": random.mean(time, gaze.timed)}
        return losses | {"total": losses["action"] + losses["duration"]}

    def sample(
        self, seen: BaselineInput, seconds: Tensor, noise: NoiseSource, options: SamplingOptions
    ) -> SampledScanpaths:
        device = seconds.device
        log_action, mean, log_std = (seen.per_row(one) for one in self._decode(seen))
        cells, positions = len(self.position), []
        viewing = torch.ones(seen.rows, self.max_fixations, dtype=torch.bool, device=device)
        for number in range(self.max_fixations):
            # Nobody stops before the first fixation.
            choices = log_action[:, number] if number else log_action[:, number, :cells]
            action = categorical(choices, noise.uniform().to(device))
            viewing[:, number] = action < cells
            positions.append(in_cell(action.clamp(max=cells - 1), noise, self.cells))
        time_ms = from_log_time(mean + log_std.exp() * noise.normal(self.max_fixations).to(device))
        length = viewing.cumprod(1).sum(1)
        return SampledScanpaths(length, torch.stack(positions, 1), time_ms if self.priors.has_durations else None)

    def next_log_density(self, seen: BaselineInput, past: Gaze, shape: Shape) -> Floats:
        """It knows of the past only how many fixations there were; that the next one is made is given."""
        number = past.length.clamp(max=self.max_fixations - 1)
        maps = seen.per_row(self.log_actions(seen))[torch.arange(seen.rows), number, : len(self.position)]  # (B, N)
        return resampled_log(maps.log_softmax(-1), self.cells, shape)

    def log_actions(self, seen: BaselineInput) -> Tensor:
        """(P, M, N + 1) log-probabilities of every cell and, last, of stopping."""
        return self._decode(seen)[0]

    def _decode(self, seen: BaselineInput) -> tuple[Tensor, Tensor, Tensor]:
        """Log-probabilities of actions (P, M, N + 1), mean and log-std of the log duration (P, M)."""
        queries = self.decoder(seen.tokens, self.position)  # (P, M, D)
        key = self.key(queries)  # (P, M, D)
        maps = key @ self.pixel(seen.tokens).transpose(1, 2) / key.shape[-1] ** 0.5  # (P, M, N)
        actions = torch.cat([maps, self.stop(queries).to(maps.dtype)], -1).float()  # (P, M, N + 1)
        mean, log_std = self.duration(queries).float().unbind(-1)  # (P, M)
        return actions.log_softmax(-1), mean, log_std.clamp(*LOG_STD)
