"""How much faster the coarse-to-fine form draws than the paper's: `python benchmarks/bench_generate.py`.

The paper's form needs 1000 steps over 1500 tokens for every sample. Its cost is measured on a few steps, with the
picture's keys and values already computed, and multiplied; both forms have fresh weights, which cost as much as trained
ones. They take turns, and each is judged by the CPU time of its best turn, so that other work on the machine disturbs
both alike.
"""

from __future__ import annotations

import time

import numpy as np
import torch
from torch import Tensor

from stdiffeye.gaze import Frame
from stdiffeye.systems.coarse import Coarse
from stdiffeye.systems.config import load_preset
from stdiffeye.systems.fine import Fine
from stdiffeye.systems.part import Look, Options
from stdiffeye.systems.tokens import Tokens, Trials

SAMPLES = 10
STEPS_MEASURED = 1
TURNS = 2
SECONDS = 6.25  # 1500 samples at 240 Hz
FRAME = Frame(1024, 768, 34)


def main() -> None:
    torch.set_num_threads(1)  # CPU time of several threads would count their waiting for each other
    torch.manual_seed(0)
    paper_step_s, fast_s = [], []
    paper, (coarse, fine) = paper_form(), compact_form()
    for _ in range(TURNS):
        paper_step_s.append(measure_paper_step_s(paper))
        fast_s.append(measure_compact_s(coarse, fine))
    steps = paper.config.sampling_steps
    whole_s = min(paper_step_s) * steps
    print(f"paper-freeview   {min(paper_step_s):8.2f} CPU s a step for {SAMPLES} samples of 1500 points")
    print(f"                 {whole_s:8.0f} CPU s for its {steps} steps (measured on {STEPS_MEASURED}, multiplied)")
    print(f"compact          {min(fast_s):8.2f} CPU s for {SAMPLES} samples of {SECONDS:g} s, features at hand")
    print(f"ratio            {whole_s / min(fast_s):8.0f}×")


def paper_form() -> Tokens:
    part = load_preset("paper-freeview").build()["tokens"]
    assert isinstance(part, Tokens)
    return part.eval()


def compact_form() -> tuple[Coarse, Fine]:
    parts = load_preset("compact").build()
    coarse, fine = parts["coarse"].eval(), parts["fine"].eval()
    assert isinstance(coarse, Coarse)
    assert isinstance(fine, Fine)
    return coarse, fine


@torch.inference_mode()
def measure_paper_step_s(part: Tokens, samples: int = SAMPLES, steps: int = STEPS_MEASURED) -> float:
    """Seconds of one denoising step for `samples` trajectories of one picture."""
    config = part.config
    picture = part.look(features_for(part.config.picture), torch.zeros(1, 512), torch.zeros(1, dtype=torch.long))
    z = torch.randn(samples, config.max_tokens, config.token_width)
    schedule = part.noise.sampling_schedule(config.sampling_steps)
    began = time.process_time()
    for step in range(steps):
        part.predict(z, part.noise.at(schedule, step, samples, "cpu"), Trials(picture))
    return (time.process_time() - began) / steps


def measure_compact_s(coarse: Coarse, fine: Fine, samples: int = SAMPLES) -> float:
    """Seconds of drawing `samples` scanpaths of one picture and their trajectories."""
    look = Look(features_for(coarse.config.picture), torch.zeros(1, 512), FRAME, SECONDS)
    began = time.process_time()
    (paths,) = coarse.scanpaths([look], [range(samples)], Options())
    trajectories = fine.animate(paths, range(samples))
    assert np.isfinite(trajectories[0].xy_px).all()
    return time.process_time() - began


def features_for(picture: object) -> Tensor:
    rows, columns, channels = (getattr(picture, name) for name in ("rows", "columns", "channels"))
    return torch.randn(1, rows * columns, channels)


if __name__ == "__main__":
    main()
