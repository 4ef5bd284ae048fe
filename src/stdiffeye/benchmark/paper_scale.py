"""Are the paper's numbers on COCO-Search18 on our scale? People's own distances, and what the paper's tables imply."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from stdiffeye.benchmark import Budget
from stdiffeye.benchmark.printed_rows import SET, rows_beside, scale_check
from stdiffeye.benchmark.systems_table import judged_split, stores_of
from stdiffeye.errors import InputError
from stdiffeye.files import write_text
from stdiffeye.metrics import evaluate
from stdiffeye.version import commit

HEAD = """# Is the paper's scale ours? {dataset}

Made by `stdiffeye reproduce paper-scale` on {day}, commit {commit}; nothing is trained. People are those of the public
{split} split, {pairs} pairs of picture and task with {viewers:.3g} viewers each. The paper judges on the test split,
which is not public. Its rows are Table 1 of Zhao, Kara, Kim and Rehg 2026 (arXiv 2606.15486), its appendix's means and
KLDs."""

ROWS = """## CRPS as printed

People here are each viewer against the others; *on other pictures* is the floor without the picture. SSS and SSS† are
left out: they need a segmentation of the pictures, which is not public with the set."""


def reproduce(data: Path, out: Path, budget: Budget, quiet: bool = False) -> Path:
    """Write the page `out`."""
    if budget.dry_run:
        print(f"{SET}: people's distances to each other; nothing is trained")
        return out
    if budget.sets not in ((), (SET,)):
        raise InputError(f"the paper's numbers that are known here are of {SET}, not of {', '.join(budget.sets)}")
    store = stores_of(data, (SET,), budget.work, quiet)[SET]
    seen, split = store.pictures, judged_split(store)
    human = [trial for trial in store.trials(split) if trial.scanpath is not None and trial.name in seen]
    result = evaluate(human, {"itself": human}, protocols=("crps", "mean"), estimator="printed")
    head = HEAD.format(
        dataset=SET,
        day=date.today().isoformat(),
        commit=commit(),
        split=split,
        pairs=len(result.stimuli),
        viewers=result.viewers,
    )
    rows = rows_beside(result, {"human": "people", "shuffled": "people on other pictures"})
    write_text(out, "\n\n".join([head, scale_check(result), ROWS, rows]) + "\n")
    return out
