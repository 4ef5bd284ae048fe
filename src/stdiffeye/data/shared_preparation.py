"""A data set prepared by several programs: each writes some of the shards, and the last step joins them."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

from stdiffeye.data.clean import CleaningSettings
from stdiffeye.data.preparation import PLAN, finish, planned, shard_count, write_shards
from stdiffeye.data.shards import ShardReport, finished_shard
from stdiffeye.data.store import Store
from stdiffeye.data.store_manifest import is_store
from stdiffeye.errors import InputError
from stdiffeye.files import read_fields, read_json, write_json
from stdiffeye.work_shards import Shard

COUNT = "shard-count.json"


def prepare_shard(
    shard: Shard,
    dataset: str | Path,
    source: str | Path | None = None,
    out: str | Path | None = None,
    pictures: str | Path | None = None,
    settings: CleaningSettings | None = None,
    quiet: bool = False,
    keep_ids: bool = False,
) -> Path:
    """Clean some of a data set's trials into `OUT.partial`; `join_preparation` makes the store.

    Parameters
    ----------
    shard
        Which of the trials.
    dataset, source, out, pictures, settings, quiet, keep_ids
        As in `prepare`.

    Returns
    -------
    Path
        The store that it will be.

    Raises
    ------
    InputError
        When the store is there already, or an unfinished one that was begun otherwise.
    """
    job, plan = planned(dataset, source, out, pictures, settings, keep_ids)
    if job.out.exists():
        raise InputError(f"{job.out} is there already: choose another --out")
    known = job.folder / PLAN
    if not known.is_file():
        write_json(known, plan)
    elif read_json(known) != plan:
        raise InputError(f"{job.folder} was begun otherwise: give the same options, or remove it")
    count = shard_count(job)
    write_json(job.folder / COUNT, {"count": count})
    write_shards(job, shard.span(count), jobs=1, cluster=None, quiet=quiet)
    return job.out


def join_preparation(out: str | Path) -> Store:
    """Make the store of shards that several programs wrote; refused while one is missing."""
    out, folder = Path(out), Path(f"{out}.partial")
    if is_store(out) or not (folder / COUNT).is_file():
        raise InputError(f"{out} has no shards to join: `stdiffeye prepare … --shard 1/8 --out {out}` makes them")
    count = int(read_fields(folder / COUNT)["count"])
    reports = [report for number in range(count) if (report := finished_shard(folder, number)) is not None]
    if len(reports) < count:
        raise InputError(f"{folder}: {count - len(reports)} of {count} blocks of trials are not there yet")
    finish(folder, read_fields(folder / PLAN), count, reduce(ShardReport.merge, reports), out)
    return Store.open(out)
