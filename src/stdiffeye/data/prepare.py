"""A data set in, a store out: `prepare("osie", "…/osie", "stores/osie")`.

Trials are taken in the set's own order, in parts of a thousand; every part is cleaned and written by one process and
is either whole or not there. A run that was stopped goes on with the next part; what lies in `STORE.partial` takes
the name `STORE` when all is done. Memory holds a few parts, however large the set.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any

from stdiffeye.data.clean import Prepared, Settings, clean
from stdiffeye.data.parts import PartReport, finished_part, join_parts, remove_parts, write_part
from stdiffeye.data.store import DATA_FILES, FORMAT, INDEX_FILES, MANIFEST, VERSION, Store, index_checksum, is_store
from stdiffeye.errors import InputError
from stdiffeye.files import read_json, write_json
from stdiffeye.gaze.quality import QualityReport
from stdiffeye.io.descriptions import Description, describe, find_picture, require
from stdiffeye.io.pictures import check_picture
from stdiffeye.io.sets import reader_of
from stdiffeye.processes import workers
from stdiffeye.progress import track

TRIALS_PER_PART = 1000
PLAN = "plan.json"
QUALITY = "quality.json"


@dataclass(frozen=True)
class Job:
    """All that a worker needs to know beside the items of a part."""

    description: Description
    source: Path
    pictures: Path | None
    settings: Settings
    folder: Path


def prepare(
    dataset: str | Path,
    source: str | Path,
    out: str | Path,
    pictures: str | Path | None = None,
    settings: Settings | None = None,
    jobs: int = 1,
    quiet: bool = False,
    overwrite: bool = False,
) -> Store:
    """Prepare a data set.

    Parameters
    ----------
    dataset : name of a public set, or the path of one's own description (.yaml).
    source : the folder where its files lie.
    pictures : the folder of the pictures (default: where the description says, if it is there).
    jobs : number of processes.
    overwrite : replace a store that is already there.
    """
    description, source, out = describe(dataset), Path(source), Path(out)
    require(description, source, pictures_elsewhere=pictures is not None)
    settings = settings or Settings()
    root = _pictures_root(description, source, pictures)
    plan = _plan(description, source, root, settings)
    if root is not None:
        description = replace(description, pictures=root.as_posix())
    if is_store(out) and not overwrite:
        if read_json(out / MANIFEST).get("plan_sha256") == _digest(plan):
            return Store.open(out)
        raise InputError(f"{out} is a store made otherwise: choose another --out, or say --overwrite to replace it")
    if out.exists() and not is_store(out):
        raise InputError(f"{out} is there and is no store: choose another --out")
    job = Job(description, source, root, settings, Path(f"{out}.partial"))
    try:
        _begin(job.folder, plan)
        count, report = _write_parts(job, jobs, quiet)
        _finish(job, plan, count, report, out)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise InputError(
                f"the disk is full: free some space and run the same command again, {job.folder} keeps what is done"
            ) from error
        raise
    return Store.open(out)


def _pictures_root(description: Description, source: Path, pictures: str | Path | None) -> Path | None:
    if pictures is not None:
        if not Path(pictures).is_dir():
            raise InputError(f"{pictures} is no folder: expected the pictures of {description.title}")
        return Path(pictures).resolve()
    folder = source / description.pictures
    return folder.resolve() if description.pictures and folder.is_dir() else None


def _plan(description: Description, source: Path, root: Path | None, settings: Settings) -> dict[str, Any]:
    """What decides the store's content: a partial store of another plan is not gone on with."""
    files = {}
    for expected in description.files:
        if description.pictures and expected.path.startswith(description.pictures):
            continue
        for path in sorted(source.glob(expected.path)):
            files[path.relative_to(source).as_posix()] = [path.stat().st_size, path.stat().st_mtime_ns]
    plan = {
        "version": VERSION,
        "description": asdict(description),
        "settings": settings.as_dict(),
        "pictures_root": None if root is None else root.as_posix(),
        "files_sha256": _digest(files),
        "trials_per_part": TRIALS_PER_PART,
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


def _write_parts(job: Job, jobs: int, quiet: bool) -> tuple[int, PartReport]:
    reader = reader_of(job.description)
    total = sum(1 for _ in reader.items(job.description, job.source))
    if total == 0:
        raise InputError(f"{job.source} holds no trial of {job.description.title}")
    count = -(-total // TRIALS_PER_PART)
    reports = _reports(job, reader.items(job.description, job.source), jobs)
    label = f"preparing {job.description.name}, parts of {TRIALS_PER_PART} trials"
    return count, reduce(PartReport.merge, track(reports, label, count, quiet=quiet))


def _reports(job: Job, items: Iterator[Any], jobs: int) -> Iterator[PartReport]:
    """Reports of all parts in order; no more than a few parts are in the air at once."""
    if jobs <= 1:
        for number, part in enumerate(_parts(items)):
            yield finished_part(job.folder, number) or _write_one(job, number, part)
        return
    waiting: deque[Future[PartReport] | PartReport] = deque()
    with workers(jobs) as pool:
        for number, part in enumerate(_parts(items)):
            waiting.append(finished_part(job.folder, number) or pool.submit(_write_one, job, number, part))
            if len(waiting) > 2 * jobs:
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())


def _result(value: Future[PartReport] | PartReport) -> PartReport:
    return value if isinstance(value, PartReport) else value.result()


def _parts(items: Iterator[Any]) -> Iterator[list[Any]]:
    while part := list(islice(items, TRIALS_PER_PART)):
        yield part


def _write_one(job: Job, number: int, items: list[Any]) -> PartReport:
    """Load, clean and write the trials of one part."""
    reader = reader_of(job.description)
    report = PartReport(quality=QualityReport(job.settings.thresholds))
    kept: list[Prepared] = []
    pictures: list[str] = []
    for item in items:
        trial = reader.load(job.description, job.source, item)
        prepared = clean(trial, job.settings, report.quality)
        if prepared is None:
            continue
        trial = prepared.trial
        split = job.description.split.split(trial.name, trial.split)
        kept.append(replace(prepared, trial=replace(trial, split=split)))
        pictures.append(_picture(job, trial.name, trial.task, trial.frame.width_px / trial.frame.height_px, report))
    report.trials = len(kept)
    report.cut = sum(prepared.cut for prepared in kept)
    report.fixations = sum(len(prepared.trial.scanpath or ()) for prepared in kept)
    report.points = sum(len(prepared.trial.trajectory or ()) for prepared in kept)
    write_part(job.folder, number, kept, pictures, report)
    return report


def _picture(job: Job, name: str, task: str, aspect: float, report: PartReport) -> str:
    """The trial's picture, relative to the root; "" when there is none."""
    if job.pictures is None:
        return ""
    relative = find_picture(job.description, job.pictures, name, task)
    if relative is None:
        report.notes["trials whose picture is not there"] += 1
        return ""
    width_px, height_px = check_picture(job.pictures / relative)
    if abs(width_px / height_px / aspect - 1) > ASPECT_TOLERANCE:
        report.notes["trials whose picture has another shape than the gaze's frame"] += 1
    return relative


ASPECT_TOLERANCE = 0.02  # pictures are rounded to whole pixels


def _finish(job: Job, plan: dict[str, Any], count: int, report: PartReport, out: Path) -> None:
    """Join the parts, describe the result, and give it its name."""
    folder = job.folder
    if report.trials == 0:
        raise InputError(f"no trial of {job.source} was kept: {'; '.join(str(report.quality).split(chr(10)))}")
    words = join_parts(folder, count, report)
    write_json(folder / QUALITY, report.as_dict())
    names = (*INDEX_FILES, *DATA_FILES, QUALITY)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "dataset": job.description.name,
        "trials": report.trials,
        "fixations": report.fixations,
        "points": report.points,
        "description": plan["description"],
        "settings": plan["settings"],
        "pictures_root": plan["pictures_root"],
        "plan_sha256": _digest(plan),
        "index_sha256": index_checksum(folder),
        "bytes": {name: (folder / name).stat().st_size for name in names},
        "words": words,
    }
    write_json(folder / MANIFEST, manifest)
    if out.exists():
        shutil.rmtree(out)
    folder.rename(out)
    remove_parts(out)
    (out / PLAN).unlink(missing_ok=True)
