"""Show a main job on material that the demonstration makes itself, from nothing but this package.

Example: stdiffeye demo generate --out demo      how people would look at a picture, with the shipped model
         stdiffeye demo fixations --out demo     a tracker's recording to scanpaths, a quality report and a picture
         stdiffeye demo crps --out demo          four generators, four protocols, and why CRPS (the paper's Figure 3)
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

import tyro

from stdiffeye.errors import InputError

# name: the module whose `demo(out, quiet)` makes its material in `out` and runs the job there.
DEMOS = {
    "generate": "stdiffeye.cli.demo_generate",
    "fixations": "stdiffeye.cli.demo_fixations",
    "crps": "stdiffeye.cli.demo_crps",
}


@dataclass
class Args:
    name: tyro.conf.Positional[str] = "generate"
    """Which demonstration."""
    out: Path = Path("demo")
    """Folder for what is made."""
    quiet: bool = False
    """No progress."""


def run(args: Args) -> None:
    if args.name not in DEMOS:
        raise InputError(f"there is no demonstration {args.name!r}; choose one of {', '.join(DEMOS)}")
    importlib.import_module(DEMOS[args.name]).demo(args.out, args.quiet)
