"""Is it better to learn trajectories and scanpaths jointly, one of them alone, or one after the other?

The five diffusion systems of `table1`, and the index-aligned form, on the same picture features, for the same
processor time. All are evaluated as scanpaths: trajectories through Judd's rule, aligned tokens by their fixations.
"""

from __future__ import annotations

from pathlib import Path

from stdiffeye.benchmark import Budget, table1
from stdiffeye.benchmark.systems_table import BenchmarkEntry

NAMES = ("joint", "trajectory only", "ScanDiff", "DiffEye", table1.OURS)
# Index-aligned tokens, from the features and the random weights that the others begin with.
ALIGNED = BenchmarkEntry("joint, aligned", "joint", ("start_from=''", "encoder=efficientnet-lite0"))
ENTRIES = (ALIGNED, *(one for one in table1.ENTRIES if one.name in NAMES))

HEAD = """# Joint, single or coarse to fine: {sets}

Made by `stdiffeye reproduce modalities --sets {sets} --minutes {minutes:g}` on {day}, commit {commit}: every system
was trained for {minutes:g} processor minutes on the training split of the set, with the same frozen picture features.
Each generated {samples} independent samples for each picture of the test split. Trajectories are reduced to scanpaths
by Judd's rule. *ScanDiff* is scanpath only, *DiffEye* a U-Net over trajectories alone, *ours* coarse to fine. In
*joint, aligned* a token is a fixation with the code of its path; its fixations are scored as they are. {search}
Where a set has no raw samples (all but DOVES), joint, trajectory only and DiffEye learn from lifted (synthesised) ones.
These are our data and our budget, not the paper's.

Read it with care: the scanpath stage was developed for hours on the validation splits of these sets (positions, kind of
prediction, length first). Joint and trajectory only had one hour, the others half an hour. In a few minutes they make a
few hundred steps, too few to say which is better; that coarse to fine is ahead then says that it learns fast, not that
others cannot ([the shipped `joint`](models.md) had more time).
"""


def reproduce(data: Path, out: Path, budget: Budget, quiet: bool = False) -> Path:
    """Train, generate, evaluate; write the page `out`, and beside it the tables as LaTeX and CSV."""
    return table1.reproduce(data, out, budget, quiet, ENTRIES, head=HEAD)
