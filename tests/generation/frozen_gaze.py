"""What the shipped models generate on five drawn pictures; run this file to write it again.

Only new weights or a new sampler are a reason to write it again. Hashes are of the bytes, which processors of another
make differ in; fixations are the same everywhere, but for rounding.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw

import stdiffeye
from stdiffeye.systems.base import Generated

FROZEN = Path(__file__).with_suffix(".json")
MODELS = {"freeview": "", "search": "clock", "joint": ""}
KINDS = ("independent", "representative")
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


@cache
def generated(name: str, kind: str) -> list[list[Generated]]:
    """Samples of a model for each of the pictures."""
    torch.set_num_threads(1)
    model, fields = stdiffeye.load(name), {"task": MODELS[name], "samples": SAMPLES, "seconds": 2.0}
    return [list(model.generate(picture, representative=kind == KINDS[1], **fields)) for picture in pictures()]


def hashes(name: str, kind: str) -> list[str]:
    """One per picture, over positions, durations and samples of all viewers."""
    found = []
    for gaze in generated(name, kind):
        digest = hashlib.blake2b(digest_size=8)
        for one in gaze:
            for values in (one.scanpath.xy_px, one.scanpath.duration_ms, one.xy_px):
                digest.update(np.ascontiguousarray(values, dtype=np.float64).tobytes())
        found.append(digest.hexdigest())
    return found


def fixations(name: str, kind: str) -> list[list[list[float]]]:
    """x, y in px and the duration in ms of the fixations of each sample, one after the other."""
    paths = [one.scanpath for gaze in generated(name, kind) for one in gaze]
    return [np.column_stack([path.xy_px, path.duration_ms]).round(1).tolist() for path in paths]


def processor() -> str:
    """What the last bits of a product depend on."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    facts = dict(tuple(part.strip() for part in line.split(":", 1)) for line in reversed(lines) if ":" in line)
    kind = [facts.get(key, "") for key in ("vendor_id", "cpu family", "model")]
    return " ".join([torch.__version__, torch.backends.cpu.get_cpu_capability(), platform.machine(), *kind])


if __name__ == "__main__":
    every = [(name, kind) for name in MODELS for kind in KINDS]
    values = {
        "processor": processor(),
        "gaze": {f"{name} {kind}": hashes(name, kind) for name, kind in every},
        "fixations": {f"{name} {kind}": fixations(name, kind) for name, kind in every},
    }
    FROZEN.write_text(json.dumps(values) + "\n", encoding="utf-8")
