"""A world that a tiny model can learn: pictures with one bright blob, and viewers who look at it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from stdiffeye.gaze import Frame, Scanpath, lift

WIDTH_PX, HEIGHT_PX = 160, 120
RATE_HZ, PX_PER_DEGREE = 200, 60
RECORDING = Frame(1024, 768, PX_PER_DEGREE)

TINY = (
    "stages.scanpath.image.width=32",
    "stages.scanpath.denoiser.width=32",
    "stages.scanpath.denoiser.depth=2",
    "stages.scanpath.denoiser.heads=2",
    "stages.scanpath.denoiser.feedforward=64",
    "stages.scanpath.sampling_steps=8",
    "stages.trajectory.denoiser.width=32",
    "stages.trajectory.denoiser.depth=1",
    "stages.trajectory.denoiser.heads=2",
    "stages.trajectory.denoiser.feedforward=64",
    "stages.trajectory.sampling_steps=4",
    "stages.trajectory.crop_s=1.0",
    "train.scanpath.stimuli=4",
    "train.scanpath.viewers=4",
    "train.scanpath.warm_up=5",
    "train.scanpath.ema=0.9",
    "train.trajectory.stimuli=4",
    "train.trajectory.warm_up=5",
)
"""Changes that make of `compact` a network of some ten thousand weights."""


@dataclass(frozen=True)
class World:
    """Where the made sets, their stores and the pictures' features are."""

    scanpaths: Path
    recordings: Path
    cache: Path

    @property
    def stores(self) -> list[Path]:
        return [self.scanpaths, self.recordings]


def blob(number: int) -> np.ndarray:
    """(2,) where the blob of a picture is, in [0, 1]."""
    return np.random.default_rng([7, number]).uniform(0.2, 0.8, 2)


def draw_picture(path: Path, number: int) -> Path:
    """A dark picture with a bright blob."""
    y, x = np.mgrid[:HEIGHT_PX, :WIDTH_PX] / [[[HEIGHT_PX]], [[WIDTH_PX]]]
    centre = blob(number)
    light = np.exp(-((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / (2 * 0.06**2))
    pixels = (30 + 225 * light[..., None] * [1.0, 0.9, 0.4]).astype(np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return path


def split_of(number: int) -> str:
    return "validation" if number % 4 == 2 else "test" if number % 4 == 3 else "train"


def looked_at(number: int, rng: np.random.Generator, fixations: int) -> np.ndarray:
    """(n, 2) in [0, 1]: the middle first, then around the blob."""
    xy = blob(number) + rng.normal(0, 0.03, (fixations, 2))
    xy[0] = 0.5
    return xy


def make_scanpath_set(folder: Path, pictures: int = 16, viewers: int = 6) -> Path:
    """In the layout of OSIE."""
    rng, rows = np.random.default_rng(1), []
    for number in range(pictures):
        name = f"{number:03d}.jpg"
        draw_picture(folder / "images" / name, number)
        for viewer in range(viewers):
            n = int(rng.integers(5, 8))
            xy = looked_at(number, rng, n) * [WIDTH_PX, HEIGHT_PX]
            row: dict[str, Any] = {"name": name, "subject": viewer, "width": WIDTH_PX, "height": HEIGHT_PX}
            row |= {"X": xy[:, 0].round(1).tolist(), "Y": xy[:, 1].round(1).tolist()}
            row |= {"T": rng.integers(180, 400, n).tolist(), "split": split_of(number)}
            rows.append(row)
    (folder / "osie_fixations.json").write_text(json.dumps(rows))
    return folder


def make_recording_set(folder: Path, trials: int = 24) -> Path:
    """In the layout of DOVES: lifted scanpaths with drift and noise, in a file that says nothing of that."""
    rng, gaze = np.random.default_rng(2), []
    for _ in range(trials):
        xy = rng.uniform([200, 150], [820, 620], (8, 2))
        path = Scanpath(xy, RECORDING, rng.uniform(200, 350, 8))
        gaze.append(lift(path, RATE_HZ, rng).xy_px.astype(np.float32))
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(
        folder / "doves_gaze.npz",
        xy=np.concatenate(gaze),
        offsets=np.cumsum([0, *map(len, gaze)]),
        image=np.array([f"img{number % 8:03d}" for number in range(trials)]),
        subject=np.array([f"S{number // 8}" for number in range(trials)]),
        split=np.array([split_of(number % 8) for number in range(trials)]),
        rate_hz=RATE_HZ,
        px_per_degree=PX_PER_DEGREE,
        width=int(RECORDING.width_px),
        height=int(RECORDING.height_px),
    )
    return folder
