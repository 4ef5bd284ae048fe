"""Learning a viewing style, and how much is gained by it on pictures that were held out.

Pictures are dealt into folds, and each fold is held out once. Where learning begins and after how many steps it ends is
chosen by the other folds: no picture has a say in what it is judged by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from stdiffeye.arrays import Floats
from stdiffeye.data.batches import NO_CHANGE, Augment
from stdiffeye.systems.base import BatchPlan, Sources
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage, StageBatch
from stdiffeye.systems.cores import on_cores
from stdiffeye.systems.scanpath_data import ScanpathTensorBatches
from stdiffeye.systems.step_random import StepRandom
from stdiffeye.training.own_style import learned_weights, with_own_style

STEPS = (0, 10, 20, 40, 80)
"""After so many the loss on held-out pictures is measured."""
STIMULI, VIEWERS = 8, 4  # of a step
AUGMENT = Augment(flip=0.0)  # a mirror image would have to be encoded first
JUDGED_VIEWERS, JUDGED_NOISES = 8, 2  # of a held-out picture
CLIP = 1.0

Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Fold:
    """What was learned without some pictures, and the loss on these after each number of `STEPS`."""

    begin: str
    names: list[str]
    weights: list[Weights]
    losses: Floats  # (S, n)


class StyleLearner:
    """Learns the style of a store, beginning with a style of a trained stage.

    Parameters
    ----------
    stage : ScanpathStage
        The trained stage.
    sources : Sources
        One store of the pictures to learn from, with their features.
    seed : int
        Of batches and noise.
    """

    def __init__(self, stage: ScanpathStage, sources: Sources, seed: int = 0) -> None:
        self.stage, self.sources, self.seed = stage, sources, seed
        (self.store,) = sources.stores
        words = self.store.words["name"]
        self.names = sorted({words[number] for number in self.store.columns["name_id"][self.store.where()]})
        self._judged = {name: self._batches_of(name) for name in self.names}

    def zero_shot(self) -> dict[str, Floats]:
        """Style of the stage → (n,) loss on each picture of `names`, with nothing learned."""
        losses = on_cores(lambda style: self._losses(self.begun(style), self.names), self.stage.config.sets)
        return dict(zip(self.stage.config.sets, losses, strict=True))

    def fold(self, begin: str, held_out: Sequence[str]) -> Fold:
        """Learn from all pictures but some, and measure the loss on these along the way."""
        stage, weights, losses = self.begun(begin), [], []
        for _ in self._steps(stage, held_out):
            weights.append({n: p.detach().clone() for n, p in stage.named_parameters() if p.requires_grad})
            losses.append(self._losses(stage, held_out))
        return Fold(begin, list(held_out), weights, np.array(losses))

    def learned(self, begin: str, steps: int) -> ScanpathStage:
        """The stage after so many steps on all pictures."""
        stage = self.begun(begin)
        for done in self._steps(stage, ()):
            if done == steps:
                break
        return stage

    def begun(self, style: str, weights: Weights | None = None) -> ScanpathStage:
        """The stage before learning, or as it was at some step of a fold."""
        stage = with_own_style(self.stage, style, self.store).eval()
        stage.load_state_dict(stage.state_dict() | (weights or {}))
        return stage

    def _steps(self, stage: ScanpathStage, held_out: Sequence[str]) -> Iterator[int]:
        """Train a stage; yields at each number of `STEPS`. Dropout stays off, since so few weights are learned."""
        optimiser = torch.optim.Adam(learned_weights(stage), betas=(0.9, 0.99))
        parameters = [parameter for parameter in stage.parameters() if parameter.requires_grad]
        sources = replace(self.sources, stores=[self.store.without(held_out)])
        batches = ScanpathTensorBatches(stage, sources, None, BatchPlan(STIMULI, VIEWERS, self.seed), AUGMENT)
        for step in range(STEPS[-1] + 1):
            if step in STEPS:
                yield step
            loss = stage.loss(StageBatch(batches.batch(step)), StepRandom(self.seed, step))["total"]
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, CLIP)
            optimiser.step()

    def _batches_of(self, name: str) -> list[StageBatch]:
        sources = replace(self.sources, stores=[self.store.without({*self.names} - {name})])
        plan = BatchPlan(1, JUDGED_VIEWERS, self.seed + 1)
        batches = ScanpathTensorBatches(self.begun(self.stage.config.sets[0]), sources, None, plan, NO_CHANGE)
        return [StageBatch(batches.batch(number)) for number in range(JUDGED_NOISES)]

    @torch.no_grad()
    def _losses(self, stage: ScanpathStage, names: Sequence[str]) -> Floats:
        """(n,) mean loss on each picture; the same noise for every stage."""

        def of(name: str) -> float:
            random = [StepRandom(self.seed + 1, number) for number in range(JUDGED_NOISES)]
            pairs = zip(self._judged[name], random, strict=True)
            return float(np.mean([float(stage.loss(batch, noise)["total"]) for batch, noise in pairs]))

        return np.array([of(name) for name in names])
