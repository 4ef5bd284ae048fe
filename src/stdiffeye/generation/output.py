"""Gaze for files, folders and stores of pictures, and files of it: the verb `generate`."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.data.batches import stimuli_of
from stdiffeye.data.store import Store, is_store
from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write
from stdiffeye.gaze import GazeList, Trial
from stdiffeye.gaze.recording import Recording
from stdiffeye.generation.request import OutputOptions, Request
from stdiffeye.generation.trained import Generated, Model, load, pictures_in
from stdiffeye.io.bids_write import Screen, write_bids
from stdiffeye.io.scanpath_json import write_scanpaths
from stdiffeye.io.tidy_csv import write_tidy
from stdiffeye.plotting.heatmap_files import write_heatmaps
from stdiffeye.plotting.overview import overviews
from stdiffeye.progress import track

SCANPATHS, TRAJECTORIES = "scanpaths.json", "trajectories.csv"
SCREEN_DISTANCE_M = 0.6


@dataclass(frozen=True)
class Wanted:
    """A picture that gaze is wanted for, under the name that its gaze is filed by."""

    name: str
    picture: Path
    request: Request


def wanted_of(sources: Sequence[str | Path], request: Request, split: str | None = None) -> list[Wanted]:
    """Pictures of files, folders and stores; those of a store with its own tasks, viewing times and style."""
    found: list[Wanted] = []
    for source in sources:
        if is_store(source):
            found += _of_store(Store.open(source), request, split)
        else:
            found += [Wanted(picture.name, picture, request) for picture in pictures_in([source])]
    names = [(one.name, one.request.task) for one in found]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice:
        raise InputError(f"two pictures are called {twice[0]!r}: gaze is filed by name; generate them one by one")
    return found


def generate(
    sources: str | Path | Sequence[str | Path],
    out: str | Path | None = None,
    model: str | Path | Model | None = None,
    request: Request | None = None,
    output: OutputOptions | None = None,
    split: str | None = None,
    quiet: bool = False,
    **fields: Any,
) -> GazeList[Trial]:
    """Generate human-like gaze for pictures.

    Parameters
    ----------
    sources : path or sequence of paths
        Pictures, folders of pictures, or stores; of a store each picture has its own task, viewing time and style.
    out : path, optional
        Folder to write scanpaths.json, fixations.csv, saccades.csv, trajectories.csv and pictures of the gaze to.
    model : str, path or Model, optional
        A shipped model, a run's folder or a loaded model; by default `freeview`, or `search` where there is a task.
    request : Request, optional
        What is wanted of each picture.
    output : OutputOptions, optional
        Which files are written.
    split : str, optional
        Of a store only this split: "train", "validation" or "test".
    quiet : bool
        Show no progress.
    **fields
        Fields of `Request` that differ, as `samples=10, seconds=3`.

    Returns
    -------
    GazeList of Trial
        A trial per picture and sample, with scanpath and trajectory in pixels of the picture.

    Raises
    ------
    InputError
        Where a picture cannot be read, or the model cannot do what is wanted.

    Examples
    --------
    >>> gaze = stdiffeye.generate("photo.jpg", samples=10, seconds=3)  # doctest: +SKIP
    >>> gaze[0].scanpath  # doctest: +SKIP
    Scanpath(10 fixations, 2.81 s, 1024×768 px)
    """
    request, output = replace(request or Request(), **fields), output or OutputOptions()
    wanted = wanted_of([sources] if isinstance(sources, str | Path) else sources, request, split)
    if not wanted:
        raise InputError("name a picture, a folder or a store: `stdiffeye generate photo.jpg`")
    model = model if isinstance(model, Model) else load(model, request.task)
    match = model.match_target(request.task) if request.task and not quiet else None
    if match is not None and match.verdict == "trained":  # of other words the model itself warns
        print(f"note: {match}", file=sys.stderr)
    generated = track(_generated(model, wanted, output.trajectories), "generating", total=len(wanted), quiet=quiet)
    trials = [trial for one in generated for trial in one]
    if out is not None:
        write_output(Path(out), trials, output, quiet)
    return GazeList(trials, request.sampling)


def write_output(out: Path, trials: list[Trial], output: OutputOptions, quiet: bool = False) -> None:
    """Write the files that are wanted of generated trials into a folder."""
    if output.trajectories:
        write_trajectories(out, trials)
    else:
        write_scanpaths(out / SCANPATHS, trials)
    write_tidy(out / "fixations.csv", trials, "fixations")
    write_tidy(out / "saccades.csv", trials, "saccades")
    if output.heatmap:
        write_heatmaps(out, trials)
    if output.parquet:
        write_parquet(out, trials)
    if output.bids:
        write_as_bids(out / "bids", trials)
    if output.plots or output.replay:
        overviews(trials, out, pictures=output.plots, replays=output.replay, quiet=quiet)


def write_trajectories(out: Path, trials: Sequence[Trial]) -> None:
    """scanpaths.json and trajectories.csv of trials that have both."""
    with atomic_write(out / TRAJECTORIES) as temporary, temporary.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "task", "sample", "time_ms", "x", "y", "sampling"])
        rows.writerows(_samples(trials))
    write_scanpaths(out / SCANPATHS, trials)


def _generated(model: Model, wanted: Sequence[Wanted], trajectories: bool) -> Iterator[list[Trial]]:
    for request, group in _alike(wanted):
        pictures = [one.picture for one in group]
        if trajectories:
            for one, gaze in zip(group, model.generate_many(pictures, request), strict=True):
                yield [_trial(one, k, t.scanpath, t) for k, t in enumerate(gaze)]
        else:
            for one, paths in zip(group, model.scanpaths_of_many(pictures, request), strict=True):
                yield [_trial(one, k, path, None) for k, path in enumerate(paths)]


def _alike(wanted: Sequence[Wanted]) -> Iterable[tuple[Request, list[Wanted]]]:
    """Runs of pictures with the same request, in order."""
    groups: list[tuple[Request, list[Wanted]]] = []
    for one in wanted:
        if groups and groups[-1][0] == one.request:
            groups[-1][1].append(one)
        else:
            groups.append((one.request, [one]))
    return groups


def _trial(one: Wanted, sample: int, scanpath: Any, trajectory: Generated | None) -> Trial:
    return Trial(
        name=one.name,
        subject=str(sample),
        scanpath=scanpath,
        trajectory=trajectory,
        task=one.request.task,
        picture=one.picture,
        details={"sample": sample, "sampling": one.request.sampling},
    )


def _samples(trials: Sequence[Trial]) -> Iterator[tuple[Any, ...]]:
    for trial in trials:
        assert trial.trajectory is not None
        sampling = trial.details.get("sampling", "")
        for time_ms, (x, y) in zip(trial.trajectory.time_ms, trial.trajectory.xy_px, strict=True):
            yield trial.name, trial.task, trial.subject, f"{time_ms:.2f}", f"{x:.2f}", f"{y:.2f}", sampling


def _of_store(store: Store, request: Request, split: str | None) -> list[Wanted]:
    """Its stimuli; those whose picture could not be had are left out."""
    stimuli = [(stimulus, stimulus.picture) for stimulus in stimuli_of(store, split)]
    if stimuli and not any(picture for _, picture in stimuli):
        raise InputError(f"{store.path} has no pictures: open it with its pictures' folder, or prepare it with them")
    found = []
    for stimulus, picture in stimuli:
        if picture is None:
            continue
        viewing_ms = float(store.columns["viewing_ms"][stimulus.trials[0]])
        seconds = request.seconds or (None if viewing_ms != viewing_ms else viewing_ms / 1000)
        style = request.style if request.style is not None else store.dataset
        requested = request.seconds is not None
        scale = float(store.columns["px_per_degree"][stimulus.trials[0]])
        own = replace(
            request,
            task=request.task or stimulus.task,
            seconds=seconds,
            style=style,
            fill=requested,
            px_per_degree=request.px_per_degree or (None if scale != scale else scale),
        )
        found.append(Wanted(stimulus.name, picture, own))
    return found


def write_parquet(out: Path, trials: Sequence[Trial]) -> None:
    """trajectories.parquet beside the CSV, with the same columns."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError("--parquet needs the extra 'tables': pip install 'stdiffeye[tables]'") from None
    moving = [(trial, trial.trajectory) for trial in trials if trial.trajectory is not None]
    counts = [len(trajectory) for _, trajectory in moving]
    table = {
        "name": np.repeat([trial.name for trial, _ in moving], counts),
        "task": np.repeat([trial.task for trial, _ in moving], counts),
        "sample": np.repeat([int(trial.subject) for trial, _ in moving], counts),
        "time_ms": np.concatenate([trajectory.time_ms for _, trajectory in moving]),
        "x": np.concatenate([trajectory.xy_px[:, 0] for _, trajectory in moving]),
        "y": np.concatenate([trajectory.xy_px[:, 1] for _, trajectory in moving]),
        "sampling": np.repeat([str(trial.details.get("sampling", "")) for trial, _ in moving], counts),
    }
    with atomic_write(out / "trajectories.parquet") as temporary:
        pyarrow.parquet.write_table(pyarrow.table(table), temporary)


def write_as_bids(folder: Path, trials: Sequence[Trial]) -> None:
    """The trajectories as a BIDS data set: a subject per sample, a run per picture, on a screen 30 degrees wide."""
    recordings = [
        Recording(
            time_ms=trial.trajectory.time_ms,
            rate_hz=trial.trajectory.rate_hz,
            frame=trial.frame,
            left_px=trial.trajectory.xy_px,
            name=trial.name,
            subject=f"sample{trial.subject}",
        )
        for trial in trials
        if trial.trajectory is not None
    ]
    frame = recordings[0].frame
    width_m = 2 * SCREEN_DISTANCE_M * float(np.tan(np.radians(15)))
    screen = Screen(SCREEN_DISTANCE_M, width_m, width_m * frame.height_px / frame.width_px)
    write_bids(folder, recordings, screen, task=trials[0].task or "freeview", name="Gaze generated by stdiffeye")
