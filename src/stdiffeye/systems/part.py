"""What the training loop needs of anything that it trains."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from stdiffeye.data.batches import Stimulus
from stdiffeye.data.store import Store
from stdiffeye.diffusion import SamplerName
from stdiffeye.encoders import TextEncoder
from stdiffeye.encoders.cache import FeatureCache
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory
from stdiffeye.model.picture import TEXT_WIDTH
from stdiffeye.systems.draws import ALONE, Draws, Ranks

Seeds = Sequence[Sequence[int]]
"""For each look, one seed per sample."""


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
    balance: float = 0.5
    """How stores are mixed: 1 by their pictures, 0 all alike."""


@dataclass
class Sources:
    """Where a part's data come from."""

    stores: Sequence[Store]
    features: FeatureCache | None = None
    """Pictures' features; None for parts that need no picture."""
    words: TextEncoder | None = None
    """The text encoder; None for free viewing alone."""

    def word_vector(self, task: str) -> Tensor:
        """(512,) of a task's words; zeros for free viewing."""
        if not task:
            return torch.zeros(TEXT_WIDTH)
        if self.words is None:
            raise InputError(f"the task {task!r} needs a text encoder")
        return self.words.encode(task)

    def look(self, stimulus: Stimulus, frame: Frame, seconds: float | None, flip: bool = False) -> Look:
        """A stimulus of the stores, ready to be looked at."""
        features = None
        if self.features is not None and stimulus.picture is not None:
            features = torch.from_numpy(self.features.get([stimulus.picture], flip)).float()
        return Look(features, self.word_vector(stimulus.task)[None], frame, seconds, stimulus.dataset)


@dataclass(frozen=True)
class Look:
    """What is to be looked at: a stimulus, for how long, and the frame that its gaze is wanted in."""

    features: Tensor | None  # (1, N, C) of the picture
    words: Tensor  # (1, 512) of the task
    frame: Frame
    seconds: float | None = None
    manner: str = ""
    """Data set whose manner of viewing is wanted; "" for any."""
    fill: bool = False
    """Whether the gaze must last all of `seconds`. Trials of people do not: the tracker lost some of the time."""


@dataclass(frozen=True)
class Options:
    """How gaze is drawn; None leaves the choice to the model's configuration."""

    steps: int | None = None
    sampler: SamplerName | None = None
    guidance: float | None = None
    """1 leaves the model alone; above 1 exaggerates what is due to the picture."""
    spread: bool = True
    """Viewers are spread over what people do (`diffusion.noise`, `systems.seating`), not drawn one by one."""
    cores: int = 1
    """Cores that the viewers of one picture are shared among; what is drawn does not depend on it."""

    def guidance_or(self, usual: float) -> float:
        return usual if self.guidance is None else self.guidance


AS_CONFIGURED = Options()


class Batches(Protocol):
    """A data source: the batch of a step, as this process's tensors."""

    def batch(self, step: int) -> Any: ...


@runtime_checkable
class Likelihood(Protocol):
    """A part that states how likely every place is to be looked at next."""

    def log_density(self, look: Look, history_px: ArrayLike = ()) -> NDArray[np.float64]:
        """(rows, columns) log-probability of the cells for the next fixation, given those so far."""
        ...

    def information_gain(self, look: Look, scanpaths: Sequence[Scanpath]) -> float:
        """Bits per fixation of these scanpaths that picture and history tell beyond the centre bias."""
        ...


class Part(nn.Module):
    """A network that is trained by itself: a whole system, or one half of one."""

    config: Any
    needs_pictures: bool = True
    draws_scanpaths: bool = False
    draws_trajectories: bool = False
    draws_pools: bool = False
    """Whether more viewers are drawn than are asked for, which it shares among the cores by itself."""

    def manner_number(self, dataset: str) -> int:
        """1-based number of a data set's manner of viewing; 0, any, for one that was not trained on."""
        return self.config.sets.index(dataset) + 1 if dataset in self.config.sets else 0

    @abstractmethod
    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> Batches:
        """Batches of a split of the stores, changed at random where `augment` says so."""

    @abstractmethod
    def loss(self, batch: Any, draws: Draws) -> dict[str, Tensor]:
        """The parts of the loss by name; `total` is what is minimised."""

    def scanpaths(
        self, looks: Sequence[Look], seeds: Sequence[Sequence[int]], options: Options
    ) -> list[list[Scanpath]]:
        """For each look one scanpath per seed (as many for each), where the part draws scanpaths."""
        raise TypeError(f"{type(self).__name__} draws no scanpaths")

    def trajectories(self, looks: Sequence[Look], seeds: Seeds, options: Options) -> list[list[Trajectory]]:
        """For each look one trajectory per seed, where the part draws them without a scanpath."""
        raise TypeError(f"{type(self).__name__} draws no trajectories")

    def extra_state(self) -> dict[str, Tensor]:
        """What else must survive a restart (the loss-aware step sampler)."""
        return {}

    def load_extra_state(self, state: dict[str, Tensor]) -> None:
        """Take back what `extra_state` gave."""
