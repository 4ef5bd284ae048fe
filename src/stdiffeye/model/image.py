"""The picture's side: image tokens and words fused to V_joint, and the density of fixations on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from stdiffeye.encoders.word_table import category_embeddings
from stdiffeye.model.layers import sinusoid

TEXT_WIDTH = 512
PHASES = (0, 1, 2, 4, 7)
"""Number of the fixation that each phase of viewing begins with; 0 is the one during which the picture appears."""


@dataclass(frozen=True)
class ImageConfig:
    """The defaults are the paper's: DINOv2 ViT-B/14 tokens at 518×518 and CLIP text."""

    channels: int = 768
    rows: int = 37
    columns: int = 37
    width: int = 512
    dropout: float = 0.1
    mixing: int = 0
    """Convolution blocks over neighbouring picture tokens, so that a token holds its surroundings too."""
    objects: int = 0
    """Object maps in the last channels of the features, of COCO's 80 categories; the task's words select among them."""
    density: bool = False
    """A head that learns where people look, and hands its log-density to denoising attention."""
    phases: bool = False
    """A density for each phase of viewing (`PHASES`): where people look first is not where they look later."""


class Fusion(nn.Module):
    """Image tokens and the words' vector → V_joint."""

    def __init__(self, config: ImageConfig) -> None:
        super().__init__()
        self.config = config
        self.image = nn.Linear(config.channels, config.width)
        self.text = nn.Linear(TEXT_WIDTH, config.width)
        # One linear layer over the concatenation, as two layers: that of the words is computed once, not per position.
        self.fuse_image = nn.Linear(config.width, config.width)
        self.fuse_text = nn.Linear(config.width, config.width, bias=False)
        self.finish = nn.Sequential(nn.ReLU(), nn.Dropout(config.dropout))
        if config.objects:
            self.target = TargetMap()
            self.target_embedding = nn.Linear(1, config.width, bias=False)
            nn.init.zeros_(self.target_embedding.weight)
        self.mixing = nn.ModuleList(Mixing(config) for _ in range(config.mixing))
        self.register_buffer("position", sine_grid(config.rows, config.columns, config.width), persistent=False)

    def target_map(self, features: Tensor, text_embedding: Tensor) -> Tensor | None:
        """(P, N) logits of the searched object at each position; zeros for free viewing, None without object maps."""
        if not self.config.objects:
            return None
        return self.target(features[..., self.config.channels :], text_embedding)

    def forward(self, features: Tensor, text_embedding: Tensor, target: Tensor | None = None) -> Tensor:
        image = self.image(features[..., : self.config.channels]) + self.position  # (P, N, D)
        if target is not None:
            image = image + self.target_embedding(target[..., None])  # (P, N, D)
        text = self.text(text_embedding)[:, None]  # (P, 1, D)
        v_joint = self.finish(self.fuse_image(image) + self.fuse_text(text))  # (P, N, D)
        for block in self.mixing:
            v_joint = block(v_joint)  # (P, N, D)
        return v_joint


class TargetMap(nn.Module):
    """Where the searched object is: object maps, mixed by how near the task's words are to each category's name."""

    SHARPNESS = 30.0  # of the mixture; a category's own name takes all but a few per cent
    SCALE = 4.0  # logits are of this size
    categories: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("categories", category_embeddings(), persistent=False)  # (80, E)

    def forward(self, maps: Tensor, text_embedding: Tensor) -> Tensor:
        """(P, N, 80) logits and (P, E) embeddings → (P, N)."""
        share = (self.SHARPNESS * text_embedding @ self.categories.T).softmax(-1)  # (P, 80)
        target = (maps @ share[..., None])[..., 0] / self.SCALE  # (P, N)
        return target * (text_embedding.abs().sum(-1, keepdim=True) > 0)


class Mixing(nn.Module):
    """A depth-wise 7×7 convolution and a feed-forward layer over the grid (Liu et al. 2022)."""

    def __init__(self, config: ImageConfig) -> None:
        super().__init__()
        self.grid = (config.rows, config.columns)
        self.depthwise = nn.Conv2d(config.width, config.width, 7, padding=3, groups=config.width)
        self.norm = nn.LayerNorm(config.width)
        width = config.width
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        grid = x.transpose(1, 2).unflatten(2, self.grid)  # (P, D, R, C)
        near = self.depthwise(grid).flatten(2).transpose(1, 2)  # (P, N, D)
        return x + self.mlp(self.norm(near))  # (P, N, D)


class DensityHead(nn.Module):
    """log s(p): where people look in a picture, with a centre bias for each viewing style."""

    SCALE = 10.0  # lets the centre bias learn as fast as the rest at the same learning rate

    def __init__(self, config: ImageConfig, sets: int, pooled_sets: int = 0) -> None:
        super().__init__()
        self.mlp = nn.Sequential(
            nn.LayerNorm(config.width),
            nn.Linear(config.width, config.width // 2),
            nn.GELU(),
            nn.Linear(config.width // 2, 1),
        )
        self.centre_bias = nn.Parameter(torch.zeros(sets + 1, config.rows * config.columns))
        if config.objects:
            self.target_weight = nn.Parameter(torch.ones(1))
        if config.phases:  # what each phase adds to the logits of all fixations
            self.phase_logits = nn.Linear(config.width // 2, len(PHASES))
            nn.init.zeros_(self.phase_logits.weight)
            nn.init.zeros_(self.phase_logits.bias)
            self.phase_bias = nn.Parameter(torch.zeros(sets + 1, len(PHASES), config.rows * config.columns))
            self.phase_target = nn.Parameter(torch.zeros(len(PHASES)))
        if pooled_sets:  # fixations without viewers and order: their own bias, and maps that are more or less blurred
            self.pooled_centre_bias = nn.Parameter(torch.zeros(pooled_sets, config.rows * config.columns))
            self.pooled_log_sharpness = nn.Parameter(torch.zeros(pooled_sets))

    def forward(self, v_joint: Tensor, style: Tensor, target: Tensor | None = None) -> Tensor:
        """(P, N, D) tokens, (P,) style numbers and (P, N) target maps → (P, N) normalised log-density over the grid."""
        return self._logits(v_joint, style, target).log_softmax(-1)

    def of_phases(self, v_joint: Tensor, style: Tensor, target: Tensor | None = None) -> Tensor:
        """(P, K, N): the same for the fixations of each phase."""
        hidden = self.mlp[:-1](v_joint)  # (P, N, D/2)
        logits = self._logits(v_joint, style, target)[:, None] + self.phase_logits(hidden).transpose(1, 2)  # (P, K, N)
        logits = logits + self.SCALE * self.phase_bias[style]
        if target is not None:
            logits = logits + self.SCALE * self.phase_target[:, None] * target[:, None]
        return logits.log_softmax(-1)

    def _logits(self, v_joint: Tensor, style: Tensor, target: Tensor | None) -> Tensor:
        logits = self.mlp(v_joint)[..., 0] + self.SCALE * self.centre_bias[style]
        return logits if target is None else logits + self.target_weight * target

    def pooled(self, v_joint: Tensor, pooled_set: Tensor) -> Tensor:
        """The same for pictures of sets without order, by their numbers (P,)."""
        sharpness = self.pooled_log_sharpness[pooled_set].exp()[:, None]  # (P, 1)
        logits = sharpness * self.mlp(v_joint)[..., 0] + self.SCALE * self.pooled_centre_bias[pooled_set]
        return logits.log_softmax(-1)


def phase_of(number: Tensor) -> Tensor:
    """Phase of viewing of fixations by their number, of any shape."""
    return (number[..., None] >= torch.tensor(PHASES[1:], device=number.device)).sum(-1)


def sine_grid(rows: int, columns: int, width: int) -> Tensor:
    """(rows·columns, width) fixed 2-D sine positions: half for the row, half for the column."""
    row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    return torch.cat([sinusoid(row.flatten(), width // 2), sinusoid(column.flatten(), width // 2)], dim=-1)


def grid_centres(rows: int, columns: int) -> Tensor:
    """(rows·columns, 2) x, y of the cells' centres in [0, 1]."""
    y, x = torch.meshgrid((torch.arange(rows) + 0.5) / rows, (torch.arange(columns) + 0.5) / columns, indexing="ij")
    return torch.stack([x.flatten(), y.flatten()], dim=-1)


def cell_shares(xy: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """(rows·columns,) share of the points (n, 2) in [0, 1] at each cell; a point is shared among its four nearest."""
    inside = xy[((xy >= 0) & (xy < 1)).all(axis=1)]
    shares = np.zeros((rows, columns), dtype=np.float32)
    x, y = inside[:, 0] * columns - 0.5, inside[:, 1] * rows - 0.5
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    for down in (0, 1):
        for right in (0, 1):
            weight = np.abs(1 - right - (x - left)) * np.abs(1 - down - (y - top))
            row, column = np.clip(top + down, 0, rows - 1), np.clip(left + right, 0, columns - 1)
            np.add.at(shares, (row, column), weight)
    return (shares / max(shares.sum(), 1e-9)).ravel()
