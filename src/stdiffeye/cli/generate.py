"""Look at pictures as people would: 240 Hz gaze and scanpaths for a picture, a folder or a store.

Example: stdiffeye generate photo.jpg --samples 10 --seconds 3 --out gaze
         stdiffeye generate kitchen.jpg --task microwave --out gaze

Writes scanpaths.json (px of the picture), trajectories.csv, and a picture of each kind of view.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tyro.conf import Positional


@dataclass
class Args:
    sources: Positional[tuple[Path, ...]]
    """Pictures, folders of pictures, or stores."""
    out: Path = Path("gaze")
    """Folder to write to."""
    model: str | None = None
    """A shipped model (see `stdiffeye models`) or a run's folder; by default freeview, or search with --task."""
    task: str = ""
    """What is looked for, in words; nothing for free viewing."""
    samples: int = 10
    """Viewers per picture."""
    seconds: float | None = None
    """How long they look; by default as long as people did in the data."""
    seed: int = 0
    """The same seed gives the same gaze."""
    manner: str | None = None
    """Data set whose manner of viewing is wanted."""
    precision: float | None = None
    """Tracker's precision in degrees (RMS, sample to sample)."""
    px_per_degree: float | None = None
    """How large the picture is seen; by default 30 degrees wide."""
    steps: int | None = None
    """Denoising steps."""
    sampler: Literal["ddpm", "ddim", "dpm++", "heun"] | None = None
    """How noise becomes gaze."""
    guidance: float = 1.0
    """Above 1 exaggerates what is due to the picture."""
    split: str | None = None
    """Of a store: only this split."""
    trajectories: bool = True
    """--no-trajectories draws scanpaths alone, which is faster."""
    parquet: bool = False
    """Also write trajectories.parquet (extra `tables`)."""
    bids: bool = False
    """Also write the gaze as a BIDS data set."""
    plots: bool = True
    """Draw pictures of the gaze."""
    replay: bool = False
    """Also write a page that replays the gaze."""
    quiet: bool = False
    """Print nothing but errors."""


def run(args: Args) -> None:
    from stdiffeye.errors import InputError
    from stdiffeye.generate.files import generate, wanted_of, write_as_bids, write_parquet
    from stdiffeye.generate.model import Request, load
    from stdiffeye.systems.part import Options

    options = Options(args.steps, args.sampler, args.guidance)
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
        print(f"Gaze of {args.samples} viewers for {len(wanted)} picture{'s' * (len(wanted) > 1)} is in {args.out}")
