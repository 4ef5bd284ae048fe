"""Judge systems that generate gaze against humans: metrics, protocols, intervals, reference rows.

FILE is COCO-Search18-style JSON, CSV, a store, or what ScanDiff, HAT, Gazeformer, … write.

Example: stdiffeye evaluate --human human.json --generated ours=ours.json theirs=theirs.json --compare
         stdiffeye evaluate --human store --split test --generated ours=ours.json --protocols crps
         stdiffeye evaluate --human store --split test --generated freeview --likelihood --viewers 3
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import arg

from stdiffeye.errors import InputError
from stdiffeye.work_shards import WorkOptions

if TYPE_CHECKING:
    from stdiffeye.metrics.result import Result


@dataclass
class EvaluateArgs:
    human: Path
    """Recorded gaze: a file or a store."""
    generated: Annotated[tuple[str, ...], arg(metavar="A=FILE …")] = ()
    """NAME=FILE of each system, or NAME=MODEL: a run, or a shipped one."""
    metrics: Annotated[tuple[str, ...], arg(metavar="NAME …", help_behavior_hint="")] = ()
    """LD DFD DTW TDE MM SM SM_dur SS SS_dur SSS SSS_dur KTD; all by default."""
    protocols: Annotated[tuple[Literal["crps", "mean", "best", "kld"], ...], arg(metavar="NAME …")] = (
        "crps",
        "mean",
        "best",
        "kld",
    )
    """How samples become a number."""
    compare: bool = False
    """Test the systems against each other, paired."""
    trajectories: Annotated[
        tuple[Literal["extracted", "pointwise"], ...] | None, arg(metavar="[MODE]", help_behavior_hint="")
    ] = None
    """Compare trajectories: `extracted` fixations, or `pointwise`."""
    rate_hz: Annotated[float | None, arg(metavar="HZ", help_behavior_hint="")] = None
    """Rate for pointwise comparison; their own by default."""
    clusters: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Clusters for SS; computed from the humans by default."""
    semantics: Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="")] = None
    """Folder of semantic maps (.npy, .npy.gz, .png); SSS needs it."""
    compat: Annotated[Literal["scandiff"] | None, arg(metavar="scandiff", help_behavior_hint="")] = None
    """Follow another program's conventions."""
    estimator: Annotated[Literal["fair", "printed"], arg(metavar="NAME")] = "fair"
    """CRPS without the diagonal, or as `printed` in the paper."""
    average: Annotated[Literal["stimulus", "pooled"], arg(metavar="NAME")] = "stimulus"
    """Mean over each `stimulus`, or over all `pooled`."""
    max_fixations: int = 16
    """Cut scanpaths to this many."""
    split: Annotated[str | None, arg(metavar="SPLIT", help_behavior_hint="")] = None
    """Only this split of the humans (train, validation, test)."""
    split_id: Annotated[str | None, arg(metavar="SET@HASH", help_behavior_hint="")] = None
    """A frozen split: exactly its stimuli and viewers, nothing else."""
    per_stimulus: bool = False
    """Also write the value of every stimulus."""
    likelihood: bool = False
    """Of models: also the likelihood of each next fixation."""
    url: Annotated[tuple[str, ...], arg(metavar="NAME=URL …", help_behavior_hint="")] = ()
    """Models behind pysaliency's HTTP protocol, by likelihood alone."""
    viewers: Annotated[int | None, arg(metavar="N", help_behavior_hint="")] = None
    """Viewers of each stimulus scored by likelihood; all by default."""
    samples: int = 10
    """Scanpaths that a model generates for each stimulus."""
    work: WorkOptions = field(default_factory=WorkOptions)
    save_clusters: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Write the clusters of SS as JSON."""
    out: Path = Path("results.json")
    """Where to write; .md, .tex and .csv beside it."""
    json: bool = False
    """Print the results as JSON."""
    quiet: bool = False
    """Print only where the results are."""


def run(args: EvaluateArgs) -> int:
    """Judge, write, print."""
    from stdiffeye.cli.named_files import named_files
    from stdiffeye.verbs.evaluating import evaluate

    if args.save_clusters is not None and args.work.shard is not None:
        raise InputError("a shard has not all clusters: leave out --save-clusters, or evaluate without --shard")
    result = evaluate(
        args.human,
        named_files(args.generated),
        args.out,
        split=args.split,
        split_id=args.split_id,
        per_stimulus=args.per_stimulus,
        compare=args.compare,
        clusters=args.clusters,
        semantics=args.semantics,
        metrics=args.metrics or None,
        protocols=args.protocols,
        estimator=args.estimator,
        average=args.average,
        compat=args.compat,
        mode=_mode(args.trajectories),
        rate_hz=args.rate_hz,
        max_fixations=args.max_fixations,
        likelihood=args.likelihood,
        url=args.url,
        viewers=args.viewers,
        samples=args.samples,
        quiet=args.quiet or args.json,
        compile_kernels=None,
        work=args.work,
    )
    _report(args, result)
    return 0


def _report(args: EvaluateArgs, result: Result) -> None:
    """Print the tables, and where they are."""
    if args.work.shard is not None:
        print(f"Shard {args.work.shard} is done; when all are: stdiffeye join {args.out}")
        return
    if args.save_clusters is not None:
        result.save_clusters(args.save_clusters)
    if args.json:
        print(json.dumps(result.to_dict(args.per_stimulus), ensure_ascii=False, allow_nan=False))
        return
    if not args.quiet:
        print(f"{result}\n")
    tables = (".md", ".tex", ".csv") if result.systems else (".md",)
    print(f"results: {', '.join(map(str, (args.out, *map(args.out.with_suffix, tables))))}")


def _mode(trajectories: tuple[str, ...] | None) -> str:
    if trajectories is None:
        return "scanpath"
    if len(trajectories) > 1:
        raise InputError(f"--trajectories takes one mode, got {' '.join(trajectories)}")
    return trajectories[0] if trajectories else "extracted"
