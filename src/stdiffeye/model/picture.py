"""The picture's side: image tokens and words fused to V_joint, where people look in it, and how long."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from stdiffeye.model.parts import sinusoid

TEXT_WIDTH = 512


@dataclass(frozen=True)
class PictureConfig:
    """The defaults are the paper's: DINOv2 ViT-B/14 tokens at 518×518 and CLIP text."""

    channels: int = 768
    rows: int = 37
    columns: int = 37
    width: int = 512
    dropout: float = 0.1
    mixing: int = 0
    """Convolution blocks over neighbouring picture tokens, so that a place knows its surroundings."""
    density: bool = False
    """A head that learns where people look, and hands its log-density to denoising attention."""


class Fusion(nn.Module):
    """Image tokens and the words' vector → V_joint."""

    def __init__(self, config: PictureConfig) -> None:
        super().__init__()
        self.config = config
        self.image = nn.Linear(config.channels, config.width)
        self.text = nn.Linear(TEXT_WIDTH, config.width)
        # One linear layer over the concatenation, in two parts: the words' half is computed once, not per place.
        self.fuse_image = nn.Linear(config.width, config.width)
        self.fuse_text = nn.Linear(config.width, config.width, bias=False)
        self.finish = nn.Sequential(nn.ReLU(), nn.Dropout(config.dropout))
        self.mix = nn.ModuleList(Mixing(config) for _ in range(config.mixing))
        self.register_buffer("position", sine_grid(config.rows, config.columns, config.width), persistent=False)

    def forward(self, features: Tensor, words: Tensor) -> Tensor:
        image = self.image(features) + self.position  # (P, N, D)
        text = self.text(words)[:, None]  # (P, 1, D)
        v_joint = self.finish(self.fuse_image(image) + self.fuse_text(text))  # (P, N, D)
        for block in self.mix:
            v_joint = block(v_joint)  # (P, N, D)
        return v_joint


class Mixing(nn.Module):
    """A depth-wise 7×7 convolution and a feed-forward layer over the grid (Liu et al. 2022)."""

    def __init__(self, config: PictureConfig) -> None:
        super().__init__()
        self.grid = (config.rows, config.columns)
        self.neighbours = nn.Conv2d(config.width, config.width, 7, padding=3, groups=config.width)
        self.norm = nn.LayerNorm(config.width)
        width = config.width
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        grid = x.transpose(1, 2).unflatten(2, self.grid)  # (P, D, R, C)
        near = self.neighbours(grid).flatten(2).transpose(1, 2)  # (P, N, D)
        return x + self.feed(self.norm(near))  # (P, N, D)


class DensityHead(nn.Module):
    """log s(p): where people look in a picture, with a centre bias for each manner of viewing."""

    SCALE = 10.0  # lets the centre bias learn as fast as the rest at the same learning rate

    def __init__(self, config: PictureConfig, sets: int) -> None:
        super().__init__()
        self.read = nn.Sequential(
            nn.LayerNorm(config.width),
            nn.Linear(config.width, config.width // 2),
            nn.GELU(),
            nn.Linear(config.width // 2, 1),
        )
        self.centre_bias = nn.Parameter(torch.zeros(sets + 1, config.rows * config.columns))

    def forward(self, v_joint: Tensor, manner: Tensor) -> Tensor:
        """(P, N, D) tokens and (P,) manner numbers → (P, N) normalised log-density over the grid."""
        logits = self.read(v_joint)[..., 0] + self.SCALE * self.centre_bias[manner]
        return logits.log_softmax(-1)


def sine_grid(rows: int, columns: int, width: int) -> Tensor:
    """(rows·columns, width) fixed 2-D sine positions: half for the row, half for the column."""
    row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    return torch.cat([sinusoid(row.flatten(), width // 2), sinusoid(column.flatten(), width // 2)], dim=-1)


def grid_centres(rows: int, columns: int) -> Tensor:
    """(rows·columns, 2) x, y of the cells' centres in [0, 1]."""
    y, x = torch.meshgrid((torch.arange(rows) + 0.5) / rows, (torch.arange(columns) + 0.5) / columns, indexing="ij")
    return torch.stack([x.flatten(), y.flatten()], dim=-1)
