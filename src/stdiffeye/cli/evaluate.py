"""Judge systems that generate gaze against people: metrics, protocols, intervals, reference rows.

FILE is COCO-Search18-style JSON, CSV, a store, or what ScanDiff, HAT, Gazeformer, GazeXplain, TPP-Gaze
and DeepGaze write. Stimuli are matched by (name, task), frames rescaled to 512×384.

Example: stdiffeye evaluate --human human.json --generated ours=ours.json theirs=theirs.json --compare
         stdiffeye evaluate --human store --split test --generated ours=ours.json --protocols crps
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import arg

from stdiffeye.errors import InputError

if TYPE_CHECKING:
    from stdiffeye.gaze import Trial
    from stdiffeye.metrics.result import Result


@dataclass
class Args:
    human: Path
    """Gaze of people."""
    generated: Annotated[tuple[str, ...], arg(metavar="A=FILE …")]
    """NAME=FILE of each system, several samples of each stimulus in it."""
    metrics: Annotated[tuple[str, ...], arg(metavar="NAME …", help_behavior_hint="")] = ()
    """LD DFD DTW TDE MM SM SM_dur SS SS_dur SSS SSS_dur, or variants as sed-5; by default those that can be."""
    protocols: Annotated[tuple[Literal["crps", "mean", "best", "kld"], ...], arg(metavar="NAME …")] = (
        "crps",
        "mean",
        "best",
        "kld",
    )
    """How samples are summed up."""
    compare: bool = False
    """Test the systems against each other, paired."""
    trajectories: Annotated[
        tuple[Literal["extracted", "pointwise"], ...] | None, arg(metavar="[MODE]", help_behavior_hint="")
    ] = None
    """Compare trajectories: `extracted` fixations (without MODE) or `pointwise`."""
    rate_hz: Annotated[float | None, arg(metavar="HZ", help_behavior_hint="")] = None
    """Rate for pointwise comparison; their own by default."""
    clusters: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Clusters for SS; computed from the humans by default."""
    semantics: Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="")] = None
    """Folder of semantic maps (.npy, .npy.gz, .png); SSS needs it."""
    compat: Annotated[Literal["scandiff"] | None, arg(metavar="scandiff", help_behavior_hint="")] = None
    """Follow another program's conventions."""
    estimator: Annotated[Literal["printed", "fair"], arg(metavar="NAME")] = "printed"
    """CRPS as `printed` in the paper, or `fair`, without the diagonal."""
    average: Annotated[Literal["stimulus", "pooled"], arg(metavar="NAME")] = "stimulus"
    """Mean over each `stimulus`, or over all `pooled`."""
    max_fixations: int = 16
    """Cut scanpaths to this many."""
    split: Annotated[str | None, arg(metavar="SPLIT", help_behavior_hint="")] = None
    """Only this split of the humans (train, validation, test)."""
    per_stimulus: bool = False
    """Also write the value of every stimulus."""
    save_clusters: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Write the clusters of SS as JSON."""
    out: Path = Path("results.json")
    """Where to write; .md, .tex and .csv beside it."""
    json: bool = False
    """Print the results as JSON."""
    quiet: bool = False
    """Print only where the results are."""


def run(args: Args) -> int:
    """Read, judge, write, print."""
    import json

    from stdiffeye.metrics import evaluate

    human = read(args.human, split=args.split)
    result = evaluate(
        human,
        {name: read(path, human) for name, path in _systems(args.generated).items()},
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
    )
    written = _write(result, args)
    if args.json:
        print(json.dumps(result.to_dict(args.per_stimulus), ensure_ascii=False, allow_nan=False))
        return 0
    if not args.quiet:
        print(f"{result}\n")
    print(f"results: {', '.join(map(str, written))}")
    return 0


def read(path: Path, human: Sequence[Trial] | None = None, split: str | None = None) -> list[Trial]:
    """Trials of any file that gaze comes in; given the human trials, also of other programs' predictions."""
    if human is not None:
        from stdiffeye.io.peers import is_prediction_file, read_predictions

        if is_prediction_file(path):
            return read_predictions(path, human)
    from stdiffeye.data.read import read_trials

    return read_trials(path, split)


def _systems(pairs: tuple[str, ...]) -> dict[str, Path]:
    systems: dict[str, Path] = {}
    for pair in pairs:
        name, equals, path = pair.partition("=")
        if not (name and equals and path):
            raise InputError(f"--generated wants NAME=FILE, got {pair!r}")
        if name in systems:
            raise InputError(f"two systems are called {name!r}; give each its own name")
        systems[name] = Path(path)
    return systems


def _mode(trajectories: tuple[str, ...] | None) -> str:
    if trajectories is None:
        return "scanpath"
    if len(trajectories) > 1:
        raise InputError(f"--trajectories takes one mode, got {' '.join(trajectories)}")
    return trajectories[0] if trajectories else "extracted"


def _write(result: Result, args: Args) -> list[Path]:
    tables = {suffix: args.out.with_suffix(suffix) for suffix in (".md", ".tex", ".csv")}
    result.to_json(args.out, args.per_stimulus)
    result.to_markdown(tables[".md"])
    result.to_latex(tables[".tex"])
    result.to_csv(tables[".csv"])
    if args.save_clusters is not None:
        result.save_clusters(args.save_clusters)
    return [args.out, *tables.values()]
