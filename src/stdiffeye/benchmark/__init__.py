"""What the documents claim, made again by a command: `stdiffeye reproduce NAME`.

An experiment is a module with `reproduce(data, out, quiet)`: read what is under `data`, write the report `out`, return
its path. Those that train also take a `Budget`. A new one is one line in `EXPERIMENTS` and one beside its module.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from stdiffeye.errors import InputError


@dataclass(frozen=True)
class Budget:
    """What an experiment that trains may spend, and where it keeps its stores and runs, so that it can go on."""

    work: Path = Path("reproduced")
    """Stores and runs are kept there, to go on with."""
    minutes: float = 5.0
    """Processor minutes of training, per system and set."""
    sets: tuple[str, ...] = ()
    """Data sets, as osie,doves; by default the experiment's own."""
    systems: tuple[str, ...] = ()
    """Of tables of systems: only these, as ours,joint; by default all."""
    models: tuple[str, ...] = ()
    """Where shipped models are scored: only these."""
    samples: int = 15
    """Generated per stimulus."""
    rates: tuple[float, ...] | None = None
    """Multiples of the learning rate to try before (0.3 1 3; ablations: none)."""
    search_share: float = 0.25
    """Share of the minutes that each rate is tried for."""
    jobs: int = 1
    """Systems trained at a time, each on its share of the cores."""
    dry_run: bool = False
    """Where systems are trained: only print the plan and its cost."""

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise InputError(f"--jobs must be 1 or more, got {self.jobs}")
        for field in ("sets", "systems", "models"):
            names = tuple(name for words in getattr(self, field) for name in words.split(",") if name)
            object.__setattr__(self, field, names)

    @property
    def search_rates(self) -> tuple[float, ...]:
        """The rates that are tried, none where there is no search: a preset's own rate alone (1) leaves no choice.

        Others beyond the best follow while that is the highest or the lowest. Each is trained for a share of the
        minutes: in a tenth of a few minutes slow learners do not get far enough to tell a good rate from a useless one.
        """
        return () if self.rates in (None, (1.0,)) else self.rates or ()


class Experiment(Protocol):
    """What a module of this folder offers."""

    def reproduce(self, data: Path, out: Path, quiet: bool = False) -> Path: ...


class TrainingExperiment(Protocol):
    """What a module that trains offers."""

    def reproduce(self, data: Path, out: Path, budget: Budget, quiet: bool = False) -> Path: ...


@dataclass(frozen=True)
class ExperimentEntry:
    """What an experiment shows, and the document it writes by default."""

    summary: str
    out: str
    needs_data: bool = True


EXPERIMENTS: dict[str, ExperimentEntry] = {
    "datasets": ExperimentEntry("the public data sets prepared: counts, and what the gate drops", "docs/datasets.md"),
    "extractors": ExperimentEntry("three fixation extractors against two experts", "docs/fixation-extractors.md"),
    "lifting-constants": ExperimentEntry("constants of the lift and its round trip", "docs/lifting.md"),
    "path-code": ExperimentEntry("constants of the path code and what it loses", "docs/path-code.md"),
    "figure3": ExperimentEntry("four generators under four protocols: why CRPS", "docs/crps.md", needs_data=False),
    "splits": ExperimentEntry("the frozen splits of the package", "docs/how-to/report.md"),
    "proper": ExperimentEntry("under which metrics CRPS is proper", "docs/explanation/crps.md"),
    "models": ExperimentEntry("the shipped models on the test splits, into their cards", "docs/results/models.md"),
    "modalities": ExperimentEntry(
        "joint, trajectory-only, scanpath-only and coarse to fine, equal budgets", "docs/results/modalities.md"
    ),
    "table1": ExperimentEntry("every system of the paper's tables under four protocols", "docs/results/table1.md"),
    "likelihood": ExperimentEntry(
        "every system by the likelihood of each next fixation", "docs/results/likelihood-osie.md"
    ),
    "ablations": ExperimentEntry("modality, index interpolation, injection, encoding", "docs/results/ablations.md"),
    "paper-scale": ExperimentEntry(
        "people of COCO-Search18 against what the paper's numbers imply", "docs/results/paper-scale.md"
    ),
    "statistics": ExperimentEntry("amplitude, direction and angle of saccades", "docs/results/statistics.md"),
    "qualitative": ExperimentEntry("people and systems side by side", "docs/results/qualitative.md"),
    "kept": ExperimentEntry("tables of earlier runs, from their numbers", "docs/results/table1.md", needs_data=False),
    "scaling": ExperimentEntry("time and memory as the work grows", "docs/explanation/scale.md", needs_data=False),
}


SEARCH = (0.3, 1.0, 3.0)
RATES = dict.fromkeys(("table1", "modalities", "statistics", "qualitative", "likelihood"), SEARCH)
"""Experiment → learning rates that are tried where none are asked for; those of one table share its runs."""


def reproduce(
    name: str,
    data: str | Path | None = None,
    out: str | Path | None = None,
    budget: Budget | None = None,
    quiet: bool = False,
    **fields: Any,
) -> Path:
    """Make a table or figure of the documents again.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    data : path, optional
        Folder of the data sets; by default the environment variable STDIFFEYE_DATA.
    out : path, optional
        Report to write; by default its place under docs/.
    budget : Budget, optional
        What an experiment that trains may spend.
    quiet : bool
        Show no progress.
    **fields
        Fields of `Budget` that differ, as `minutes=30, sets=("osie",)`.

    Returns
    -------
    Path
        The report.

    Raises
    ------
    InputError
        Where there is no such experiment, or data that it needs are not there.
    """
    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name, EXPERIMENTS, n=1)
        hint = f"did you mean {near[0]!r}? There are" if near else "choose one of"
        raise InputError(f"there is no experiment {name!r}: {hint} {', '.join(EXPERIMENTS)}")
    entry, budget = EXPERIMENTS[name], replace(budget or Budget(), **fields)
    if budget.rates is None:
        budget = replace(budget, rates=RATES.get(name, ()))
    folder = data or os.environ.get("STDIFFEYE_DATA")
    if entry.needs_data and not folder and not budget.dry_run:
        raise InputError("which data? Give --data FOLDER or set STDIFFEYE_DATA")
    report, source = Path(entry.out if out is None else out), Path(folder or "")
    plain = _experiment(name)
    if plain is not None:
        return plain.reproduce(source, report, quiet)
    return _training_experiment(name).reproduce(source, report, budget, quiet)


def _experiment(name: str) -> Experiment | None:
    """The module of an experiment that trains nothing; None for those that train."""
    from stdiffeye.benchmark import datasets, extractors, figure3, kept_tables, lifting_constants, scaling

    modules: dict[str, Experiment] = {
        "datasets": datasets,
        "extractors": extractors,
        "figure3": figure3,
        "kept": kept_tables,
        "lifting-constants": lifting_constants,
        "scaling": scaling,
    }
    return modules.get(name)


def _training_experiment(name: str) -> TrainingExperiment:
    from stdiffeye.benchmark import (
        ablations,
        likelihood_table,
        modalities,
        paper_scale,
        path_code_fit,
        proper_metrics,
        qualitative,
        saccade_statistics,
        shipped_models,
        split_files,
        table1,
    )

    modules: dict[str, TrainingExperiment] = {
        "ablations": ablations,
        "likelihood": likelihood_table,
        "modalities": modalities,
        "models": shipped_models,
        "paper-scale": paper_scale,
        "path-code": path_code_fit,
        "proper": proper_metrics,
        "qualitative": qualitative,
        "splits": split_files,
        "statistics": saccade_statistics,
        "table1": table1,
    }
    return modules[name]
