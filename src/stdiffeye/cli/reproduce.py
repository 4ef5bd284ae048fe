"""Make a table or figure of the documents again.

Example: stdiffeye reproduce extractors --data DATA
         stdiffeye reproduce lifting-constants --data DATA --out lifting.md

  datasets            the public data sets prepared (each that lies under DATA)
  extractors          three fixation extractors against two experts (needs DATA/lund2013)
  lifting-constants   constants of the lift and its round trip (needs DATA/doves, DATA/lund2013, DATA/osie)
  models              the shipped models on the test splits, into their cards
  modalities          joint, trajectory-only, scanpath-only, coarse to fine: trains each for --minutes
  table1              every system of the paper's tables under four protocols: trains each for --minutes
  statistics          saccades of people and of the systems of table1, in distribution
  qualitative         scanpaths of people and of the systems of table1, side by side
  ablations           modality, index interpolation, injection and encoding: trains each for --minutes
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
    minutes: float = 5.0
    """Of an experiment that trains: processor minutes per system and set."""
    sets: tuple[str, ...] = ()
    """Of an experiment that trains: data sets, as osie,doves."""
    rates: tuple[float, ...] | None = None
    """Of an experiment that trains: multiples of the learning rate to try (table1: 0.3 1 3)."""
    work: Path = Path("reproduced")
    """Of an experiment that trains: where stores and runs are kept; the same command goes on there."""
    dry_run: bool = False
    """Of an experiment that trains: only print the plan and its cost."""
    quiet: bool = False
    """No progress."""


def run(args: Args) -> int:
    from stdiffeye.reproduce import EXPERIMENTS, RATES, Budget, reproduce

    folder = args.data or os.environ.get("STDIFFEYE_DATA")
    if not folder and not (args.name in EXPERIMENTS and not EXPERIMENTS[args.name].needs_data):
        raise InputError("which data? Give --data FOLDER or set STDIFFEYE_DATA")
    sets = tuple(name for words in args.sets for name in words.split(",") if name)
    rates = RATES.get(args.name, ()) if args.rates is None else args.rates
    budget = Budget(args.work, args.minutes, sets, rates=rates, dry_run=args.dry_run)
    written = reproduce(args.name, folder or Path(), args.out, args.quiet, budget)
    if not args.dry_run:
        print(f"The report is in {written}")
    return 0
