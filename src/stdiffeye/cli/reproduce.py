"""Make a table or figure of the documents again.

Example: stdiffeye reproduce figure3 --out why-crps.md
         stdiffeye reproduce table1 --data DATA --sets osie,doves --minutes 30 --dry-run

  datasets, splits         the public data sets prepared, and the frozen splits of the package
  extractors               three fixation extractors against two experts (needs lund2013)
  lifting-constants        constants of the lift and its round trip (needs doves, lund2013, osie)
  path-code                constants of the path code and what it loses (needs doves)
  proper, figure3          under which metrics CRPS is proper; why CRPS (the latter needs no data)
  models                   the shipped models on the test splits, into their cards
  table1, likelihood       every system of the paper's tables: four protocols; likelihood
  statistics, qualitative  saccades and scanpaths of people and systems, side by side
  modalities, ablations    joint, scanpath, trajectory; interpolation, injection, encoding
  paper-scale              people of COCO-Search18 against what the paper's numbers imply
  kept, scaling            tables of earlier runs; cost as the work grows (neither needs data)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from stdiffeye.benchmark import Budget


@dataclass
class ReproduceArgs:
    name: Positional[Annotated[str, arg(metavar="NAME")]]
    """What to reproduce, see above."""
    data: Annotated[Path | None, arg(metavar="DATA")] = None
    """Folder of the data sets (default: the environment variable STDIFFEYE_DATA)."""
    out: Annotated[Path | None, arg(metavar="FILE")] = None
    """Report to write (default: its place under docs/)."""
    budget: Budget = field(default_factory=Budget)
    quiet: bool = False
    """No progress."""


def run(args: ReproduceArgs) -> None:
    from stdiffeye.benchmark import reproduce

    written = reproduce(args.name, args.data, args.out, args.budget, args.quiet)
    if not args.budget.dry_run:
        print(f"The report is in {written}")
