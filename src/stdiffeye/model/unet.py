"""A one-dimensional U-Net over a trajectory's points with cross-attention to the picture: the network of DiffEye.

Published of it: convolutions over 720 points, cross-attention to picture tokens, and the *corresponding positional
embedding*: a gaze point and a picture token at the same position carry the same position code. Channels, blocks and
the levels with attention are not published; they are chosen here to be usual ones and can be set.

Reference: Kara, Nisar & Rehg (2025), DiffEye: diffusion-based continuous eye-tracking data generation conditioned on
natural images.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from stdiffeye.errors import InputError
from stdiffeye.model.image_attention import AttendsToImage
from stdiffeye.model.layers import (
    AttentionGeometry,
    BlockConfig,
    CrossAttention,
    EncodedImage,
    Ragged,
    TimeEmbedding,
    sinusoid,
)

POSITION_SCALE = 100.0  # sines over positions: the finest has a wavelength of 2π/100 of a token unit
LONGEST_POSITION = 1000.0


@dataclass(frozen=True)
class UNetConfig:
    """Size of the U-Net."""

    width: int = 128
    """Channels of the finest level."""
    multipliers: tuple[int, ...] = (1, 2, 4, 4)
    """Channels of each level, in units of `width`; every level has half the points of the one before."""
    blocks: int = 2
    """Residual blocks per level, each way."""
    heads: int = 8
    dropout: float = 0.1
    groups: int = 8
    """Of the group normalisation."""
    cross_attention_from: int = 1
    """First level with cross-attention to the picture; finer ones only convolve."""

    def __post_init__(self) -> None:
        for name in ("heads", "groups"):
            if self.width % getattr(self, name):
                raise InputError(f"unet.width {self.width} must be a multiple of unet.{name} {getattr(self, name)}")
        if not 0 <= self.cross_attention_from < len(self.multipliers):
            raise InputError(
                f"unet.cross_attention_from must be a level, 0 to {len(self.multipliers) - 1}, "
                f"got {self.cross_attention_from}"
            )


class Residual(nn.Module):
    """Two convolutions over neighbouring points, with the time step between them."""

    def __init__(self, inputs: int, outputs: int, time: int, config: UNetConfig) -> None:
        super().__init__()
        self.before = nn.Sequential(
            nn.GroupNorm(config.groups, inputs), nn.SiLU(), nn.Conv1d(inputs, outputs, 3, padding=1)
        )
        self.time = nn.Linear(time, outputs)
        self.after = nn.Sequential(
            nn.GroupNorm(config.groups, outputs),
            nn.SiLU(),
            nn.Dropout(config.dropout),
            nn.Conv1d(outputs, outputs, 3, padding=1),
        )
        self.skip = nn.Identity() if inputs == outputs else nn.Conv1d(inputs, outputs, 1)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        h = self.before(x) + self.time(F.silu(time))[..., None]  # (B, C, T)
        return self.skip(x) + self.after(h)  # (B, C, T)


class PointCrossAttention(nn.Module):
    """Points attend to the picture's tokens; both carry the code of their position."""

    def __init__(self, width: int, picture_width: int, time: int, config: UNetConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        block = BlockConfig(width=width, heads=config.heads, dropout=config.dropout)
        self.attention = CrossAttention(block, time, picture_width)

    def forward(self, x: Tensor, xy: Tensor, keys_values: tuple[Tensor, Tensor], time: Tensor) -> Tensor:
        points = x.transpose(1, 2)  # (B, T, C)
        ragged = Ragged(points, None)
        query = self.norm(points) + position_code(xy, points.shape[-1])  # (B, T, C)
        attended = self.attention(ragged.pack(query), ragged, keys_values, time, None)  # (B·T, C)
        return x + ragged.pad(attended).transpose(1, 2)  # (B, C, T)


class UNetLevel(nn.Module):
    """The residual blocks of one resolution, one way, each followed by cross-attention where the level has it."""

    def __init__(
        self, widths: list[tuple[int, int]], has_attention: bool, time: int, picture: int, config: UNetConfig
    ) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Residual(inputs, outputs, time, config) for inputs, outputs in widths)
        self.cross_attentions = nn.ModuleList(
            PointCrossAttention(outputs, picture, time, config) for _, outputs in widths if has_attention
        )


class UNet(AttendsToImage):
    """Noisy points, the time step and the picture in; a prediction per point out. Called like the `Denoiser`."""

    def __init__(self, config: UNetConfig, channels: int, picture_width: int) -> None:
        super().__init__()
        for name, width in {"unet.width": config.width, "picture.width": picture_width}.items():
            if width % 4:
                raise InputError(f"{name} must be a multiple of 4 (sines and cosines of x and y), got {width}")
        self.config = config
        widths = [config.width * factor for factor in config.multipliers]
        time, attends = 4 * config.width, [level >= config.cross_attention_from for level in range(len(widths))]
        self.time = TimeEmbedding(time)
        self.input = nn.Conv1d(channels, widths[0], 3, padding=1)
        before = [widths[0], *widths[:-1]]
        self.down = nn.ModuleList(
            UNetLevel([(a, b), *[(b, b)] * (config.blocks - 1)], has_attention, time, picture_width, config)
            for a, b, has_attention in zip(before, widths, attends, strict=True)
        )
        self.shrink = nn.ModuleList(nn.Conv1d(b, b, 3, stride=2, padding=1) for b in widths[:-1])
        self.middle = UNetLevel([(widths[-1], widths[-1])], True, time, picture_width, config)
        self.up = nn.ModuleList(
            UNetLevel([(2 * b, b)] * (config.blocks - 1) + [(2 * b, a)], has_attention, time, picture_width, config)
            for a, b, has_attention in reversed(list(zip(before, widths, attends, strict=True)))
        )
        self.grow = nn.ModuleList(nn.Conv1d(a, a, 3, padding=1) for a in reversed(before[1:]))
        self.head = nn.Sequential(
            nn.GroupNorm(config.groups, widths[0]), nn.SiLU(), nn.Conv1d(widths[0], channels, 3, padding=1)
        )

    def forward(
        self,
        z: Tensor,  # (B, T, C) noisy points, scaled to unit variance; x and y are the first two channels
        time: Tensor,  # (B,)
        context: Tensor | None = None,
        picture: EncodedImage | None = None,
        valid: Tensor | None = None,
        condition: Tensor | None = None,
        where: AttentionGeometry | None = None,
        added: Tensor | None = None,
    ) -> Tensor:
        if not all(given is None for given in (context, valid, condition, where, added)):
            raise InputError("the U-Net takes points, time and picture alone; use network: transformer for the rest")
        points = z.shape[1]
        x = z.transpose(1, 2)  # (B, C, T)
        x = F.pad(x, (0, -points % 2 ** len(self.shrink)), mode="replicate")  # (B, C, T')
        positions = [x[:, :2]]
        for _ in self.shrink:
            positions.append(F.avg_pool1d(positions[-1], 2))
        t = self.time(time)  # (B, 4W)
        keys_values_of = iter(() if picture is None else picture.keys_values)
        x, skips = self.input(x), []  # (B, W, T')
        for level, down in enumerate(self.down):
            x, outputs = self._run(down, x, t, positions[level], keys_values_of)
            skips += outputs
            if level < len(self.shrink):
                x = self.shrink[level](x)
        x, _ = self._run(self.middle, x, t, positions[-1], keys_values_of)
        for step, up in enumerate(self.up):
            x, _ = self._run(up, x, t, positions[len(positions) - 1 - step], keys_values_of, skips)
            if step < len(self.grow):
                x = self.grow[step](F.interpolate(x, scale_factor=2.0))
        return self.head(x).transpose(1, 2)[:, :points]  # (B, T, C)

    def _run(
        self,
        level: nn.Module,
        x: Tensor,
        t: Tensor,
        xy: Tensor,
        keys_values_of: object,
        skips: list[Tensor] | None = None,
    ) -> tuple[Tensor, list[Tensor]]:
        assert isinstance(level, UNetLevel)
        outputs = []
        for i, block in enumerate(level.blocks):
            x = block(x if skips is None else torch.cat([x, skips.pop()], 1), t)
            if level.cross_attentions:
                keys_values = next(keys_values_of, None)  # type: ignore[call-overload]
                if keys_values is not None:
                    x = level.cross_attentions[i](x, xy.transpose(1, 2), keys_values, t)
            outputs.append(x)
        return x, outputs

    def keys_values(self, tokens: Tensor, position: Tensor, densities: Tensor | None) -> list[tuple[Tensor, Tensor]]:
        coded = tokens + position_code(position, tokens.shape[-1])
        levels = [*self.down, self.middle, *self.up]
        modules = [one for level in levels if isinstance(level, UNetLevel) for one in level.cross_attentions]
        attentions = [one.attention for one in modules if isinstance(one, PointCrossAttention)]
        return [attention.keys_values(coded, position, densities) for attention in attentions]


def position_code(xy: Tensor, width: int) -> Tensor:
    """(..., 2) positions in token units → (..., width), half for x and half for y; the same for gaze and picture."""
    codes = [sinusoid(POSITION_SCALE * xy[..., axis], width // 2, LONGEST_POSITION) for axis in (0, 1)]
    return torch.cat(codes, dim=-1).to(xy.dtype)
