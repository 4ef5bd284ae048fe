"""Turn anybody's scanpaths (a peer's output, a drawing) into human-like gaze at 240 Hz.

Example: stdiffeye animate scanpaths.json --out gaze

The fixations of the gaze are the scanpath's, by construction; what lies between and within them is generated.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional


@dataclass
class Args:
    scanpaths: Positional[Path]
    """COCO-Search18-style JSON, CSV, Parquet, or a store."""
    out: Path = Path("animated")
    """Folder to write to."""
    model: str | None = None
    """A shipped model or a run's folder with a fine half."""
    seed: int = 0
    """The same seed gives the same gaze."""
    precision: float | None = None
    """Tracker's precision in degrees (RMS, sample to sample); by default varied, as people's recordings are."""
    px_per_degree: float | None = None
    """How large the picture was seen; by default 30 degrees wide."""
    durations: bool = False
    """Give scanpaths without durations typical ones."""
    plots: bool = True
    """Draw pictures of the gaze."""
    quiet: bool = False
    """Print nothing but errors."""


def run(args: Args) -> None:
    from stdiffeye.data.read import read_trials
    from stdiffeye.generate.animation import animate
    from stdiffeye.generate.files import write_trajectories

    trials = animate(
        list(read_trials(args.scanpaths)),
        args.model,
        args.seed,
        args.precision,
        args.px_per_degree,
        args.durations,
        args.quiet,
    )
    write_trajectories(args.out, trials)
    if args.plots:
        from stdiffeye.plot.overview import overviews

        overviews(trials, args.out, quiet=args.quiet)
    if not args.quiet:
        print(f"{len(trials)} trajectories are in {args.out}")
