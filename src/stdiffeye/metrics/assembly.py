"""From rows of scores to a `Result`: averages, intervals, gaps closed, tests between systems."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from stdiffeye.metrics import bootstrap
from stdiffeye.metrics.bootstrap import HistogramSum, Replicates, SeriesSum
from stdiffeye.metrics.references import Humans, Row
from stdiffeye.metrics.result import GAP, Difference, Estimate, Key, Result
from stdiffeye.metrics.settings import EvaluationSettings
from stdiffeye.metrics.spec import METRICS

Table = dict[str, dict[str, Replicates]]


def assemble(
    settings: EvaluationSettings,
    humans: Humans,
    keys: list[Key],
    rows: Mapping[str, Row],
    references: tuple[str, ...],
    compare: bool,
    notes: list[str],
) -> Result:
    """Average rows over stimuli, with intervals, gaps closed and comparisons.

    Parameters
    ----------
    settings : EvaluationSettings
        How to average.
    humans : Humans
        The human side, which also computes the reference rows.
    keys : list of (str, str)
        (name, task) of the stimuli, in the order of the rows' values.
    rows : dict of str to Row
        Scores of each system.
    references : tuple of str
        Which reference rows to add.
    compare : bool
        Whether to test the systems against each other.
    notes : list of str
        What was left out and why; joins the result.

    Returns
    -------
    Result
        What `evaluate` returns.
    """
    every = {**rows, **{name: humans.reference(name) for name in references}}
    averages = _averages(every, settings, len(keys))
    systems = {name: _estimates(averages[name], row) for name, row in every.items()}
    closed = {}
    if references:
        closed = {name: _gaps(averages[name], averages["human"], averages["shuffled"]) for name in rows}
    gaps = {name: _with_mean(table) for name, table in closed.items()}
    pairs = list(combinations(rows, 2)) if compare else []
    differences = [row for pair in pairs for row in (*_differences(*pair, averages), *_gap_differences(*pair, closed))]
    beside = [(name, other) for name in rows for other in ("human", "shuffled") if other in references]
    to_references = [row for pair in beside for row in _differences(*pair, averages)]
    described = {**vars(settings), "metrics": [spec.name for spec in humans.chosen]}
    described["protocols"] = list(settings.protocols)
    viewers = len(humans.paths) / len(keys)
    centres = humans.context.centres_px
    return Result(systems, references, gaps, differences, keys, described, notes, centres, to_references, viewers)


def _averages(rows: Mapping[str, Row], settings: EvaluationSettings, stimuli: int) -> dict[str, Table]:
    """All rows together, so that the stimuli are resampled once; the time goes into the sums."""
    sums = {name: _sums(row, settings) for name, row in rows.items()}
    every = [one for table in sums.values() for metrics in table.values() for one in metrics.values()]
    for block, weights in bootstrap.resamples(stimuli, settings.replicates, settings.seed):
        for one in every:
            one.add(block, weights)
    return {
        name: {
            protocol: {metric: one.result() for metric, one in metrics.items()} for protocol, metrics in table.items()
        }
        for name, table in sums.items()
    }


def _sums(row: Row, settings: EvaluationSettings) -> dict[str, dict[str, SeriesSum | HistogramSum]]:
    table: dict[str, dict[str, SeriesSum | HistogramSum]] = {}
    for protocol in settings.protocols:
        if protocol == "kld":
            table[protocol] = {name: HistogramSum(one, settings.replicates) for name, one in row.histograms.items()}
        else:
            table[protocol] = {
                name: SeriesSum(one, settings.pooled(name), settings.replicates)
                for name, one in row.series[protocol].items()
            }
    return table


def _estimates(table: Table, row: Row) -> dict[str, dict[str, Estimate]]:
    out: dict[str, dict[str, Estimate]] = {}
    for protocol, metrics in table.items():
        out[protocol] = {}
        for name, one in metrics.items():
            if protocol == "kld":
                n, values = row.histograms[name].stimuli, None
            else:
                values = row.series[protocol][name].value
                n = int((~np.isnan(values)).sum())
            low, high = one.interval
            out[protocol][name] = Estimate(one.value, low, high, n, row.undefined[name], values)
    return out


def _gaps(model: Table, human: Table, shuffled: Table) -> Table:
    return {
        protocol: {
            name: bootstrap.gap_closed(one, human[protocol][name], shuffled[protocol][name])
            for name, one in metrics.items()
        }
        for protocol, metrics in model.items()
    }


def _with_mean(gaps: Table) -> dict[str, dict[str, Estimate]]:
    out: dict[str, dict[str, Estimate]] = {}
    for protocol, metrics in gaps.items():
        defined = [one for one in metrics.values() if np.isfinite(one.value)]
        mean = {"mean": bootstrap.mean_of(defined)} if defined else {}
        out[protocol] = {
            name: Estimate(one.value, *one.interval, n=0, undefined=0) for name, one in {**metrics, **mean}.items()
        }
    return out


def _differences(one: str, other: str, averages: Mapping[str, Table]) -> list[Difference]:
    rows = []
    for protocol, metrics in averages[one].items():
        for name in metrics:
            if name not in averages[other][protocol]:
                continue
            difference, p = bootstrap.difference(metrics[name], averages[other][protocol][name])
            value = difference.value
            lower = protocol == "kld" or METRICS[name].direction == "lower"
            better = "" if np.isnan(value) or value == 0 else (one if (value < 0) == lower else other)
            rows.append(Difference(one, other, protocol, name, value, *difference.interval, p, better))
    return rows


def _gap_differences(one: str, other: str, closed: Mapping[str, Table]) -> list[Difference]:
    """Per protocol the gap closed, on average over the metrics that both have."""
    rows = []
    for protocol, metrics in closed.get(one, {}).items():
        theirs = closed[other][protocol]
        shared = [n for n, gap in metrics.items() if n in theirs and np.isfinite([gap.value, theirs[n].value]).all()]
        if not shared:
            continue
        means = [bootstrap.mean_of([table[name] for name in shared]) for table in (metrics, theirs)]
        difference, p = bootstrap.difference(*means)
        better = "" if difference.value == 0 else (one if difference.value > 0 else other)
        rows.append(Difference(one, other, protocol, GAP, difference.value, *difference.interval, p, better))
    return rows
