"""Is it better to learn trajectories and scanpaths jointly, one of them alone, or one after the other?

Five diffusion systems on the same picture features, for the same processor time, on DOVES (raw gaze) and OSIE
(scanpaths; where a system needs samples they are lifted, that is synthesised). All are judged as scanpaths:
trajectories through Judd's rule.
"""

from __future__ import annotations

from pathlib import Path

from stdiffeye.files import write_text
from stdiffeye.reproduce import Budget
from stdiffeye.reproduce.contest import Contestant, Standing, contest, made, stores_for

SETS = ("osie", "doves")
CONTESTANTS = (
    Contestant("joint", "joint-small", lifts=True),
    Contestant("trajectory only", "joint-trajectory-small", lifts=True),
    Contestant("scanpath only (ScanDiff)", "scandiff-small"),
    Contestant("DiffEye", "diffeye-small", lifts=True),
    Contestant("coarse to fine", "compact"),
)

HEAD = """# Joint, single or coarse to fine

Made by `stdiffeye reproduce modalities --sets {sets} --minutes {minutes:g}` on {day}, commit {commit}: every system
was trained for {minutes:g} processor minutes on the training split of the set, with the same frozen picture features,
and drew {samples} samples one by one for each picture of the test split. Trajectories are reduced to scanpaths by
Judd's rule. DiffEye is a U-Net over trajectories alone. {search}
Where a set has no raw samples (all but DOVES), joint, trajectory only and DiffEye learn from lifted (synthesised) ones.
These are our data and our budget, not the paper's.

Read it with care: the coarse half was developed for hours on the validation splits of these sets (positions, kind of
prediction, length first), joint and trajectory only for one, scanpath only not at all. In a few minutes they make a few
hundred steps, too few to say which is better; that coarse to fine is ahead then says that it learns fast, not that
others cannot ([the shipped `joint`](models.md) had more time).
"""


def reproduce(data: Path, out: Path, budget: Budget, quiet: bool = False) -> Path:
    """Train, generate, judge, and write the table."""
    stores = stores_for(CONTESTANTS, SETS, data, budget, quiet)
    if not stores:
        return out
    standings = [contest(CONTESTANTS, store, budget, quiet) for store in stores]
    write_text(out, "\n".join([HEAD.format(**made(budget, stores)), *(_section(one) for one in standings)]))
    return out


def _section(standing: Standing) -> str:
    gaps = {name: table["crps"]["mean"].value for name, table in standing.result.gap_closed.items()}
    order = sorted(gaps.items(), key=lambda pair: -pair[1])
    lead = ", ".join(f"{name} {100 * gap:.0f} %" for name, gap in order)
    return (
        f"## {standing.dataset}\n\nGap closed (CRPS, mean over metrics): {lead}.\n\n{standing.result.to_markdown()}\n"
    )
