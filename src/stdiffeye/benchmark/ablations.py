"""The rows of the paper's Table 2, and of its table on where the index enters, at a reduced and equal budget.

`joint-small` diffuses samples themselves. An index inside a latent token, or one in a learned or sinusoidal code, needs
a latent space, so these rows differ from a second base, the same system with latent tokens, and are to be read
against that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stdiffeye.benchmark import Budget
from stdiffeye.benchmark.paper_tables import TableBlock, behind_noise, decided, gap_table, latex, markdown, to_csv
from stdiffeye.benchmark.systems_table import BenchmarkEntry, BenchmarkResult, made, score_sets, stores_for
from stdiffeye.files import write_text
from stdiffeye.metrics.tables import ABSENT

SETS = ("doves", "osie")
# A latent has no scale of its own, so these forms have the paper's noise, and no gate that passes noise through.
LATENT = (
    "stages.gaze.space=latent",
    "stages.gaze.latent=128",
    "stages.gaze.denoiser.denoising_attention=false",
    "stages.gaze.denoiser.gated=false",
    "stages.gaze.noise.schedule=sqrt",
    "stages.gaze.noise.prediction=z0",
    "stages.gaze.noise.loss_aware=true",
    "stages.gaze.loss.recon=1.0",
    "stages.gaze.loss.prior=1.0",
    "stages.gaze.sampler=ddim",
)
BASE, LATENT_BASE = "full model", "full model, latent tokens"
GROUPS: dict[str, tuple[BenchmarkEntry, ...]] = {
    "full model": (
        BenchmarkEntry(BASE, "joint-small", lifts=True),
        BenchmarkEntry(LATENT_BASE, "joint-small", LATENT, lifts=True),
    ),
    "(a) input modality": (
        BenchmarkEntry("scanpath only", "joint-small", ("stages.gaze.modality=scanpath", "stages.gaze.patch=1")),
        BenchmarkEntry("trajectory only", "joint-small", ("stages.gaze.modality=trajectory",), lifts=True),
    ),
    "(b) interpolation": (
        BenchmarkEntry("distance-based", "joint-small", ("stages.gaze.interpolation=distance",), lifts=True),
    ),
    "(c) concatenation": (
        BenchmarkEntry("latent-space", "joint-small", (*LATENT, "stages.gaze.injection=latent"), lifts=True),
        BenchmarkEntry("embedding-space", "joint-small", ("stages.gaze.injection=embedding",), lifts=True),
    ),
    "(d) index encoding": (
        BenchmarkEntry("learnable", "joint-small", (*LATENT, "stages.gaze.encoding=learnable"), lifts=True),
        BenchmarkEntry("sinusoidal", "joint-small", (*LATENT, "stages.gaze.encoding=sinusoidal"), lifts=True),
    ),
}
ROWS = tuple(one for group in GROUPS.values() for one in group)
SEED = "train.gaze.seed=1"
REPEATED = tuple(
    replace(one, name=f"{one.name} (seed 1)", changes=(*one.changes, SEED))
    for one in ROWS
    if one.name in (BASE, "scanpath only", "trajectory only")
)
"""Rows that are trained again: how much of a difference is the chance of a seed?"""
ENTRIES = (*ROWS, *REPEATED)
# Claim of the paper, the row that it says is better, the row that it says is worse.
CLAIMS = (
    ("joint is better than scanpath only", BASE, "scanpath only"),
    ("joint is better than trajectory only", BASE, "trajectory only"),
    ("uniform interpolation beats distance-based", BASE, "distance-based"),
    ("a raw channel beats one in the latent token", LATENT_BASE, "latent-space"),
    ("a raw channel beats an embedding", BASE, "embedding-space"),
    ("a raw scalar beats a learnable code", LATENT_BASE, "learnable"),
    ("a raw scalar beats a sinusoidal code", LATENT_BASE, "sinusoidal"),
)

HEAD = """# Which choice matters

Made by `stdiffeye reproduce ablations --sets {sets} --minutes {minutes:g}` on {day}, commit {commit}: rows of the
paper's Table 2 and, latent against raw, of its table on MIT1003. Each was trained for {minutes:g} processor minutes on
the set. CRPS of {samples} samples per test picture. Latent-space, learnable and sinusoidal rows are changes to
*{latent_base}*, the others to *{base}*. OSIE has no raw samples: there they are lifted (synthesised).

{groups}
"""

CLAIMED = """By the gap closed on the metrics that both rows have; sure where a paired bootstrap over pictures says so
(p < 0.05). The chance of another seed is not in it, and stands below. Two rows that are both further from
people than noise around the centre have not learned enough to tell."""

SEEDS = """The same row trained twice, from other first weights and with other batches: a difference of two rows that is
no larger than these says nothing."""


def reproduce(
    data: Path, out: Path, budget: Budget, quiet: bool = False, entries: Sequence[BenchmarkEntry] = ENTRIES
) -> Path:
    """Write the page `out`, and beside it the table as LaTeX and CSV."""
    stores = stores_for(entries, SETS, data, budget, quiet)
    if not stores:
        return out
    results = score_sets(entries, stores, budget, quiet)
    blocks = [TableBlock(one.dataset, "Scanpath", one.result) for one in results]
    leading = [TableBlock(one.dataset, "Scanpath", one.fair) for one in results if one.fair is not None]
    groups = "; ".join(f"{name}: {', '.join(one.name for one in group)}" for name, group in GROUPS.items()) + "."
    head = HEAD.format(base=BASE, latent_base=LATENT_BASE, groups=groups, **made(budget, stores))
    claims = ["## The paper's claims", CLAIMED, claim_table(results)]
    claims += ["## Another seed", SEEDS, seed_table(results)]
    write_text(out, "\n\n".join([head, gap_table(leading), *claims, "## CRPS", markdown(blocks, "crps")]) + "\n")
    write_text(out.with_suffix(".tex"), latex(blocks, "crps"))
    write_text(out.with_suffix(".csv"), to_csv(blocks))
    return out


def claim_table(results: Sequence[BenchmarkResult]) -> str:
    """Each claim and, per set, by how many points of gap closed it holds and whether a paired test is sure of that."""
    lines = [f"| claim | {' | '.join(one.dataset for one in results)} |", "|---|" + "---|" * len(results)]
    for claim, better, worse in CLAIMS:
        cells = []
        for one in results:
            result = one.fair or one.result
            if not {better, worse} <= result.gap_closed.keys():
                cells.append(ABSENT)
                continue
            points, sure = decided(result, better, worse)
            said = {True: "agrees", False: "does not agree", None: "not decided"}[sure]
            if behind_noise(result, better) and behind_noise(result, worse):
                said = "neither has learned enough to tell"
            cells.append(f"{said} ({100 * points:+.0f} points)")
        lines.append(f"| {claim} | {' | '.join(cells)} |")
    return "\n".join(lines)


def seed_table(results: Sequence[BenchmarkResult]) -> str:
    """Each row that was trained twice, and by how many points of gap closed the two differ on each set."""
    lines = [f"| row | {' | '.join(one.dataset for one in results)} |", "|---|" + "---|" * len(results)]
    for again in REPEATED:
        first, cells = again.name.removesuffix(" (seed 1)"), []
        for one in results:
            result = one.fair or one.result
            both = {first, again.name} <= result.gap_closed.keys()
            cells.append(f"{100 * decided(result, first, again.name)[0]:+.0f} points" if both else ABSENT)
        lines.append(f"| {first} | {' | '.join(cells)} |")
    return "\n".join(lines)
