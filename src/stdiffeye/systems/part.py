"""What the training loop needs of anything that it trains."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from stdiffeye.data.store import Store
from stdiffeye.encoders.cache import FeatureCache
from stdiffeye.systems.draws import ALONE, Draws, Ranks


@dataclass(frozen=True)
class BatchPlan:
    """How much one step sees."""

    stimuli: int
    """Pictures per step (all processes together); parts without pictures multiply it by `viewers`."""
    viewers: int
    """Trials per picture."""
    seed: int = 0
    ranks: Ranks = ALONE
    device: torch.device | str = "cpu"


@dataclass
class Sources:
    """Where a part's data come from."""

    stores: Sequence[Store]
    features: FeatureCache | None = None
    """Pictures' features; None for parts that need no picture."""
    words: Any = None
    """The text encoder; None for free viewing alone."""


class Batches(Protocol):
    """A data source: the batch of a step, as this process's tensors."""

    def batch(self, step: int) -> Any: ...


class Part(nn.Module):
    """A network that is trained by itself: a whole system, or one half of one."""

    needs_pictures: bool = True

    @abstractmethod
    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> Batches:
        """Batches of a split of the stores, changed at random where `augment` says so."""

    @abstractmethod
    def loss(self, batch: Any, draws: Draws) -> dict[str, Tensor]:
        """The parts of the loss by name; `total` is what is minimised."""

    def extra_state(self) -> dict[str, Tensor]:
        """What else must survive a restart (the loss-aware step sampler)."""
        return {}

    def load_extra_state(self, state: dict[str, Tensor]) -> None:
        """Take back what `extra_state` gave."""
