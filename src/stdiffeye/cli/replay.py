"""Replay gaze over its picture in real time: one viewer or many, as a page, a GIF or a film.

FILE is a gaze file (JSON, CSV, Parquet …) or a store. The page (.html) needs no network and has play, pause, scrub and
speed, all by keyboard too; .mp4 needs ffmpeg.

Example: stdiffeye replay gaze.json --picture photo.jpg --out replay.html
         stdiffeye replay gaze.json --picture stimuli --name photo.jpg --viewers 5 --speed 0.5 --out replay.gif
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tyro.conf import Positional


@dataclass
class ReplayArgs:
    gaze: Positional[Path]
    """Gaze file or store."""
    picture: Path | None = None
    """The picture, or a folder of pictures named like the stimuli."""
    name: str | None = None
    """Stimulus to show (default: the first)."""
    task: str | None = None
    """Task of the stimulus, where it has several."""
    subject: tuple[str, ...] = ()
    """Only these viewers."""
    viewers: int | None = None
    """How many viewers at once (default: all, at most 15)."""
    speed: float = 1.0
    """Times as fast as it was; 0.5 is slow motion."""
    tail_ms: float = 350.0
    """How much of the past is shown behind each gaze."""
    fit: Literal["stretch", "letterbox", "centre"] | None = None
    """How the picture lies in the gaze's frame, where their shapes differ."""
    split: str | None = None
    """Only this split (train, validation, test)."""
    out: Path = Path("replay.html")
    """File to write: .html, .gif or .mp4."""
    quiet: bool = False
    """No progress."""


def run(args: ReplayArgs) -> int:
    """Replay, say where."""
    from stdiffeye.verbs.showing import replay

    written = replay(
        args.gaze,
        args.picture,
        args.out,
        split=args.split,
        name=args.name,
        task=args.task,
        subject=args.subject,
        viewers=args.viewers,
        speed=args.speed,
        tail_ms=args.tail_ms,
        fit=args.fit,
        quiet=args.quiet,
    )
    print(f"Look at {written}")
    return 0
