"""Reference rows of a table: how well humans predict each other, and how well they do without the picture.

* **human**: each viewer as the truth, the other viewers as the ensemble.
* **shuffled**: human scanpaths of other pictures. Each ensemble has as many scanpaths as the stimulus has viewers, each
  from another stimulus. The mean over several shuffles, more of them when stimuli are few.
* **centre**: numbers of fixations and durations of the shuffled ensemble, but positions sampled from a Gaussian. It has
  the mean and standard deviation of all human fixations; positions are clipped to the frame.

gap closed = (shuffled − model) / (shuffled − human): 0 uses nothing of the picture, 1 is as good as another viewer.
The rows depend on the humans and the settings only, so they are computed once and kept (`Humans`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.metrics.paths import EVALUATION_FRAME, PackedScanpaths
from stdiffeye.metrics.protocols import (
    Ensemble,
    Estimator,
    Series,
    best_of,
    compare,
    crps,
    leave_one_out,
    mean_pair,
)
from stdiffeye.metrics.score_histograms import Histograms, histograms, without_self
from stdiffeye.metrics.spec import Context, MetricSpec, with_components

REFERENCES = ("human", "shuffled", "centre")
SHUFFLES = (2, 8)  # at least and at most so many shuffles of the humans,
SHUFFLED_STIMULI = 600  # so that about this many stimuli are averaged over


@dataclass(frozen=True, eq=False)
class Row:
    """One row of the table before averaging over stimuli.

    Attributes
    ----------
    series : dict of str to dict of str to Series
        Protocol → metric → value of each stimulus.
    histograms : dict of str to Histograms
        Metric → counts for KLD.
    undefined : dict of str to int
        Metric → number of pairs without a score.
    """

    series: dict[str, dict[str, Series]]
    histograms: dict[str, Histograms]
    undefined: dict[str, int]


@dataclass(eq=False)
class Humans:
    """The human side, prepared once.

    Parameters
    ----------
    paths : PackedScanpaths
        Human scanpaths, sorted by stimulus.
    stimuli : int
        Number of stimuli.
    context : Context
        Clusters and semantic maps of the stimuli.
    chosen : sequence of MetricSpec
        Which metrics.
    protocols : sequence of str
        Which protocols.
    estimator : {"printed", "fair"}
        Of CRPS.
    seed : int
        Of the shuffled humans and of the centre row.
    shuffles : int or None
        How often the humans are shuffled; by default 2 to 8 times, more for fewer stimuli.
    """

    paths: PackedScanpaths
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
        """The metrics that are computed: the chosen ones and, for KLD, their components."""
        return with_components(self.chosen) if "kld" in self.protocols else list(self.chosen)

    @property
    def among(self) -> Ensemble:
        """Scores of every viewer with every viewer."""
        if self._among is None:
            self._among = compare(self.needed, self.paths, self.paths, self.context, self.stimuli, within=False)
        return self._among

    def row(self, ensembles: Sequence[PackedScanpaths], chosen: Sequence[MetricSpec] | None = None) -> Row:
        """Score a system; several ensembles are averaged.

        Parameters
        ----------
        ensembles : sequence of PackedScanpaths
            Generated gaze.
        chosen : sequence of MetricSpec, optional
            Metrics; by default all of the evaluation.

        Returns
        -------
        Row
            Series and histograms of each metric.
        """
        chosen = self.chosen if chosen is None else chosen
        needed = with_components(chosen) if "kld" in self.protocols else list(chosen)
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
        """Return one of the reference rows.

        Parameters
        ----------
        name : {"human", "shuffled", "centre"}
            Which one.

        Returns
        -------
        Row
            Computed at the first call and kept.
        """
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


def shuffled(paths: PackedScanpaths, stimuli: int, rng: np.random.Generator) -> PackedScanpaths:
    """Assign every scanpath to another stimulus, the viewers of one picture to different ones.

    The k-th viewer of a stimulus goes to the stimulus `shift[k]` further on a random circle of all stimuli.

    Parameters
    ----------
    paths : PackedScanpaths
        Human scanpaths, sorted by stimulus.
    stimuli : int
        Number of stimuli, at least two.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    PackedScanpaths
        The same scanpaths, sorted by their new stimulus.

    Raises
    ------
    InputError
        For a single stimulus.
    """
    if stimuli < 2:
        raise InputError(
            "the row 'shuffled' needs at least two stimuli; leave the reference rows out (references=False)"
        )
    circle = rng.permutation(stimuli)
    position = np.argsort(circle)
    slot = np.arange(len(paths)) - np.searchsorted(paths.stimulus, paths.stimulus)
    shifts = np.resize(1 + rng.permutation(stimuli - 1), int(slot.max()) + 1)
    target = circle[(position[paths.stimulus] + shifts[slot]) % stimuli]
    order = np.argsort(target, kind="stable")
    return paths.subset(order).moved_to(target[order])


def centred(paths: PackedScanpaths, human: PackedScanpaths, rng: np.random.Generator) -> PackedScanpaths:
    """Replace the positions of scanpaths by samples of a Gaussian fitted to all human fixations.

    Parameters
    ----------
    paths : PackedScanpaths
        Whose numbers of fixations and durations are kept.
    human : PackedScanpaths
        All human scanpaths, whose mean and standard deviation the Gaussian has.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    PackedScanpaths
        With positions clipped to the frame.
    """
    xy_px = rng.normal(human.xy_px.mean(axis=0), human.xy_px.std(axis=0), paths.xy_px.shape)
    return PackedScanpaths(
        np.clip(xy_px, 0, EVALUATION_FRAME.size_px - 1), paths.duration_ms, paths.first, paths.stimulus
    )


def _average(series: Sequence[Series]) -> Series:
    if len(series) == 1:
        return series[0]
    values: Floats = np.array([one.value for one in series])
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    mean = np.where(count > 0, np.where(defined, values, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan)
    return Series(mean, np.array([one.weight for one in series]).mean(axis=0))
