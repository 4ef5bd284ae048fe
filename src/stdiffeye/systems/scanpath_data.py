"""What the scanpath stage and the baselines are trained on: scanpaths of the stores as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from stdiffeye.data.batches import Augment, Floats32, ScanpathBatch, ScanpathBatches
from stdiffeye.errors import InputError
from stdiffeye.model.conditions import Conditions
from stdiffeye.model.fixation_tokens import to_tokens
from stdiffeye.model.image import PHASES, cell_shares, phase_of
from stdiffeye.model.tokens import token_mask
from stdiffeye.systems.base import BatchPlan, Sources


@dataclass
class PooledTensors:
    """P pictures of sets without order."""

    features: Tensor  # (P, N, C)
    number: Tensor  # (P,) of the set, among those without order
    density: Tensor  # (P, N) share of fixations in each cell


@dataclass
class StimulusTensors:
    """P pictures and what they were looked at for; gaze is added by what derives from it."""

    features: Tensor  # (P, N, C)
    text_embedding: Tensor  # (P, 512)
    style: Tensor  # (P,)
    density: Tensor  # (P, N) share of fixations in each cell

    def to(self, device: torch.device | str) -> Self:
        return type(self)(*(getattr(self, column.name).to(device) for column in fields(self)))


@dataclass
class ScanpathTensors(StimulusTensors):
    """P pictures and B = P·V scanpaths, ready for the network."""

    phase_density: Tensor  # (P, K, N) the same for each phase of viewing; zeros where there is no fixation
    tokens: Tensor  # (B, M, C)
    mask: Tensor  # (B, M, C) False where a number is not given
    conditions: Conditions


class Viewer(Protocol):
    """What `ScanpathTensorBatches` needs of its system."""

    @property
    def max_fixations(self) -> int: ...

    @property
    def cells(self) -> tuple[int, int]: ...

    def style_number(self, dataset: str) -> int: ...


class ScanpathTensorBatches:
    """Scanpath batches of the stores as tensors, with the pictures' features; `augment` changes trials at random."""

    def __init__(self, system: Viewer, sources: Sources, split: str | None, plan: BatchPlan, augment: Augment) -> None:
        if sources.features is None:
            raise InputError("this system needs pictures: give it a feature cache")
        self.source = ScanpathBatches(
            [store for store in sources.stores if store.ordered],
            split,
            plan.stimuli,
            plan.viewers,
            system.max_fixations,
            plan.seed,
            plan.dataset_exponent,
            augment=augment,
        )
        self.features, self.sources, self.plan, self.system = sources.features, sources, plan, system

    def batch(self, step: int) -> ScanpathTensors:
        x, system = self.source.batch(step, self.plan.ranks.mine), self.system
        pictures = [s.picture for s in x.stimuli if s.picture]
        features = self.features.get(pictures, x.flip.tolist(), x.colour_jitter.tolist())
        text_embedding = torch.stack([self.sources.text_embedding(s.task) for s in x.stimuli])
        style = torch.tensor([system.style_number(s.dataset) for s in x.stimuli])
        tokens, mask = self._tokens(x)
        length = torch.from_numpy(x.length)
        mask = mask & token_mask(length, tokens.shape[1])[..., None]
        density = torch.stack([torch.from_numpy(cell_shares(xy, *system.cells)) for xy in x.positions])
        phase_density = torch.stack([self._phase_shares(*one) for one in zip(x.positions, x.numbers, strict=True)])
        seconds, start, mirrored = map(torch.from_numpy, (x.seconds, x.start_s, x.flip))
        viewers = self.plan.viewers
        conditions = Conditions(
            style.repeat_interleave(viewers), seconds, start, length, mirrored.repeat_interleave(viewers)
        )
        image = torch.from_numpy(features).to(self.plan.device).float()
        of_pictures = (image, text_embedding, style, density, phase_density)
        return ScanpathTensors(*of_pictures, tokens, mask, conditions).to(self.plan.device)

    def _phase_shares(self, xy: Floats32, number: NDArray[np.int64]) -> Tensor:
        """(K, N) share of each phase's fixations in each cell."""
        phase = phase_of(torch.from_numpy(number)).numpy()
        return torch.stack(
            [torch.from_numpy(cell_shares(xy[phase == k], *self.system.cells)) for k in range(len(PHASES))]
        )

    def _tokens(self, x: ScanpathBatch) -> tuple[Tensor, Tensor]:
        """(B, M, C) numbers of the tokens, and the mask of those that are given."""
        return to_tokens(*map(torch.from_numpy, (x.xy, x.duration_ms, x.gap_ms)))


class PooledBatches:
    """Pictures of stores without order, with the density of their fixations; a pure function of (seed, step)."""

    def __init__(
        self, sources: Sources, sets: Sequence[str], cells: tuple[int, int], split: str, plan: BatchPlan
    ) -> None:
        if sources.features is None:
            raise InputError("the density of pictures is learned from their features: give it a feature cache")
        stores = [store for store in sources.stores if not store.ordered]
        self.source = ScanpathBatches(
            stores, split, plan.stimuli, 1, seed=plan.seed, dataset_exponent=plan.dataset_exponent
        )
        self.features, self.sets, self.cells, self.plan = sources.features, list(sets), cells, plan

    def batch(self, step: int) -> PooledTensors:
        chosen = self.source.choose(step, self.plan.ranks.mine)
        pictures = [c.stimulus.picture for c in chosen if c.stimulus.picture]
        features = torch.from_numpy(self.features.get(pictures, False))
        shares = [cell_shares(self.source.positions(c.stimulus, False), *self.cells) for c in chosen]
        number = torch.tensor([self.sets.index(c.stimulus.dataset) for c in chosen])
        device = self.plan.device
        density = torch.from_numpy(np.stack(shares))
        return PooledTensors(features.to(device).float(), number.to(device), density.to(device))
