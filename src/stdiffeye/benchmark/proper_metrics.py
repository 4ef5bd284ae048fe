"""Under which metrics is CRPS proper? Eigenvalues over human scanpaths, per metric and data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.benchmark import Budget
from stdiffeye.benchmark.model_report import markdown_table
from stdiffeye.benchmark.systems_table import stores_of
from stdiffeye.data.store import Store
from stdiffeye.files import write_text
from stdiffeye.gaze import Scanpath
from stdiffeye.metrics import pairwise
from stdiffeye.metrics.clusters import best_centres
from stdiffeye.metrics.negative_type import NegativeType, negative_type
from stdiffeye.metrics.paths import EVALUATION_FRAME
from stdiffeye.metrics.spec import MAIN_METRICS, METRICS, PROPER_METRICS
from stdiffeye.progress import track
from stdiffeye.version import commit

SETS = ("osie", "crowd", "scene", "figrim", "doves", "ueyes", "coco-search18-tp", "mcs")
TESTED = tuple(name for name in (*MAIN_METRICS, *PROPER_METRICS) if not METRICS[name].needs_semantics)
SCANPATHS = 200  # of a set, evenly over its trials
MAX_FIXATIONS, FEWEST_FIXATIONS = 16, 3  # TDE and MultiMatch are undefined for shorter ones
MARK = "<!-- negative type -->"
"""The table stands between two of these lines of the page."""

INTRODUCTION = """\
Made by `stdiffeye reproduce proper`, commit {commit}: {count} human scanpaths of each set, of 3 to 16 fixations. A cell
is the share of negative eigenvalues of the centred matrix in the sum of all (and the smallest over the largest). CRPS
is proper under a metric only if there is none."""


def reproduce(data: Path, out: Path, budget: Budget, quiet: bool = False) -> Path:
    """Test every metric on every set, and write the table into the page `out`."""
    stores = stores_of(data, budget.sets or SETS, budget.work, quiet)
    found = {name: of_set(store) for name, store in track(list(stores.items()), "data sets", quiet=quiet)}
    text = f"{INTRODUCTION.format(commit=commit(), count=SCANPATHS)}\n\n{table(found)}\n\n{verdict(found)}"
    write_text(out, _into(out.read_text(encoding="utf-8") if out.is_file() else "", text))
    return out


def of_set(store: Store) -> dict[str, NegativeType]:
    """Metric → what the eigenvalues over the set's scanpaths say."""
    paths = _scanpaths(store)
    timed = all(path.duration_ms is not None for path in paths)
    usable = [name for name in TESTED if timed or not METRICS[name].needs_duration]
    return {name: negative_type(distances(name, paths)) for name in usable}


def distances(metric: str, paths: Sequence[Scanpath]) -> Floats:
    """All pairs; similarities as 1 − s. Clusters of SS are those of all these scanpaths together."""
    centres = None
    if METRICS[metric].needs_clusters:
        points = [path.rescaled(EVALUATION_FRAME).xy_px for path in paths]
        centres = best_centres(np.concatenate(points), np.concatenate([[0], np.cumsum([len(one) for one in points])]))
    values = pairwise(metric, paths, centres_px=centres)
    return values if METRICS[metric].direction == "lower" else 1 - values


def table(found: Mapping[str, Mapping[str, NegativeType]]) -> str:
    """One row per metric, one column per set."""
    rows = [["metric", "symmetric", *found, "of negative type"]]
    for metric in TESTED:
        tested = [one[metric] for one in found.values() if metric in one]
        if not tested:
            continue
        cells = [_cell(one.get(metric)) for one in found.values()]
        holds = "no violation found" if all(one.holds for one in tested) else "no"
        holds = "yes, by construction" if metric in PROPER_METRICS else holds
        rows.append([METRICS[metric].title, "yes" if METRICS[metric].symmetric else "no", *cells, holds])
    return markdown_table(rows)


def verdict(found: Mapping[str, Mapping[str, NegativeType]]) -> str:
    """What the table says, in two sentences."""
    broken = [
        METRICS[name].title
        for name in TESTED
        if any(not one[name].holds for one in found.values() if name in one) and name not in PROPER_METRICS
    ]
    proper = ", ".join(METRICS[name].title for name in PROPER_METRICS)
    return (
        f"CRPS is not proper under {', '.join(broken) or 'none of them'}: a wrong distribution can score better than "
        f"the true one. The smaller the share, the less there is to gain from it; {proper} is proper by construction."
    )


def _cell(one: NegativeType | None) -> str:
    if one is None:
        return "–"
    return "0" if one.holds else f"{100 * one.mass:.2g} % ({one.smallest:.2g})"


def _scanpaths(store: Store) -> list[Scanpath]:
    counts = np.asarray(store.columns["n_fixations"])
    timed = np.asarray(store.columns["has_durations"])
    fit = np.flatnonzero((counts >= FEWEST_FIXATIONS) & (timed | ~timed.any()))
    chosen = fit[np.linspace(0, len(fit) - 1, min(SCANPATHS, len(fit))).round().astype(int)]
    found = (store[int(number)].scanpath for number in chosen)
    return [path[:MAX_FIXATIONS] for path in found if path is not None]


def _into(page: str, text: str) -> str:
    """The page with the text between the two marks; the text alone where there is no such page."""
    above, first, rest = page.partition(MARK)
    _, second, below = rest.partition(MARK)
    return f"{above}{MARK}\n\n{text}\n\n{MARK}{below}" if first and second else f"# Proper metrics\n\n{text}\n"
