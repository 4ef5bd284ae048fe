"""`evaluate`: humans and systems in, a `Result` out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial
from stdiffeye.metrics import bootstrap
from stdiffeye.metrics.bootstrap import Draws
from stdiffeye.metrics.clusters import cluster, read_clusters
from stdiffeye.metrics.pairs import Floats
from stdiffeye.metrics.paths import Paths
from stdiffeye.metrics.protocols import PROTOCOLS, Estimator
from stdiffeye.metrics.references import REFERENCES, Humans, Row
from stdiffeye.metrics.result import GAP, Difference, Estimate, Key, Result
from stdiffeye.metrics.semantics import read_maps
from stdiffeye.metrics.spec import MAIN_METRICS, METRICS, Context, MetricSpec, specs
from stdiffeye.metrics.stimuli import Mode, Reading, check_size, grouped, matched, to_paths

Average = Literal["stimulus", "pooled"]
POOLED_BY_SCANDIFF = ("MM", "SM")  # the groups whose pairs ScanDiff pools over all stimuli
Table = dict[str, dict[str, Draws]]


@dataclass(frozen=True)
class Settings:
    """How to judge; see `evaluate`."""

    metrics: tuple[str, ...] | None = None
    protocols: tuple[str, ...] = PROTOCOLS
    estimator: Estimator = "printed"
    average: Average = "stimulus"
    compat: Literal["scandiff"] | None = None
    mode: Mode = "scanpath"
    rate_hz: float | None = None
    max_fixations: int | None = 16
    draws: int = 1000
    seed: int = 0
    shuffles: int | None = None
    references: bool = True

    def __post_init__(self) -> None:
        unknown = [protocol for protocol in self.protocols if protocol not in PROTOCOLS]
        if unknown or not self.protocols:
            raise InputError(f"there is no protocol {(unknown or [''])[0]!r}: known are {', '.join(PROTOCOLS)}")
        for name, known in (("estimator", Estimator), ("average", Average)):
            if getattr(self, name) not in get_args(known):
                raise InputError(f"{name} must be one of {', '.join(get_args(known))}, got {getattr(self, name)!r}")
        if self.compat not in (None, "scandiff"):
            raise InputError(f"compat knows 'scandiff' only, got {self.compat!r}")
        if self.draws < 0 or (self.shuffles is not None and self.shuffles < 1):
            raise InputError(f"draws must be ≥ 0 and shuffles ≥ 1, got {self.draws} and {self.shuffles}")

    def specs(self, semantics: bool) -> list[MetricSpec]:
        """The metrics asked for; by default all that the mode and the given files allow."""
        if self.metrics is not None:
            chosen = specs(self.metrics)
            wanting = [spec.name for spec in chosen if spec.needs_semantics and not semantics]
            if wanting:
                raise InputError(f"{', '.join(wanting)} need semantic maps: give --semantics FOLDER")
            unfit = [spec.name for spec in chosen if self.mode == "pointwise" and not spec.on_samples]
            if unfit:
                raise InputError(f"{', '.join(unfit)} are not defined on raw samples; use --trajectories extracted")
            return chosen
        chosen = specs(MAIN_METRICS)
        return [
            spec
            for spec in chosen
            if (semantics or not spec.needs_semantics) and (spec.on_samples or self.mode != "pointwise")
        ]

    def pooled(self, metric: str) -> bool:
        if self.compat == "scandiff":
            return METRICS[metric].group in POOLED_BY_SCANDIFF
        return self.average == "pooled"


def evaluate(
    human: Iterable[Trial],
    generated: Mapping[str, Iterable[Trial]],
    *,
    compare: bool = False,
    clusters: str | Path | None = None,
    semantics: str | Path | None = None,
    **settings: Any,
) -> Result:
    """Judge systems against humans on the stimuli that all of them have.

    Parameters
    ----------
    human : trials of people. generated : name → trials, any number of samples per stimulus.
    compare : also test the systems against each other (paired bootstrap over stimuli).
    clusters : JSON of cluster centres for SS; by default computed from the humans.
    semantics : folder of semantic maps; SSS needs it.
    metrics, protocols : which; by default all eleven metrics that apply, and crps, mean, best, kld.
    estimator : "printed" or "fair" CRPS. average : "stimulus" or "pooled".
    compat : "scandiff" pads scanpaths to 3 fixations with (1, 1, 1 ms), gives 100 ms to fixations without durations and
        pools pairs for MM and SM.
    mode : "scanpath", "extracted" (fixations of both sides' trajectories), "pointwise" (raw samples, at `rate_hz`).
    max_fixations : scanpaths are cut to this many.
    draws, seed, shuffles : of the bootstrap and of the shuffled humans. references : whether to add these rows.

    Examples
    --------
    >>> result = evaluate(human, {"ours": samples})          # doctest: +SKIP
    >>> result["ours"]["crps"]["DTW"].value                  # doctest: +SKIP
    """
    chosen = Settings(**{name: _tuple(value) for name, value in settings.items()})
    _check_names(generated, chosen)
    asked = chosen.specs(semantics is not None)
    people = grouped(human, "the human file")
    systems = {name: grouped(trials, f"{name!r}") for name, trials in generated.items()}
    keys, notes = matched(people, systems)
    reading = Reading(chosen.mode, chosen.max_fixations, chosen.rate_hz, chosen.compat is not None)
    paths = to_paths(people, keys, reading, "the human file")
    wanted = available(asked, paths, "the humans", notes)
    context = context_of(wanted, paths, keys, clusters, semantics, notes)
    humans = Humans(paths, len(keys), context, wanted, chosen.protocols, chosen.estimator, chosen.seed, chosen.shuffles)
    rows = {}
    for name, groups in systems.items():
        ensemble = to_paths(groups, keys, reading, f"{name!r}")
        check_size(paths, ensemble, len(keys), name)
        rows[name] = humans.row([ensemble], available(wanted, ensemble, name, notes))
    references = _references(chosen, humans, notes)
    return assemble(chosen, humans, keys, rows, references, compare, notes)


def assemble(
    settings: Settings,
    humans: Humans,
    keys: list[Key],
    rows: Mapping[str, Row],
    references: tuple[str, ...],
    compare: bool,
    notes: list[str],
) -> Result:
    """Average over stimuli with intervals, gaps closed and comparisons."""
    weights = bootstrap.resamples(len(keys), settings.draws, settings.seed)
    every = {**rows, **{name: humans.reference(name) for name in references}}
    drawn = {name: _averages(row, settings, weights) for name, row in every.items()}
    systems = {name: _estimates(drawn[name], row) for name, row in every.items()}
    closed = {name: _gaps(drawn[name], drawn["human"], drawn["shuffled"]) for name in rows} if references else {}
    gaps = {name: _with_mean(table) for name, table in closed.items()}
    pairs = list(combinations(rows, 2)) if compare else []
    differences = [row for pair in pairs for row in (*_differences(*pair, drawn), *_gap_differences(*pair, closed))]
    described = {**vars(settings), "metrics": [spec.name for spec in humans.chosen]}
    described["protocols"] = list(settings.protocols)
    return Result(systems, references, gaps, differences, keys, described, notes, humans.context.centres_px)


def _averages(row: Row, settings: Settings, weights: Floats) -> Table:
    table: Table = {}
    for protocol in settings.protocols:
        if protocol == "kld":
            table[protocol] = {name: bootstrap.of_histograms(one, weights) for name, one in row.histograms.items()}
        else:
            table[protocol] = {
                name: bootstrap.of_series(one, settings.pooled(name), weights)
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
        known = [one for one in metrics.values() if np.isfinite(one.value)]
        mean = {"mean": bootstrap.mean_of(known)} if known else {}
        out[protocol] = {
            name: Estimate(one.value, *one.interval, n=0, undefined=0) for name, one in {**metrics, **mean}.items()
        }
    return out


def _differences(one: str, other: str, drawn: Mapping[str, Table]) -> list[Difference]:
    rows = []
    for protocol, metrics in drawn[one].items():
        for name in metrics:
            if name not in drawn[other][protocol]:
                continue
            apart, p = bootstrap.difference(metrics[name], drawn[other][protocol][name])
            lower = protocol == "kld" or METRICS[name].direction == "lower"
            better = "" if np.isnan(apart.value) or apart.value == 0 else (one if (apart.value < 0) == lower else other)
            rows.append(Difference(one, other, protocol, name, apart.value, *apart.interval, p, better))
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
        apart, p = bootstrap.difference(*means)
        better = "" if apart.value == 0 else (one if apart.value > 0 else other)
        rows.append(Difference(one, other, protocol, GAP, apart.value, *apart.interval, p, better))
    return rows


def available(chosen: Sequence[MetricSpec], paths: Paths, who: str, notes: list[str]) -> list[MetricSpec]:
    """The metrics that these paths can have: without any durations those that need them are absent, not invented."""
    timed = paths.timed()
    absent = [spec.title for spec in chosen if spec.needs_duration]
    if not absent or timed.all():
        return list(chosen)
    if timed.any():
        notes.append(
            f"{who}: {int((~timed).sum())} of {len(timed)} scanpaths have no durations; "
            f"{', '.join(absent)} undefined there"
        )
        return list(chosen)
    notes.append(f"{who}: no durations, so {', '.join(absent)} {'is' if len(absent) == 1 else 'are'} absent")
    return [spec for spec in chosen if not spec.needs_duration]


def context_of(
    chosen: Sequence[MetricSpec],
    paths: Paths,
    keys: list[Key],
    clusters: str | Path | None,
    semantics: str | Path | None,
    notes: list[str],
) -> Context:
    centres: Sequence[Floats] = ()
    maps: Sequence[Any] = ()
    if any(spec.needs_clusters for spec in chosen):
        centres = cluster(paths, len(keys)) if clusters is None else read_clusters(clusters, keys)
    if any(spec.needs_semantics for spec in chosen) and semantics is not None:
        maps, missing = read_maps(semantics, keys)
        if missing:
            notes.append(f"{missing} of {len(keys)} stimuli have no semantic map; SSS is undefined there")
    return Context(centres, maps)


def _references(settings: Settings, humans: Humans, notes: list[str]) -> tuple[str, ...]:
    if len(humans.paths) == humans.stimuli:
        notes.append("one viewer per stimulus: KLD, the row human and gap closed need at least two and are undefined")
    if not settings.references:
        return ()
    if humans.stimuli < 2:
        notes.append("one stimulus only: no reference rows, since shuffled humans need another picture")
        return ()
    return REFERENCES


def _check_names(generated: Mapping[str, Any], settings: Settings) -> None:
    if not generated:
        raise InputError("there is no system to judge: give at least one NAME=FILE")
    taken = [name for name in generated if settings.references and name in REFERENCES]
    if taken:
        raise InputError(f"a system cannot be called {taken[0]!r}: that is the name of a reference row")


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple) else value
