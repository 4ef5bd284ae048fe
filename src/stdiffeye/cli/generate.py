"""Generate how people look at pictures: 240 Hz gaze and scanpaths for a picture, a folder or a store.

Example: stdiffeye generate photo.jpg --samples 10 --seconds 3 --out gaze
         stdiffeye generate kitchen.jpg --task microwave --out gaze

Writes scanpaths.json (px of the picture), tables of fixations, saccades and samples (CSV), and a picture of each kind
of view.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from stdiffeye.generation.request import OutputOptions, Request

if TYPE_CHECKING:
    from stdiffeye.gaze import Trial

SHORT_BY_S = 0.5  # a tracker loses the end of a trial, too


@dataclass
class GenerateArgs:
    sources: Positional[Annotated[tuple[Path, ...], arg(metavar="PICTURE …")]]
    """Pictures, folders of pictures, or stores."""
    out: Path = Path("gaze")
    """Folder to write to."""
    model: Annotated[str | None, arg(metavar="NAME")] = None
    """A shipped model or a run's folder; by default freeview, or search with --task."""
    request: Request = field(default_factory=Request)
    output: OutputOptions = field(default_factory=OutputOptions)
    split: Annotated[str | None, arg(metavar="SPLIT")] = None
    """Of a store: only this split."""
    quiet: bool = False
    """Print nothing but errors."""


def run(args: GenerateArgs) -> None:
    from stdiffeye.generation.output import generate

    trials = generate(args.sources, args.out, args.model, args.request, args.output, args.split, args.quiet)
    if not args.quiet:
        _note_of_short_gaze(trials, args.request.seconds)
        count = len({trial.key for trial in trials})
        viewers = f"{args.request.samples} viewer{'s' * (args.request.samples > 1)}"
        print(f"Gaze of {viewers} for {count} picture{'s' * (count > 1)} is in {args.out}")
        print(f"Look at {_to_open(trials[0], args)}")


def _to_open(first: Trial, args: GenerateArgs) -> Path:
    """The file that shows most at a glance."""
    from stdiffeye.plotting.overview import stimulus_stem

    stem = stimulus_stem(*first.key)
    if args.output.replay:
        return args.out / f"{stem}-replay.html"
    if args.output.plots:
        return args.out / f"{stem}-{'scanpaths' if args.request.samples > 1 else 'scanpath'}.png"
    return args.out / "fixations.csv"


def _note_of_short_gaze(trials: Sequence[Trial], requested_s: float | None) -> None:
    longest_s = max((t.trajectory.time_ms[-1] / 1000 for t in trials if t.trajectory is not None), default=math.inf)
    if requested_s is not None and longest_s < requested_s - SHORT_BY_S:
        print(
            f"note: the gaze ends after {longest_s:.1f} s: this model looks no longer than the trials it learned from",
            file=sys.stderr,
        )
