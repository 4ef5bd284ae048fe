"""How long the density of the next fixation takes: `python benchmarks/bench_likelihood.py`. Ratios are within this run.

The shipped model, a picture of 1024×768 px and a history of four fixations, model loaded; against the same by 64
samples in 50 steps, the plain way to ask a diffusion model. Seconds are those of the clock, and in brackets those of
the processor, all cores together: where other programs are running, only the latter say how fast it is.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.generation import Model, load
from stdiffeye.web.sample_pictures import sample_picture

TURNS = 3
PLAIN = {"samples": 64, "steps": 50}


def seconds(model: Model, history: Scanpath | None) -> tuple[float, float]:
    """The fastest of a few turns, by the clock and by the processor."""
    picture = sample_picture("street.png").resize((1024, 768))
    turns = []
    for _ in range(TURNS):
        clock, cpu = time.perf_counter(), time.process_time()
        density = model.log_density(picture, history)
        turns.append((time.perf_counter() - clock, time.process_time() - cpu))
        assert abs(np.exp(density).sum() - 1) < 1e-6
    return min(turns)


def main() -> None:
    history = Scanpath([[512, 384], [300, 200], [640, 90], [100, 500]], Frame(1024, 768), [250.0, 200.0, 300.0, 220.0])
    model = load("freeview")
    config = model.first.config
    ours = seconds(model, history)
    print(f"picture and four fixations → density: {ours[0]:.2f} s ({ours[1]:.2f} s of the processor)")
    model.first.config = replace(config, next_fixation=replace(config.next_fixation, **PLAIN))
    plain = seconds(model, history)
    print(f"by {PLAIN['samples']} samples in {PLAIN['steps']} steps: {plain[0]:.2f} s ({plain[1]:.2f} s)")
    print(f"ratio {plain[1] / ours[1]:.1f}")


if __name__ == "__main__":
    main()
