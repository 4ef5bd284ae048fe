"""Make a table or figure of the documents again.

Example: stdiffeye reproduce figure3 --out why-crps.md
         stdiffeye reproduce table1 --data DATA --sets osie,doves --minutes 30 --dry-run

  datasets            the public data sets prepared (each that lies under DATA)
  extractors          three fixation extractors against two experts (needs lund2013)
  lifting-constants   constants of the lift and its round trip (needs doves, lund2013, osie)
  models              the shipped models on the test splits, into their cards
  modalities          joint, trajectory-only, scanpath-only, coarse to fine: trains each for --minutes
  table1              every system of the paper's tables, four protocols: trains each for --minutes
  statistics          saccades of people and of the systems of table1, in distribution
  qualitative         scanpaths of people and of the systems of table1, side by side
  ablations           modality, index interpolation, injection and encoding: trains each for --minutes
  figure3             four generators under four protocols: why CRPS (needs no data)
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from stdiffeye.errors import InputError


@dataclass
class Args:
    """What to reproduce, from which data."""

    name: Positional[Annotated[str, arg(metavar="NAME", help_behavior_hint="")]]
    """What to reproduce, see above."""
    data: Annotated[Path | None, arg(metavar="DATA", help_behavior_hint="")] = None
    """Folder of the data sets (default: the environment variable STDIFFEYE_DATA)."""
    out: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """Report to write (default: its place under docs/)."""
    minutes: Annotated[float, arg(aliases=["--budget"])] = 5.0
    """Where systems are trained: processor minutes per system and set."""
    sets: Annotated[tuple[str, ...], arg(metavar="A,B", help_behavior_hint="")] = ()
    """Where systems are trained: data sets, as osie,doves."""
    rates: Annotated[tuple[float, ...] | None, arg(metavar="RATE …", help_behavior_hint="")] = None
    """Multiples of the learning rate to try before (0.3 1 3; ablations: none)."""
    jobs: int = 1
    """Systems trained at a time, each on its share of the cores."""
    work: Path = Path("reproduced")
    """Stores and runs are kept there, to go on with."""
    dry_run: bool = False
    """Where systems are trained: only print the plan and its cost."""
    quiet: bool = False
    """No progress."""


def run(args: Args) -> int:
    from stdiffeye.reproduce import EXPERIMENTS, RATES, Budget, reproduce

    folder = args.data or os.environ.get("STDIFFEYE_DATA")
    needs_data = args.name not in EXPERIMENTS or EXPERIMENTS[args.name].needs_data
    if needs_data and not folder and not args.dry_run:
        raise InputError("which data? Give --data FOLDER or set STDIFFEYE_DATA")
    if args.jobs < 1:
        raise InputError(f"--jobs must be 1 or more, got {args.jobs}")
    sets = tuple(name for words in args.sets for name in words.split(",") if name)
    rates = RATES.get(args.name, ()) if args.rates is None else args.rates
    budget = Budget(args.work, args.minutes, sets, rates=rates, jobs=args.jobs, dry_run=args.dry_run)
    written = reproduce(args.name, folder or Path(), args.out, args.quiet, budget)
    if not args.dry_run:
        print(f"The report is in {written}")
    return 0
