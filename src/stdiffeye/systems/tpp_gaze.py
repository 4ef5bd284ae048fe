"""TPP-Gaze: a scanpath as a marked temporal point process, when and where by likelihood.

A. D'Amelio, G. Cartella, V. Cuculo, M. Lucchi, M. Cornia, R. Cucchiara and G. Boccignone, "TPP-Gaze: Modelling Gaze
Dynamics in Space and Time with Neural Temporal Point Processes", WACV 2025. Written from the paper's equations.

Kept: a recurrent network encodes the history of positions and times; the time to the next fixation is a mixture of
log-normals, its position a mixture of Gaussians, both given history and picture; the loss is the negative
log-likelihood of both; fixations are sampled until the viewing time is over. Durations are native.

Left out: DenseNet features with coordinate maps (every system here has the same encoder). Changed: the picture's
context is read by attention from the history, where the paper compresses the whole map into one vector, which needs
many more weights; the Gaussians have axis-parallel covariances. Where a set gives no viewing time (search), the number
of fixations is sampled from the training distribution; where it gives no durations, none are sampled. Training data
state durations only, which do not add up to the viewing time: the time between fixations is counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from stdiffeye.arrays import Floats
from stdiffeye.diffusion import NoiseSource, categorical
from stdiffeye.model.fixation_tokens import DURATION_MEDIAN_MS, SampledScanpaths, position_to_token
from stdiffeye.model.image import grid_centres
from stdiffeye.model.layers import BlockConfig, CrossAttention, Ragged
from stdiffeye.systems.base import SamplingOptions
from stdiffeye.systems.baseline import (
    Baseline,
    BaselineConfig,
    BaselineInput,
    Gaze,
    from_log_time,
    log_time,
    perceptron,
)
from stdiffeye.systems.next_fixation import Shape, normalised_log
from stdiffeye.systems.step_random import StepRandom

TIME_COMPONENTS, POSITION_COMPONENTS = 8, 16  # of the mixtures
MAX_SAMPLED = 200  # fixations, whatever the viewing time
NARROWEST, WIDEST = math.log(0.05), math.log(2.0)  # log of a component's std; 0.05 is a hundredth of the width


@dataclass(frozen=True)
class TPPGazeConfig(BaselineConfig):
    """Sizes of the encoder and of the mixtures."""

    hidden: int = 128
    """Width of the recurrent history."""
    heads: int = 4


@dataclass
class Mixture:
    """Gaussians with axis-parallel covariances over `d` numbers; every tensor is (…, K) or (…, K, d)."""

    log_weight: Tensor
    mean: Tensor
    log_std: Tensor

    def log_density(self, value: Tensor) -> Tensor:
        """(…, d) → (…,)."""
        z = (value[..., None, :] - self.mean) / self.log_std.exp()
        log_normal = -0.5 * z**2 - self.log_std - 0.5 * math.log(2 * math.pi)
        return (self.log_weight + log_normal.sum(-1)).logsumexp(-1)

    def sample(self, uniform: Tensor, normal: Tensor) -> Tensor:
        """(B, d) from (B,) uniform and (B, d) standard normal numbers."""
        chosen = categorical(self.log_weight, uniform)[:, None, None].expand(-1, 1, self.mean.shape[-1])
        mean, log_std = (one.gather(1, chosen)[:, 0] for one in (self.mean, self.log_std))
        return mean + log_std.exp() * normal


class TPPGaze(Baseline):
    """p(when, where | history, picture)."""

    config: TPPGazeConfig

    def __init__(self, config: TPPGazeConfig) -> None:
        super().__init__(config)
        width, hidden = config.image.width, config.hidden
        self.event = nn.Linear(4, hidden)
        self.history = nn.GRU(hidden, hidden, batch_first=True)
        self.start = nn.Parameter(torch.zeros(hidden))
        self.query = nn.Linear(hidden, width)
        self.cross_attention = CrossAttention(BlockConfig(width, config.heads, dropout=0.0), width)
        self.norm = nn.LayerNorm(width)  # a mean over many positions is small
        self.when = perceptron(width + hidden, hidden, 3 * TIME_COMPONENTS)
        self.where = perceptron(width + hidden, hidden, 5 * POSITION_COMPONENTS)
        # Components begin all over the picture, so that they do not all learn the same position.
        start = torch.zeros(POSITION_COMPONENTS, 5)
        start[:, 1:3] = position_to_token(torch.rand(POSITION_COMPONENTS, 2))
        with torch.no_grad():
            last = self.where[-1]
            assert isinstance(last, nn.Linear)
            last.bias.copy_(start.flatten())

    def losses(self, seen: BaselineInput, gaze: Gaze, random: StepRandom) -> dict[str, Tensor]:
        states = torch.cat([self.start.expand(seen.rows, 1, -1), self._encode(seen, gaze)], 1)[:, :-1]  # (B, M, H)
        when, where = self._mixtures(seen, states)
        position = where.log_density(position_to_token(gaze.xy))  # (B, M)
        time = when.log_density(log_time(gaze.duration_ms)[..., None])  # (B, M)
        losses = {"position": -random.mean(position, gaze.valid), "time": -random.mean(time, gaze.timed)}
        return losses | {"total": losses["position"] + losses["time"]}

    def sample(
        self, seen: BaselineInput, seconds: Tensor, noise: NoiseSource, options: SamplingOptions
    ) -> SampledScanpaths:
        device, timed = seconds.device, self.priors.has_durations
        wanted = self.priors.sample_lengths(seen.per_row(seen.style), noise.uniform().to(device))  # (B,)
        by_time, between_ms = ~seconds.isnan() & timed, self._between_ms(seen)
        state = self.start.expand(seen.rows, 1, -1)
        passed, length = torch.zeros_like(seconds), torch.zeros_like(wanted)
        positions: list[Tensor] = []
        times: list[Tensor] = []
        for number in range(MAX_SAMPLED):
            goes_on = torch.where(by_time, passed < 1000 * seconds.nan_to_num(), number < wanted)
            if not goes_on.any():
                break
            when, where = (_first(mixture) for mixture in self._mixtures(seen, state))
            xy = where.sample(noise.uniform().to(device), noise.normal(2).to(device))
            time_ms = from_log_time(when.sample(noise.uniform().to(device), noise.normal(1).to(device))[:, 0])
            rest_ms = torch.where(by_time, 1000 * seconds - passed, torch.inf)
            time_ms = torch.where(goes_on, time_ms.minimum(rest_ms), time_ms)
            positions.append(_from_token(xy).clamp(0, 1))
            times.append(time_ms)
            length = length + goes_on
            passed = passed + time_ms + between_ms
            state = self._recur(positions[-1][:, None], time_ms[:, None], passed[:, None], state[:, 0])
        duration_ms = torch.stack(times, 1).clamp(min=1) if timed else None
        return SampledScanpaths(length.clamp(min=1), torch.stack(positions, 1), duration_ms)

    def next_log_density(self, seen: BaselineInput, past: Gaze, shape: Shape) -> Floats:
        """The mixture of the next position, inside the picture."""
        states = torch.cat([self.start.expand(seen.rows, 1, -1), self._encode(seen, past)], 1)  # (B, M + 1, H)
        _, where = self._mixtures(seen, past.at_end(states)[:, None])
        at = position_to_token(grid_centres(*shape)).to(states)  # (N, 2)
        return normalised_log(where.log_density(at), shape)

    # ---------------------------------------------------------------- the network

    def _mixtures(self, seen: BaselineInput, states: Tensor) -> tuple[Mixture, Mixture]:
        ragged = Ragged(states, None)
        keys_values = self.cross_attention.keys_values(seen.tokens, self.position, None)
        no_time = states.new_zeros(seen.rows, seen.tokens.shape[-1])
        context = self.cross_attention(ragged.pack(self.query(states)), ragged, keys_values, no_time, None)  # (n, D)
        both = torch.cat([self.norm(ragged.pad(context)).to(states.dtype), states], -1)  # (B, T, D + H)
        when = self.when(both).float().unflatten(-1, (TIME_COMPONENTS, 3))
        where = self.where(both).float().unflatten(-1, (POSITION_COMPONENTS, 5))
        return _mixture(when, 1), _mixture(where, 2)

    def _between_ms(self, seen: BaselineInput) -> Tensor:
        return self.priors.between_ms(seen.per_row(seen.style))  # (B,)

    def _encode(self, seen: BaselineInput, gaze: Gaze) -> Tensor:
        """(B, M, H) the state after each fixation."""
        time_ms = torch.where(gaze.timed, gaze.duration_ms, DURATION_MEDIAN_MS)
        passed_ms = (time_ms + self._between_ms(seen)[:, None]).cumsum(1)
        return self._recur(gaze.xy, time_ms, passed_ms, self.start.expand(len(time_ms), -1))

    def _recur(self, xy: Tensor, time_ms: Tensor, passed_ms: Tensor, state: Tensor) -> Tensor:
        """(B, T, H) states after fixations at xy (B, T, 2), begun with the state (B, H)."""
        if xy.shape[1] == 0:
            return state.new_zeros(len(state), 0, state.shape[-1])
        event = torch.cat([position_to_token(xy), log_time(time_ms)[..., None], passed_ms[..., None] / 1000], -1)
        with torch.autocast(xy.device.type, enabled=False):  # the recurrent kernel has no mixed precision
            return self.history(self.event(event.float()), state[None].float().contiguous())[0]


def _mixture(numbers: Tensor, d: int) -> Mixture:
    """(…, K, 1 + 2·d) network outputs → a mixture."""
    weight, mean, log_std = numbers[..., 0], numbers[..., 1 : 1 + d], numbers[..., 1 + d :]
    return Mixture(weight.log_softmax(-1), mean, log_std.clamp(NARROWEST, WIDEST))


def _first(mixture: Mixture) -> Mixture:
    return Mixture(mixture.log_weight[:, 0], mixture.mean[:, 0], mixture.log_std[:, 0])


def _from_token(token: Tensor) -> Tensor:
    zero = position_to_token(torch.zeros(()))
    return (token - zero) / (position_to_token(torch.ones(())) - zero)
