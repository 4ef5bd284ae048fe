"""Do the protocols order real systems alike? From the committed table of systems (`docs/results/table1.csv`).

Fair CRPS is not in that file but follows from it: every system generated the same number J of samples, and
mean − CRPS = ½ mean over j, k of d(y_j, y_k), so that leaving out the diagonal (0 of a distance, 1 of a similarity) is
one multiplication.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from stdiffeye.arrays import Floats, Ints
from stdiffeye.errors import InputError
from stdiffeye.metrics.bootstrap import LEVELS
from stdiffeye.metrics.references import REFERENCES
from stdiffeye.metrics.spec import METRICS

REFERENCE = "fair CRPS"
OTHERS = {"crps": "CRPS as printed", "mean": "mean", "best": "best-of-N", "kld": "KLD"}
REPLICATES = 400
FEWEST_SYSTEMS = 4
SAMPLES = 15  # of every system of the table; the page's head states it

Interval = tuple[float, float, float]
Values = dict[tuple[str, str], dict[str, dict[str, float]]]
"""(data set, metric) → protocol → system → value."""


def read_values(path: Path, samples: int = SAMPLES) -> Values:
    """Scanpath rows of the table, reference rows left out, with fair CRPS added."""
    found: Values = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["comparison"] != "Scanpath" or row["system"] in REFERENCES or not row["value"]:
                continue
            column = found.setdefault((row["dataset"], row["metric"]), {})
            column.setdefault(row["protocol"], {})[row["system"]] = float(row["value"])
    if not found:
        raise InputError(f"{path} is no table of systems: `stdiffeye reproduce table1` writes one")
    for (_, metric), protocols in found.items():
        protocols[REFERENCE] = {
            system: fair_crps(protocols["mean"][system], printed, METRICS[metric].direction == "higher", samples)
            for system, printed in protocols["crps"].items()
        }
    return found


def fair_crps(mean: float, printed: float, similarity: bool, samples: int) -> float:
    """Fair CRPS from the mean over pairs and CRPS as printed, of so many samples."""
    within = 2 * (mean - printed)
    diagonal = 1.0 if similarity else 0.0
    return mean - (samples * within - diagonal) / (samples - 1) / 2


def rank_correlations(values: Values, seed: int = 0) -> dict[str, dict[str, Interval]]:
    """Data set → protocol → Spearman's correlation with fair CRPS: mean over metrics, 95 % interval over systems."""
    sets = list(dict.fromkeys(dataset for dataset, _ in values))
    return {name: _of_set({key: one for key, one in values.items() if key[0] == name}, seed) for name in sets}


def to_markdown(found: Mapping[str, Mapping[str, Interval]], systems: int) -> str:
    """One row per protocol, one column per data set."""
    lines = [f"| order of {systems} systems against that by fair CRPS | {' | '.join(found)} |"]
    lines.append("|---|" + "---|" * len(found))
    for protocol, title in OTHERS.items():
        cells = [
            f"{value:.2f} ({low:.2f} to {high:.2f})" for value, low, high in (one[protocol] for one in found.values())
        ]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _of_set(columns: Values, seed: int) -> dict[str, Interval]:
    systems = sorted({name for column in columns.values() for name in column[REFERENCE]})
    draws = np.random.default_rng(seed).integers(len(systems), size=(REPLICATES, len(systems)))
    found = {}
    for protocol in OTHERS:
        tables = [_table(column, metric, protocol, systems) for (_, metric), column in columns.items()]
        replicates = [_mean_correlation(tables, draw) for draw in draws]
        low, high = np.nanpercentile(replicates, LEVELS)
        found[protocol] = (_mean_correlation(tables, np.arange(len(systems))), float(low), float(high))
    return found


def _table(column: Mapping[str, Mapping[str, float]], metric: str, protocol: str, systems: Sequence[str]) -> Floats:
    """(2, systems) values by fair CRPS and by the protocol, lower is better; NaN where a system has none."""
    rows = np.array([[column[how].get(name, np.nan) for name in systems] for how in (REFERENCE, protocol)])
    similarity = METRICS[metric].direction == "higher"
    signs = [-1.0 if similarity and how != "kld" else 1.0 for how in (REFERENCE, protocol)]
    return np.asarray(rows * np.array(signs)[:, None])


def _mean_correlation(tables: Sequence[Floats], draw: Ints) -> float:
    found = [_spearman(table[:, draw]) for table in tables]
    defined = [one for one in found if np.isfinite(one)]
    return float(np.mean(defined)) if defined else float("nan")


def _spearman(pair: Floats) -> float:
    kept = pair[:, np.isfinite(pair).all(axis=0)]
    if kept.shape[1] < FEWEST_SYSTEMS:
        return float("nan")
    ranks = np.array([rankdata(row) for row in kept])
    ranks -= ranks.mean(axis=1, keepdims=True)
    norm = np.sqrt((ranks**2).sum(axis=1).prod())
    return float((ranks[0] * ranks[1]).sum() / norm) if norm > 0 else float("nan")
