"""What the baselines share: how the picture is read, what viewers do on any picture, positions on a grid.

Every baseline sees with the same frozen encoder and the same read-out (`Fusion`) as our own systems, so that a table
compares what is done with the picture, not how it is seen.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from stdiffeye.arrays import Floats
from stdiffeye.data.batches import NO_CHANGE, TYPICAL_GAP_MS, Augment
from stdiffeye.diffusion import NoiseSource, categorical, noise_of
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath
from stdiffeye.model.fixation_tokens import (
    DURATION_LOG_STD,
    DURATION_MEDIAN_MS,
    LONGEST_MS,
    SHORTEST_MS,
    SampledScanpaths,
    from_tokens,
)
from stdiffeye.model.image import Fusion, ImageConfig, grid_centres
from stdiffeye.model.layers import Block, BlockConfig, Ragged
from stdiffeye.model.tokens import token_mask
from stdiffeye.systems.base import BatchPlan, Query, SamplingOptions, Sources, TrainableSystem, features_of
from stdiffeye.systems.next_fixation import Histories, Shape
from stdiffeye.systems.scanpath_data import ScanpathTensorBatches, ScanpathTensors
from stdiffeye.systems.step_random import Ranks, StepRandom

# Baselines take no viewing time, so a trial that is cut would mislead them.
FLIP = Augment(flip=0.5, cut=0.0, later=0.0)
SMOOTH_CELLS = 1.0  # std of the centre bias's kernel
FLOOR = 0.01  # share of the centre bias that is even, so that no position is impossible


@dataclass(frozen=True)
class BaselineConfig:
    """What every baseline has."""

    image: ImageConfig = field(
        default_factory=lambda: ImageConfig(channels=432, rows=24, columns=32, width=192, dropout=0.0, mixing=1)
    )
    sets: tuple[str, ...] = ()
    """Data sets whose counts are kept apart (centre bias, number of fixations)."""
    max_fixations: int = 16

    def __post_init__(self) -> None:
        if self.max_fixations < 1:
            raise InputError(f"max_fixations must be positive, got {self.max_fixations}")


@dataclass
class BaselineInput:
    """P pictures as a baseline sees them, and V viewers of each (B = P·V rows)."""

    tokens: Tensor  # (P, N, D)
    text_embedding: Tensor  # (P, 512)
    style: Tensor  # (P,)
    viewers: int

    @property
    def rows(self) -> int:
        return len(self.tokens) * self.viewers

    def per_row(self, of_pictures: Tensor) -> Tensor:
        """(P, …) → (B, …)."""
        return of_pictures.repeat_interleave(self.viewers, 0)


@dataclass
class Gaze:
    """Scanpaths to learn from: B rows of at most M fixations."""

    xy: Tensor  # (B, M, 2) in [0, 1]
    duration_ms: Tensor  # (B, M)
    timed: Tensor  # (B, M) the duration is given
    length: Tensor  # (B,)
    valid: Tensor  # (B, M) not padding

    @classmethod
    def of(cls, x: ScanpathTensors) -> Gaze:
        xy, duration_ms, _ = from_tokens(x.tokens)
        length = x.conditions.length
        return cls(xy, duration_ms, x.mask[..., 2], length, token_mask(length, xy.shape[1]))

    @classmethod
    def of_histories(cls, histories: Histories, query: Query, device: torch.device | str) -> Gaze:
        """Of fixations so far; one without a known duration is as long as usual."""
        length = torch.tensor([0 if path is None else len(path) for path in histories])
        xy = torch.zeros(len(histories), int(length.max()), 2)
        duration_ms, timed = torch.full(xy.shape[:2], DURATION_MEDIAN_MS), torch.zeros(xy.shape[:2], dtype=torch.bool)
        for row, path in enumerate(histories):
            if path is not None:
                xy[row, : len(path)] = torch.from_numpy(query.frame.normalise(path.xy_px))
                if path.duration_ms is not None:
                    duration_ms[row, : len(path)] = torch.from_numpy(path.duration_ms.copy()).float()
                    timed[row, : len(path)] = True
        columns = xy, duration_ms, timed, length, token_mask(length, xy.shape[1])
        return cls(*(column.to(device) for column in columns))

    def at_end(self, of_steps: Tensor) -> Tensor:
        """(B, …) what (B, M + 1, …), before the first and after each fixation, holds after the last one."""
        return of_steps[torch.arange(len(self.length), device=self.length.device), self.length]


class EmpiricalPriors(nn.Module):
    """What viewers do on any picture: the centre bias, how many fixations they make, and the time between these.

    Counted from the training batches, not learned by gradient; one row per data set, row 0 for all of them.
    """

    positions: Tensor
    lengths: Tensor
    stimuli: Tensor
    timed: Tensor
    between: Tensor
    whole_trials: Tensor

    def __init__(self, sets: int, cells: tuple[int, int], longest: int) -> None:
        super().__init__()
        self.cells, n = cells, cells[0] * cells[1]
        self.register_buffer("positions", torch.full((sets + 1, n), 1 / n))
        self.register_buffer("lengths", torch.full((sets + 1, longest), 1 / longest))
        self.register_buffer("stimuli", torch.zeros(sets + 1, dtype=torch.int64))
        self.register_buffer("timed", torch.zeros(1, dtype=torch.int64))
        self.register_buffer("between", torch.full((sets + 1,), TYPICAL_GAP_MS))
        self.register_buffer("whole_trials", torch.zeros(sets + 1, dtype=torch.int64))

    @torch.no_grad()
    def learn(self, x: ScanpathTensors, gaze: Gaze, ranks: Ranks) -> None:
        """Count a training batch (that of all processes)."""
        viewers = len(gaze.length) // len(x.style)
        made = nn.functional.one_hot(gaze.length - 1, self.lengths.shape[1]).float()  # (B, longest)
        made = ranks.gather(made.unflatten(0, (-1, viewers)).mean(1))  # (P, longest)
        where, style = ranks.gather(x.density), ranks.gather(x.style)
        self.timed += ranks.total(gaze.timed.sum())
        for row in [0, *(m for m in style.unique().tolist() if m)]:
            mine = style == row if row else torch.ones_like(style, dtype=torch.bool)
            self.stimuli[row] += mine.sum()
            for counted, new in ((self.positions, where), (self.lengths, made)):
                counted[row] += (new[mine] - counted[row]).sum(0) / self.stimuli[row]
        self._learn_between(x, gaze, ranks)

    def _learn_between(self, x: ScanpathTensors, gaze: Gaze, ranks: Ranks) -> None:
        """Count the viewing time that is in no fixation (saccades, blinks, losses), where all of it is recorded."""
        spent_ms = torch.where(gaze.timed, gaze.duration_ms, 0).sum(1)  # (B,)
        spare_ms = ((1000 * x.conditions.seconds - spent_ms) / gaze.length).clamp(min=0)  # (B,)
        whole = (gaze.timed.sum(1) == gaze.length) & (gaze.length < self.lengths.shape[1]) & ~spare_ms.isnan()
        spare_ms, whole, style = (ranks.gather(one) for one in (spare_ms, whole, x.conditions.style))
        for row in [0, *(m for m in style.unique().tolist() if m)]:
            mine = whole & ((style == row) | (row == 0))
            self.whole_trials[row] += mine.sum()
            if mine.any():
                self.between[row] += (spare_ms[mine] - self.between[row]).sum() / self.whole_trials[row]

    def log_centre_bias(self, style: Tensor) -> Tensor:
        """(P, N) log-density of any viewer's fixations: the counted ones, smoothed."""
        sigma = torch.tensor(SMOOTH_CELLS, device=self.positions.device)
        smooth = blurred(self.positions[self._counted(style)].unflatten(-1, self.cells), sigma).flatten(-2)
        smooth = smooth / smooth.sum(-1, keepdim=True)
        return ((1 - FLOOR) * smooth + FLOOR / smooth.shape[-1]).log()

    def sample_lengths(self, style: Tensor, uniform: Tensor) -> Tensor:
        """(B,) numbers of fixations of the training distribution, for the styles (B,)."""
        return categorical(self.lengths[self._counted(style)].clamp(min=1e-9).log(), uniform) + 1

    def between_ms(self, style: Tensor) -> Tensor:
        """(B,) usual time from the end of a fixation to the next; that of recordings where it could not be counted."""
        return self.between[torch.where(self.whole_trials[style] > 0, style, 0)]

    @property
    def has_durations(self) -> bool:
        """Whether any duration was ever seen."""
        return bool(self.timed > 0)

    def _counted(self, style: Tensor) -> Tensor:
        return torch.where(self.stimuli[style] > 0, style, 0)


class Baseline(TrainableSystem):
    """A system of others: a picture in, scanpaths out."""

    generates_scanpaths = True
    position: Tensor

    def __init__(self, config: BaselineConfig) -> None:
        super().__init__()
        self.config = config
        self.fusion = Fusion(config.image)
        self.priors = EmpiricalPriors(len(config.sets), self.cells, config.max_fixations)
        self.register_buffer("position", grid_centres(*self.cells), persistent=False)

    @property
    def max_fixations(self) -> int:
        return self.config.max_fixations

    @property
    def cells(self) -> tuple[int, int]:
        return self.config.image.rows, self.config.image.columns

    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> ScanpathTensorBatches:
        return ScanpathTensorBatches(self, sources, split, plan, FLIP if augment else NO_CHANGE)

    def loss(self, batch: ScanpathTensors, random: StepRandom) -> dict[str, Tensor]:
        gaze = Gaze.of(batch)
        if self.training:
            self.priors.learn(batch, gaze, random.ranks)
        viewers = len(gaze.length) // len(batch.style)
        return self.losses(self.see(batch.features, batch.text_embedding, batch.style, viewers), gaze, random)

    @abstractmethod
    def losses(self, seen: BaselineInput, gaze: Gaze, random: StepRandom) -> dict[str, Tensor]:
        """The terms of the loss by name, `total` among them."""

    @abstractmethod
    def sample(
        self, seen: BaselineInput, seconds: Tensor, noise: NoiseSource, options: SamplingOptions
    ) -> SampledScanpaths:
        """A scanpath per row; `seconds` (B,) is the viewing time, NaN where none was requested."""

    def see(self, features: Tensor, text_embedding: Tensor, style: Tensor, viewers: int) -> BaselineInput:
        return BaselineInput(self.fusion(features, text_embedding), text_embedding, style, viewers)

    def encode_queries(self, queries: Sequence[Query], viewers: int = 1) -> BaselineInput:
        """The same of queries."""
        device = self.position.device
        features = torch.cat([features_of(query) for query in queries]).to(device)
        text_embedding = torch.cat([query.text_embedding for query in queries]).to(device)
        style = torch.tensor([self.style_number(query.style) for query in queries], device=device)
        return self.see(features, text_embedding, style, viewers)

    @torch.no_grad()
    def scanpaths(
        self, queries: Sequence[Query], seeds: Sequence[Sequence[int]], options: SamplingOptions
    ) -> list[list[Scanpath]]:
        samples, noise = len(seeds[0]), noise_of([seed for row in seeds for seed in row], options.representative)
        requested = torch.tensor([np.nan if query.seconds is None else query.seconds for query in queries])
        seconds = requested.repeat_interleave(samples).to(self.position.device)
        paths = self.sample(self.encode_queries(queries, samples), seconds, noise, options)
        rows = paths.scanpaths([query.frame for query in queries for _ in range(samples)])
        return [rows[i * samples : (i + 1) * samples] for i in range(len(queries))]

    @abstractmethod
    def next_log_density(self, seen: BaselineInput, past: Gaze, shape: Shape) -> Floats:
        """(B, rows, columns) log-probability of the cells for the fixation after the past ones, none or more."""

    @torch.no_grad()
    def log_densities(self, query: Query, histories: Histories, shape: Shape) -> Floats:
        """(histories, rows, columns), exactly what is sampled from."""
        past = Gaze.of_histories(histories, query, self.position.device)
        return self.next_log_density(self.encode_queries([query], len(histories)), past, shape)

    def information_gain(self, query: Query, scanpaths: Sequence[Scanpath]) -> float:
        """Bits per fixation of these scanpaths that picture and history explain beyond the centre bias."""
        number = self.style_number(query.style)
        bias = self.priors.log_centre_bias(torch.tensor([number], device=self.position.device))[0].double().cpu()
        gains = []
        for path in scanpaths:
            histories = [path[:step] if step else None for step in range(len(path))]
            given = self.log_densities(query, histories, self.cells).reshape(len(path), -1)  # (M, N)
            cell = cell_of(torch.from_numpy(path.frame.normalise(path.xy_px)), self.cells).numpy()  # (M,)
            gains.append(given[np.arange(len(path)), cell] - bias.numpy()[cell])
        return float(np.concatenate(gains).mean()) / math.log(2)


class ParallelDecoder(nn.Module):
    """A learned query per fixation; the queries attend to each other and to the picture, all at once."""

    def __init__(self, width: int, fixations: int, depth: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(fixations, width) / width**0.5)
        config = BlockConfig(width, heads, 4 * width, dropout, norm="pre", cross_query="stream")
        self.blocks = nn.ModuleList(Block(config, has_cross_attention=True) for _ in range(depth))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor, position: Tensor) -> Tensor:
        """Pictures (P, N, D) → one vector per fixation (P, M, D)."""
        pictures, width = len(tokens), tokens.shape[-1]
        x = self.queries.expand(pictures, -1, -1)  # (P, M, D)
        ragged, no_time = Ragged(x, None), tokens.new_zeros(pictures, width)
        x = ragged.pack(x)  # (n, D)
        for block in self.blocks:
            assert isinstance(block, Block)
            assert block.cross_attention is not None
            keys_values = block.cross_attention.keys_values(tokens, position, None)
            x = block(x, ragged, no_time, None, keys_values, None)  # (n, D)
        return ragged.pad(self.norm(x))  # (P, M, D)


def perceptron(*widths: int) -> nn.Sequential:
    """Linear layers with GELU between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.GELU(approximate="tanh")]
    return nn.Sequential(*layers[:-1])


def log_time(time_ms: Tensor) -> Tensor:
    """Durations on a log scale, in units of their standard deviation around the human median."""
    return (time_ms.clamp(min=SHORTEST_MS).log() - math.log(DURATION_MEDIAN_MS)) / DURATION_LOG_STD


def from_log_time(value: Tensor) -> Tensor:
    """ms, within what a fixation may last."""
    return (DURATION_MEDIAN_MS * torch.exp(DURATION_LOG_STD * value)).clamp(SHORTEST_MS, LONGEST_MS)


def cell_of(xy: Tensor, cells: tuple[int, int]) -> Tensor:
    """(…, 2) positions in [0, 1] → (…,) number of the cell, row by row."""
    rows, columns = cells
    column = (xy[..., 0] * columns).long().clamp(0, columns - 1)
    row = (xy[..., 1] * rows).long().clamp(0, rows - 1)
    return row * columns + column


def in_cell(cell: Tensor, noise: NoiseSource, cells: tuple[int, int]) -> Tensor:
    """(B,) cells → (B, 2) positions, evenly anywhere in them."""
    within = torch.stack([noise.uniform(), noise.uniform()], -1).to(cell.device)
    rows, columns = cells
    corner = torch.stack([cell % columns, cell // columns], -1)
    return (corner + within) / torch.tensor([columns, rows], device=cell.device)


def blurred(maps: Tensor, sigma_cells: Tensor) -> Tensor:
    """(…, R, C) maps smoothed by a Gaussian; what would leave the map stays in it."""
    down, across = (_kernel(size, sigma_cells, maps) for size in maps.shape[-2:])
    return down @ maps @ across.T


def _kernel(size: int, sigma: Tensor, like: Tensor) -> Tensor:
    at = torch.arange(size, device=like.device, dtype=torch.float32)
    weight = torch.exp(-((at[:, None] - at) ** 2) / (2 * sigma**2))
    return weight / weight.sum(0, keepdim=True)
