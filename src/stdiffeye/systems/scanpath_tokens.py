"""A fixation as a token (x, y, log duration, log gap to the next), each scaled to about unit variance."""

from __future__ import annotations

import math

import torch
from torch import Tensor

CHANNELS = 4
PLACE_MEAN, PLACE_SPREAD = 0.5, 0.22
DURATION_MEDIAN_MS, DURATION_LOG_SPREAD = 230.0, 0.55
GAP_MEDIAN_MS, GAP_LOG_SPREAD = 40.0, 0.5
SHORTEST_MS, LONGEST_MS = 4.0, 4000.0


def place_to_token(xy: Tensor) -> Tensor:
    """[0, 1] of the picture → token units."""
    return (xy - PLACE_MEAN) / PLACE_SPREAD


def to_tokens(xy: Tensor, duration_ms: Tensor, gap_ms: Tensor) -> tuple[Tensor, Tensor]:
    """(B, M, 4) tokens, and which of their numbers are known; unknown ones are zero."""
    tokens = torch.cat(
        [
            place_to_token(xy),
            _log_scaled(duration_ms, DURATION_MEDIAN_MS, DURATION_LOG_SPREAD)[..., None],
            _log_scaled(gap_ms, GAP_MEDIAN_MS, GAP_LOG_SPREAD)[..., None],
        ],
        dim=-1,
    )
    known = ~torch.isnan(tokens)
    return torch.nan_to_num(tokens), known


def from_tokens(tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """xy in [0, 1] (kept inside the picture), durations and gaps in ms."""
    xy = (tokens[..., :2] * PLACE_SPREAD + PLACE_MEAN).clamp(0, 1)
    duration = DURATION_MEDIAN_MS * torch.exp(tokens[..., 2] * DURATION_LOG_SPREAD)
    gap = GAP_MEDIAN_MS * torch.exp(tokens[..., 3] * GAP_LOG_SPREAD)
    return xy, duration.clamp(SHORTEST_MS, LONGEST_MS), gap.clamp(SHORTEST_MS, LONGEST_MS)


def _log_scaled(value_ms: Tensor, median_ms: float, spread: float) -> Tensor:
    return (value_ms.clamp(SHORTEST_MS, LONGEST_MS).log() - math.log(median_ms)) / spread
