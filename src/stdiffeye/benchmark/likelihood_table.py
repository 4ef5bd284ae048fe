"""Every system by the likelihood of each next fixation of people, and the shipped model beside them.

The systems are those of `table1`, trained alike: their runs are the same ones where these are there. Each states the
density of the next fixation given the picture and the true fixations so far; all are scored on the same fixations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time

from stdiffeye.arrays import Floats
from stdiffeye.benchmark import Budget
from stdiffeye.benchmark.systems_table import (
    BenchmarkEntry,
    encode_pictures,
    judged_split,
    made,
    plan,
    stores_of,
    trained_model,
)
from stdiffeye.benchmark.table1 import ENTRIES
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.files import write_json, write_text
from stdiffeye.gaze import Scanpath, Trial
from stdiffeye.generation.calibration import calibrate_model
from stdiffeye.generation.judging import densities_of
from stdiffeye.generation.trained import Model, load
from stdiffeye.progress import track
from stdiffeye.statistics.likelihood import (
    LikelihoodSettings,
    LikelihoodTable,
    LogDensities,
    Score,
    Shape,
    likelihood,
)
from stdiffeye.systems.image_conditioned import ImageConditionedDenoiser

SET = "osie"
SHIPPED = "freeview"
VIEWERS = 1  # of each picture: the intervals are over pictures, and a sampled density takes most of a second

HEAD = """# The likelihood of the next fixation: {sets}

Made by `{command}` on {day}, commit {commit}. Every system was trained for {minutes:g} processor minutes on the
training split of the set, with the same frozen picture features. {search} `{shipped}` is the shipped model, which was
trained for much longer and on more sets; its row is no comparison of methods.

Each system states the density of the next fixation, given the picture and the true fixations before it. Densities are
exact for the systems marked so. Those of the diffusion systems are made of samples of the next fixation, of their own
density of fixations, and of functions of the history. They are calibrated on validation pictures
([how](../explanation/likelihood.md)). All systems are scored on the same fixations of
the test split, by the mean over pictures; intervals are 95 %, by bootstrap over pictures. The gold standard is the
density of the other viewers' fixations on the picture, which does not know their order: a system may exceed it.
"""


def reproduce(data: Path, out: Path, budget: Budget, quiet: bool = False) -> Path:
    """Train what is missing, score every system on the test split, and write the page `out`, with a JSON beside it."""
    entries = chosen_entries(budget.systems)
    sets = budget.sets or (SET,)
    if budget.dry_run:
        print(plan([one for one in entries if one.preset], sets, budget))
        return out
    stores = list(stores_of(data, sets, budget.work, quiet).values())
    blocks = [HEAD.format(**made(budget, stores), command=_command(budget, sets), shipped=SHIPPED)]
    results = {}
    for store in stores:
        models = dict(track(_models(entries, store, budget, quiet), "systems trained", len(entries), quiet=quiet))
        table, seconds = score(models, store, quiet)
        results[store.dataset] = table.to_dict()
        blocks += [f"## {store.dataset}", table.to_markdown(), _notes(table, models, seconds, store.dataset)]
    write_text(out, "\n\n".join(block.rstrip("\n") for block in blocks) + "\n")
    write_json(out.with_suffix(".json"), results)
    return out


def chosen_entries(names: Sequence[str]) -> list[BenchmarkEntry]:
    """The shipped model, then the systems of `table1`; only those named, where any are."""
    known = {SHIPPED: BenchmarkEntry(SHIPPED, "")} | {
        one.name: one for one in ENTRIES if not (one.borrows or one.seeks)
    }
    by_word = {word: one for one in known.values() for word in (one.name, one.preset) if word}
    wrong = [name for name in names if name not in by_word]
    if wrong:
        raise InputError(f"there is no system {wrong[0]!r}: choose of {', '.join(known)}")
    return [by_word[name] for name in names] if names else list(known.values())


def score(models: Mapping[str, Model], store: Store, quiet: bool = False) -> tuple[LikelihoodTable, dict[str, float]]:
    """The table, and each model's processor seconds for a picture and history."""
    human = [trial for trial in store.trials(judged_split(store)) if trial.scanpath is not None]
    clocks = {name: _Clock(densities_of(model)) for name, model in models.items()}
    table = likelihood(human, clocks, LikelihoodSettings(viewers=VIEWERS), quiet)
    return table, {name: clock.seconds / max(clock.histories, 1) for name, clock in clocks.items()}


class _Clock:
    """A model's densities, and the processor time that they took."""

    def __init__(self, densities: LogDensities) -> None:
        self._densities, self.seconds, self.histories = densities, 0.0, 0

    def __call__(self, trial: Trial, histories: Sequence[Scanpath | None], shape: Shape) -> Floats:
        begun = process_time()
        found = self._densities(trial, histories, shape)
        self.seconds += process_time() - begun
        self.histories += len(histories)
        return found


def _models(
    entries: Sequence[BenchmarkEntry], store: Store, budget: Budget, quiet: bool
) -> Iterator[tuple[str, Model]]:
    able = [one for one in entries if one.can_learn_from(store)]
    encode_pictures([one for one in able if one.preset], store, budget, quiet)
    for one in able:
        model = load(trained_model(one, store, budget, quiet) if one.preset else SHIPPED)
        if one.preset and isinstance(model.first, ImageConditionedDenoiser):
            calibrate_model(model, [store], quiet=quiet)
        yield one.name, model


def _kind(model: Model, dataset: str) -> str:
    """How a model's density is made."""
    if not isinstance(model.first, ImageConditionedDenoiser):
        return "exact"
    history = model.first.config.next_fixation.history
    sampled = "sampled" if history.needs_samples(dataset) else "density head and history, without samples"
    return f"{sampled}, calibrated" if history else sampled


def _notes(table: LikelihoodTable, models: Mapping[str, Model], seconds: Mapping[str, float], dataset: str) -> str:
    """How each system's density is made and what it costs, and who is first."""
    lines = ["| system | density | processor seconds per picture and history |", "|---|---|---|"]
    for name, model in models.items():
        lines.append(f"| {name} | {_kind(model, dataset)} | {seconds[name]:.3f} |")
    order = sorted((name for name in models if name != SHIPPED), key=lambda name: -table[name]["ig"].value)
    said = [f"By information gain, trained alike: {', '.join(order)}."] if order else []
    if order and SHIPPED in models:
        said.append(_beside_shipped(table, order[0]))
    return "\n".join([*lines, "", *said]) if said else "\n".join(lines)


def _beside_shipped(table: LikelihoodTable, best: str) -> str:
    """The shipped model and the best of the others, paired."""
    values = table[SHIPPED]["ig"].per_stimulus - table[best]["ig"].per_stimulus
    gap = Score.of(values, LikelihoodSettings(viewers=VIEWERS))
    verdict = "ahead of" if gap.low > 0 else "behind" if gap.high < 0 else "not decidedly ahead of or behind"
    figures = f"{gap.value:+.2f} bits ({gap.low:+.2f} to {gap.high:+.2f}), paired over pictures"
    return f"`{SHIPPED}` is {verdict} {best}: {figures}."


def _command(budget: Budget, sets: Sequence[str]) -> str:
    presets = ",".join(one.preset or one.name for one in chosen_entries(budget.systems))
    systems = f" --systems {presets}" if budget.systems else ""
    rates = "" if budget.search_rates else " --rates"
    return f"stdiffeye reproduce likelihood --sets {','.join(sets)} --minutes {budget.minutes:g}{systems}{rates}"
