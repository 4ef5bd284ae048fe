"""What the cards of the shipped models state: each model on the test splits of its sets."""

from __future__ import annotations

import importlib
from pathlib import Path

from stdiffeye.errors import InputError
from stdiffeye.files import write_text
from stdiffeye.generate.model import load
from stdiffeye.generate.shipped import CARD_FILE, models
from stdiffeye.reproduce import Budget
from stdiffeye.reproduce.contest import stores_of
from stdiffeye.reproduce.judgement import Judgement, judge, report

SETS = {
    "freeview": ("osie", "crowd", "scene", "figrim", "doves"),
    "search": ("mcs",),
    "joint": ("doves", "osie"),
}
TITLES = ("people", "model")
MEASURED = "<!-- measured -->"
"""A card's figures stand below this line, and are written anew by `stdiffeye reproduce models`."""

HEAD = """# The shipped models, measured

Made by `stdiffeye reproduce models`: 15 samples for each picture of the test splits, CRPS with the diagonal.
Gap closed = (people on other pictures − model) / (people on other pictures − people, leave-one-out), in per cent;
intervals by bootstrap over pictures. DOVES is judged by trajectories, through Judd's rule on both sides.
Weights, steps and guidance were chosen on the validation splits.
"""


def reproduce(data: Path, out: Path, budget: Budget, quiet: bool = False) -> Path:
    """Judge every shipped model; write the report and the figures into the models' cards."""
    shipped = [model for model in models() if model.name in SETS]
    if not shipped:
        raise InputError("no model is shipped with this package")
    sections = [HEAD]
    for model in shipped:
        sets = [name for name in SETS[model.name] if not budget.sets or name in budget.sets]
        if not sets:
            continue
        if budget.dry_run:
            print(f"{model.name}: {', '.join(sets)}")
            continue
        stores = stores_of(data, sets, budget.work, quiet)
        loaded = load(model.name)
        judged = [judge(loaded, store, quiet) for store in stores.values()]
        text = report(judged)
        figures = [
            _draw(one, out.with_name(f"{out.stem}-{model.name}-{one.dataset}.png"))
            for one in judged
            if one.side_by_side
        ]
        sections.append("\n\n".join([f"## {model.name}", text, *figures]))
        if not budget.sets:
            _into_card(model.folder / CARD_FILE, text)
    if not budget.dry_run:
        write_text(out, "\n".join(sections))
    return out


def _draw(judged: Judgement, path: Path) -> str:
    """x(t) and y(t) of people and samples, in a figure; returns the line that shows it."""
    # The room of pictures lies above this one and is only loaded when asked for.
    drawing = importlib.import_module("stdiffeye.plot.trace").traces(judged.side_by_side, columns=2, titles=TITLES)
    importlib.import_module("stdiffeye.plot.canvas").save(drawing, path)
    said = f"People (left) and the model (right) on the same pictures of {judged.dataset}:"
    return f"{said}\n\n![Gaze over time]({path.name})\n"


def _into_card(card: Path, text: str) -> None:
    above = card.read_text(encoding="utf-8").partition(MEASURED)[0] if card.is_file() else f"# {card.parent.name}\n\n"
    write_text(card, f"{above}{MEASURED}\n\n{text}")
