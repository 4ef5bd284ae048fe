"""The paper's comparison, made again on our sets: every system, four protocols, one command.

Tables 1, 4, 5 and 6 of the paper differ only in the protocol (CRPS, mean, best-of-N, KLD); all four come from one
benchmark. Every system has the same encoder, learns from the same split for the same processor time, and generates as
many samples. Its learning rate is found by the same short search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from stdiffeye.benchmark import Budget
from stdiffeye.benchmark.paper_tables import (
    TITLES,
    TableBlock,
    behind_noise,
    decided,
    difference_table,
    gap_table,
    latex,
    markdown,
    to_csv,
)
from stdiffeye.benchmark.printed_rows import SET, beside_paper
from stdiffeye.benchmark.scoring import TEST_SPLITS, WITHIN
from stdiffeye.benchmark.systems_table import (
    BenchmarkEntry,
    BenchmarkResult,
    made,
    score_sets,
    stores_for,
)
from stdiffeye.errors import InputError
from stdiffeye.files import write_text
from stdiffeye.metrics import PROTOCOLS, Result
from stdiffeye.metrics.spec import METRICS
from stdiffeye.metrics.tables import UNDECIDED, columns, stated_gap

SETS = ("osie", "crowd", "doves", "mcs")
OURS = "ours"
ENTRIES = (
    BenchmarkEntry("DeepGaze III", "deepgaze3"),
    BenchmarkEntry("TPP-Gaze", "tpp-gaze"),
    BenchmarkEntry("HAT", "hat"),
    BenchmarkEntry("Gazeformer", "gazeformer"),
    BenchmarkEntry("GazeXplain", "gazexplain"),
    BenchmarkEntry("ScanDiff", "scandiff-small"),
    BenchmarkEntry("DiffEye", "diffeye-small", lifts=True),
    BenchmarkEntry("trajectory only", "joint-trajectory-small", lifts=True),
    BenchmarkEntry("joint", "joint-small", lifts=True),
    BenchmarkEntry(OURS, "coarse-to-fine"),
    BenchmarkEntry("ours (search)", "search", ("start_from=''", "stages.scanpath.guidance=1.0"), seeks=True),
    BenchmarkEntry("saliency sampler", "coarse-to-fine", borrows=OURS),
)

HEAD = """# Every system, on the same data: {sets}

Made by `stdiffeye reproduce table1 --sets {sets} --minutes {minutes:g}` on {day}, commit {commit}. Every system was
trained for {minutes:g} processor minutes on the training split of the set, with the same frozen picture features.
Each generated {samples} independent scanpaths for each picture of the {split} split. {search}
Systems that generate trajectories (DiffEye, trajectory only, joint) are reduced to fixations by Judd's rule; where a
set has no raw samples they learn from lifted (synthesised) ones. ScanDiff and DiffEye are their forms at a size that
learns on a CPU ([what differs](../paper-and-code.md#scandiff-and-diffeye-as-presets)); *ours* is the scanpath stage of
`coarse-to-fine`; the saliency sampler samples its density head, in random order. *ours (search)* is the form of the
recipe `search`, from nothing: object maps and a density for each phase of viewing. Only sets with targets have it.
These are our data and our budget, not the paper's: a system that is behind here may be ahead with days of a GPU.
"""

LEADING = """Independent samples and fair CRPS lead. Gap closed is the mean over metrics, with a 95 % interval over
pictures. Where that is 40 points wide or wider, it is not decidable here, and the differences from people below stand
for themselves."""
VERDICTS = {True: "better than", False: "worse than", None: "not decidedly better or worse than"}
ON_VALIDATION = """{sets}: the test split is not public, so systems are judged on the validation split. No rate and no
checkpoint was chosen on it: rates are the presets' own, and the last weights count. Its encoder is that of the shipped
`search`, tuned on the train split; which checkpoint of the encoder was kept was chosen on validation."""
SEARCHED = """Share of trials whose target was fixated within so many fixations after the first one, over all trials."""
ONLY = """
Of the systems only these were asked for (`--systems`): {systems}.
"""
UNTEACHABLE = "absent, because there are neither samples nor durations, without which scanpaths cannot be lifted"
UNLISTED = "Systems that are not listed kept the rate of their preset."


def reproduce(
    data: Path,
    out: Path,
    budget: Budget,
    quiet: bool = False,
    entries: Sequence[BenchmarkEntry] = ENTRIES,
    usual: Sequence[str] = SETS,
    head: str = HEAD,
) -> Path:
    """Train, generate, evaluate; write the page `out`, and beside it the tables as LaTeX and CSV."""
    entries = chosen(entries, budget.systems)
    stores = stores_for(entries, usual, data, budget, quiet)
    if not stores:
        return out
    results = score_sets(entries, stores, budget, quiet)
    blocks = blocks_of(results)
    if budget.systems:
        head += ONLY.format(systems=", ".join(one.name for one in entries))
    write_text(out.with_suffix(".csv"), to_csv(blocks))
    write_text(out.with_suffix(".tex"), "\n".join(latex(blocks, protocol) for protocol in PROTOCOLS))
    write_text(out, page(head.format(**made(budget, stores)), results, blocks, budget.minutes))
    return out


def chosen(entries: Sequence[BenchmarkEntry], names: Sequence[str]) -> list[BenchmarkEntry]:
    """The rows named, or all of them."""
    known = [one.name for one in entries]
    wrong = [name for name in names if name not in known]
    if wrong:
        raise InputError(f"there is no system {wrong[0]!r}: choose of {', '.join(known)}")
    return [one for one in entries if not names or one.name in names]


def blocks_of(results: Sequence[BenchmarkResult]) -> list[TableBlock]:
    """Scanpath blocks and, where there is raw gaze, trajectory blocks."""
    blocks = []
    for one in results:
        blocks.append(TableBlock(one.dataset, "Scanpath", one.result))
        if one.trajectories is not None:
            blocks.append(TableBlock(one.dataset, "Trajectory", one.trajectories))
    return blocks


def page(head: str, results: Sequence[BenchmarkResult], blocks: Sequence[TableBlock], minutes: float) -> str:
    """The page of the docs."""
    leading = [TableBlock(one.dataset, "Scanpath", one.fair) for one in results if one.fair is not None]
    on_validation = ", ".join(one.dataset for one in results if one.dataset in TEST_SPLITS)
    sections = [head, *([ON_VALIDATION.format(sets=on_validation)] if on_validation else [])]
    sections += [LEADING, gap_table(leading), "## Beside people", difference_table(leading)]
    sections += ["## What it says", findings(results)]
    for one in results:
        if one.found:
            sections += [f"## Targets found: {one.dataset}", SEARCHED, found_table(one)]
        if one.dataset == SET:
            sections += ["## Beside the paper's Table 1, COCO-TP", beside_paper(one.result, minutes)]
    for protocol in PROTOCOLS:
        sections += [f"## {TITLES[protocol]}", markdown(blocks, protocol)]
    if results[0].rates:
        sections += ["## Learning rates", UNLISTED, rate_table(results)]
    trained = [f"* {one.dataset}, {name}: {said}" for one in results for name, said in one.trained_by.items()]
    sections += ["## Trained from", "\n".join(trained)]
    notes = [f"* {one.dataset}: {note}" for one in results for note in one.result.notes]
    notes += [f"* {one.dataset}: {', '.join(one.absent)}: {UNTEACHABLE}" for one in results if one.absent]
    sections += ["## Notes", "\n".join(notes)] if notes else []
    return "\n\n".join(sections) + "\n"


def found_table(one: BenchmarkResult) -> str:
    """People and systems by how soon they fixate the target."""
    heads = ["", *(f"within {n}" for n in WITHIN)]
    lines = [heads, ["---", *["---:"] * len(WITHIN)]]
    for side, shares in one.found.items():
        lines.append(["*people*" if side == "human" else side, *(f"{100 * share:.0f} %" for share in shares)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def findings(results: Sequence[BenchmarkResult]) -> str:
    """The paper's claims held against these numbers, in sentences made of them."""
    lines = []
    for one in results:
        result = one.fair or one.result
        gaps = {name: table["crps"]["mean"] for name, table in result.gap_closed.items()}
        known = {name: gap for name, gap in gaps.items() if UNDECIDED not in stated_gap(gap)}
        order = sorted(known.items(), key=lambda pair: -pair[1].value)
        said = ", ".join(f"{name} {100 * gap.value:.0f} %" for name, gap in order)
        lines.append(f"* {one.dataset}: by gap closed (fair CRPS) {said or UNDECIDED}.")
        if known and len(known) < len(gaps):
            lines.append(f"    * {UNDECIDED}: {', '.join(name for name in gaps if name not in known)}.")
        shared, means = shared_gaps(result)
        by_mean = sorted(((name, means[name]) for name in known), key=lambda pair: -pair[1])
        if known:
            said = ", ".join(f"{name} {100 * gap:.0f} %" for name, gap in by_mean)
            lines.append(f"    * on the metrics that every system has ({', '.join(shared)}): {said}.")
        single = {"trajectory only": "trajectory only", "ScanDiff": "scanpath only (ScanDiff)"}
        against = [
            f"{VERDICTS[decided(result, 'joint', name)[1]]} {words}"
            for name, words in single.items()
            if "joint" in gaps and name in gaps
        ]
        if against:
            lines.append(f"    * joint is {' and '.join(against)}.")
        idle = [name for name in gaps if behind_noise(result, name)]
        if idle:
            why = "further from people than noise around the centre (little training, or no spread)"
            lines.append(f"    * {why}: {', '.join(idle)}.")
        if OURS in gaps:
            lines.append(f"    * {_ahead_of_ours(result)}.")
        agree = {how: rank_agreement(one.result, "crps", how) for how in ("mean", "best", "kld")}
        if all(map(np.isfinite, agree.values())):
            said = ", ".join(f"{how} {value:.2f}" for how, value in agree.items())
            lines.append(f"    * order of the systems by CRPS against that by other protocols (Spearman): {said}.")
    return "\n".join(lines)


def _ahead_of_ours(result: Result) -> str:
    """Who closes more of the gap than ours, each on the metrics that both have."""
    against = {name: decided(result, name, OURS) for name in result.gap_closed if name != OURS}
    ahead = sorted((pair for pair in against.items() if pair[1][0] > 0), key=lambda pair: -pair[1][0])
    sure = {True: "surely", None: "not surely"}
    stated = {name for name, gap in result.gap_closed.items() if UNDECIDED not in stated_gap(gap["crps"]["mean"])}
    said = [
        f"{name} ({f'{100 * points:.0f} points, ' if {name, OURS} <= stated else ''}{sure[better]})"
        for name, (points, better) in ahead
    ]
    return f"ahead of {OURS} on the metrics that both have: {', '.join(said) or 'nobody'}"


def shared_gaps(result: Result) -> tuple[list[str], dict[str, float]]:
    """Metrics that every system has (some draw no durations), and each system's mean gap closed over these."""
    tables = {name: table["crps"] for name, table in result.gap_closed.items()}
    known = next(iter(tables.values()))
    shared = [m for m in known if m != "mean" and all(m in table for table in tables.values())]
    shared = [m for m in shared if all(np.isfinite(table[m].value) for table in tables.values())]
    return shared, {name: float(np.mean([table[m].value for m in shared])) for name, table in tables.items()}


def rank_agreement(result: Result, one: str, other: str) -> float:
    """Spearman correlation of the systems' mean ranks under two protocols; metrics that all of them have count."""
    systems = [name for name in result.systems if name not in result.references]
    if len(systems) < 3:
        return float("nan")
    ranks = [mean_ranks(result, systems, protocol) for protocol in (one, other)]
    return float(spearmanr(*([table[name] for name in systems] for table in ranks)).statistic)


def mean_ranks(result: Result, systems: Sequence[str], protocol: str) -> Mapping[str, float]:
    """System → its rank (1 is best), mean over the metrics that every system has."""
    shared = [m for m in columns(result, protocol) if all(np.isfinite(result.value(s, protocol, m)) for s in systems)]
    ranks = np.zeros(len(systems))
    for metric in shared:
        values = np.array([result.value(name, protocol, metric) for name in systems])
        lower = protocol == "kld" or METRICS[metric].direction == "lower"
        ranks += np.argsort(np.argsort(values if lower else -values)) + 1
    return dict(zip(systems, (ranks / max(len(shared), 1)).tolist(), strict=True))


def rate_table(results: Sequence[BenchmarkResult]) -> str:
    """What the searches found; the chosen rate is bold."""
    lines = ["| system | searched on | learning rate → gap closed on validation |", "|---|---|---|"]
    for name, found in results[0].rates.items():
        tried = [
            f"{'**' * (rate == found.chosen)}{rate:g}{'**' * (rate == found.chosen)} → "
            + ("broke off or not validated" if score is None else f"{100 * score:.0f} %")
            for rate, score in found.scores.items()
        ]
        lines.append(f"| {name} | {found.dataset} | {', '.join(tried)} |")
    return "\n".join(lines)
