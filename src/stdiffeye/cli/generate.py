"""Look at pictures as people would: 240 Hz gaze and scanpaths for a picture, a folder or a store.

Example: stdiffeye generate photo.jpg --samples 10 --seconds 3 --out gaze
         stdiffeye generate kitchen.jpg --task microwave --out gaze

Writes scanpaths.json (px of the picture), trajectories.csv, and a picture of each kind of view.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

if TYPE_CHECKING:
    from stdiffeye.gaze import Trial

SHORT_BY_S = 0.5  # a tracker loses the end of a trial, too


@dataclass
class Args:
    sources: Positional[Annotated[tuple[Path, ...], arg(metavar="PICTURE …", help_behavior_hint="")]]
    """Pictures, folders of pictures, or stores."""
    out: Path = Path("gaze")
    """Folder to write to."""
    model: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="")] = None
    """A shipped model (see `stdiffeye models`) or a run's folder; by default freeview, or search with --task."""
    task: str = ""
    """What is looked for, in words; nothing for free viewing."""
    samples: int = 10
    """Viewers per picture."""
    seconds: Annotated[float | None, arg(metavar="S", help_behavior_hint="")] = None
    """How long they look; by default as long as people did in the data."""
    seed: int = 0
    """The same seed gives the same gaze."""
    manner: Annotated[str | None, arg(metavar="SET", help_behavior_hint="")] = None
    """Data set whose manner of viewing is wanted; `stdiffeye models NAME` names those that a model knows."""
    precision: Annotated[float | None, arg(metavar="DEG", help_behavior_hint="")] = None
    """Tracker's precision in degrees (RMS, sample to sample)."""
    px_per_degree: Annotated[float | None, arg(metavar="PX", help_behavior_hint="")] = None
    """How large the picture is seen; by default 30 degrees wide."""
    steps: Annotated[int | None, arg(metavar="N", help_behavior_hint="")] = None
    """Denoising steps; by default the model's own."""
    sampler: Annotated[
        Literal["ddpm", "ddim", "dpm++", "unipc", "heun"] | None, arg(metavar="NAME", help_behavior_hint="")
    ] = None
    """ddpm, ddim, dpm++, unipc or heun; by default the model's own."""
    guidance: Annotated[float | None, arg(metavar="W", help_behavior_hint="")] = None
    """Above 1 exaggerates what is due to picture and words; by default the model's own."""
    independent: bool = False
    """Draw viewers one by one, not spread over what people do."""
    split: Annotated[str | None, arg(metavar="SPLIT", help_behavior_hint="")] = None
    """Of a store: only this split."""
    trajectories: bool = True
    """--no-trajectories draws scanpaths alone, which is faster."""
    parquet: bool = False
    """Also write trajectories.parquet (extra `tables`)."""
    bids: bool = False
    """Also write the gaze as a BIDS data set."""
    plots: bool = True
    """--no-plots draws no pictures of the gaze."""
    replay: bool = False
    """Also write a page that replays the gaze."""
    quiet: bool = False
    """Print nothing but errors."""


def run(args: Args) -> None:
    from stdiffeye.errors import InputError
    from stdiffeye.generate.files import generate, wanted_of, write_as_bids, write_parquet
    from stdiffeye.generate.model import Request, load
    from stdiffeye.systems.part import Options

    options = Options(args.steps, args.sampler, args.guidance, spread=not args.independent)
    request = Request(
        args.task, args.samples, args.seconds, args.seed, args.manner, args.precision, args.px_per_degree, options
    )
    if not args.sources:
        raise InputError("name a picture, a folder or a store: `stdiffeye generate photo.jpg`")
    if not args.trajectories and (args.parquet or args.bids):
        raise InputError("--parquet and --bids hold trajectories: leave out --no-trajectories")
    wanted = wanted_of(args.sources, request, args.split)
    trials = generate(load(args.model, args.task), wanted, args.out, args.trajectories, args.quiet)
    if args.parquet:
        write_parquet(args.out, trials)
    if args.bids:
        write_as_bids(args.out / "bids", trials)
    if args.plots or args.replay:
        from stdiffeye.plot.overview import overviews

        overviews(trials, args.out, pictures=args.plots, replays=args.replay, quiet=args.quiet)
    if not args.quiet:
        _note_of_short_looks(trials, args.seconds)
        print(f"Gaze of {args.samples} viewers for {len(wanted)} picture{'s' * (len(wanted) > 1)} is in {args.out}")


def _note_of_short_looks(trials: Sequence[Trial], asked_s: float | None) -> None:
    longest_s = max((t.trajectory.time_ms[-1] / 1000 for t in trials if t.trajectory is not None), default=math.inf)
    if asked_s is not None and longest_s < asked_s - SHORT_BY_S:
        print(
            f"note: the gaze ends after {longest_s:.1f} s: this model looks no longer than the trials it learned from",
            file=sys.stderr,
        )
