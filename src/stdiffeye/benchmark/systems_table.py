"""Systems trained on the same data for the same processor time, and evaluated in one run.

Everything is kept under `budget.work` (stores, features, runs, gaze), so that a benchmark that was broken off goes on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path

from stdiffeye.benchmark import Budget
from stdiffeye.benchmark.learning_rates import RateSearch, search_rates, was_searched
from stdiffeye.benchmark.scoring import TEST_SPLITS, WITHIN
from stdiffeye.data.preparation import prepare
from stdiffeye.data.store import Store
from stdiffeye.data.store_manifest import is_store
from stdiffeye.encoders import features
from stdiffeye.encoders.choose import located
from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial, extract
from stdiffeye.generation.output import generate
from stdiffeye.generation.request import OutputOptions, Request
from stdiffeye.generation.run_folder import SCANPATHS
from stdiffeye.generation.trained import Model, load
from stdiffeye.io.scanpath_json import read_scanpaths
from stdiffeye.metrics import Result, evaluate
from stdiffeye.processes import workers
from stdiffeye.progress import track
from stdiffeye.statistics import search
from stdiffeye.systems.presets import load_preset, parse_yaml
from stdiffeye.systems.saliency_sampler import SaliencySampler
from stdiffeye.training.run import RUN_FILE, train
from stdiffeye.training.shipped import models_folder
from stdiffeye.version import commit

FOLDERS = {"coco-search18-tp": "coco_search18"}
ENCODERS = {"coco-search18-tp": "efficientnet-lite0:search/encoder.safetensors"}
"""Set → the encoder that all systems share on it, where that is not their presets' own."""


@dataclass(frozen=True)
class BenchmarkEntry:
    """A row of the table."""

    name: str
    preset: str
    changes: tuple[str, ...] = ()
    lifts: bool = False
    """Whether it needs raw samples, so that scanpaths of sets without them are lifted; such a system draws samples."""
    borrows: str = ""
    """Name of the entry whose trained density is drawn from, for the saliency sampler, which trains nothing."""

    seeks: bool = False
    """Whether it is made for searched objects: a set without them has no such row."""

    def is_for(self, store: Store) -> bool:
        """Whether the set has a row of it."""
        return not self.seeks or store.dataset in ENCODERS

    def can_learn_from(self, store: Store) -> bool:
        """Whether there are samples where it needs them, or durations, without which a scanpath cannot be lifted."""
        if not self.is_for(store):
            return False
        return not self.lifts or bool(store.columns["has_trajectory"].any() or store.columns["has_durations"].any())


@dataclass
class BenchmarkResult:
    """What came out on one set."""

    dataset: str
    result: Result
    minutes: dict[str, float] = field(default_factory=dict)
    rates: dict[str, RateSearch] = field(default_factory=dict)
    """BenchmarkEntry → what the search for its learning rate found, where one was made."""
    absent: tuple[str, ...] = ()
    """Entries that have nothing to learn from in this set."""
    fair: Result | None = None
    """Fair CRPS alone, which leads the page."""
    trained_by: dict[str, str] = field(default_factory=dict)
    """BenchmarkEntry → preset and commit that its run recorded."""
    trajectories: Result | None = None
    """Systems that draw samples, both sides reduced to fixations by the same rule; None where there is no raw gaze."""
    found: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """Where there is a target: people and systems → share that fixated it within `WITHIN` fixations."""


def stores_of(data: Path, sets: Sequence[str], work: Path, quiet: bool) -> dict[str, Store]:
    """Prepared stores of these sets: those that lie in `data`, under whatever name; others are made where missing."""
    there, found = prepared_in(data), {}
    for name in sets:
        if name in there:
            found[name] = there[name]
            continue
        source = data / FOLDERS.get(name, name)
        if not source.is_dir():
            raise InputError(f"there is no {source}: expected the data set {name!r} there")
        found[name] = prepare(name, source, work / "stores" / name, quiet=quiet)
    return found


def prepared_in(folder: Path) -> dict[str, Store]:
    """Data set → its store, of the stores that lie in a folder."""
    inside = [Store.open(path) for path in sorted(folder.iterdir()) if is_store(path)] if folder.is_dir() else []
    return {store.dataset: store for store in inside}


def stores_for(
    entries: Sequence[BenchmarkEntry], usual: Sequence[str], data: Path, budget: Budget, quiet: bool
) -> list[Store]:
    """Stores of the sets asked for, or of the usual ones; a dry run has none: it prints what would be done."""
    sets = budget.sets or usual
    if budget.dry_run:
        print(plan(entries, sets, budget))
        return []
    return list(stores_of(data, sets, budget.work, quiet).values())


def score_entries(
    entries: Sequence[BenchmarkEntry], store: Store, budget: Budget, quiet: bool = False
) -> BenchmarkResult:
    """Train what is missing, generate for the judged split, evaluate by all protocols, and test every two systems."""
    gaze = gaze_of(entries, [store], budget, quiet)[store.dataset]
    absent = tuple(one.name for one in entries if one.is_for(store) and not one.can_learn_from(store))
    entries = [one for one in entries if one.can_learn_from(store)]
    human = [trial for trial in store.trials(judged_split(store)) if trial.scanpath is not None]
    searches = {one.name: rates_folder(one, budget) for one in entries if not one.borrows}
    rates = {name: RateSearch.read(folder) for name, folder in searches.items() if was_searched(folder)}
    minutes = {one.name: 0.0 if one.borrows else budget.minutes for one in entries}
    moving = {one.name: gaze[one.name] for one in entries if one.lifts}
    trajectories = _as_trajectories(human, moving) if store.columns["has_trajectory"].any() and moving else None
    return BenchmarkResult(
        store.dataset,
        evaluate(human, gaze, estimator="printed", compare=True),
        minutes,
        rates,
        absent,
        evaluate(human, gaze, protocols=("crps",), estimator="fair", compare=True),
        {one.name: _trained_by(run_folder(one, store, budget)) for one in entries if not one.borrows},
        trajectories,
        targets_found(human, gaze),
    )


def judged_split(store: Store) -> str:
    """The test split, or what stands for it where that is not public."""
    return TEST_SPLITS.get(store.dataset, "test")


def is_judged_on_test(store: Store) -> bool:
    """Whether the validation split is free to choose rates and weights by."""
    return judged_split(store) == "test"


def targets_found(human: Sequence[Trial], gaze: Mapping[str, Sequence[Trial]]) -> dict[str, tuple[float, ...]]:
    """Share of the trials of people and of each system that fixated the target soon; nothing without targets."""
    judged = {trial.key for trials in gaze.values() for trial in trials}
    human = [trial for trial in human if trial.key in judged]
    if not any(trial.target_box_px for trial in human):
        return {}
    sides = search.compare(human, gaze, max_fixations=max(WITHIN), average="trial")
    return {side: tuple(float(one.probability[n]) for n in WITHIN) for side, one in sides.items()}


def score_sets(
    entries: Sequence[BenchmarkEntry], stores: Sequence[Store], budget: Budget, quiet: bool
) -> list[BenchmarkResult]:
    """Train and generate for all sets, under one progress bar, then score each."""
    gaze_of(entries, stores, budget, quiet)
    return [score_entries(entries, store, budget, quiet=True) for store in stores]


def trained_by(run: Path) -> str:
    """The preset and the commit that a run or a model recorded, in words."""
    made = parse_yaml((run / RUN_FILE).read_text(encoding="utf-8"), str(run / RUN_FILE)).get("made", {})
    preset, trained_at = made.get("preset"), made.get("commit")
    said = f"preset `{preset}`" if preset else "a preset that was not recorded"
    return f"{said}, commit {trained_at}" if trained_at else f"{said}, commit not recorded"


def _trained_by(run: Path) -> str:
    """The same with the steps that its minutes were enough for, as its log has them."""
    steps = [json.loads(line)["step"] for log in run.glob("*/log.jsonl") for line in log.read_text().splitlines()[-1:]]
    return f"{trained_by(run)}, {max(steps):,} steps" if steps else trained_by(run)


def gaze_of(
    entries: Sequence[BenchmarkEntry], stores: Sequence[Store], budget: Budget, quiet: bool = False
) -> dict[str, dict[str, list[Trial]]]:
    """Set → entry → gaze for the test split; what is missing is trained and generated."""
    total = sum(one.can_learn_from(store) for store in stores for one in entries)
    for _ in track(_entries(entries, stores, budget, quiet), "systems trained and drawn from", total, quiet=quiet):
        pass
    return {
        store.dataset: {
            one.name: read_scanpaths(run_folder(one, store, budget) / SCANPATHS)
            for one in entries
            if one.can_learn_from(store)
        }
        for store in stores
    }


def _entries(entries: Sequence[BenchmarkEntry], stores: Sequence[Store], budget: Budget, quiet: bool) -> Iterator[None]:
    """Bring every entry's gaze for every set about, `budget.jobs` at a time; those who borrow come last."""
    by_name = {one.name: one for one in entries}
    lenders = {one.name: _lender(one, by_name) for one in entries if one.borrows}
    alone = budget.jobs == 1
    with nullcontext() if alone else workers(budget.jobs, fresh=True) as pool:
        for store in stores:
            able = [one for one in entries if one.can_learn_from(store)]
            encode_pictures(able, store, budget, quiet)
            train_one = partial(enter, path=store.path, budget=budget, quiet=quiet or not alone)
            for some in ([one for one in able if not one.borrows], [one for one in able if one.borrows]):
                if pool is None:
                    yield from (train_one(one, lenders.get(one.name)) for one in some)
                else:
                    begun = [pool.submit(train_one, one, lenders.get(one.name)) for one in some]
                    yield from (done.result() for done in as_completed(begun))


def encode_pictures(entries: Sequence[BenchmarkEntry], store: Store, budget: Budget, quiet: bool) -> None:
    """Look at all pictures beforehand, or the first who trains would pay for the others."""
    for encoder in dict.fromkeys(load_preset(one.preset, changes_on(one, store)).encoder for one in entries):
        features(
            list(store.pictures.values()),
            located(encoder, models_folder()),
            budget.work / "features",
            flips=True,
            quiet=quiet,
        )


def changes_on(one: BenchmarkEntry, store: Store) -> list[str]:
    """What an entry changes in its preset on this set.

    Where the validation split is judged, it may not choose the weights that are kept: the last ones count.
    """
    stage = next(iter(load_preset(one.preset).stages))
    changes = [*one.changes]
    if store.dataset in ENCODERS:
        changes.append(f"encoder={ENCODERS[store.dataset]}")
    if not is_judged_on_test(store):
        changes.append(f"train.{stage}.validate_stimuli=0")
    return changes


def enter(one: BenchmarkEntry, lender: BenchmarkEntry | None, path: Path, budget: Budget, quiet: bool = False) -> None:
    """Train one entry on a store where that is missing, and write its gaze for the judged split."""
    store = Store.open(path)
    run = run_folder(one, store, budget)
    if (run / SCANPATHS).is_file():
        return
    model = load(trained_model(lender or one, store, budget, quiet))
    if lender is not None:
        model = Model(model.config, {"scanpath": SaliencySampler(model.first)}, one.name)
    scanpaths = OutputOptions(trajectories=False, plots=False)
    generate(store.path, run, model, Request(samples=budget.samples), scanpaths, judged_split(store), quiet=quiet)


def run_folder(one: BenchmarkEntry, store: Store, budget: Budget) -> Path:
    """Where a run lies: a system has one run for a set and a budget, whatever table it is a row of."""
    searched = bool(budget.search_rates) and is_judged_on_test(store)
    return budget.work / "runs" / f"{store.dataset}-{_label(one, budget, searched)}"


def rates_folder(one: BenchmarkEntry, budget: Budget) -> Path:
    """Where the search for a system's learning rate lies; it is made on the first set and holds for all."""
    return budget.work / "rates" / _label(one, budget, bool(budget.search_rates))


def _label(one: BenchmarkEntry, budget: Budget, searched: bool) -> str:
    """Other presets, changes and budgets are other runs; so are those at the presets' own learning rates."""
    words = [one.preset, f"{budget.minutes:g}min"]
    if not searched:
        words.append("own-rate")
    if one.changes:
        words.append(hashlib.sha256(" ".join(one.changes).encode()).hexdigest()[:8])
    if one.borrows:
        words.append(one.name.replace(" ", "-"))
    return "-".join(words)


def plan(entries: Sequence[BenchmarkEntry], sets: Sequence[str], budget: Budget) -> str:
    """What a benchmark would do and cost, in words."""
    of_set = {name: [one for one in entries if not one.seeks or name in ENCODERS] for name in sets}
    rows = [f"{name}: {', '.join(one.name for one in some)}" for name, some in of_set.items()]
    searched = [one for name, some in of_set.items() if name not in TEST_SPLITS for one in some if not one.borrows]
    systems = len({one.name for one in searched})
    trained = sum(not one.borrows for some in of_set.values() for one in some)
    total = budget.minutes * trained
    rows.append(f"{total:g} processor minutes of training ({budget.minutes:g} for each of {trained} runs)")
    if budget.search_rates and systems:
        each = budget.minutes * budget.search_share
        tries = len(budget.search_rates) * systems
        rows.append(
            f"{each * tries:g} processor minutes before it, to choose learning rates ({each:g} for each of {tries}); "
            "more where the highest or lowest does best"
        )
    rows.append(f"kept under {budget.work}, where the same command goes on; {budget.samples} samples per stimulus")
    return "\n".join(rows)


def made(budget: Budget, stores: Sequence[Store]) -> dict[str, str | float]:
    """What the head of a page says of how it was made."""
    return {
        "sets": ",".join(store.dataset for store in stores),
        "minutes": budget.minutes,
        "samples": budget.samples,
        "day": date.today().isoformat(),
        "commit": commit(),
        "search": _search(budget, stores),
        "split": ", ".join(dict.fromkeys(judged_split(store) for store in stores)),
    }


def _search(budget: Budget, stores: Sequence[Store]) -> str:
    if not budget.search_rates or not any(map(is_judged_on_test, stores)):
        return "Learning rates are the presets' own."
    each = budget.minutes * budget.search_share
    return (
        f"Before that, {len(budget.search_rates)} learning rates had {each:g} minutes each on validation of one set, "
        "and up to two more beyond the best where that was the highest or lowest."
    )


def _lender(one: BenchmarkEntry, by_name: dict[str, BenchmarkEntry]) -> BenchmarkEntry:
    if one.borrows not in by_name:
        raise InputError(f"{one.name} borrows from {one.borrows!r}, which is not in this benchmark")
    return by_name[one.borrows]


def _as_trajectories(human: Sequence[Trial], moving: dict[str, list[Trial]]) -> Result:
    """Score generated samples against raw gaze by extracted fixations, which the systems' scanpaths are already."""
    extracted = [
        replace(trial, scanpath=extract(trial.trajectory, "judd")) for trial in human if trial.trajectory is not None
    ]
    return evaluate(extracted, moving, estimator="printed")


def trained_model(one: BenchmarkEntry, store: Store, budget: Budget, quiet: bool) -> Path:
    def train_into(folder: Path, minutes: float, changes: Sequence[str]) -> Path:
        return _train(one, store, folder, minutes, changes, budget.work / "features", quiet)

    changes: list[str] = []
    if budget.search_rates and is_judged_on_test(store):
        found = search_rates(one.preset, one.changes, store.dataset, rates_folder(one, budget), budget, train_into)
        changes = [found.change]
    return train_into(run_folder(one, store, budget), budget.minutes, changes)


def _train(
    one: BenchmarkEntry, store: Store, run: Path, minutes: float, changes: Sequence[str], cache: Path, quiet: bool
) -> Path:
    lift = one.lifts and not store.columns["has_trajectory"].any()
    resume = (run / RUN_FILE).is_file()
    own = [change for change in changes_on(one, store) if not (resume and change.startswith("encoder="))]
    return train(
        one.preset,
        [store.path],
        run,
        changes=[*own, *(["stages.gaze.lift=true"] if lift else []), *changes],
        resume=resume,  # with the encoder that it keeps
        minutes=minutes,
        cpu_time=True,
        cache=cache,
        only="scanpath" if load_preset(one.preset).system == "coarse-to-fine" else None,
        quiet=quiet,
    )
