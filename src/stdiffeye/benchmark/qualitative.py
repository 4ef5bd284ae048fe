"""A few test pictures as people and as systems look at them, side by side.

Pictures of the public sets are not ours to hand on: what is written below a folder `docs` is drawn on blank frames,
what is written elsewhere on the pictures themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.benchmark import Budget
from stdiffeye.benchmark.systems_table import BenchmarkEntry, gaze_of, judged_split, made, stores_for
from stdiffeye.benchmark.table1 import ENTRIES, SETS
from stdiffeye.data.store import Store
from stdiffeye.files import write_text
from stdiffeye.gaze import Trial
from stdiffeye.plotting import multiples, save

PICTURES = 4
BLANK = 245  # a light grey that shows where the picture ends

HEAD = """# People and systems, side by side: {sets}

Made by `stdiffeye reproduce qualitative --sets {sets} --minutes {minutes:g}` on {day}, commit {commit}; systems and
budget as in the [table of systems](table1.md). One viewer or sample per cell, the first of each, on {pictures} test
pictures spread evenly over the set: nothing was picked by eye. {frames}
"""


def reproduce(
    data: Path, out: Path, budget: Budget, quiet: bool = False, entries: Sequence[BenchmarkEntry] = ENTRIES
) -> Path:
    """Write the page `out` and a figure per set beside it."""
    stores = stores_for(entries, SETS, data, budget, quiet)
    if not stores:
        return out
    blank = "docs" in out.resolve().parts
    gaze = gaze_of(entries, stores, budget, quiet)
    frames = "Frames are blank, because the pictures are others' property." if blank else ""
    sections = [HEAD.format(pictures=PICTURES, frames=frames, **made(budget, stores))]
    for store in stores:
        figure = out.with_name(f"{out.stem}-{store.dataset}.png")
        _draw(store, gaze[store.dataset], figure, blank)
        sections += [f"## {store.dataset}", f"![Scanpaths on {store.dataset}]({figure.name})"]
    write_text(out, "\n\n".join(sections) + "\n")
    return out


def chosen_stimuli(human: Sequence[Trial], count: int = PICTURES) -> list[tuple[str, str]]:
    """(name, task) of so many stimuli, evenly spread."""
    keys = list(dict.fromkeys(trial.key for trial in human))
    return [keys[i] for i in np.linspace(0, len(keys) - 1, min(count, len(keys))).round().astype(int)]


def _draw(store: Store, gaze: Mapping[str, Sequence[Trial]], path: Path, blank: bool) -> None:
    human = [trial for trial in store.trials(judged_split(store)) if trial.scanpath is not None]
    keys = chosen_stimuli(human)
    frames = {trial.name: trial.frame for trial in human}
    pictures: dict[str, Any] = {name: store.pictures.get(name) for name, _ in keys}
    if blank:
        sizes = {name: frames[name].size_px.round().astype(int) for name, _ in keys}
        pictures = {name: np.full((size[1], size[0]), BLANK, dtype=np.uint8) for name, size in sizes.items()}
    figure = multiples({"human": human, **gaze}, pictures, keys, kind="scanpath")
    save(figure, path)
