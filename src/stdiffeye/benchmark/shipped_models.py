"""What the cards of the shipped models state: each model on the test splits of its sets.

Scores of a model on a set are kept under `--work`, named by the content of the weights and of the store, so that the
same command goes on where it was broken off and new weights are scored anew.
"""

from __future__ import annotations

import hashlib
import shutil
from datetime import date
from pathlib import Path

from stdiffeye.benchmark import Budget
from stdiffeye.benchmark.model_report import SUMMARY_HEAD, markdown_table, report, summary_row
from stdiffeye.benchmark.scoring import ModelScores, score_model
from stdiffeye.benchmark.systems_table import prepared_in, stores_of, trained_by
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write, read_json, write_json, write_text
from stdiffeye.generation.trained import load
from stdiffeye.plotting import save, traces
from stdiffeye.training.shipped import CARD_FILE, ShippedModel, models
from stdiffeye.version import commit

SETS = {
    "freeview": ("osie", "crowd", "scene", "figrim", "doves", "ueyes"),
    "search": ("coco-search18-tp", "mcs"),
    "joint": ("doves", "osie"),
}
TITLES = ("people", "model")
MEASURED = "<!-- measured -->"
"""A card's figures stand below this line, and are written anew by `stdiffeye reproduce models`."""
SUMMARY = "<!-- summary of the models -->"
"""A page's summary stands between two of these lines, likewise."""
SUMMARISED_IN = Path("README.md")
FORMAT = 1
"""Of the kept scores; another number when scoring changes, so that old ones are not taken for new."""

HEAD = """# The shipped models, measured

Made by `stdiffeye reproduce models` on {day}, commit {commit}: {samples} independent samples for each picture, fair
CRPS. COCO-Search18's test split is not public: its validation split stands for it. DOVES is scored by trajectories,
through Judd's rule on both sides. Weights, steps and guidance were chosen on validation splits.
"""


def reproduce(data: Path, out: Path, budget: Budget, quiet: bool = False) -> Path:
    """Score what is missing; write the report, the models' cards and README's summary from all that is kept.

    `budget.models` and `budget.sets` say what is scored now. A card is written when no set of its model is missing,
    README's summary when nothing is.
    """
    shipped = [model for model in models() if model.name in SETS]
    unknown = set(budget.models) - {model.name for model in shipped}
    if unknown or not shipped:
        names = ", ".join(model.name for model in shipped)
        raise InputError(f"there is no shipped model {', '.join(sorted(unknown))!r}: there are {names or 'none'}")
    chosen = {model.name: _sets_of(model.name, budget) for model in shipped}
    if budget.dry_run:
        print("\n".join(f"{name}: {', '.join(sets)}" for name, sets in chosen.items() if sets))
        return out
    wanted = list(dict.fromkeys(name for sets in chosen.values() for name in sets))
    stores = prepared_in(budget.work / "stores") | prepared_in(data) | stores_of(data, wanted, budget.work, quiet)
    for model in shipped:
        for name in chosen[model.name]:
            _score(model, stores[name], budget, quiet)
    _write(shipped, stores, out, budget)
    return out


def _sets_of(model: str, budget: Budget) -> list[str]:
    if budget.models and model not in budget.models:
        return []
    return [name for name in SETS[model] if not budget.sets or name in budget.sets]


def _score(model: ShippedModel, store: Store, budget: Budget, quiet: bool) -> None:
    """Score a model on a set, unless that was done."""
    kept = _kept(model, store, budget)
    if kept.is_file():
        return
    found = score_model(load(model.folder), store, budget.samples, quiet)
    if found.side_by_side:
        save(traces(found.side_by_side, columns=2, titles=TITLES), kept.with_suffix(".png"))
    write_json(kept, found.scores.to_json())


def _kept(model: ShippedModel, store: Store, budget: Budget) -> Path:
    """Where the scores of these weights on this store are kept."""
    digest = hashlib.sha256(f"{FORMAT} {budget.samples} {store.info['index_sha256']}".encode())
    for file in sorted(model.folder.iterdir()):
        if file.name != CARD_FILE:
            digest.update(file.name.encode() + file.read_bytes())
    return budget.work / "models" / f"{model.name}-{store.dataset}-{digest.hexdigest()[:12]}.json"


def _write(shipped: list[ShippedModel], stores: dict[str, Store], out: Path, budget: Budget) -> None:
    sections = [HEAD.format(day=date.today().isoformat(), commit=commit(), samples=budget.samples)]
    summary, missing = [SUMMARY_HEAD], []
    for model in shipped:
        known = {name: _kept(model, stores[name], budget) for name in SETS[model.name] if name in stores}
        kept = {name: file for name, file in known.items() if file.is_file()}
        absent = [name for name in SETS[model.name] if name not in kept]
        missing += [f"{model.name} on {name}" for name in absent]
        if not kept:
            continue
        scored = [ModelScores.from_json(read_json(file)) for file in kept.values()]
        text = f"Trained from the {trained_by(model.folder)}.\n\n{report(scored)}"
        figures = [_figure(file, name, out, model.name) for name, file in kept.items()]
        sections.append("\n\n".join([f"## {model.name}", text, *(figure for figure in figures if figure)]))
        summary += [summary_row(model.name, one) for one in scored]
        if not absent:
            _into_card(model.folder / CARD_FILE, text)
    if missing:
        sections.append(f"Not scored with these weights yet: {', '.join(missing)}.\n")
        print(f"{SUMMARISED_IN} is left as it is, since not all is scored: {', '.join(missing)}")
    elif SUMMARISED_IN.is_file():
        _into_page(SUMMARISED_IN, markdown_table(summary))
    write_text(out, "\n".join(sections))


def _figure(kept: Path, dataset: str, out: Path, model: str) -> str:
    """The figure of raw gaze beside the report; returns the lines that show it, "" where there is none."""
    drawn, path = kept.with_suffix(".png"), out.with_name(f"{out.stem}-{model}-{dataset}.png")
    if not drawn.is_file():
        return ""
    with atomic_write(path) as temporary:
        shutil.copyfile(drawn, temporary)
    said = f"People (left) and the model (right) on the same pictures of {dataset}:"
    return f"{said}\n\n![Gaze over time]({path.name})\n"


def _into_page(page: Path, table: str) -> None:
    """Replace what stands between the two lines of the summary, where the page has them."""
    above, first, rest = page.read_text(encoding="utf-8").partition(SUMMARY)
    _, second, below = rest.partition(SUMMARY)
    if first and second:
        write_text(page, f"{above}{SUMMARY}\n\n{table}\n\n{SUMMARY}{below}")


def _into_card(card: Path, text: str) -> None:
    above = card.read_text(encoding="utf-8").partition(MEASURED)[0] if card.is_file() else f"# {card.parent.name}\n\n"
    write_text(card, f"{above}{MEASURED}\n\n{text}")
