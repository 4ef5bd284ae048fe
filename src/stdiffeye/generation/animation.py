"""Scanpaths as human-like gaze at 240 Hz, by the trajectory stage alone: the verb `animate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.data.read import read_trials
from stdiffeye.data.recording_quality import tracker_precision_deg
from stdiffeye.diffusion import sample_seeds
from stdiffeye.errors import InputError
from stdiffeye.gaze import GazeList, Scanpath, Trial
from stdiffeye.generation.output_files import write_trajectories
from stdiffeye.generation.request import AnimationOptions
from stdiffeye.generation.trained import load
from stdiffeye.plotting.overview import overviews
from stdiffeye.progress import track
from stdiffeye.systems.cores import on_cores

TYPICAL_DURATION_MS = 250.0


def animate(
    scanpaths: str | Path | Sequence[Trial],
    out: str | Path | None = None,
    model: str | Path | None = None,
    options: AnimationOptions | None = None,
    plots: bool = True,
    quiet: bool = False,
    **fields: Any,
) -> GazeList[Trial]:
    """Turn scanpaths into human-like gaze at 240 Hz with the same fixations.

    Parameters
    ----------
    scanpaths : path or sequence of Trial
        A gaze file, a store, or trials that have scanpaths.
    out : path, optional
        Folder to write scanpaths.json and trajectories.csv to.
    model : str or path, optional
        A shipped model or a run's folder with a trajectory stage.
    options : AnimationOptions, optional
        Seed, precision (its own, or that of a tracker), scale, and what to do without durations.
    plots : bool
        Plot the gaze, where `out` is given.
    quiet : bool
        Show no progress.
    **fields
        Fields of `AnimationOptions` that differ, as `seed=1`.

    Returns
    -------
    GazeList of Trial
        The same trials, each with a trajectory.

    Raises
    ------
    InputError
        Where a trial has no scanpath or no durations, or the model has no trajectory stage.
    """
    options = replace(options or AnimationOptions(), **fields)
    trials = list(read_trials(scanpaths)) if isinstance(scanpaths, str | Path) else list(scanpaths)
    animated = _animated(trials, model, options, quiet)
    if out is not None:
        write_trajectories(Path(out), lambda: iter([animated]))
        if plots:
            overviews(animated, Path(out), quiet=quiet)
    return GazeList(animated)


def _animated(trials: list[Trial], model: str | Path | None, options: AnimationOptions, quiet: bool) -> list[Trial]:
    fine = load(model).fine
    if fine is None:
        raise InputError(
            f"{model} has no trajectory stage: train one with `stdiffeye train coarse-to-fine … --only trajectory`"
        )
    ready = [_timed(trial, options.durations) for trial in trials]
    overall, by_viewer = (options.precision_deg, {}) if options.like is None else tracker_precision_deg(options.like)

    def moved(trial: Trial) -> Trial:
        assert trial.scanpath is not None
        seeds = sample_seeds(options.seed, f"{trial.name}|{trial.subject}".encode(), trial.task, 1)
        (gaze,) = fine.animate(
            [trial.scanpath],
            seeds,
            by_viewer.get(trial.subject, overall),
            px_per_degree=options.px_per_degree,
            holes=True,
        )
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
