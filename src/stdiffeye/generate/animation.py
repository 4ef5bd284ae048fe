"""Anybody's scanpaths as human-like gaze at 240 Hz: the fine half alone, the command `stdiffeye animate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trial
from stdiffeye.generate.model import load, sample_seeds
from stdiffeye.progress import track
from stdiffeye.systems.cores import on_cores

TYPICAL_DURATION_MS = 250.0


def animate(
    trials: Sequence[Trial],
    model: str | Path | None = None,
    seed: int = 0,
    precision_deg: float | None = None,
    px_per_degree: float | None = None,
    durations: bool = False,
    quiet: bool = False,
) -> list[Trial]:
    """The same trials, each with a trajectory whose fixations are its scanpath's.

    Parameters
    ----------
    precision_deg : tracker's precision, root mean square of sample-to-sample steps; None for varied ones.
    durations : give scanpaths that have no durations typical ones, of 250 ms, instead of refusing them.
    """
    fine = load(model).fine
    if fine is None:
        raise InputError(f"{model} has no fine half: train one with `stdiffeye train compact … --only fine`")
    ready = [_timed(trial, durations) for trial in trials]

    def moved(trial: Trial) -> Trial:
        assert trial.scanpath is not None
        seeds = sample_seeds(seed, f"{trial.name}|{trial.subject}".encode(), trial.task, 1)
        (gaze,) = fine.animate([trial.scanpath], seeds, precision_deg, px_per_degree=px_per_degree, holes=True)
        return replace(trial, trajectory=gaze)

    return list(track(on_cores(moved, ready), "animating", total=len(ready), quiet=quiet))


def _timed(trial: Trial, durations: bool) -> Trial:
    path = trial.scanpath
    if path is None:
        raise InputError(f"trial {trial.name!r} of {trial.subject!r} has no scanpath to animate")
    if path.duration_ms is not None:
        return trial
    if not durations:
        raise InputError(
            f"the scanpath of {trial.name!r} by {trial.subject!r} has no durations: --durations gives it typical ones"
        )
    typical = np.full(len(path), TYPICAL_DURATION_MS)
    return replace(trial, scanpath=Scanpath(path.xy_px, path.frame, typical))
