"""The frozen splits that results are about, from the stores: files in the package, addressed by content."""

from __future__ import annotations

from pathlib import Path

from stdiffeye.benchmark import Budget
from stdiffeye.benchmark.model_report import markdown_table
from stdiffeye.benchmark.scoring import TEST_SPLITS
from stdiffeye.benchmark.systems_table import stores_of
from stdiffeye.data.frozen_splits import FrozenSplit
from stdiffeye.files import write_text

SETS = ("osie", "crowd", "scene", "figrim", "doves", "ueyes", "coco-search18-tp", "mcs")
MARK = "<!-- frozen splits -->"
"""The table stands between two of these lines of the page."""


def reproduce(data: Path, out: Path, budget: Budget, quiet: bool = False) -> Path:
    """Write the package's split files, and their table into the page `out`."""
    rows = [["id", "data set", "split", "pictures", "human trials"]]
    for name, store in stores_of(data, budget.sets or SETS, budget.work, quiet).items():
        split = TEST_SPLITS.get(name, "test")
        frozen = FrozenSplit.of(name, split, store.trials(split))
        frozen.save()
        rows.append([f"`{frozen.id}`", name, split, str(len(frozen.stimuli)), f"{frozen.viewers:,}"])
    page = out.read_text(encoding="utf-8") if out.is_file() else f"# Frozen splits\n\n{MARK}\n{MARK}\n"
    above, _, rest = page.partition(MARK)
    below = rest.partition(MARK)[2]
    write_text(out, f"{above}{MARK}\n\n{markdown_table(rows)}\n\n{MARK}{below}")
    return out
