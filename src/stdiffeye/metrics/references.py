"""What a table needs to be read: how well people predict people, and how badly anyone can do.

* **human**: each viewer as the truth, the other viewers as the ensemble.
* **shuffled**: real scanpaths on the wrong picture. Every ensemble is filled with as many scanpaths as the stimulus has
  viewers, each from another stimulus; the mean over several such draws (more of them when stimuli are few).
* **centre**: the shuffled ensemble's numbers of fixations and durations, but places drawn from a Gaussian with the
  mean and standard deviation of all human fixations, moved into the frame.

gap closed = (shuffled − model) / (shuffled − human): 0 knows nothing of the picture, 1 is as good as another person.
The rows depend on the humans and the settings only, so they are computed once and kept (`Humans`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.metrics.pairs import Floats
from stdiffeye.metrics.paths import EVALUATION_FRAME, Paths
from stdiffeye.metrics.protocols import (
    Ensemble,
    Estimator,
    Histograms,
    Series,
    best_of,
    compare,
    crps,
    histograms,
    leave_one_out,
    mean_pair,
    without_self,
)
from stdiffeye.metrics.spec import Context, MetricSpec, with_parts

REFERENCES = ("human", "shuffled", "centre")
SHUFFLES = (2, 8)  # at least and at most so many draws of the shuffled humans,
SHUFFLED_STIMULI = 600  # so that about this many stimuli are averaged over


@dataclass(frozen=True, eq=False)
class Row:
    """One line of the table before averaging: protocol → metric → what each stimulus contributes."""

    series: dict[str, dict[str, Series]]
    histograms: dict[str, Histograms]
    undefined: dict[str, int]


@dataclass(eq=False)
class Humans:
    """The human side, prepared once: paths sorted by stimulus, clusters and maps, scores among themselves."""

    paths: Paths
    stimuli: int
    context: Context
    chosen: Sequence[MetricSpec]
    protocols: Sequence[str]
    estimator: Estimator = "printed"
    seed: int = 0
    shuffles: int | None = None
    _kept: dict[str, Row] = field(default_factory=dict)
    _among: Ensemble | None = None

    @property
    def needed(self) -> list[MetricSpec]:
        """The metrics that are scored: those asked for and, for KLD, their parts."""
        return with_parts(self.chosen) if "kld" in self.protocols else list(self.chosen)

    @property
    def among(self) -> Ensemble:
        """Every viewer with every viewer."""
        if self._among is None:
            self._among = compare(self.needed, self.paths, self.paths, self.context, self.stimuli, within=False)
        return self._among

    def row(self, ensembles: Sequence[Paths], chosen: Sequence[MetricSpec] | None = None) -> Row:
        """Judge a system; several ensembles are averaged."""
        chosen = self.chosen if chosen is None else chosen
        needed = with_parts(chosen) if "kld" in self.protocols else list(chosen)
        within = "crps" in self.protocols
        scored = [compare(needed, self.paths, paths, self.context, self.stimuli, within) for paths in ensembles]
        series: dict[str, dict[str, Series]] = {protocol: {} for protocol in self.protocols if protocol != "kld"}
        for spec in chosen:
            for protocol in series:
                series[protocol][spec.name] = _average([self._series(protocol, spec, one) for one in scored])
        pooled = {spec.name: histograms(spec, self.among, scored) for spec in chosen} if "kld" in self.protocols else {}
        missing = {spec.name: [np.isnan(one.cross[spec.name]).sum() for one in scored] for spec in chosen}
        undefined = {name: round(float(np.mean(counts))) for name, counts in missing.items()}
        return Row(series, pooled, undefined)

    def reference(self, name: str) -> Row:
        """One of the rows human, shuffled, centre."""
        if name not in self._kept:
            makers = {"human": self._human, "shuffled": self._shuffled, "centre": self._centre}
            self._kept[name] = makers[name]()
        return self._kept[name]

    def _series(self, protocol: str, spec: MetricSpec, ensemble: Ensemble) -> Series:
        if protocol == "crps":
            return crps(spec, ensemble, self.estimator)
        return mean_pair(spec, ensemble) if protocol == "mean" else best_of(spec, ensemble)

    def _human(self) -> Row:
        others = without_self(self.among)
        loo = {spec.name: leave_one_out(spec, self.among, self.estimator) for spec in self.chosen}
        series = {
            protocol: {name: rows[protocol] for name, rows in loo.items()}
            for protocol in self.protocols
            if protocol != "kld"
        }
        pooled = {}
        if "kld" in self.protocols:
            pooled = {spec.name: histograms(spec, self.among, [others]) for spec in self.chosen}
        undefined = {spec.name: int(np.isnan(others.cross[spec.name]).sum()) for spec in self.chosen}
        return Row(series, pooled, undefined)

    def _shuffled(self) -> Row:
        rng = np.random.default_rng(self.seed)
        fewest, most = SHUFFLES
        times = self.shuffles or int(np.clip(np.ceil(SHUFFLED_STIMULI / self.stimuli), fewest, most))
        return self.row([shuffled(self.paths, self.stimuli, rng) for _ in range(times)])

    def _centre(self) -> Row:
        rng = np.random.default_rng(self.seed + 1)
        return self.row([centred(shuffled(self.paths, self.stimuli, rng), self.paths, rng)])


def shuffled(paths: Paths, stimuli: int, rng: np.random.Generator) -> Paths:
    """Every scanpath moved to another stimulus, so that viewers of one picture end up on different ones.

    The k-th viewer of the s-th picture goes to the picture `shift[k]` further on a random circle of all pictures.
    """
    if stimuli < 2:
        raise InputError(
            "the row 'shuffled' needs at least two stimuli; leave the reference rows out (references=False)"
        )
    circle = rng.permutation(stimuli)
    place = np.argsort(circle)
    slot = np.arange(len(paths)) - np.searchsorted(paths.stimulus, paths.stimulus)
    shifts = np.resize(1 + rng.permutation(stimuli - 1), int(slot.max()) + 1)
    target = circle[(place[paths.stimulus] + shifts[slot]) % stimuli]
    order = np.argsort(target, kind="stable")
    return paths.taken(order).moved_to(target[order])


def centred(paths: Paths, human: Paths, rng: np.random.Generator) -> Paths:
    """The same scanpaths with places drawn from a Gaussian fitted to all human fixations."""
    xy_px = rng.normal(human.xy_px.mean(axis=0), human.xy_px.std(axis=0), paths.xy_px.shape)
    return Paths(np.clip(xy_px, 0, EVALUATION_FRAME.size_px - 1), paths.duration_ms, paths.first, paths.stimulus)


def _average(series: Sequence[Series]) -> Series:
    if len(series) == 1:
        return series[0]
    values: Floats = np.array([one.value for one in series])
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    mean = np.where(count > 0, np.where(defined, values, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan)
    return Series(mean, np.array([one.weight for one in series]).mean(axis=0))
