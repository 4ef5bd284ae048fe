"""Tables of earlier runs, written again from the CSV that each of them left beside its page.

A run that cannot be made again soon keeps its numbers, not its gaze. What follows from the numbers is printed: CRPS,
mean, best-of-N and KLD with their intervals, and fair CRPS, which follows from the first two. Paired tests and gaps
closed need the values of every picture, which are not kept, so there are none.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stdiffeye.benchmark.ablations import LATENT
from stdiffeye.benchmark.ablations import ROWS as ABLATIONS
from stdiffeye.benchmark.paper_tables import TITLES, TableBlock, latex, markdown
from stdiffeye.benchmark.protocol_orders import SAMPLES, fair_crps
from stdiffeye.benchmark.table1 import mean_ranks, rank_agreement
from stdiffeye.errors import InputError
from stdiffeye.files import write_text
from stdiffeye.metrics import PROTOCOLS, Result
from stdiffeye.metrics.references import REFERENCES
from stdiffeye.metrics.result import Estimate
from stdiffeye.metrics.spec import METRICS


@dataclass(frozen=True)
class KeptTable:
    """What is known of a run besides its numbers."""

    title: str
    about: str
    protocols: tuple[str, ...] = PROTOCOLS
    void: tuple[str, ...] = ()
    """Rows that say nothing."""


_VOID = tuple(one.name for one in ABLATIONS if set(LATENT) <= set(one.changes))
_ABLATION = """Rows of the paper's Table 2. Each was trained for {minutes} processor minutes, at the preset's rate.
Rows in a latent space ({void}) are left out: they were trained with a noise that they cannot learn with, which was
mended since. Each row was trained once, so the chance of another seed is not in its interval."""

KEPT = {
    "table1": KeptTable(
        "Every system on OSIE, crowd, DOVES and MCS",
        """Every system was trained for 3 processor minutes on the training split of each set, with the plain encoder's
features, after a short search for its learning rate. It was trained by the code of commit 141cde7 (TPP-Gaze on OSIE,
crowd and DOVES: a13591d) and judged on the test split by that of commit 416562e. Where a set has no raw samples,
systems that generate trajectories learned from lifted (synthesised) ones. Three minutes say who learns fast.""",
    ),
    "ablations": KeptTable(
        "Which choice matters: OSIE",
        "Commits 86a175b (training) and 37cce91 (judging). OSIE has no raw samples: they were lifted (synthesised). "
        + _ABLATION.format(minutes=9, void=", ".join(_VOID)),
        ("crps",),
        _VOID,
    ),
    "ablations-doves": KeptTable(
        "Which choice matters: DOVES",
        "Commit c71b442. " + _ABLATION.format(minutes=3, void=", ".join(_VOID)),
        ("crps",),
        _VOID,
    ),
}
HEAD = """# {title}

Made by `stdiffeye reproduce kept` from `{csv}`, the numbers that an earlier run left. {about}

There were {samples} independent samples per picture. Intervals are 95 %, over pictures. The run kept no value of every
picture, so fair CRPS has no interval, and no two systems are tested against each other. Fair CRPS follows from CRPS as
printed and the mean, since all systems generated equally many samples."""

ORDERS = """Rank of each system by CRPS as printed (1 is best), the mean over the metrics that all have; and Spearman's
correlation of these mean ranks with those by the other protocols."""


def reproduce(data: Path, out: Path, quiet: bool = False) -> Path:
    """Write every page whose numbers lie beside `out`, and its LaTeX."""
    kept = [name for name in KEPT if out.with_name(f"{name}.csv").is_file()]
    if not kept:
        raise InputError(f"{out.parent} holds no numbers of an earlier run: expected {', '.join(KEPT)} as .csv")
    for name in kept:
        write_page(KEPT[name], out.with_name(f"{name}.csv"))
    return out


def write_page(table: KeptTable, numbers: Path) -> None:
    """The page beside its numbers."""
    blocks = read_blocks(numbers, table.void)
    scanpaths = [block for block in blocks if block.comparison == "Scanpath"]
    sections = [HEAD.format(title=table.title, csv=numbers.name, about=table.about, samples=SAMPLES)]
    sections += ["## Fair CRPS", markdown([with_fair_crps(block) for block in scanpaths], "crps")]
    for protocol in table.protocols:
        title = TITLES[protocol].replace("CRPS (", "CRPS as printed (")
        sections += [f"## {title}", markdown(blocks, protocol)]
    if len(table.protocols) > 1:
        sections += ["## Orders", ORDERS, order_table(scanpaths)]
    write_text(numbers.with_suffix(".md"), "\n\n".join(sections) + "\n")
    write_text(numbers.with_suffix(".tex"), "\n".join(latex(blocks, protocol) for protocol in table.protocols))


def order_table(blocks: Sequence[TableBlock]) -> str:
    """Mean ranks by CRPS, and how far the other protocols order the systems alike; one column per set."""
    names = [name for name in blocks[0].result.systems if name not in REFERENCES]
    lines = [["", *(block.dataset for block in blocks)], ["---", *["---:"] * len(blocks)]]
    ranks = [mean_ranks(block.result, names, "crps") for block in blocks]
    lines += [[name, *(f"{one[name]:.1f}" for one in ranks)] for name in names]
    for how in ("mean", "best", "kld"):
        found = [rank_agreement(block.result, "crps", how) for block in blocks]
        lines.append([f"*Spearman, {how}*", *(f"{value:.2f}" for value in found)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def read_blocks(numbers: Path, void: Sequence[str] = ()) -> list[TableBlock]:
    """The blocks of a CSV that `to_csv` wrote, without the rows that are void."""
    found: dict[tuple[str, str], dict[str, dict[str, dict[str, Estimate]]]] = {}
    with numbers.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["system"] not in void:
                systems = found.setdefault((row["dataset"], row["comparison"]), {})
                protocols = systems.setdefault(row["system"], {})
                protocols.setdefault(row["protocol"], {})[row["metric"]] = _estimate(row)
    return [TableBlock(*names, _result(systems)) for names, systems in found.items()]


def with_fair_crps(block: TableBlock, samples: int = SAMPLES) -> TableBlock:
    """Its systems alone, with fair CRPS; the ensembles of reference rows were of other sizes."""
    systems = {}
    for name, protocols in block.result.systems.items():
        if name not in REFERENCES:
            printed = protocols["crps"]
            fair = {
                metric: fair_crps(protocols["mean"][metric].value, one.value, _is_similarity(metric), samples)
                for metric, one in printed.items()
            }
            nowhere = math.nan
            systems[name] = {"crps": {m: Estimate(x, nowhere, nowhere, printed[m].n, 0) for m, x in fair.items()}}
    return TableBlock(block.dataset, block.comparison, _result(systems))


def _is_similarity(metric: str) -> bool:
    return METRICS[metric].direction == "higher"


def _estimate(row: dict[str, str]) -> Estimate:
    value, low, high = (float(row[key]) if row[key] else math.nan for key in ("value", "low", "high"))
    return Estimate(value, low, high, int(row["n"]), int(row["undefined"]))


def _result(systems: dict[str, dict[str, dict[str, Estimate]]]) -> Result:
    metrics = list(dict.fromkeys(m for rows in systems.values() for some in rows.values() for m in some))
    references = tuple(name for name in systems if name in REFERENCES)
    return Result(systems, references, {}, [], [], {"metrics": metrics})
