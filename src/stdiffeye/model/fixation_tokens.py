"""A fixation as a token (x, y, log duration, log gap to the next), each scaled to about unit variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from stdiffeye.gaze import Frame, Scanpath

CHANNELS = 4
POSITION_MEAN, POSITION_STD = 0.5, 0.22
DURATION_MEDIAN_MS, DURATION_LOG_STD = 230.0, 0.55
GAP_MEDIAN_MS, GAP_LOG_STD = 40.0, 0.5
SHORTEST_MS, LONGEST_MS = 4.0, 4000.0
EDGE = 0.01  # of the picture; one in a thousand human fixations is nearer to its border, and none beyond
NEIGHBOURS = 2  # fixations before a fixation, and after it, that enter its features
SCALES = (0.05, 0.2, 0.8)  # in token units: .011, .044 and .18 of the picture
NEIGHBOURHOOD = 2 * NEIGHBOURS * len(SCALES) * 3  # numbers


def position_to_token(xy: Tensor) -> Tensor:
    """[0, 1] of the picture → token units."""
    return (xy - POSITION_MEAN) / POSITION_STD


def to_tokens(xy: Tensor, duration_ms: Tensor, gap_ms: Tensor) -> tuple[Tensor, Tensor]:
    """(B, M, 4) tokens, and the mask of those numbers that are given; the others are zero."""
    tokens = torch.cat(
        [
            position_to_token(xy),
            _log_scaled(duration_ms, DURATION_MEDIAN_MS, DURATION_LOG_STD)[..., None],
            _log_scaled(gap_ms, GAP_MEDIAN_MS, GAP_LOG_STD)[..., None],
        ],
        dim=-1,
    )
    mask = ~torch.isnan(tokens)
    return torch.nan_to_num(tokens), mask


def neighbourhood(position: Tensor, valid: Tensor, alpha: Tensor, sigma: Tensor) -> Tensor:
    """(B, M, NEIGHBOURHOOD) where the fixations before and after lie, as seen from each: direction and nearness.

    Most saccades are much smaller than the picture. Differences u of the noisy positions (B, M, 2) are in units of the
    noise, or of each of SCALES where there is less noise, and bounded: u / √(1 + u²) and 1 / (1 + u²).
    """
    tokens, lags = position.shape[1], [lag for lag in range(2 * NEIGHBOURS + 1) if lag != NEIGHBOURS]
    around = F.pad(position, (0, 0, NEIGHBOURS, NEIGHBOURS))
    there = F.pad(valid, (NEIGHBOURS, NEIGHBOURS))
    other = torch.stack([around[:, lag : lag + tokens] for lag in lags], 2)  # (B, M, 2n, 2)
    both = torch.stack([there[:, lag : lag + tokens] for lag in lags], 2) & valid[..., None]  # (B, M, 2n)
    scale = (2 * (sigma[:, None] ** 2 + (alpha[:, None] * alpha.new_tensor(SCALES)) ** 2)).sqrt()  # (B, S)
    u = (other - position[:, :, None])[:, :, :, None] / scale[:, None, None, :, None]  # (B, M, 2n, S, 2)
    nearness = 1 / (1 + u.square().sum(-1, keepdim=True))
    features = torch.cat([u * nearness.sqrt(), nearness], -1) * both[..., None, None]
    return features.flatten(2).to(position.dtype)


@dataclass
class SampledScanpaths:
    """A generated batch: S scanpaths of at most M fixations."""

    length: Tensor  # (S,)
    xy: Tensor  # (S, M, 2) in [0, 1]
    duration_ms: Tensor | None = None  # (S, M)
    gap_ms: Tensor | None = None  # (S, M) to the next fixation

    def scanpaths(self, frames: Sequence[Frame]) -> list[Scanpath]:
        """As nouns in the frames of the samples; where gaps are given, onsets count from the first fixation."""
        return [self._scanpath(row, frame) for row, frame in enumerate(frames)]

    def _scanpath(self, row: int, frame: Frame) -> Scanpath:
        n = int(self.length[row])
        xy_px = frame.denormalise(_row(self.xy, row, n))
        if self.duration_ms is None:
            return Scanpath(xy_px, frame)
        duration_ms = _row(self.duration_ms, row, n)
        if self.gap_ms is None:
            return Scanpath(xy_px, frame, duration_ms)
        onset_ms = np.concatenate([[0.0], np.cumsum(duration_ms + _row(self.gap_ms, row, n))[:-1]])
        return Scanpath(xy_px, frame, duration_ms, onset_ms)


def _row(values: Tensor, row: int, length: int) -> NDArray[np.float64]:
    return values[row, :length].cpu().double().numpy()


def from_tokens(tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """xy in [0, 1] (kept inside the picture, as are the eyes around it), durations and gaps in ms."""
    xy = (tokens[..., :2] * POSITION_STD + POSITION_MEAN).clamp(EDGE, 1 - EDGE)
    duration = DURATION_MEDIAN_MS * torch.exp(tokens[..., 2] * DURATION_LOG_STD)
    gap = GAP_MEDIAN_MS * torch.exp(tokens[..., 3] * GAP_LOG_STD)
    return xy, duration.clamp(SHORTEST_MS, LONGEST_MS), gap.clamp(SHORTEST_MS, LONGEST_MS)


def _log_scaled(value_ms: Tensor, median_ms: float, std: float) -> Tensor:
    return (value_ms.clamp(SHORTEST_MS, LONGEST_MS).log() - math.log(median_ms)) / std
