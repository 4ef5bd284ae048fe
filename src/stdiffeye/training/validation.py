"""How good a system is, on stimuli that it was not trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from stdiffeye.data.batches import Stimulus, stimuli_of
from stdiffeye.data.store import Store
from stdiffeye.diffusion import sample_seeds
from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial
from stdiffeye.metrics import evaluate
from stdiffeye.metrics.gap import GAP_METRICS
from stdiffeye.metrics.result import Estimate
from stdiffeye.metrics.tables import decidable
from stdiffeye.systems.base import BatchPlan, SamplingOptions, Sources, TrainableSystem
from stdiffeye.systems.presets import TrainConfig
from stdiffeye.systems.step_random import StepRandom

SPLIT = "validation"
LOSS_BATCHES = 4
FEWEST_STIMULI = 3  # below which a score says nothing


def validator(
    system: TrainableSystem, sources: Sources, config: TrainConfig
) -> Callable[[TrainableSystem], dict[str, float]] | None:
    """What judges a system: the gap closed by the scanpaths it generates, or its loss where it generates none.

    None when the stores have no validation split, or next to nothing in it, or `validate_stimuli` is 0.
    """
    if config.validate_stimuli == 0:
        return None
    stores = [store for store in sources.stores if SPLIT in store.words["split"]]
    if system.generates_scanpaths:
        stores = [store for store in stores if store.ordered and len(_judged_on(system, store)) >= FEWEST_STIMULI]
    if not stores:
        return None
    held_out = replace(sources, stores=stores)
    if system.generates_scanpaths:
        return lambda mean: _score_of_scanpaths(mean, held_out, config)
    try:
        batches = system.batches(held_out, SPLIT, BatchPlan(config.stimuli, config.viewers, seed=1), augment=False)
    except InputError:  # the stores that have a validation split have nothing that this system is trained on
        return None
    batch_of = [batches.batch(number) for number in range(LOSS_BATCHES)]

    @torch.no_grad()
    def loss(mean: TrainableSystem) -> dict[str, float]:
        device = next(mean.parameters()).device
        totals = [float(mean.loss(batch, StepRandom(1, n, device=device))["total"]) for n, batch in enumerate(batch_of)]
        return {"score": -float(np.mean(totals)), "loss": float(np.mean(totals))}

    return loss


@torch.no_grad()
def _score_of_scanpaths(system: TrainableSystem, sources: Sources, config: TrainConfig) -> dict[str, float]:
    """Gap closed by independent samples, fair CRPS: its mean over the stores, and each with interval and pictures.

    The mean, which chooses the weights that are kept, leaves out stores whose gap is not decidable on so few pictures.
    """
    gaps: list[Estimate] = []
    details: dict[str, float] = {}
    for number, store in enumerate(sources.stores):
        stimuli = _judged_on(system, store, number)
        chosen_at = np.linspace(0, len(stimuli) - 1, min(config.validate_stimuli, len(stimuli))).round().astype(int)
        chosen = [stimuli[i] for i in chosen_at]
        human = [store[int(trial)] for stimulus in chosen for trial in stimulus.trials]
        generated = [trial for stimulus in chosen for trial in generated_for(system, sources, stimulus, config)]
        result = evaluate(human, {"model": generated}, metrics=GAP_METRICS, protocols=("crps",), estimator="fair")
        gap = result.gap_closed["model"]["crps"]["mean"]
        gaps.append(gap)
        details |= {store.dataset: gap.value, f"{store.dataset}/low": gap.low, f"{store.dataset}/high": gap.high}
        details[f"{store.dataset}/pictures"] = float(len(result.stimuli))
    counted = [gap for gap in gaps if decidable(gap)] or gaps
    return {"score": float(np.mean([gap.value for gap in counted]))} | details


def said(scores: dict[str, float]) -> str:
    """Scores of a validation in a line: the loss, or the gap closed on each set with interval and pictures."""
    if "loss" in scores:
        return f"loss {scores['loss']:.3f}"
    sets = [key for key in scores if f"{key}/pictures" in scores]
    return "gap closed (fair CRPS) " + ", ".join(_gap_said(name, scores) for name in sets)


def _gap_said(name: str, scores: dict[str, float]) -> str:
    low, high = scores[f"{name}/low"], scores[f"{name}/high"]
    interval = f"{100 * low:z.0f} to {100 * high:z.0f}, {scores[f'{name}/pictures']:.0f} pictures"
    return f"{name} {100 * scores[name]:z.0f} % ({interval})"


def _judged_on(system: TrainableSystem, store: Store, number: int = 0) -> list[Stimulus]:
    return [s for s in stimuli_of(store, SPLIT, number) if s.picture is not None or not system.needs_pictures]


def generated_for(system: TrainableSystem, sources: Sources, stimulus: Stimulus, config: TrainConfig) -> list[Trial]:
    """Scanpaths of a stimulus of the stores, independent ones, as many as `validate_samples`."""
    first = sources.stores[stimulus.store][int(stimulus.trials[0])]
    query = sources.query(stimulus, first.frame, None if first.viewing_ms is None else first.viewing_ms / 1000)
    # With the same noise for every picture, chance would be one for all of them, and would not average out.
    seeds = sample_seeds(0, stimulus.name.encode(), stimulus.task, config.validate_samples)
    (paths,) = system.scanpaths([query], [seeds], SamplingOptions())
    return [
        Trial(stimulus.name, str(number), scanpath=path, task=stimulus.task, dataset=stimulus.dataset)
        for number, path in enumerate(paths)
    ]
