"""How good a part is, on stimuli that it was not trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from stdiffeye.data.batches import Stimulus, stimuli_of
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial
from stdiffeye.metrics import Referee
from stdiffeye.systems.config import TrainConfig
from stdiffeye.systems.draws import Draws
from stdiffeye.systems.part import BatchPlan, Options, Part, Sources

SPLIT = "validation"
LOSS_BATCHES = 4
FEWEST_STIMULI = 3  # below which a score says nothing


def validator(part: Part, sources: Sources, config: TrainConfig) -> Callable[[Part], dict[str, float]] | None:
    """What judges a part: the gap closed by the scanpaths it generates, or its loss where it generates none.

    None when the stores have no validation split, or next to nothing in it.
    """
    stores = [store for store in sources.stores if SPLIT in store.words["split"]]
    if part.draws_scanpaths:
        stores = [store for store in stores if len(_judged_on(part, store)) >= FEWEST_STIMULI]
    if not stores:
        return None
    held_out = replace(sources, stores=stores)
    if part.draws_scanpaths:
        return lambda mean: _score_of_scanpaths(mean, held_out, config)
    try:
        batches = part.batches(held_out, SPLIT, BatchPlan(config.stimuli, config.viewers, seed=1), augment=False)
    except InputError:  # the stores that have a validation split have nothing that this part is trained on
        return None
    batch_of = [batches.batch(number) for number in range(LOSS_BATCHES)]

    @torch.no_grad()
    def loss(mean: Part) -> dict[str, float]:
        device = next(mean.parameters()).device
        totals = [float(mean.loss(batch, Draws(1, n, device=device))["total"]) for n, batch in enumerate(batch_of)]
        return {"score": -float(np.mean(totals)), "loss": float(np.mean(totals))}

    return loss


@torch.no_grad()
def _score_of_scanpaths(part: Part, sources: Sources, config: TrainConfig) -> dict[str, float]:
    """Mean gap closed over the stores (1 is as close to people as people are), and that of each."""
    scores = {}
    for number, store in enumerate(sources.stores):
        stimuli = _judged_on(part, store, number)
        spread = np.linspace(0, len(stimuli) - 1, min(config.validate_stimuli, len(stimuli))).round().astype(int)
        chosen = [stimuli[i] for i in spread]
        human = [store[int(trial)] for stimulus in chosen for trial in stimulus.trials]
        generated = [trial for stimulus in chosen for trial in generated_for(part, sources, stimulus, config)]
        scores[store.dataset] = Referee(human).gap_closed(generated)["mean"]
    return {"score": float(np.mean(list(scores.values())))} | scores


def _judged_on(part: Part, store: Store, number: int = 0) -> list[Stimulus]:
    return [s for s in stimuli_of(store, SPLIT, number) if s.picture is not None or not part.needs_pictures]


def generated_for(part: Part, sources: Sources, stimulus: Stimulus, config: TrainConfig) -> list[Trial]:
    """Scanpaths of a stimulus of the stores, as many as `validate_samples`, one by one: what the part knows counts."""
    first = sources.stores[stimulus.store][int(stimulus.trials[0])]
    look = sources.look(stimulus, first.frame, None if first.viewing_ms is None else first.viewing_ms / 1000)
    (paths,) = part.scanpaths([look], [range(config.validate_samples)], Options(spread=False))
    return [
        Trial(stimulus.name, str(number), scanpath=path, task=stimulus.task, dataset=stimulus.dataset)
        for number, path in enumerate(paths)
    ]
