"""Turn scanpaths (another system's output, a drawing) into human-like gaze at 240 Hz.

Example: stdiffeye animate scanpaths.json --out gaze

The fixations of the gaze are the scanpath's, by construction; what lies between and within them is generated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tyro.conf import Positional

from stdiffeye.generation.request import AnimationOptions


@dataclass
class AnimateArgs:
    scanpaths: Positional[Path]
    """COCO-Search18-style JSON, CSV, Parquet, or a store."""
    out: Path = Path("animated")
    """Folder to write to."""
    model: str | None = None
    """A shipped model or a run's folder with a trajectory stage."""
    options: AnimationOptions = field(default_factory=AnimationOptions)
    plots: bool = True
    """Pictures of the gaze."""
    quiet: bool = False
    """Print nothing but errors."""


def run(args: AnimateArgs) -> None:
    from stdiffeye.generation.animation import animate

    trials = animate(args.scanpaths, args.out, args.model, args.options, args.plots, args.quiet)
    if not args.quiet:
        print(f"{len(trials)} trajectories are in {args.out}")
