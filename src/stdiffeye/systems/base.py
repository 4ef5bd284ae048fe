"""What the training loop needs of anything that it trains."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from stdiffeye.arrays import Floats
from stdiffeye.data.batches import Stimulus
from stdiffeye.data.store import Store
from stdiffeye.diffusion import SamplerName
from stdiffeye.encoders import TextEncoder
from stdiffeye.encoders.cache import FeatureCache
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory, extract
from stdiffeye.model.image import TEXT_WIDTH
from stdiffeye.systems.next_fixation import Histories, Shape
from stdiffeye.systems.step_random import ALONE, Ranks, StepRandom

Seeds = Sequence[Sequence[int]]
"""For each query, one seed per sample."""


@dataclass(frozen=True)
class BatchPlan:
    """How much one step sees."""

    stimuli: int
    """Pictures per step (all processes together); stages without pictures multiply it by `viewers`."""
    viewers: int
    """Trials per picture."""
    seed: int = 0
    ranks: Ranks = ALONE
    device: torch.device | str = "cpu"
    dataset_exponent: float = 0.5
    """How stores are mixed: 1 by their pictures, 0 all alike."""


@dataclass
class Sources:
    """Where a stage's data come from."""

    stores: Sequence[Store]
    features: FeatureCache | None = None
    """Pictures' features; None for stages that need no picture."""
    text_encoder: TextEncoder | None = None
    """None for free viewing alone."""

    def text_embedding(self, task: str) -> Tensor:
        """(512,) of a task's words; zeros for free viewing."""
        if not task:
            return torch.zeros(TEXT_WIDTH)
        if self.text_encoder is None:
            raise InputError(f"the task {task!r} needs a text encoder")
        return self.text_encoder.encode(task)

    def query(self, stimulus: Stimulus, frame: Frame, seconds: float | None, flip: bool = False) -> Query:
        """A stimulus of the stores, as a query."""
        features = None
        if self.features is not None and stimulus.picture is not None:
            features = torch.from_numpy(self.features.get([stimulus.picture], flip)).float()
        return Query(features, self.text_embedding(stimulus.task)[None], frame, seconds, stimulus.dataset)


@dataclass(frozen=True)
class Query:
    """What gaze is requested for: a stimulus, the viewing time, and the frame of the gaze."""

    features: Tensor | None  # (1, N, C) of the picture
    text_embedding: Tensor  # (1, 512) of the task
    frame: Frame
    seconds: float | None = None
    style: str = ""
    """Data set whose viewing style is wanted; "" for any."""
    fill: bool = False
    """Whether the gaze must last all of `seconds`. Human trials do not: the tracker lost some of the time."""


def features_of(query: Query) -> Tensor:
    """(1, N, C) features of the query's picture."""
    if query.features is None:
        raise InputError("this model needs a picture: the stimulus has none")
    return query.features


@dataclass(frozen=True)
class SamplingOptions:
    """How gaze is sampled; None leaves the choice to the model's configuration."""

    steps: int | None = None
    sampler: SamplerName | None = None
    guidance: float | None = None
    """1 leaves the model alone; above 1 exaggerates what is due to the picture, below 1 moderates it."""
    representative: bool = False
    """Samples are stratified (`diffusion.noise`) and chosen to cover what people do (`representatives`)."""
    precision_deg: float | None = None
    """Tracker's precision in degrees (root mean square from sample to sample), where trajectories are generated."""
    cores: int = 1
    """Cores that the viewers of one picture are shared among; the samples do not depend on it."""

    def guidance_or(self, usual: float) -> float:
        return usual if self.guidance is None else self.guidance


AS_CONFIGURED = SamplingOptions()


@dataclass(frozen=True, eq=False, repr=False)
class Generated(Trajectory):
    """A generated trajectory with the scanpath that it was animated from, where there is one."""

    animated_from: Scanpath | None = None

    @property
    def scanpath(self) -> Scanpath:
        """Its fixations: those it was animated from, else those that Judd's rule finds in its samples.

        `stdiffeye.gaze.extract(trajectory, method)` finds them in the samples by any method.
        """
        return extract(self) if self.animated_from is None else self.animated_from

    @classmethod
    def of(cls, trajectory: Trajectory, path: Scanpath | None) -> Generated:
        """A trajectory, and the scanpath that it was animated from."""
        return cls(trajectory.xy_px, trajectory.rate_hz, trajectory.frame, synthesised=True, animated_from=path)


class Batches(Protocol):
    """A data source: the batch of a step, as this process's tensors."""

    def batch(self, step: int) -> Any: ...


@runtime_checkable
class Likelihood(Protocol):
    """A stage that states how likely every position is to be fixated next."""

    def log_densities(self, query: Query, histories: Histories, shape: Shape) -> Floats:
        """For each history (None: no fixation yet) the log-probability of the cells of a grid for the next fixation.

        (histories, rows, columns); the probabilities of each history sum to 1. Histories are in the query's frame.
        """
        ...


class TrainableSystem(nn.Module):
    """A network that is trained by itself: a whole system, or one stage of one."""

    config: Any
    needs_pictures: bool = True
    needs_order: bool = True
    """Whether it learns the order of fixations; otherwise stores that have none serve as well."""
    learns_density: bool = False
    """Whether it also learns from stores without order where people look; its configuration names their sets."""
    generates_scanpaths: bool = False
    generates_trajectories: bool = False
    generates_both: bool = False
    """Whether it samples a scanpath and its trajectory together; else the scanpath of a trajectory is extracted."""
    begins_as: str = ""
    """Stage of other systems whose weights it may begin with (`grown_from`), where they have none of its own name."""
    shares_samples_among_cores: bool = False
    """Whether it samples more viewers than are requested, and shares them among the cores by itself."""

    def style_number(self, dataset: str) -> int:
        """1-based number of a data set's viewing style; 0, any, for one that was not trained on."""
        return self.config.sets.index(dataset) + 1 if dataset in self.config.sets else 0

    def parameter_groups(self) -> list[dict[str, Any]]:
        """The weights in the order of `parameters()`; `rate` is a group's multiple of the learning rate."""
        return [{"params": list(self.parameters()), "rate": 1.0}]

    def grown_from(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Weights of a smaller system of this kind, in the shapes of this one where these are known."""
        return weights

    @abstractmethod
    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> Batches:
        """Batches of a split of the stores, changed at random where `augment` says so."""

    @abstractmethod
    def loss(self, batch: Any, random: StepRandom) -> dict[str, Tensor]:
        """The terms of the loss by name; `total` is what is minimised."""

    def scanpaths(
        self, queries: Sequence[Query], seeds: Sequence[Sequence[int]], options: SamplingOptions
    ) -> list[list[Scanpath]]:
        """For each query one scanpath per seed (as many for each), where the stage samples scanpaths."""
        raise TypeError(f"{type(self).__name__} samples no scanpaths")

    def trajectories(self, queries: Sequence[Query], seeds: Seeds, options: SamplingOptions) -> list[list[Trajectory]]:
        """For each query one trajectory per seed, where the stage samples them without a scanpath."""
        raise TypeError(f"{type(self).__name__} samples no trajectories")

    def picture_density(self, query: Query) -> Floats | None:
        """(rows, columns) density of all fixations on the picture, of any order; None where it has not learned one."""
        return None

    def extra_state(self) -> dict[str, Tensor]:
        """What else must survive a restart (the loss-aware step sampler)."""
        return {}

    def load_extra_state(self, state: dict[str, Tensor]) -> None:
        """Take back what `extra_state` gave."""
