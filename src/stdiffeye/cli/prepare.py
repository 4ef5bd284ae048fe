"""A data set in, a store for training out: cleaned, aligned, indexed, with a quality report.

Example: stdiffeye prepare osie ~/data/osie --out stores/osie --jobs 4
         stdiffeye prepare recordings/ --out stores/mine --pictures stimuli
         stdiffeye prepare scanpaths.json --out stores/mine --pictures stimuli
         stdiffeye prepare mine.yaml recordings/ --out stores/mine
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from stdiffeye.cli.threshold_flags import ThresholdFlags
from stdiffeye.work_shards import WorkOptions


@dataclass
class PrepareArgs:
    dataset: tyro.conf.Positional[str]
    """A folder of recordings; a .json of scanpaths; or a data set (osie, crowd, scene, ueyes, figrim, mcs, doves,
    mit1003, coco-search18-tp, …) or your own description (.yaml), with its folder."""
    source: tyro.conf.Positional[Path | None] = None
    """The folder where the data set's files lie."""
    out: Path | None = None
    """The store to make."""
    pictures: Path | None = None
    """The folder of the pictures, if they lie elsewhere."""
    rate: float = 240.0
    """Samples per second of the store's trajectories."""
    jobs: Annotated[int, tyro.conf.arg(aliases=["-j"])] = 1
    """Processes."""
    eye: Literal["best", "left", "right", "mean"] = "best"
    """Of recordings: best (the one less often lost, trial by trial), left, right or mean."""
    thresholds: ThresholdFlags = field(default_factory=ThresholdFlags)
    max_fixations: int = 16
    """Cut scanpaths after so many fixations."""
    max_points: int = 1500
    """Cut trajectories after so many points."""
    keep_ids: bool = False
    """Of recordings: viewers keep their names instead of pseudonyms."""
    check: bool = False
    """Only tell which files are there, which are missing and where they are expected."""
    work: WorkOptions = field(default_factory=WorkOptions)
    overwrite: bool = False
    """Replace a store that is already there."""
    quiet: bool = False
    """No progress, no report."""


def run(args: PrepareArgs) -> int:
    from stdiffeye.errors import InputError

    if args.check:
        return _check(args)
    if args.out is None:
        raise InputError(f"say where the store goes: --out stores/{Path(args.dataset).stem}")
    from stdiffeye.data.clean import CleaningSettings
    from stdiffeye.data.preparation import QUALITY, prepare
    from stdiffeye.data.shards import ShardReport
    from stdiffeye.files import read_json

    thresholds = args.thresholds.thresholds()
    settings = CleaningSettings(args.rate, args.max_fixations, args.max_points, eye=args.eye, thresholds=thresholds)
    given = (args.dataset, args.source, args.out, args.pictures, settings)
    if args.work.own is not None:
        from stdiffeye.data.shared_preparation import prepare_shard

        made = prepare_shard(args.work.own, *given, quiet=args.quiet, keep_ids=args.keep_ids)
        print(f"Shard {args.work.own} is done; when all are: stdiffeye join {made}")
        return 0
    store = prepare(*given, args.jobs, args.quiet, args.overwrite, args.work.cluster, args.keep_ids)
    if not args.quiet:
        print(ShardReport.from_dict(read_json(store.path / QUALITY)))
    print(f"{len(store)} trials are in {store.path}; `stdiffeye info {store.path}` describes them")
    return 0


def _check(args: PrepareArgs) -> int:
    from stdiffeye.io.descriptions import check, describe_source

    description, source = describe_source(args.dataset, args.source)
    found = check(description, source)
    for item in found:
        state = f"{item.count} there" if item.count else "MISSING" if item.missing else "not there (optional)"
        print(f"{state:<22}{item.where}  {item.expected.what}")
    missing = sum(item.missing for item in found)
    at = f"; get it from {description.url}" if missing and description.url else ""
    print(f"{description.title}: {f'{missing} missing' if missing else 'all that is needed is there'}{at}")
    return 2 if missing else 0
