"""What the documents claim, made again by a command: `stdiffeye reproduce NAME`.

An experiment is a module with `reproduce(data, out, quiet)`: read what is under `data`, write the report `out`, return
its path. Those that train also take a `Budget`. A new one is one line in `EXPERIMENTS`.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from stdiffeye.errors import InputError


@dataclass(frozen=True)
class Budget:
    """What an experiment that trains may spend, and where it keeps its stores and runs, so that it can go on."""

    work: Path
    minutes: float = 5.0
    """Processor minutes per system and set."""
    sets: tuple[str, ...] = ()
    """Data sets; none for the experiment's own choice."""
    samples: int = 15
    """Generated per stimulus."""
    rates: tuple[float, ...] = ()
    """Multiples of a preset's learning rate that are tried on validation first, and further ones beyond the best while
    it is the highest or the lowest; none for no search."""
    search_share: float = 0.25
    """Share of the minutes that each of them is trained for, besides the minutes themselves: in a tenth of a few
    minutes slow learners do not get far enough to tell a good rate from one that does nothing."""
    jobs: int = 1
    """Systems at a time, each on its share of the cores; minutes are the processor's, so they stay equal."""
    dry_run: bool = False
    """Only print the plan and what it costs."""


class Experiment(Protocol):
    """What a module of this folder offers."""

    def reproduce(self, data: Path, out: Path, quiet: bool = False) -> Path: ...


class Training(Protocol):
    """What a module that trains offers."""

    def reproduce(self, data: Path, out: Path, budget: Budget, quiet: bool = False) -> Path: ...


@dataclass(frozen=True)
class Entry:
    """Where an experiment lives, what it shows, and the document it writes by default."""

    module: str
    summary: str
    out: str
    needs_data: bool = True
    trains: bool = False


EXPERIMENTS: dict[str, Entry] = {
    "datasets": Entry("datasets", "the public data sets prepared: counts, and what the gate drops", "docs/datasets.md"),
    "extractors": Entry("extractors", "three fixation extractors against two experts", "docs/fixation-extractors.md"),
    "lifting-constants": Entry("lifting_constants", "constants of the lift and its round trip", "docs/lifting.md"),
    "figure3": Entry("figure3", "four generators under four protocols: why CRPS", "docs/crps.md", needs_data=False),
    "models": Entry(
        "models", "the shipped models on the test splits, into their cards", "docs/results/models.md", trains=True
    ),
    "modalities": Entry(
        "modalities",
        "joint, trajectory-only, scanpath-only and coarse to fine, equal budgets",
        "docs/results/modalities.md",
        trains=True,
    ),
    "table1": Entry(
        "table1", "every system of the paper's tables under four protocols", "docs/results/table1.md", trains=True
    ),
    "ablations": Entry(
        "ablations", "modality, index interpolation, injection, encoding", "docs/results/ablations.md", trains=True
    ),
    "statistics": Entry(
        "statistics", "amplitude, direction and angle of saccades", "docs/results/statistics.md", trains=True
    ),
    "qualitative": Entry("qualitative", "people and systems side by side", "docs/results/qualitative.md", trains=True),
}


SEARCH = (0.3, 1.0, 3.0)
RATES = dict.fromkeys(("table1", "modalities", "statistics", "qualitative"), SEARCH)
"""Experiment → learning rates that are tried where none are asked for; those of one contest share its runs."""


def reproduce(
    name: str,
    data: str | Path,
    out: str | Path | None = None,
    quiet: bool = False,
    budget: Budget | None = None,
) -> Path:
    """Run one experiment and return the report that it wrote."""
    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {name!r}; choose one of {', '.join(EXPERIMENTS)}")
    entry = EXPERIMENTS[name]
    module = importlib.import_module(f"stdiffeye.reproduce.{entry.module}")
    report = Path(entry.out if out is None else out)
    if entry.trains:
        return cast(Training, module).reproduce(
            Path(data), report, budget or Budget(Path("reproduced"), rates=RATES.get(name, ())), quiet
        )
    return cast(Experiment, module).reproduce(Path(data), report, quiet)
