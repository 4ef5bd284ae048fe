"""Make a table or figure of the documents again.

    stdiffeye reproduce extractors --data DATA
    stdiffeye reproduce lifting-constants --data DATA --out lifting.md

    datasets            the public data sets prepared (each that lies under DATA)
    extractors          three fixation extractors against two experts (needs DATA/lund2013)
    lifting-constants   constants of the lift and its round trip (needs DATA/doves, DATA/lund2013, DATA/osie)
    figure3             four generators under four protocols: why CRPS (needs no data)
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from stdiffeye.errors import InputError


@dataclass
class Args:
    """What to reproduce, from which data."""

    name: Positional[str]
    """What to reproduce, see above."""
    data: Path | None = None
    """Folder of the data sets (default: the environment variable STDIFFEYE_DATA)."""
    out: Path | None = None
    """Report to write (default: its place under docs/)."""
    quiet: bool = False
    """No progress."""


def run(args: Args) -> int:
    from stdiffeye.reproduce import EXPERIMENTS, reproduce

    folder = args.data or os.environ.get("STDIFFEYE_DATA")
    if not folder and not (args.name in EXPERIMENTS and not EXPERIMENTS[args.name].needs_data):
        raise InputError("which data? Give --data FOLDER or set STDIFFEYE_DATA")
    written = reproduce(args.name, folder or Path(), args.out, args.quiet)
    print(f"The report is in {written}")
    return 0
