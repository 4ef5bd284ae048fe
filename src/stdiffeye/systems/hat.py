"""HAT, the Human Attention Transformer: a working memory of what was seen, a heat map for what is seen next.

Z. Yang, S. Mondal, S. Ahn, R. Xue, G. Zelinsky, M. Hoai and D. Samaras, "Unifying Top-down and Bottom-up Scanpath
Prediction Using Transformers", CVPR 2024. Written from the paper's equations.

Kept: a simplified fovea, that is a working memory of coarse tokens of the whole picture and fine tokens at the visited
positions, with where and when of each; a query per task, free viewing being one of them, that reads the memory; its dot
product with fine picture features as a heat map, and a stop probability; the focal loss of key points against a
Gaussian around the true fixation; cross-entropy for stopping; fixations sampled from the heat map. No durations.
The focal loss pulls every value of the heat map towards one half, so before sampling each is turned into the
probability for which it would be the loss's optimum; else most of the mass would lie on the many cells of no interest.

Left out: the ResNet pixel decoder (every system here has the same encoder). Changed: the query of a step also
sees the queries before it through causal attention, and coarse tokens are not rewritten by later fixations, so that all
steps of a scanpath are trained in one pass; the task's query comes from its words, so that unseen targets have one too.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from stdiffeye.arrays import Floats
from stdiffeye.diffusion import NoiseSource, categorical
from stdiffeye.errors import InputError
from stdiffeye.model.fixation_tokens import SampledScanpaths
from stdiffeye.model.image import TEXT_WIDTH
from stdiffeye.systems.base import Query, SamplingOptions
from stdiffeye.systems.baseline import (
    Baseline,
    BaselineConfig,
    BaselineInput,
    Gaze,
    cell_of,
    in_cell,
    perceptron,
)
from stdiffeye.systems.next_fixation import Histories, Shape, resampled_log
from stdiffeye.systems.step_random import StepRandom

FOCUS, FORGIVE = 2.0, 4.0  # exponents of the focal loss: on hard cells, and near the true one
TARGET_CELLS = 1.0  # standard deviation of the Gaussian around the true fixation
RARE = -4.6  # logit of the heat map at first: a hundredth, as fixated cells are rare


@dataclass(frozen=True)
class HATConfig(BaselineConfig):
    """Sizes of the memory and of the network that reads it."""

    depth: int = 3
    heads: int = 4
    coarse: int = 4
    """Cells of the grid, each way, that one coarse token covers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.image.width % self.heads:
            raise InputError(f"image.width {self.image.width} must be a multiple of heads {self.heads}")


class HAT(Baseline):
    """Heat map and stop, step by step."""

    config: HATConfig

    def __init__(self, config: HATConfig) -> None:
        super().__init__(config)
        width = config.image.width
        self.task = nn.Linear(TEXT_WIDTH, width)
        self.order = nn.Parameter(torch.randn(config.max_fixations + 1, width) / width**0.5)
        self.fine = nn.Linear(width, width)
        layer = nn.TransformerDecoderLayer(
            width, config.heads, 4 * width, 0.0, F.gelu, batch_first=True, norm_first=True
        )
        self.reader = nn.TransformerDecoder(layer, config.depth, nn.LayerNorm(width))
        self.key = perceptron(width, width, width)
        self.pixel = nn.Linear(width, width)
        self.rare = nn.Parameter(torch.tensor(RARE))
        self.stop = nn.Linear(width, 1)

    def losses(self, seen: BaselineInput, gaze: Gaze, random: StepRandom) -> dict[str, Tensor]:
        heat, stop = self._steps(seen, gaze.xy)  # (B, M + 1, N), (B, M + 1)
        focal = focal_loss(heat[:, :-1], self._target(gaze.xy))  # (B, M)
        step = torch.arange(stop.shape[1], device=stop.device)
        # Whether to stop is decided after every fixation but the last that is modelled, where nothing else is left.
        decided = (step > 0) & (step <= gaze.length[:, None]) & (step < self.max_fixations)
        ended = (step == gaze.length[:, None]).float()
        stopping = F.binary_cross_entropy_with_logits(stop.float(), ended, reduction="none")
        losses = {"heat": random.mean(focal, gaze.valid), "stop": random.mean(stopping, decided)}
        return losses | {"total": losses["heat"] + losses["stop"]}

    def sample(
        self, seen: BaselineInput, seconds: Tensor, noise: NoiseSource, options: SamplingOptions
    ) -> SampledScanpaths:
        device = seconds.device
        xy = torch.zeros(seen.rows, 0, 2, device=device)
        length = torch.zeros(seen.rows, dtype=torch.int64, device=device)
        viewing = torch.ones(seen.rows, dtype=torch.bool, device=device)
        for number in range(self.max_fixations):
            heat, stop = (one[:, -1] for one in self._steps(seen, xy))
            if number:
                viewing = viewing & (noise.uniform().to(device) >= stop.sigmoid())
            if not viewing.any():
                break
            cell = categorical(log_calibrated(heat), noise.uniform().to(device))
            xy = torch.cat([xy, in_cell(cell, noise, self.cells)[:, None]], 1)
            length = length + viewing
        return SampledScanpaths(length, xy)

    def next_log_density(self, seen: BaselineInput, past: Gaze, shape: Shape) -> Floats:
        heat, _ = self._steps(seen, past.xy)  # (B, M + 1, N)
        return resampled_log(log_calibrated(past.at_end(heat)).log_softmax(-1), self.cells, shape)

    def log_densities(self, query: Query, histories: Histories, shape: Shape) -> Floats:
        """(histories, rows, columns); the memory holds as many fixations as were trained on, the last ones."""
        recent = [None if path is None else path[-self.max_fixations :] for path in histories]
        return super().log_densities(query, recent, shape)

    # ---------------------------------------------------------------- the network

    def _steps(self, seen: BaselineInput, xy: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of heat maps (B, T + 1, N) and of stopping (B, T + 1), before the first and after each fixation."""
        memory = seen.per_row(self._periphery(seen.tokens))  # (B, K, D)
        row = torch.arange(seen.rows, device=xy.device)[:, None] // seen.viewers  # (B, 1)
        fovea = self.fine(seen.tokens)[row, cell_of(xy, self.cells)]  # (B, T, D)
        query = seen.per_row(self.task(seen.text_embedding))[:, None]  # (B, 1, D)
        steps = torch.cat([torch.zeros_like(query), fovea.to(query.dtype)], 1)  # (B, T + 1, D)
        steps = steps + query + self.order[: steps.shape[1]]  # (B, T + 1, D)
        causal = torch.ones(steps.shape[1], steps.shape[1], dtype=torch.bool, device=xy.device).triu(1)
        read = self.reader(steps, memory, tgt_mask=causal)  # (B, T + 1, D)
        key = self.key(read).unflatten(0, (-1, seen.viewers)).flatten(1, 2)  # (P, V·(T + 1), D)
        heat = key @ self.pixel(seen.tokens).transpose(1, 2) / key.shape[-1] ** 0.5  # (P, V·(T + 1), N)
        heat = heat.unflatten(1, (seen.viewers, -1)).flatten(0, 1)  # (B, T + 1, N)
        return heat.float() + self.rare, self.stop(read)[..., 0]

    def _periphery(self, tokens: Tensor) -> Tensor:
        """(P, N, D) → (P, K, D): what is seen of the picture without fixating it."""
        grid = tokens.transpose(1, 2).unflatten(2, self.cells)  # (P, D, R, C)
        side = min(self.config.coarse, *self.cells)
        return F.avg_pool2d(grid, side, ceil_mode=True).flatten(2).transpose(1, 2)

    def _target(self, xy: Tensor) -> Tensor:
        """(B, M, N) a Gaussian around each fixation, 1 at its own cell."""
        rows, columns = self.cells
        size = torch.tensor([columns, rows], device=xy.device)
        apart = (self.position - self.position[cell_of(xy, self.cells)][..., None, :]) * size  # (B, M, N, 2) in cells
        return torch.exp(-apart.square().sum(-1) / (2 * TARGET_CELLS**2))


def focal_loss(logits: Tensor, target: Tensor) -> Tensor:
    """(…, N) logits and targets, 1 at the true cell → (…,), as for key points (Law & Deng 2018)."""
    p, log_p, log_not = logits.sigmoid(), F.logsigmoid(logits), F.logsigmoid(-logits)
    hit = (target > 1 - 1e-6).float()
    at_cell = hit * (1 - p) ** FOCUS * log_p
    elsewhere = (1 - hit) * (1 - target) ** FORGIVE * p**FOCUS * log_not
    return -(at_cell + elsewhere).sum(-1)


def log_calibrated(logits: Tensor) -> Tensor:
    """Log of the share q of hits for which `logits` minimise q·(1−p)²·(−log p) + (1−q)·p²·(−log(1−p))."""
    p = logits.sigmoid().clamp(1e-6, 1 - 1e-6)
    rise = (1 - p) ** FOCUS / p - FOCUS * (1 - p) ** (FOCUS - 1) * p.log()
    fall = p**FOCUS / (1 - p) - FOCUS * p ** (FOCUS - 1) * (1 - p).log()
    return (fall / (rise + fall)).log()
