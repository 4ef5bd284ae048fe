"""A small study of our own making, for tests of reliability: recordings, pictures, gaze, a store and a tiny run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from stdiffeye.benchmark.forked import Verbs, run_forked
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.gaze.recording import Message, Recording
from stdiffeye.io.eyelink_asc_write import write_asc
from stdiffeye.io.gaze_files import write_gaze

SCREEN = Frame(320, 240, 12.0)
PICTURES, VIEWERS, RATE_HZ = 4, 3, 500
FIXATIONS, FIXATION_MS, SACCADE_MS = 5, 300, 60
TINY = (
    *("stages.scanpath.image.width=16", "stages.scanpath.denoiser.width=16", "stages.scanpath.denoiser.depth=1"),
    *("stages.scanpath.denoiser.heads=2", "stages.scanpath.denoiser.feedforward=32"),
    *("stages.scanpath.sampling_steps=4", "train.scanpath.stimuli=2", "train.scanpath.viewers=2"),
    *("stages.trajectory.denoiser.width=16", "stages.trajectory.denoiser.depth=1"),
    *("stages.trajectory.denoiser.heads=2", "stages.trajectory.denoiser.feedforward=32"),
    *("stages.trajectory.sampling_steps=2", "stages.trajectory.crop_s=0.5", "train.trajectory.stimuli=2"),
    *("train.scanpath.steps=12", "train.trajectory.steps=12"),
    *("train.scanpath.checkpoint_every=4", "train.trajectory.checkpoint_every=4"),
    *("train.scanpath.validate_every=6", "train.trajectory.validate_every=6"),
    *("train.scanpath.validate_stimuli=1", "train.scanpath.validate_samples=1"),
)
"""Changes that make of `coarse-to-fine` a network of some thousand weights, trained for a few steps."""


@dataclass(frozen=True)
class MadeStudy:
    """Where everything lies."""

    folder: Path

    @property
    def recordings(self) -> Path:
        return self.folder / "recordings"

    @property
    def pictures(self) -> Path:
        return self.folder / "pictures"

    @property
    def human(self) -> Path:
        return self.folder / "human.json"

    @property
    def generated(self) -> Path:
        return self.folder / "generated.json"

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def run(self) -> Path:
        return self.folder / "run"

    def training(self, out: Path) -> list[str]:
        """The words of the verb that trains the tiny run."""
        folders = ["--out", str(out), "--cache", str(self.cache)]
        return ["train", "coarse-to-fine", str(self.store), *folders, "--quiet", "--set", *TINY]


def make_study(folder: Path, verbs: Verbs) -> MadeStudy:
    """Make it, with a store and a run by the verbs themselves; what is there already is kept."""
    study = MadeStudy(folder)
    rng = np.random.default_rng(0)
    study.pictures.mkdir(parents=True, exist_ok=True)
    study.recordings.mkdir(exist_ok=True)
    for number in range(PICTURES):
        size = (int(SCREEN.width_px), int(SCREEN.height_px))
        pixels = rng.integers(0, 255, (size[1] // 8, size[0] // 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize(size).save(study.pictures / f"{number}.png")
    for viewer in range(VIEWERS):
        write_asc(study.recordings / f"viewer{viewer}.asc", [_trial(rng, number) for number in range(PICTURES)])
    for path in (study.human, study.generated):
        write_gaze(path, [_scanpath(rng, name, k) for name in range(PICTURES) for k in range(VIEWERS)])
    words = ["prepare", str(study.recordings), "--pictures", str(study.pictures), "--out", str(study.store), "--quiet"]
    run_forked(verbs, words)
    if not (study.run / "trajectory" / "last.safetensors").is_file():
        run_forked(verbs, study.training(study.run))
    return study


def _positions(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(0.15, 0.85, (FIXATIONS, 2)) * SCREEN.size_px


def _trial(rng: np.random.Generator, number: int) -> Recording:
    since_ms = np.arange(0, FIXATIONS * FIXATION_MS, 1000 / RATE_HZ)
    starts = np.arange(FIXATIONS) * float(FIXATION_MS)
    knots = np.column_stack([starts, starts + FIXATION_MS - SACCADE_MS]).ravel()
    xy_px = np.column_stack([np.interp(since_ms, knots, np.repeat(axis, 2)) for axis in _positions(rng).T])
    xy_px += rng.normal(0, 0.1, xy_px.shape)
    time_ms = 10_000.0 * (number + 1) + since_ms
    said = (Message(float(time_ms[0]), f"TRIALID {number}.png"), Message(float(time_ms[-1]), "TRIAL_RESULT 0"))
    return Recording(time_ms, RATE_HZ, SCREEN, right_px=xy_px, messages=said)


def _scanpath(rng: np.random.Generator, name: int, subject: int) -> Trial:
    durations = np.full(FIXATIONS, float(FIXATION_MS))
    return Trial(f"{name}.png", str(subject), Scanpath(_positions(rng), SCREEN, durations))
