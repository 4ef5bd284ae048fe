"""From rows of scores to a `Result`: averages, intervals, gaps closed, tests between systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from stdiffeye.arrays import Floats, scratch_array
from stdiffeye.metrics import bootstrap
from stdiffeye.metrics.bootstrap import Replicates, SeriesSum
from stdiffeye.metrics.divergence import UNKNOWN, DivergenceSum, PairScores, joined_bounds
from stdiffeye.metrics.protocols import Series
from stdiffeye.metrics.references import Row
from stdiffeye.metrics.result import GAP, Difference, Estimate, Result
from stdiffeye.metrics.scored_stimuli import EvaluationPlan, ScoredStimuli
from stdiffeye.metrics.settings import EvaluationSettings
from stdiffeye.metrics.spec import METRICS

Table = dict[str, dict[str, Replicates]]


def assemble(plan: EvaluationPlan, scored: Iterable[ScoredStimuli]) -> Result:
    """Average rows over stimuli, with intervals, gaps closed and comparisons.

    Parameters
    ----------
    plan : EvaluationPlan
        What was evaluated.
    scored : iterable of ScoredStimuli
        All stimuli in their order; looked through twice, since the bins of KLD follow from the extremes of all.

    Returns
    -------
    Result
        What `evaluate` returns.
    """
    totals, centres = _totals(plan, scored)
    averages = _averages(plan, totals, scored)
    systems = {name: _estimates(averages[name], total) for name, total in totals.items()}
    own = [name for name in plan.rows if name not in plan.references]
    closed = {}
    if plan.references:
        closed = {name: _gaps(averages[name], averages["human"], averages["shuffled"]) for name in own}
    gaps = {name: _with_mean(table) for name, table in closed.items()}
    pairs = list(combinations(own, 2)) if plan.compare else []
    differences = [row for pair in pairs for row in (*_differences(*pair, averages), *_gap_differences(*pair, closed))]
    beside = [(name, other) for name in own for other in ("human", "shuffled") if other in plan.references]
    to_references = [row for pair in beside for row in _differences(*pair, averages)]
    described = {**vars(plan.settings), "metrics": list(plan.metrics), "protocols": list(plan.settings.protocols)}
    return Result(
        systems,
        plan.references,
        gaps,
        differences,
        plan.keys,
        described,
        plan.notes,
        centres,
        to_references,
        plan.viewers,
    )


class RowTotals:
    """A row over all stimuli: the values of each, and the extremes that the bins of KLD follow from."""

    def __init__(self, plan: EvaluationPlan, metrics: Sequence[str]) -> None:
        shape = (len(plan.protocols), len(metrics), 2, len(plan.keys))
        self._values = scratch_array(shape)
        self.series = {
            protocol: {metric: Series(*both) for metric, both in zip(metrics, some, strict=True)}
            for protocol, some in zip(plan.protocols, self._values, strict=True)
        }
        self._undefined, self._ensembles = dict.fromkeys(metrics, 0), 1
        self.bounds = dict.fromkeys(plan.counted(metrics), UNKNOWN)
        self.divergences: dict[str, DivergenceSum] = {}

    def add(self, span: range, row: Row, human: PairScores) -> None:
        """Take over the values of some stimuli.

        Parameters
        ----------
        span : range
            Numbers of the stimuli.
        row : Row
            Their scores.
        human : PairScores
            Their human–human scores.
        """
        for protocol, metrics in self.series.items():
            for metric, one in metrics.items():
                one.value[span.start : span.stop] = row.series[protocol][metric].value
                one.weight[span.start : span.stop] = row.series[protocol][metric].weight
        self._ensembles = row.ensembles
        for metric in self._undefined:
            self._undefined[metric] += row.undefined[metric]
        for name, known in self.bounds.items():
            self.bounds[name] = joined_bounds(known, human.bounds(name), row.pairs.bounds(name))

    def undefined(self, metric: str) -> int:
        """Return the number of pairs without a score, on average over the ensembles.

        Parameters
        ----------
        metric : str
            Which one.

        Returns
        -------
        int
            Rounded.
        """
        return round(self._undefined[metric] / self._ensembles)

    def start_divergences(self, replicates: int) -> None:
        """Begin to count for KLD, now that the extremes are known.

        Parameters
        ----------
        replicates : int
            Of the bootstrap.
        """
        components = {metric: METRICS[metric].components or (metric,) for metric in self._undefined if self.bounds}
        self.divergences = {
            metric: DivergenceSum({name: self.bounds[name] for name in names}, replicates)
            for metric, names in components.items()
        }


def _totals(plan: EvaluationPlan, scored: Iterable[ScoredStimuli]) -> tuple[dict[str, RowTotals], list[Floats]]:
    totals = {name: RowTotals(plan, metrics) for name, metrics in plan.rows.items()}
    centres: list[Floats] = []
    for some in scored:
        centres += some.centres_px
        for name, total in totals.items():
            total.add(some.span, some.rows[name], some.human)
    return totals, centres


def _averages(
    plan: EvaluationPlan, totals: Mapping[str, RowTotals], scored: Iterable[ScoredStimuli]
) -> dict[str, Table]:
    """All rows together, so that the stimuli are resampled once; the time goes into the sums."""
    settings = plan.settings
    sums = {name: _series_sums(total, settings) for name, total in totals.items()}
    every = [one for table in sums.values() for metrics in table.values() for one in metrics.values()]
    for total in totals.values():
        total.start_divergences(settings.replicates)
    source = iter(scored) if "kld" in settings.protocols else iter(())
    some = next(source, None)
    for block, weights in bootstrap.resamples(len(plan.keys), settings.replicates, settings.seed):
        for one in every:
            one.add(block, weights)
        while some is not None and some.span.start < block.stop:
            _count(totals, some, weights[:, some.span.start - block.start : some.span.stop - block.start])
            some = next(source, None)
    return {name: _replicates(settings, sums[name], total) for name, total in totals.items()}


def _count(totals: Mapping[str, RowTotals], some: ScoredStimuli, weights: Floats) -> None:
    for name, total in totals.items():
        for one in total.divergences.values():
            one.add(some.human, some.rows[name].pairs, weights)


def _replicates(settings: EvaluationSettings, sums: dict[str, dict[str, SeriesSum]], total: RowTotals) -> Table:
    every: dict[str, Mapping[str, SeriesSum | DivergenceSum]] = {**sums, "kld": total.divergences}
    return {
        protocol: {metric: one.result() for metric, one in every[protocol].items()} for protocol in settings.protocols
    }


def _series_sums(total: RowTotals, settings: EvaluationSettings) -> dict[str, dict[str, SeriesSum]]:
    return {
        protocol: {name: SeriesSum(one, settings.pooled(name), settings.replicates) for name, one in metrics.items()}
        for protocol, metrics in total.series.items()
    }


def _estimates(table: Table, row: RowTotals) -> dict[str, dict[str, Estimate]]:
    out: dict[str, dict[str, Estimate]] = {}
    for protocol, metrics in table.items():
        out[protocol] = {}
        for name, one in metrics.items():
            if protocol == "kld":
                n, values = row.divergences[name].stimuli, None
            else:
                values = row.series[protocol][name].value
                n = int((~np.isnan(values)).sum())
            low, high = one.interval
            out[protocol][name] = Estimate(one.value, low, high, n, row.undefined(name), values)
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
