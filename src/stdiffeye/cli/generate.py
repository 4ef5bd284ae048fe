"""Generate how people look at pictures; goes on where broken off, skips what it cannot read.

Example: stdiffeye generate photo.jpg --samples 10 --seconds 3 --out gaze
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from stdiffeye.generation.request import OutputOptions, Request
from stdiffeye.work_shards import WorkOptions

if TYPE_CHECKING:
    from stdiffeye.generation.run_folder import GenerationReport

MOST_SHOWN = 20
SHORT_BY_S = 0.5  # a tracker loses the end of a trial, too


@dataclass
class GenerateArgs:
    sources: Positional[Annotated[tuple[Path, ...], arg(metavar="PICTURE …")]]
    """Pictures, folders of pictures, or stores."""
    out: Path = Path("gaze")
    """Folder to write to."""
    model: Annotated[str | None, arg(metavar="NAME")] = None
    """Shipped model or run's folder; by default freeview, or search with --task."""
    request: Request = field(default_factory=Request)
    output: OutputOptions = field(default_factory=OutputOptions)
    split: Annotated[str | None, arg(metavar="SPLIT")] = None
    """Of a store: only this split."""
    work: WorkOptions = field(default_factory=WorkOptions)
    quiet: bool = False
    """Print nothing but errors."""


def run(args: GenerateArgs) -> int:
    from stdiffeye.generation.output import generate_files

    report = generate_files(
        args.sources, args.out, args.model, args.request, args.output, args.split, args.work, args.quiet
    )
    for name, error in report.skipped[:MOST_SHOWN]:
        print(f"skipped {name}: {error}", file=sys.stderr)
    if report.skipped_count:
        rest = report.pictures + report.skipped_count
        print(f"{report.skipped_count} of {rest} pictures have no gaze; generation.json names them", file=sys.stderr)
    if not args.quiet:
        _tell(report, args)
    return 1 if report.skipped_count else 0


def _tell(report: GenerationReport, args: GenerateArgs) -> None:
    if report.shard is not None:
        print(f"Shard {report.shard} is done; when all are: stdiffeye join {args.out}")
        return
    _note_of_short_gaze(report.longest_s, args.request.seconds)
    count = report.pictures
    viewers = f"{args.request.samples} viewer{'s' * (args.request.samples > 1)}"
    print(f"Gaze of {viewers} for {count} picture{'s' * (count > 1)} is in {args.out}")
    assert report.first is not None
    print(f"Look at {_to_open(report.first, args)}")


def _to_open(first: tuple[str, str], args: GenerateArgs) -> Path:
    """The file that shows most at a glance."""
    from stdiffeye.plotting.overview import stimulus_stem

    if args.output.report:
        return args.out / "report.html"
    stem = stimulus_stem(*first)
    if args.output.replay:
        return args.out / f"{stem}-replay.html"
    if args.output.plots:
        return args.out / f"{stem}-{'scanpaths' if args.request.samples > 1 else 'scanpath'}.png"
    return args.out / "fixations.csv"


def _note_of_short_gaze(longest_s: float, requested_s: float | None) -> None:
    if requested_s is not None and 0 < longest_s < requested_s - SHORT_BY_S:
        print(
            f"note: the gaze ends after {longest_s:.1f} s: the trials that the model learned from were no longer",
            file=sys.stderr,
        )
