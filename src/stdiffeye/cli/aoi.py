"""Measure areas of interest: hit share, dwell time, time to first fixation, visits, transitions, with intervals.

GAZE is a gaze file or a store; NAME=FILE several times sets people beside generated viewers. Areas are a JSON file
with boxes and polygons ({"areas": [{"name": "logo", "box": [x, y, width, height]}]}), LabelMe's or COCO's JSON, or a
label mask (PNG). Intervals are bootstraps over viewers.

Example: stdiffeye aoi gaze/scanpaths.json --areas areas.json --out aoi
         stdiffeye aoi human=people.json ours=gaze/scanpaths.json --areas areas.json --picture stimuli
         stdiffeye aoi gaze/scanpaths.json --areas areas.json --designs old.png new.png --needed dwell_ms=200
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from stdiffeye.data.area_options import AoiOptions
from stdiffeye.errors import InputError


@dataclass
class AoiArgs:
    gaze: Positional[Annotated[tuple[str, ...], arg(metavar="GAZE …")]]
    """FILE, or NAME=FILE of several groups; others are compared with the first."""
    areas: Annotated[Path, arg(metavar="FILE")]
    """Areas: JSON, a label mask, or a folder of these named after the pictures."""
    out: Path = Path("aoi")
    """Folder for tables and figures."""
    picture: Path | None = None
    """The picture, or a folder of pictures, to draw on."""
    options: AoiOptions = field(default_factory=AoiOptions)
    json: bool = False
    """Print the tables as JSON."""
    quiet: bool = False
    """Print only where the results are."""


def run(args: AoiArgs) -> None:
    """Measure, write, print."""
    from stdiffeye.cli.named_files import named_files
    from stdiffeye.data.areas_of_interest import aoi
    from stdiffeye.statistics.aoi.area_text import designs_text, needed_text

    if not args.gaze:
        raise InputError("which gaze? Give FILE or NAME=FILE")
    options = args.options
    report = aoi(named_files(args.gaze), args.areas, args.out, args.picture, options, args.quiet)
    if args.json:
        print(json.dumps(json.loads((args.out / "aoi.json").read_text(encoding="utf-8")), ensure_ascii=False))
        return
    if not args.quiet:
        print(report)
        if options.designs is not None:
            print("\n" + designs_text(report.designs(*options.designs), *options.designs))
        if options.needed is not None:
            print("\n" + needed_text(report.viewers_needed(*options.to_see())))
    print(f"Tables{' and figures' * options.plots} are in {args.out}: begin with {args.out / 'summary.csv'}")
