"""A data set in, a store out: `prepare("osie", "…/osie", "stores/osie")`.

Trials are taken in the set's own order, in shards of a thousand; every shard is cleaned and written by one process and
is either whole or not there. A run that was stopped goes on with the next shard; what lies in `STORE.partial` takes
the name `STORE` when all is done. Memory holds a few shards, however large the set.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any

from stdiffeye.checksums import file_sha256
from stdiffeye.cluster import on_cluster
from stdiffeye.data.clean import CleaningSettings, PreparedTrial, clean, fit
from stdiffeye.data.shards import ShardReport, finished_shard, join_shards, remove_shards, write_shard
from stdiffeye.data.store import Store
from stdiffeye.data.store_manifest import (
    DATA_FILES,
    FORMAT,
    INDEX_FILES,
    MANIFEST,
    VERSION,
    index_checksum,
    is_store,
    manifest_checksum,
)
from stdiffeye.errors import InputError
from stdiffeye.files import disk_errors, read_fields, read_json, reserved, write_json
from stdiffeye.gaze import Frame, Trial
from stdiffeye.gaze.quality import QualityReport
from stdiffeye.io.descriptions import Description, describe_source, picture_path, require
from stdiffeye.io.pictures import check_picture
from stdiffeye.io.sets import reader_of
from stdiffeye.processes import workers
from stdiffeye.progress import track

TRIALS_PER_SHARD = 1000
PLAN = "plan.json"
RECORDINGS_READER = "tracker_files"
QUALITY = "quality.json"


@dataclass(frozen=True)
class PreparationJob:
    """All that a worker needs to know beside the items of a shard."""

    description: Description
    source: Path
    pictures: Path | None
    settings: CleaningSettings
    out: Path
    """The store."""

    @property
    def folder(self) -> Path:
        """Where shards are, until the store is made of them."""
        return Path(f"{self.out}.partial")


def prepare(
    dataset: str | Path,
    source: str | Path | None = None,
    out: str | Path | None = None,
    pictures: str | Path | None = None,
    settings: CleaningSettings | None = None,
    jobs: int = 1,
    quiet: bool = False,
    overwrite: bool = False,
    cluster: str | None = None,
    keep_ids: bool = False,
) -> Store:
    """Clean a data set and write it to a store for training.

    Parameters
    ----------
    dataset : str or Path
        Name of a public set, the path of one's own description (.yaml), a folder of recordings, or a .json file of
        scanpaths.
    source : str or Path, optional
        The folder where its files lie; not given with a folder of recordings or a file, which is both.
    out : str or Path
        The store to make.
    pictures : str or Path, optional
        The folder of the pictures (default: where the description says, if it is there).
    settings : CleaningSettings, optional
        Rate, extractor, eye, limits and quality thresholds.
    jobs : int
        Number of processes.
    quiet : bool
        No progress on standard error.
    overwrite : bool
        Replace a store that is already there.
    cluster : str, optional
        Share the work by Dask instead: "local", "tcp://HOST:PORT" or "slurm".
    keep_ids : bool
        Of recordings: viewers keep the names that these give them, instead of pseudonyms.

    Returns
    -------
    Store
        The finished store, open.

    Raises
    ------
    InputError
        When files are missing or broken, when no trial is kept, or when `out` is there already.

    Examples
    --------
    >>> prepare("osie", "data/osie", "stores/osie")                            # doctest: +SKIP
    Store(osie: 9000 trials on 600 stimuli, stores/osie)
    >>> prepare("recordings/", out="stores/mine", pictures="stimuli/")         # doctest: +SKIP
    Store(recordings: 480 trials on 60 stimuli, stores/mine)
    """
    job, plan = planned(dataset, source, out, pictures, settings, keep_ids)
    out = job.out
    if is_store(out) and not overwrite:
        earlier = plan | {"pictures_root": job.pictures and job.pictures.as_posix()}  # before roots were relative
        if read_fields(out / MANIFEST).get("plan_sha256") in (_digest(plan), _digest(earlier)):
            _tidy(out)
            return Store.open(out)
        raise InputError(f"{out} is a store made otherwise: choose another --out, or say --overwrite to replace it")
    if out.exists() and not is_store(out):
        raise InputError(f"{out} is there and is no store: choose another --out")
    with reserved(out, "preparing a store"), disk_errors(job.folder):
        _begin(job.folder, plan)
        count = shard_count(job)
        finish(job.folder, plan, count, write_shards(job, range(count), jobs, cluster, quiet), out)
    return Store.open(out)


def planned(
    dataset: str | Path,
    source: str | Path | None,
    out: str | Path | None,
    pictures: str | Path | None,
    settings: CleaningSettings | None,
    keep_ids: bool = False,
) -> tuple[PreparationJob, dict[str, Any]]:
    """What is to be done, and what decides its result; parameters as in `prepare`."""
    description, source = describe_source(dataset, source)
    if out is None:
        raise InputError(f"say where the store goes: out='stores/{description.name}'")
    description = replace(description, keep_ids=keep_ids or description.keep_ids)
    require(description, source, pictures_elsewhere=pictures is not None)
    settings = settings or CleaningSettings()
    root = _pictures_root(description, source, pictures)
    plan = _plan(description, source, root and Path(os.path.relpath(root, out)), settings)
    if root is not None:
        description = replace(description, pictures=root.as_posix())
    return PreparationJob(description, source, root, settings, Path(out)), plan


def _pictures_root(description: Description, source: Path, pictures: str | Path | None) -> Path | None:
    if pictures is not None:
        if not Path(pictures).is_dir():
            raise InputError(f"{pictures} is no folder: expected the pictures of {description.title}")
        return Path(pictures).resolve()
    folder = source / description.pictures
    return folder.resolve() if description.pictures and folder.is_dir() else None


def _plan(description: Description, source: Path, root: Path | None, settings: CleaningSettings) -> dict[str, Any]:
    """What decides the store's content: a partial store of another plan is not gone on with."""
    files = {}
    for expected in description.files:
        if description.pictures and expected.path.startswith(description.pictures):
            continue
        for path in sorted(source.glob(expected.path)):
            files[path.relative_to(source).as_posix()] = [path.stat().st_size, path.stat().st_mtime_ns]
    described = asdict(description)
    del described["shows"]  # words for people
    if description.reader != RECORDINGS_READER:
        del described["keep_ids"]  # it decides nothing: published sets number their viewers
    plan = {
        "version": VERSION,
        "description": described,
        "settings": settings.as_dict(),
        "pictures_root": None if root is None else root.as_posix(),
        "files_sha256": _digest(files),
        "trials_per_shard": TRIALS_PER_SHARD,
    }
    return dict(json.loads(json.dumps(plan)))


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _begin(folder: Path, plan: dict[str, Any]) -> None:
    known = folder / PLAN
    if known.is_file() and read_json(known) == plan:
        return
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    write_json(known, plan)


def shard_count(job: PreparationJob) -> int:
    """How many shards the trials of a data set fill."""
    total = sum(1 for _ in reader_of(job.description).items(job.description, job.source))
    if total == 0:
        raise InputError(f"{job.source} holds no trial of {job.description.title}")
    return -(-total // TRIALS_PER_SHARD)


def write_shards(job: PreparationJob, numbers: range, jobs: int, cluster: str | None, quiet: bool) -> ShardReport:
    items = reader_of(job.description).items(job.description, job.source)
    shards = ((number, shard) for number, shard in enumerate(_shards(items)) if number in numbers)
    label = f"preparing {job.description.name}, shards of {TRIALS_PER_SHARD} trials"
    if cluster is not None:
        reports = on_cluster(_write_task, ((job, number, shard) for number, shard in shards), cluster)
    else:
        reports = _reports(job, shards, jobs)
    nothing = ShardReport(quality=QualityReport(job.settings.thresholds))
    return reduce(ShardReport.merge, track(reports, label, len(numbers), quiet=quiet), nothing)


def _write_task(task: tuple[PreparationJob, int, list[Any]]) -> ShardReport:
    job, number, shard = task
    return finished_shard(job.folder, number) or _write_one(job, number, shard)


def _reports(job: PreparationJob, shards: Iterator[tuple[int, list[Any]]], jobs: int) -> Iterator[ShardReport]:
    """Reports of the shards in order; no more than a few shards are in the air at once."""
    if jobs <= 1:
        yield from (_write_task((job, number, shard)) for number, shard in shards)
        return
    waiting: deque[Future[ShardReport] | ShardReport] = deque()
    with workers(jobs) as pool:
        for number, shard in shards:
            waiting.append(finished_shard(job.folder, number) or pool.submit(_write_one, job, number, shard))
            if len(waiting) > 2 * jobs:
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())


def _result(value: Future[ShardReport] | ShardReport) -> ShardReport:
    return value if isinstance(value, ShardReport) else value.result()


def _shards(items: Iterator[Any]) -> Iterator[list[Any]]:
    while shard := list(islice(items, TRIALS_PER_SHARD)):
        yield shard


def _write_one(job: PreparationJob, number: int, items: list[Any]) -> ShardReport:
    """Load, clean and write the trials of one shard."""
    reader = reader_of(job.description)
    report = ShardReport(quality=QualityReport(job.settings.thresholds))
    kept: list[PreparedTrial] = []
    pictures: list[str] = []
    for item in items:
        raw = reader.load(job.description, job.source, item)
        trial = clean(raw, job.settings, report.quality)
        if trial is None:
            continue
        trial = replace(trial, split=job.description.split.split(trial.name, trial.split))
        ordered = job.description.ordered  # without order nothing comes last that could be cut off
        kept.append(fit(trial, job.settings) if ordered else PreparedTrial(trial, None, cut=False))
        pictures.append(_picture(job, trial, report))
    report.trials = len(kept)
    report.cut = sum(prepared.cut for prepared in kept)
    report.fixations = sum(len(prepared.trial.scanpath or ()) for prepared in kept)
    report.points = sum(len(prepared.trial.trajectory or ()) for prepared in kept)
    write_shard(job.folder, number, kept, pictures, report)
    return report


def _picture(job: PreparationJob, trial: Trial, report: ShardReport) -> str:
    """The trial's picture, relative to the root; "" when there is none."""
    if job.pictures is None:
        return ""
    relative = picture_path(job.description, job.pictures, trial.name, trial.task)
    if relative is None:
        report.notes["trials whose picture is not there"] += 1
        return ""
    width_px, height_px = check_picture(job.pictures / relative)
    if not trial.frame.same_shape(Frame(width_px, height_px)):
        report.notes["trials whose picture has another shape than the gaze's frame"] += 1
    return relative


def finish(folder: Path, plan: dict[str, Any], count: int, report: ShardReport, out: Path) -> None:
    """Join the shards, describe the result, and give it its name."""
    if report.trials == 0:
        raise InputError(
            f"no trial of {plan['description']['title']} was kept: {'; '.join(str(report.quality).split(chr(10)))}"
        )
    words = join_shards(folder, count, report)
    write_json(folder / QUALITY, report.as_dict())
    names = (*INDEX_FILES, *DATA_FILES, QUALITY)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "dataset": plan["description"]["name"],
        "trials": report.trials,
        "fixations": report.fixations,
        "points": report.points,
        "description": plan["description"],
        "settings": plan["settings"],
        "pictures_root": plan["pictures_root"],
        "plan_sha256": _digest(plan),
        "index_sha256": index_checksum(folder),
        "bytes": {name: (folder / name).stat().st_size for name in names},
        "sha256": {name: file_sha256(folder / name) for name in names},
        "words": words,
    }
    manifest["manifest_sha256"] = manifest_checksum(dict(json.loads(json.dumps(manifest))))
    write_json(folder / MANIFEST, manifest)
    if out.exists():
        shutil.rmtree(out)
    folder.rename(out)
    _tidy(out)


def _tidy(store: Path) -> None:
    """Take away what only the making needed, also after a kill at the very end."""
    remove_shards(store)
    (store / PLAN).unlink(missing_ok=True)
