"""Compare how humans and systems move their eyes: distributions, distances, figures.

Always: saccade amplitude and direction, angle between saccades, fixation duration, number of fixations. Where all
sides have raw gaze: kinematics with the main sequence. Where trials have target boxes: visual search.

Example: stdiffeye stats --human human.json --generated ours=ours.json theirs=theirs.json --out stats
         stdiffeye stats --human store --split test --generated ours=ours.json --saliency --skip-first 1
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass
class StatsArgs:
    human: Path
    """Recorded gaze: a file or a store."""
    generated: tuple[str, ...] = ()
    """NAME=FILE of each system."""
    out: Path = Path("stats")
    """Folder for statistics.json, statistics.md and the figures (PNG and PDF)."""
    unit: Literal["auto", "deg", "px"] = "auto"
    """Unit of lengths; auto = degrees where all frames know them, else px of 512×384."""
    kinematics: bool = False
    """Fail where kinematics cannot be measured; by default they are where all sides have raw gaze at one rate."""
    search: bool = False
    """Fail where visual search cannot be measured; by default it is where human trials have target boxes."""
    saliency: bool = False
    """Score the fixations as a saliency map: NSS, CC, AUC-Judd, KLdiv, IG."""
    skip_first: int = 0
    """Leading fixations that the saliency map leaves out: 1 where the first is central by design."""
    split: str | None = None
    """Only this split of the humans (train, validation, test)."""
    json: bool = False
    """Print the numbers as JSON."""
    quiet: bool = False
    """Print only where the results are."""


def run(args: StatsArgs) -> int:
    """Measure, write, print."""
    from stdiffeye.cli.named_files import named_files
    from stdiffeye.verbs.showing import stats

    found = stats(
        args.human,
        named_files(args.generated),
        args.out,
        split=args.split,
        unit=args.unit,
        kinematics=args.kinematics,
        search=args.search,
        saliency=args.saliency,
        skip_first=args.skip_first,
    )
    if args.json:
        print(json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False))
        return 0
    if not args.quiet:
        print(found)
    print(f"Look at {args.out / 'distributions.png'}; the numbers are in {args.out / 'statistics.json'}")
    return 0
