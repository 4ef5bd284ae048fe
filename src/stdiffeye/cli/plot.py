"""Draw gaze: over its picture, as a density, over time, or humans and systems side by side.

FILE is a gaze file (JSON, CSV, Parquet …) or a store. Give NAME=FILE several times to compare systems.

Example: stdiffeye plot gaze.json --picture photo.jpg --out gaze.png
         stdiffeye plot gaze.json --kind trace --name photo.jpg --subject 3 --out trace.pdf
         stdiffeye plot human=human.json ours=ours.json --picture stimuli --out multiples.pdf
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from stdiffeye.errors import InputError


@dataclass
class PlotArgs:
    gaze: Positional[tuple[str, ...]]
    """FILE, or NAME=FILE of several systems."""
    picture: Path | None = None
    """The picture, or a folder of pictures named like the stimuli."""
    kind: Literal["scanpath", "trajectory", "density", "trace", "multiples"] | None = None
    """What to draw (default: trajectory where there is one, else scanpath; several files: multiples)."""
    name: str | None = None
    """Stimulus to show (default: the first; multiples: the first six)."""
    task: str | None = None
    """Task of the stimulus, where it has several."""
    subject: tuple[str, ...] = ()
    """Only these viewers."""
    viewers: int | None = None
    """How many viewers at once (default: one; density: all)."""
    colour: Literal["time", "sample"] | None = None
    """Colour by time or by viewer."""
    fit: Literal["stretch", "letterbox", "centre"] | None = None
    """How the picture lies in the gaze's frame, where their shapes differ."""
    split: str | None = None
    """Only this split (train, validation, test)."""
    dpi: float = 150
    """Resolution of PNG."""
    out: Path = Path("gaze.png")
    """File to write: .png, .pdf or .svg."""


def run(args: PlotArgs) -> int:
    """Draw, write, say where."""
    from stdiffeye.cli.named_files import named_files
    from stdiffeye.verbs.showing import plot

    files = named_files(args.gaze)
    if not files:
        raise InputError("which gaze? Give FILE or NAME=FILE")
    several = len(files) > 1 or args.kind == "multiples"
    plot(
        files if several else next(iter(files.values())),
        args.picture,
        args.out,
        split=args.split,
        dpi=args.dpi,
        kind=args.kind,
        name=args.name,
        task=args.task,
        subject=args.subject,
        viewers=args.viewers,
        fit=args.fit,
        colour=args.colour,
    )
    print(f"Look at {args.out}")
    return 0
