"""Make a table or figure of the documents again.

Example: stdiffeye reproduce figure3 --out why-crps.md
         stdiffeye reproduce table1 --data DATA --sets osie,doves --minutes 30 --dry-run

  datasets            the public data sets prepared (each that lies under DATA)
  extractors          three fixation extractors against two experts (needs lund2013)
  lifting-constants   constants of the lift and its round trip (needs doves, lund2013, osie)
  path-code           constants of the path code and what it loses (needs doves)
  splits              the frozen splits of the package, addressed by content
  proper              under which metrics CRPS is proper: eigenvalues over human scanpaths
  models              the shipped models on the test splits, into their cards
  modalities          joint, trajectory-only, scanpath-only, coarse to fine: trains each for --minutes
  table1              every system of the paper's tables, four protocols: trains each for --minutes
  statistics          saccades of people and of the systems of table1, in distribution
  qualitative         scanpaths of people and of the systems of table1, side by side
  likelihood          every system of table1 by the likelihood of each next fixation; the shipped model beside them
  ablations           modality, index interpolation, injection and encoding: trains each for --minutes
  figure3             four generators under four protocols: why CRPS (needs no data)
  scaling             time and memory of commands as the work grows (needs no data)
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
