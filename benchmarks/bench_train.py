"""How fast the scanpath stage trains: `python benchmarks/bench_train.py`. Ratios are within this run.

Trials per second at the preset's batch on all cores, features in memory, as `stdiffeye train` runs a step: batch to
tensors excluded, loss, gradient, clipping and optimiser included. Against the same model in float32 without shared keys
and values, one picture per trial, all cores on one batch. In brackets trials per second of the processor's time, if no
other program ran.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.optim import AdamW

from stdiffeye.model.conditions import Conditions
from stdiffeye.model.image import PHASES, TEXT_WIDTH
from stdiffeye.model.tokens import token_mask
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage, StageBatch
from stdiffeye.systems.presets import load_preset
from stdiffeye.systems.scanpath_data import ScanpathTensors
from stdiffeye.systems.step_random import StepRandom
from stdiffeye.training.arithmetic import keep_memory
from stdiffeye.training.loop import Setting, train_step

FIXATIONS = (6, 13)  # of a trial of OSIE
TURNS = 3


def main() -> None:
    keep_memory()
    config = load_preset("coarse-to-fine", ["stages.scanpath.sets=[osie, crowd, scene, figrim]"])
    torch.manual_seed(0)
    part, settings = config.build()["scanpath"], config.train["scanpath"]
    assert isinstance(part, ScanpathStage)
    stimuli = settings.stimuli * settings.accumulate
    trials = stimuli * settings.viewers
    optimiser = AdamW(part.parameter_groups(), settings.learning_rate, fused=True)
    ready = Ready([made_batch(part, settings.stimuli, settings.viewers) for _ in range(settings.accumulate)])
    alone = made_batch(part, trials, 1)
    ways = {
        "as trained": lambda: train_step(part, ready, optimiser, 0, settings, Setting(Path()), rate=1.0),
        "one picture per trial": lambda: plain_step(part, optimiser, alone),
    }
    rates = best_rates(ways, trials)
    print(f"scanpath stage, {stimuli} pictures × {settings.viewers} viewers, {torch.get_num_threads()} cores")
    for name, (clock, cpu) in rates.items():
        print(f"{name:<24}{clock:7.1f} trials/s ({cpu:.1f})")
    ours, plain = rates["as trained"], rates["one picture per trial"]
    print(f"ratio                   {ours[0] / plain[0]:7.1f}× ({ours[1] / plain[1]:.1f}×)")


@dataclass
class Ready:
    """Batches that lie in memory."""

    made: list[StageBatch]

    def batch(self, number: int) -> StageBatch:
        return self.made[number % len(self.made)]


def made_batch(part: ScanpathStage, stimuli: int, viewers: int) -> StageBatch:
    """Random trials of a usual length."""
    generator = torch.Generator().manual_seed(0)
    rows, config = stimuli * viewers, part.config
    cells = config.image.rows * config.image.columns
    length = torch.randint(*FIXATIONS, (rows,), generator=generator)
    mask = token_mask(length, part.max_fixations)[..., None].expand(-1, -1, 4)
    style, seconds = torch.ones(rows, dtype=torch.long), torch.full((rows,), 3.0)
    conditions = Conditions(style, seconds, torch.zeros(rows), length, torch.zeros(rows, dtype=torch.bool))
    scanpaths = ScanpathTensors(
        features=torch.rand(stimuli, cells, config.image.channels, generator=generator),
        text_embedding=torch.zeros(stimuli, TEXT_WIDTH),
        style=torch.ones(stimuli, dtype=torch.long),
        density=torch.rand(stimuli, cells, generator=generator).softmax(-1),
        phase_density=torch.zeros(stimuli, len(PHASES), cells),
        tokens=torch.randn(rows, part.max_fixations, 4, generator=generator),
        mask=mask,
        conditions=conditions,
    )
    return StageBatch(scanpaths)


def best_rates(ways: Mapping[str, Callable[[], object]], trials: int) -> dict[str, tuple[float, float]]:
    """Trials per second of the clock and of the processor, of the best turn; ways take turns."""
    best = {name: (float("inf"), float("inf")) for name in ways}
    for turn in range(-1, TURNS):
        for name, way in ways.items():
            clock, cpu = time.perf_counter(), time.process_time()
            way()
            spent = time.perf_counter() - clock, time.process_time() - cpu
            if turn >= 0:  # the first one warms up
                best[name] = min(best[name][0], spent[0]), min(best[name][1], spent[1])
    cores = torch.get_num_threads()
    return {name: (trials / clock, trials / cpu * cores) for name, (clock, cpu) in best.items()}


def plain_step(part: ScanpathStage, optimiser: AdamW, batch: StageBatch) -> None:
    optimiser.zero_grad(set_to_none=True)
    loss = part.loss(batch, StepRandom(0, 0))["total"]
    loss.backward()
    torch.nn.utils.clip_grad_norm_(part.parameters(), 1.0)
    optimiser.step()


if __name__ == "__main__":
    main()
