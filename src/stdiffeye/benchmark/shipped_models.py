"""What the cards of the shipped models state: each model on the test splits of its sets."""

from __future__ import annotations

from pathlib import Path

from stdiffeye.benchmark import Budget
from stdiffeye.benchmark.scoring import ModelScores, markdown_table, report, score_model, stated_gap
from stdiffeye.benchmark.systems_table import stores_of
from stdiffeye.errors import InputError
from stdiffeye.files import write_text
from stdiffeye.generation.trained import load
from stdiffeye.plotting import save, traces
from stdiffeye.training.shipped import CARD_FILE, models

SETS = {
    "freeview": ("osie", "crowd", "scene", "figrim", "doves", "ueyes"),
    "search": ("coco-search18-tp", "mcs"),
    "joint": ("doves", "osie"),
}
TITLES = ("people", "model")
SUMMARY_HEAD = [
    "model",
    "data set",
    "split",
    "pictures",
    "viewers per picture",
    "gap closed (95 % interval)",
    "target fixated within 6 fixations (people)",
]
MEASURED = "<!-- measured -->"
"""A card's figures stand below this line, and are written anew by `stdiffeye reproduce models`."""
SUMMARY = "<!-- summary of the models -->"
"""A page's summary stands between two of these lines, likewise."""
SUMMARISED_IN = Path("README.md")

HEAD = """# The shipped models, measured

Made by `stdiffeye reproduce models`: 15 independent samples for each picture, fair CRPS. COCO-Search18's test split is
not public: its validation split stands for it. DOVES is scored by trajectories, through Judd's rule on both sides.
Weights, steps and guidance were chosen on validation splits.
"""


def reproduce(data: Path, out: Path, budget: Budget, quiet: bool = False) -> Path:
    """Score every shipped model; write the report and the figures into the models' cards."""
    shipped = [model for model in models() if model.name in SETS]
    if not shipped:
        raise InputError("no model is shipped with this package")
    sections, summary = [HEAD], [SUMMARY_HEAD]
    for model in shipped:
        sets = [name for name in SETS[model.name] if not budget.sets or name in budget.sets]
        if not sets:
            continue
        if budget.dry_run:
            print(f"{model.name}: {', '.join(sets)}")
            continue
        stores = stores_of(data, sets, budget.work, quiet)
        loaded = load(model.name)
        scored = [score_model(loaded, store, quiet) for store in stores.values()]
        text = report(scored)
        figures = [
            _draw(one, out.with_name(f"{out.stem}-{model.name}-{one.dataset}.png"))
            for one in scored
            if one.side_by_side
        ]
        sections.append("\n\n".join([f"## {model.name}", text, *figures]))
        summary += [_summary_row(model.name, one) for one in scored]
        if not budget.sets:
            _into_card(model.folder / CARD_FILE, text)
    if not budget.dry_run:
        write_text(out, "\n".join(sections))
        if not budget.sets and SUMMARISED_IN.is_file():
            _into_page(SUMMARISED_IN, markdown_table(summary))
    return out


def _summary_row(model: str, one: ModelScores) -> list[str]:
    found = f"{100 * one.search['model'][-1]:.0f} % ({100 * one.search['human'][-1]:.0f} %)" if one.search else "–"
    counts = [str(len(one.fair.stimuli)), f"{one.viewers:.0f}"]
    return [f"`{model}`", one.dataset, one.split, *counts, stated_gap(one.gap["mean"]), found]


def _draw(scores: ModelScores, path: Path) -> str:
    """x(t) and y(t) of people and samples, in a figure; returns the line that shows it."""
    save(traces(scores.side_by_side, columns=2, titles=TITLES), path)
    said = f"People (left) and the model (right) on the same pictures of {scores.dataset}:"
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
