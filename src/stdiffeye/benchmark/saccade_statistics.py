"""How saccades of people and of systems are distributed: amplitude, direction, and angle between two of them.

The paper's appendix shows these; the systems and their gaze are those of `table1`, which trains what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stdiffeye.benchmark import Budget
from stdiffeye.benchmark.systems_table import BenchmarkEntry, gaze_of, judged_split, made, stores_for
from stdiffeye.benchmark.table1 import ENTRIES, SETS
from stdiffeye.files import write_text
from stdiffeye.plotting import distributions, save
from stdiffeye.statistics import Comparison, compare

QUANTITIES = ("saccade_amplitude", "saccade_direction", "inter_saccade_angle")

HEAD = """# Saccades of people and systems: {sets}

Made by `stdiffeye reproduce statistics --sets {sets} --minutes {minutes:g}` on {day}, commit {commit}; systems and
budget as in the [table of systems](table1.md). KS is the Kolmogorov–Smirnov distance to people (Kuiper's around the
circle); the row of people has the distance between two halves of the viewers, which is what remains for a perfect
system. These distributions do not know which picture was seen: a system may match them and look at the wrong things.
"""


def reproduce(
    data: Path, out: Path, budget: Budget, quiet: bool = False, entries: Sequence[BenchmarkEntry] = ENTRIES
) -> Path:
    """Write the page `out` and a figure per set beside it."""
    stores = stores_for(entries, SETS, data, budget, quiet)
    if not stores:
        return out
    gaze = gaze_of(entries, stores, budget, quiet)
    sections = [HEAD.format(**made(budget, stores))]
    for store in stores:
        human = [trial for trial in store.trials(judged_split(store)) if trial.scanpath is not None]
        found = saccades(compare(human, gaze[store.dataset], unit="px"))
        figure = out.with_name(f"{out.stem}-{store.dataset}.png")
        save(distributions(found), figure)
        sections += [f"## {store.dataset}", f"![Saccades on {store.dataset}]({figure.name})", found.to_markdown()]
    write_text(out, "\n\n".join(sections) + "\n")
    return out


def saccades(comparison: Comparison) -> Comparison:
    """The three quantities of the paper's appendix alone."""
    kept = {name: one for name, one in comparison.distributions.items() if name in QUANTITIES}
    return replace(comparison, distributions=kept)
