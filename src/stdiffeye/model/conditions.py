"""The conditions of a trial, each of them optional: viewing style, viewing time, time already passed, length."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn

from stdiffeye.model.layers import EncodedImage, batch_invariant, sinusoid

SINES = 64
MILLISECONDS = 1000.0  # sinusoids are spaced for numbers up to about 1000 × 10


@dataclass
class Conditions:
    """One row per trial; NaN, or 0 for the style and the length, where unknown."""

    style: Tensor  # (B,) 1-based number of the data set's viewing style, 0 for any
    seconds: Tensor  # (B,) viewing time
    start_s: Tensor  # (B,) viewing time before these fixations
    length: Tensor  # (B,) number of fixations, 0 when not yet sampled
    mirrored: (
        Tensor  # (B,) whether picture and gaze are mirror images (not embedded: see `DenoiserConfig.mirror_embedding`)
    )

    @classmethod
    def requested(cls, style: Tensor, seconds: Tensor, start_s: Tensor) -> Conditions:
        """Of gaze that is yet to be sampled, on pictures as they are."""
        return cls(style, seconds, start_s, torch.zeros_like(style), torch.zeros_like(style, dtype=torch.bool))

    def to(self, device: torch.device | str) -> Conditions:
        return Conditions(*(getattr(self, column.name).to(device) for column in fields(self)))

    def select(self, rows: Tensor) -> Conditions:
        """Those of some of the trials."""
        return Conditions(*(getattr(self, column.name)[rows] for column in fields(self)))

    def kinds(self) -> tuple[Tensor, Tensor]:
        """(K,) a row of each kind that differs, and (B,) which of these each row is like."""
        values = torch.stack([self.style, torch.nan_to_num(self.seconds), self.start_s, self.length], -1)
        alike = values.unique(dim=0, return_inverse=True)[1]  # (B,)
        first = {kind: row for row, kind in reversed(list(enumerate(alike.tolist())))}
        return torch.tensor([first[kind] for kind in range(len(first))], device=alike.device), alike

    def without(self, drop: Tensor) -> Conditions:
        """Style and viewing time dropped where `drop` (B, 2) says so."""
        return Conditions(
            torch.where(drop[:, 0], 0, self.style),
            torch.where(drop[:, 1], torch.nan, self.seconds),
            self.start_s,
            self.length,
            self.mirrored,
        )


class ConditionEmbedding(nn.Module):
    """Conditions → one vector of the denoiser's width, added to its time embedding."""

    def __init__(self, width: int, sets: int, max_length: int) -> None:
        super().__init__()
        self.style = nn.Embedding(sets + 1, width)
        self.length = nn.Embedding(max_length + 1, width)
        self.seconds = nn.Sequential(nn.Linear(SINES, width), nn.SiLU(), nn.Linear(width, width))
        self.start = nn.Sequential(nn.Linear(SINES, width), nn.SiLU(), nn.Linear(width, width))
        self.unknown_seconds = nn.Parameter(torch.zeros(width))
        for embedding in (self.style, self.length):
            nn.init.normal_(embedding.weight, std=0.02)

    def forward(self, conditions: Conditions) -> Tensor:
        given = ~torch.isnan(conditions.seconds)  # (B,)
        seconds = batch_invariant(
            self.seconds, sinusoid(torch.nan_to_num(conditions.seconds) * MILLISECONDS, SINES)
        )  # (B, D)
        seconds = torch.where(given[:, None], seconds, self.unknown_seconds)  # (B, D)
        start = batch_invariant(self.start, sinusoid(conditions.start_s * MILLISECONDS, SINES))  # (B, D)
        return self.style(conditions.style) + seconds + start + self.length(conditions.length)  # (B, D)


class LengthHead(nn.Sequential):
    """How many tokens there will be: logits of 1, 2, … from the pooled picture and the conditions of the trial."""

    def __init__(self, width: int, longest: int) -> None:
        super().__init__(nn.LayerNorm(3 * width), nn.Linear(3 * width, width), nn.SiLU(), nn.Linear(width, longest))

    def logits(self, picture: EncodedImage, context: Tensor) -> Tensor:
        """P pictures and the context (B, D) of their viewers, B a multiple of P → (B, longest)."""
        mean = picture.tokens.mean(1)  # (P, D)
        attended = (
            mean if picture.log_density is None else (picture.log_density.exp()[..., None] * picture.tokens).sum(1)
        )
        pooled = torch.cat([mean, attended], dim=-1)  # (P, 2D)
        viewers = len(context) // len(pooled)
        return batch_invariant(self, torch.cat([pooled.repeat_interleave(viewers, 0), context], dim=-1))
