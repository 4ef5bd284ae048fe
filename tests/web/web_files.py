"""What the tests of the page share: a tiny model's configuration, and files of people's gaze."""

from __future__ import annotations

import json
from typing import Any

TINY = (
    "stages.scanpath.sets=[osie, doves]",
    "stages.scanpath.image.width=32",
    "stages.scanpath.denoiser.width=32",
    "stages.scanpath.denoiser.depth=2",
    "stages.scanpath.denoiser.heads=2",
    "stages.scanpath.denoiser.feedforward=64",
    "stages.scanpath.sampling_steps=4",
    "stages.trajectory.denoiser.width=32",
    "stages.trajectory.denoiser.depth=1",
    "stages.trajectory.denoiser.heads=2",
    "stages.trajectory.denoiser.feedforward=64",
    "stages.trajectory.sampling_steps=2",
)


def people(name: str = "street.jpg", viewers: int = 2, durations: bool = True, **frame: int) -> list[dict[str, Any]]:
    """Viewers of a picture as rows of a JSON file; 240×160 px unless said otherwise."""
    size = {"width": 240, "height": 160} | frame
    rows = []
    for k in range(viewers):
        x = [size["width"] * share for share in (0.5, 0.2 + 0.01 * k, 0.8, 0.6)]
        y = [size["height"] * share for share in (0.5, 0.3, 0.35 + 0.01 * k, 0.7)]
        row: dict[str, Any] = {"name": name, "subject": k, **size, "X": x, "Y": y}
        rows.append(row | ({"T": [300, 400, 330 + k, 360]} if durations else {}))
    return rows


def as_json(rows: list[dict[str, Any]]) -> bytes:
    return json.dumps(rows).encode()
