"""Hashes of what the shipped models generate on five drawn pictures; run this file to write them again.

Only new weights or a new sampler are a reason to write them again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw

import stdiffeye

FROZEN = Path(__file__).with_suffix(".json")
MODELS = {"freeview": "", "search": "clock", "joint": ""}
SAMPLES = 3


def pictures() -> Iterator[Image.Image]:
    """Five pictures of three shapes: discs, boxes and stripes at random places."""
    for number, size in enumerate([(640, 480), (800, 600), (480, 640), (512, 512), (1024, 640)]):
        rng = np.random.default_rng(number)
        picture = Image.new("RGB", size, tuple(rng.integers(256, size=3).tolist()))
        draw = ImageDraw.Draw(picture)
        for _ in range(12):
            colour = tuple(rng.integers(256, size=3).tolist())
            left, top = rng.integers(0, np.array(size) - 40).tolist()
            box = (left, top, left + int(rng.integers(10, 200)), top + int(rng.integers(10, 200)))
            (draw.ellipse if rng.random() < 0.5 else draw.rectangle)(box, fill=colour)
        yield picture


def hashes(name: str, task: str, independent: bool) -> list[str]:
    """One per picture, over places, durations and samples of all viewers."""
    torch.set_num_threads(1)
    model, found = stdiffeye.load(name), []
    for picture in pictures():
        digest = hashlib.blake2b(digest_size=8)
        for gaze in model.generate(picture, task=task, samples=SAMPLES, seconds=2.0, representative=not independent):
            path = gaze.scanpath
            for values in (path.xy_px, path.duration_ms, gaze.xy_px):
                digest.update(np.ascontiguousarray(values, dtype=np.float64).tobytes())
        found.append(digest.hexdigest())
    return found


def processor() -> str:
    """What the last bits of a product depend on."""
    return f"{torch.__version__} {torch.backends.cpu.get_cpu_capability()}"


if __name__ == "__main__":
    gaze = {
        f"{name} {'independent' if independent else 'representative'}": hashes(name, task, independent)
        for name, task in MODELS.items()
        for independent in (True, False)
    }
    FROZEN.write_text(json.dumps({"processor": processor(), "gaze": gaze}, indent=1) + "\n", encoding="utf-8")
