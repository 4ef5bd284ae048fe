"""Gaze for files, folders and stores of pictures, and files of it: the verb `generate`.

Each picture's gaze goes to disk as soon as it is there (`gaze_log`), and the files are made of that at the end. So
memory does not grow with the number of pictures, and a run that was broken off goes on. torch is loaded when all else
is known to be right.
"""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stdiffeye.cluster import on_cluster
from stdiffeye.errors import InputError
from stdiffeye.files import check_writable
from stdiffeye.gaze import GazeList, Trial
from stdiffeye.generation.gaze_log import GazeLog, PictureGaze
from stdiffeye.generation.output_files import write_output
from stdiffeye.generation.request import OutputOptions, Request
from stdiffeye.generation.run_folder import SCANPATHS, GenerationReport, RunFolder, model_identity, plan_of, settings_of
from stdiffeye.generation.wanted import Wanted, alike, wanted_of
from stdiffeye.io.scanpath_json import read_scanpaths
from stdiffeye.progress import track
from stdiffeye.training.shipped import find_model
from stdiffeye.work_shards import WHOLE, Shard, WorkOptions

if TYPE_CHECKING:
    from stdiffeye.generation.trained import Model

# Of a cluster: small enough that a dead worker costs little, large enough that loading the model does not count.
PICTURES_PER_SHARD, FEWEST_SHARDS, MOST_SHARDS = 16, 8, 4096


def generate(
    sources: str | Path | Sequence[str | Path],
    out: str | Path | None = None,
    model: str | Path | Model | None = None,
    request: Request | None = None,
    output: OutputOptions | None = None,
    split: str | None = None,
    work: WorkOptions | None = None,
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
    work : WorkOptions, optional
        A shard of the pictures alone, or a cluster to share them; both need `out`.
    quiet : bool
        Show no progress.
    **fields
        Fields of `Request` that differ, as `samples=10, seconds=3`.

    Returns
    -------
    GazeList of Trial
        A trial per picture and sample, with scanpath and trajectory in pixels of the picture; none for a shard.

    Raises
    ------
    InputError
        Where no picture can be read, the model cannot do what is wanted, or `out` holds another run.

    Notes
    -----
    All gaze is held in memory to be returned. `stdiffeye.generation.generate_files` writes the same files and holds
    none. With `out`, a picture that cannot be read is left out; generation.json names it.

    Examples
    --------
    >>> gaze = stdiffeye.generate("photo.jpg", samples=10, seconds=3)  # doctest: +SKIP
    >>> gaze[0].scanpath  # doctest: +SKIP
    Scanpath(10 fixations, 2.81 s, 1024×768 px)
    """
    request, output = replace(request or Request(), **fields), output or OutputOptions()
    if out is None:
        if work is not None and work != WorkOptions():
            raise InputError("a shard or a cluster writes files: say where, out='gaze'")
        trials = [trial for one in _in_memory(sources, model, request, output, split, quiet) for trial in one.trials]
        return GazeList(trials, request.sampling)
    kept: list[Trial] = []
    report = generate_files(sources, out, model, request, output, split, work, quiet, kept.extend)
    if not kept and report.shard is None:
        kept = read_scanpaths(Path(out) / SCANPATHS)  # this very run was there already
    return GazeList(kept, request.sampling)


def generate_files(
    sources: str | Path | Sequence[str | Path],
    out: str | Path,
    model: str | Path | Model | None = None,
    request: Request | None = None,
    output: OutputOptions | None = None,
    split: str | None = None,
    work: WorkOptions | None = None,
    quiet: bool = False,
    keep: Callable[[list[Trial]], None] | None = None,
) -> GenerationReport:
    """Generate gaze into a folder, with memory that does not grow with the pictures; parameters as in `generate`.

    `keep` is given the trials of each picture, for those who want them besides the files.
    """
    request, output, work = request or Request(), output or OutputOptions(), work or WorkOptions()
    check_writable(out)
    wanted = _wanted(sources, request, split)
    model = _located(model, request.task)
    folder = RunFolder(Path(out), plan_of(wanted, _identity(model), output))
    if not output.overwrite and (done := folder.finished()) is not None:
        return done
    folder.begin(output.overwrite)
    shard = work.own or WHOLE
    try:
        if work.cluster is not None:
            _on_cluster(folder, wanted, model, output.trajectories, work.cluster, quiet)
        else:
            log_gaze(folder.log(shard), shard.of(wanted), model, output.trajectories, quiet)
        if work.own is not None:
            return GenerationReport(folder.out, len(shard.of(wanted)), shard=shard)
        return finish(folder, output, quiet, keep)
    except InputError:
        if not folder.holds_gaze():
            folder.remove()
        raise
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise InputError(
                f"the disk is full: free some space and run the same command again, {folder.unfinished} keeps "
                "what is done"
            ) from error
        raise


def log_gaze(log: Path, wanted: Sequence[Wanted], model: Path | Model, trajectories: bool, quiet: bool) -> None:
    """Generate the gaze of a shard's pictures into its log, or the rest of it."""
    if log.is_file():
        return
    with GazeLog(log) as file:
        left = wanted[file.done :]
        if left:
            gaze = _generated(_loaded(model, _shared_task(wanted), quiet), left, trajectories)
            for one in track(gaze, "generating", total=len(wanted), start=file.done, quiet=quiet):
                file.append(one)
        file.finish()


@dataclass(frozen=True)
class GenerationTask:
    """A shard of the pictures, as a worker of a cluster gets it."""

    log: Path
    wanted: Sequence[Wanted]
    model: Path
    identity: str
    trajectories: bool


def generate_task(task: GenerationTask) -> None:
    """Generate a shard; a worker keeps the model for the next one."""
    if not task.log.is_file():
        log_gaze(task.log, task.wanted, _kept_model(task.model, task.identity), task.trajectories, quiet=True)


def _on_cluster(
    folder: RunFolder, wanted: Sequence[Wanted], model: Path | Model, trajectories: bool, cluster: str, quiet: bool
) -> None:
    if not isinstance(model, Path):
        raise InputError("workers of a cluster load the model themselves: give its name or its folder")
    count = min(MOST_SHARDS, max(min(len(wanted), FEWEST_SHARDS), -(-len(wanted) // PICTURES_PER_SHARD)))
    identity = json.dumps(folder.plan["model"], sort_keys=True)
    tasks = [
        GenerationTask(folder.log(shard), shard.of(wanted), model, identity, trajectories)
        for shard in Shard(1, count).all
    ]
    for _ in track(on_cluster(generate_task, tasks, cluster), "generating, shards", total=count, quiet=quiet):
        pass


@lru_cache(maxsize=1)
def _kept_model(model: Path, identity: str) -> Model:
    return _loaded(model, "", quiet=True)


def finish(
    folder: RunFolder,
    output: OutputOptions,
    quiet: bool = False,
    keep: Callable[[list[Trial]], None] | None = None,
) -> GenerationReport:
    """Make the files of a run whose shards are all there."""
    report = GenerationReport(folder.out)
    for gaze in folder.gaze():
        report.add(gaze)
        if keep is not None:
            keep(gaze.trials)
    if not report.pictures:
        folder.remove()
        raise InputError(report.skipped[0][1] if report.skipped else "there is no picture to generate gaze for")

    def blocks() -> Iterator[list[Trial]]:
        return (gaze.trials for gaze in folder.gaze() if gaze.trials)

    write_output(folder.fresh_files(), blocks, output, quiet, settings_of(folder.plan))
    folder.close(report)
    return report


def join_generation(out: Path, quiet: bool = False) -> GenerationReport:
    """Make the files of a folder whose shards were generated apart."""
    folder = RunFolder.open(out)
    return finish(folder, OutputOptions(**folder.plan["output"]), quiet)


def _in_memory(
    sources: str | Path | Sequence[str | Path],
    model: str | Path | Model | None,
    request: Request,
    output: OutputOptions,
    split: str | None,
    quiet: bool,
) -> Iterator[PictureGaze]:
    wanted = _wanted(sources, request, split)
    located = _located(model, request.task)
    gaze = _generated(_loaded(located, _shared_task(wanted), quiet), wanted, output.trajectories)
    for one in track(gaze, "generating", total=len(wanted), quiet=quiet):
        if one.error:
            raise InputError(one.error)
        yield one


def _wanted(sources: str | Path | Sequence[str | Path], request: Request, split: str | None) -> list[Wanted]:
    wanted = wanted_of([sources] if isinstance(sources, str | Path) else sources, request, split)
    if not wanted:
        raise InputError("name a picture, a folder or a store: `stdiffeye generate photo.jpg`")
    return wanted


def _located(model: str | Path | Model | None, task: str) -> Path | Model:
    return find_model(model, task) if model is None or isinstance(model, str | Path) else model


def _identity(model: Path | Model) -> dict[str, Any]:
    if isinstance(model, Path):
        return model_identity(model)
    from stdiffeye.encoders.identity import weights_hash

    return {"name": model.name, "weights": {name: weights_hash(stage) for name, stage in model.stages.items()}}


def _loaded(model: Path | Model, task: str, quiet: bool) -> Model:
    if isinstance(model, Path):
        from stdiffeye.generation.trained import load

        model = load(model)
    match = model.match_target(task) if task and not quiet else None
    if match is not None and match.verdict == "trained":  # of other words the model itself warns
        print(f"note: {match}", file=sys.stderr)
    return model


def _shared_task(wanted: Sequence[Wanted]) -> str:
    tasks = {one.request.task for one in wanted}
    return tasks.pop() if len(tasks) == 1 else ""


def _generated(model: Model, wanted: Sequence[Wanted], trajectories: bool) -> Iterator[PictureGaze]:
    for request, group in alike(wanted):
        pictures = [one.picture for one in group]
        errors: dict[Any, str] = {}

        def broken(picture: Any, error: InputError, errors: dict[Any, str] = errors) -> None:
            errors[picture] = str(error)

        many: Callable[..., Iterator[list[Any]]] = model.generate_many if trajectories else model.scanpaths_of_many
        for one, gaze in zip(group, many(pictures, request, broken=broken), strict=True):
            trials = [_trial(one, number, sample, trajectories) for number, sample in enumerate(gaze)]
            yield PictureGaze(one.name, trials, errors.pop(one.picture, ""))


def _trial(one: Wanted, number: int, sample: Any, trajectories: bool) -> Trial:
    return Trial(
        name=one.name,
        subject=str(number),
        scanpath=sample.scanpath if trajectories else sample,
        trajectory=sample if trajectories else None,
        task=one.request.task,
        picture=one.picture,
        details={"sample": number, "sampling": one.request.sampling},
    )
