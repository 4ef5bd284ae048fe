"""How fast gaze is generated: `python benchmarks/bench_generate.py`. Ratios are within this run.

* ten trajectories of 6.25 s (1500 points) of one picture with `compact`, picture to scanpaths, model loaded; against
  preset `paper-freeview` with 1000 DDPM steps, whose cost is measured on a few steps of ten samples and multiplied;
* pictures per second for scanpaths alone, ten viewers each, a folder of pictures;
* peak memory of a process that generates 100 samples.

With the shipped model where there is one, else with random weights (the work is the same, but looks may be drawn in
more pieces). Seconds are those of the clock, and in brackets those of the processor, all cores together: where other
programs are running, only the latter say how fast it is.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from PIL import Image

from stdiffeye.gaze import Frame
from stdiffeye.generation import Model, load, models
from stdiffeye.generation.request import Request
from stdiffeye.systems.base import Query, SamplingOptions
from stdiffeye.systems.presets import load_preset
from stdiffeye.systems.st_diffeye.model import STDiffEye

SAMPLES, SECONDS = 10, 6.25
PAPER_STEPS, MEASURED_STEPS = 1000, 2
FOLDER = 16
TURNS = 3
WEIGHT_SIZE = 0.02


@dataclass(frozen=True)
class Cost:
    clock_s: float
    cpu_s: float

    def __str__(self) -> str:
        return f"{self.clock_s:.2f} s ({self.cpu_s:.2f})"


def main() -> None:
    if "--peak" in sys.argv:
        peak()
        return
    model = ready_model()
    print(f"{model}, {torch.get_num_threads()} cores")
    ten = measure(lambda: model.generate(photograph(0), samples=SAMPLES, seconds=SECONDS), TURNS)
    steps = f"{model.first.config.sampling_steps} + {model.fine.config.sampling_steps} steps"
    print(f"ten trajectories of {SECONDS} s   {ten}   {steps}")
    paper = paper_cost()
    print(f"the same, paper-freeview     {paper}   {PAPER_STEPS} steps, from {MEASURED_STEPS}")
    print(f"  ratio                      {paper.clock_s / ten.clock_s:.0f}× ({paper.cpu_s / ten.cpu_s:.0f}×)")
    pictures = [photograph(number) for number in range(FOLDER)]
    request = Request(samples=SAMPLES)
    folder = measure(lambda: list(model.scanpaths_of_many(pictures, request)), 2)
    per_cpu = FOLDER / (folder.cpu_s / torch.get_num_threads())
    print(
        f"scanpaths of a folder        {FOLDER / folder.clock_s:.1f} pictures/s ({per_cpu:.1f}), {SAMPLES} viewers each"
    )
    done = subprocess.run([sys.executable, __file__, "--peak"], capture_output=True, text=True, check=True)
    print(f"peak memory, 100 samples     {done.stdout.strip()}")


def ready_model() -> Model:
    """The shipped model, or `compact` with random weights."""
    if any(model.name == "freeview" for model in models()):
        return load("freeview")
    config = load_preset("coarse-to-fine")
    parts, generator = config.build(), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for part in parts.values():
            part.eval().requires_grad_(False)
            for parameter in part.parameters():
                parameter.add_(WEIGHT_SIZE * torch.randn(parameter.shape, generator=generator))
    return Model(config, parts, "random weights")


def photograph(seed: int, size: tuple[int, int] = (800, 600)) -> Image.Image:
    blocks = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(blocks).resize(size, Image.Resampling.BICUBIC)


def measure(work: Callable[[], object], turns: int) -> Cost:
    """The best of some turns, after one that warms up."""
    work()
    costs = []
    for _ in range(turns):
        clock, cpu = time.perf_counter(), time.process_time()
        work()
        costs.append(Cost(time.perf_counter() - clock, time.process_time() - cpu))
    return Cost(min(cost.clock_s for cost in costs), min(cost.cpu_s for cost in costs))


def paper_cost() -> Cost:
    """Of ten samples by the paper's form: random weights, features of the right size."""
    config = load_preset("paper-freeview").stages["gaze"]
    part = STDiffEye(config).eval().requires_grad_(False)
    picture = config.image
    features = torch.randn(1, picture.rows * picture.columns, picture.channels)
    look = Query(features, torch.zeros(1, 512), Frame(1680, 1050), SECONDS)
    ends: list[tuple[float, float]] = []
    part.generate(
        look,
        list(range(SAMPLES)),
        SamplingOptions(steps=MEASURED_STEPS + 1, sampler="ddpm"),
        callback=lambda *_: ends.append((time.perf_counter(), time.process_time())),
    )
    clock, cpu = np.diff(np.array(ends), axis=0)[:MEASURED_STEPS].min(axis=0) * PAPER_STEPS
    return Cost(float(clock), float(cpu))


def peak() -> None:
    """In a process of its own: 100 trajectories of one picture."""
    model = ready_model()
    gaze = model.generate(photograph(0), samples=100, seconds=SECONDS)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{gigabytes:.2f} GB for {len(gaze)} trajectories")


if __name__ == "__main__":
    main()
