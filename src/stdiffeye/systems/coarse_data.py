"""What the coarse half, and peers that draw scanpaths, are trained on: scanpaths of the stores as tensors."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from stdiffeye.data.batches import Augment, ScanpathBatches
from stdiffeye.errors import InputError
from stdiffeye.model.conditions import Conditions
from stdiffeye.systems.part import BatchPlan, Sources
from stdiffeye.systems.scanpath_tokens import to_tokens


@dataclass
class ScanpathTensors:
    """P pictures and B = P·V scanpaths, ready for the network."""

    features: Tensor  # (P, N, C)
    words: Tensor  # (P, 512)
    manner: Tensor  # (P,)
    density: Tensor  # (P, N) share of fixations in each cell
    tokens: Tensor  # (B, M, 4)
    known: Tensor  # (B, M, 4)
    conditions: Conditions

    def to(self, device: torch.device | str) -> ScanpathTensors:
        return ScanpathTensors(*(getattr(self, part.name).to(device) for part in fields(self)))


class Viewer(Protocol):
    """What `CoarseBatches` asks of the part that it feeds."""

    @property
    def max_fixations(self) -> int: ...

    @property
    def cells(self) -> tuple[int, int]: ...

    def manner_number(self, dataset: str) -> int: ...


class CoarseBatches:
    """Scanpath batches of the stores as tensors, with the pictures' features; `augment` changes trials at random."""

    def __init__(self, part: Viewer, sources: Sources, split: str, plan: BatchPlan, augment: Augment) -> None:
        if sources.features is None:
            raise InputError("this part looks at pictures: give it a feature cache")
        self.source = ScanpathBatches(
            sources.stores,
            split,
            plan.stimuli,
            plan.viewers,
            part.max_fixations,
            plan.seed,
            plan.balance,
            augment=augment,
        )
        self.features, self.sources, self.plan, self.part = sources.features, sources, plan, part

    def batch(self, step: int) -> ScanpathTensors:
        x, part = self.source.batch(step, self.plan.ranks.mine), self.part
        pictures = [s.picture for s in x.stimuli if s.picture]
        features = self.features.get(pictures, x.flip.tolist(), x.light.tolist())
        words = torch.stack([self.sources.word_vector(s.task) for s in x.stimuli])
        manner = torch.tensor([part.manner_number(s.dataset) for s in x.stimuli])
        tokens, known = to_tokens(*map(torch.from_numpy, (x.xy, x.duration_ms, x.gap_ms)))
        length = torch.from_numpy(x.length)
        known = known & token_mask(length, tokens.shape[1])[..., None]
        density = torch.stack([torch.from_numpy(cell_shares(places, *part.cells)) for places in x.places])
        seconds, start, mirrored = map(torch.from_numpy, (x.seconds, x.start_s, x.flip))
        viewers = self.plan.viewers
        conditions = Conditions(
            manner.repeat_interleave(viewers), seconds, start, length, mirrored.repeat_interleave(viewers)
        )
        image = torch.from_numpy(features).to(self.plan.device).float()
        return ScanpathTensors(image, words, manner, density, tokens, known, conditions).to(self.plan.device)


def token_mask(length: Tensor, tokens: int) -> Tensor:
    """(B, tokens) True on the first `length` of each row."""
    return torch.arange(tokens, device=length.device) < length[:, None]


def cell_shares(xy: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """(rows·columns,) share of the points (n, 2) in [0, 1] at each cell; a point is spread over its four nearest."""
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
