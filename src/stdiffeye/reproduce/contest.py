"""Systems trained on the same data for the same processor time, and judged in one run.

Everything is kept under `budget.work` (stores, features, runs, gaze), so that a contest that was broken off goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stdiffeye.data.prepare import prepare
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial
from stdiffeye.generate.files import SCANPATHS, generate, wanted_of
from stdiffeye.generate.model import Request, load
from stdiffeye.io.scanpath_json import read_scanpaths
from stdiffeye.metrics import Result, evaluate
from stdiffeye.reproduce import Budget
from stdiffeye.train.run import RUN_FILE, train

FOLDERS = {"coco-search18-tp": "coco_search18"}


@dataclass(frozen=True)
class Contestant:
    """A row of the table."""

    name: str
    preset: str
    changes: tuple[str, ...] = ()
    lifts: bool = False
    """Whether it needs raw samples, so that scanpaths of sets without them are lifted."""


@dataclass
class Standing:
    """What came out on one set."""

    dataset: str
    result: Result
    minutes: dict[str, float] = field(default_factory=dict)


def stores_of(data: Path, sets: Sequence[str], work: Path, quiet: bool) -> dict[str, Store]:
    """Prepared stores of these sets, made where missing."""
    found = {}
    for name in sets:
        source = data / FOLDERS.get(name, name)
        if not source.is_dir():
            raise InputError(f"there is no {source}: expected the data set {name!r} there")
        found[name] = prepare(name, source, work / "stores" / name, quiet=quiet)
    return found


def contest(contestants: Sequence[Contestant], store: Store, budget: Budget, quiet: bool = False) -> Standing:
    """Train what is missing, generate for the test split, and judge by all protocols."""
    gaze = {one.name: entry(one, store, budget, quiet) for one in contestants}
    human = [trial for trial in store.trials("test") if trial.scanpath is not None]
    result = evaluate(human, gaze, compare=True)
    return Standing(store.dataset, result, {one.name: budget.minutes for one in contestants})


def entry(one: Contestant, store: Store, budget: Budget, quiet: bool = False) -> list[Trial]:
    """The gaze of one contestant for the test split of a store."""
    run = budget.work / "runs" / f"{store.dataset}-{one.name.replace(' ', '-')}-{budget.minutes:g}min"
    if not (run / SCANPATHS).is_file():
        _train(one, store, run, budget, quiet)
        request = Request(samples=budget.samples)
        generate(load(run), wanted_of([store.path], request, "test"), run, trajectories=False, quiet=quiet)
    return read_scanpaths(run / SCANPATHS)


def plan(contestants: Sequence[Contestant], sets: Sequence[str], budget: Budget) -> str:
    """What a contest would do and cost, in words."""
    rows = [f"{name}: {', '.join(one.name for one in contestants)}" for name in sets]
    total = budget.minutes * len(contestants) * len(sets)
    return "\n".join([*rows, f"{total:g} processor minutes of training, kept under {budget.work}"])


def _train(one: Contestant, store: Store, run: Path, budget: Budget, quiet: bool) -> None:
    lift = one.lifts and not store.columns["has_trajectory"].any()
    changes = [*one.changes, *(["parts.tokens.lift=true"] if lift else [])]
    train(
        one.preset,
        [store.path],
        run,
        changes=changes,
        resume=(run / RUN_FILE).is_file(),
        minutes=budget.minutes,
        cpu_time=True,
        cache=budget.work / "features",
        only="coarse" if one.preset == "compact" else None,
        quiet=quiet,
    )
