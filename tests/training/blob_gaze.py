"""A world that a tiny model can learn: pictures with one bright blob, and viewers who look at it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from blob_pictures import split_of

from stdiffeye.gaze import Frame, Scanpath, lift

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
