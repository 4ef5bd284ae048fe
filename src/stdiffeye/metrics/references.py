"""Reference rows of a table: how well humans predict each other, and how well they do without the picture.

* **human**: each viewer as the truth, the other viewers as the ensemble.
* **shuffled**: human scanpaths of other pictures. Each ensemble has as many scanpaths as the stimulus has viewers, each
  from another stimulus. The mean over several shuffles, more of them when stimuli are few.
* **centre**: numbers of fixations and durations of the shuffled ensemble, but positions sampled from a Gaussian. It has
  the mean and standard deviation of all human fixations; positions are clipped to the frame.

gap closed = (shuffled − model) / (shuffled − human): 0 uses nothing of the picture, 1 is as good as another viewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stdiffeye.arrays import Floats, Ints
from stdiffeye.errors import InputError
from stdiffeye.metrics.divergence import PairScores, generated_pairs, human_pairs
from stdiffeye.metrics.paths import EVALUATION_FRAME, PACKED_AT_ONCE, PackedScanpaths
from stdiffeye.metrics.protocols import (
    Ensemble,
    Estimator,
    Series,
    best_of,
    compare,
    crps,
    leave_one_out,
    mean_pair,
    without_self,
)
from stdiffeye.metrics.spec import Context, MetricSpec, with_components

REFERENCES = ("human", "shuffled", "centre")
SHUFFLES = (2, 8)  # at least and at most so many shuffles of the humans,
SHUFFLED_STIMULI = 600  # so that about this many stimuli are averaged over


@dataclass(frozen=True, eq=False)
class Row:
    """One row of the table before averaging, for some stimuli.

    Attributes
    ----------
    series : dict of str to dict of str to Series
        Protocol → metric → value of each stimulus.
    pairs : PairScores
        Human–generated scores for KLD; empty without that protocol.
    undefined : dict of str to int
        Metric → number of pairs without a score, in all ensembles.
    ensembles : int
        How many ensembles were averaged.
    """

    series: dict[str, dict[str, Series]]
    pairs: PairScores
    undefined: dict[str, int]
    ensembles: int = 1


class ReferenceEnsembles:
    """Scanpaths of the rows `shuffled` and `centre`, for some stimuli at a time.

    Parameters
    ----------
    paths : PackedScanpaths
        All human scanpaths, sorted by stimulus.
    stimuli : int
        Number of stimuli, at least two.
    seed : int
        Of the shuffled humans and of the centre row.
    shuffles : int or None
        How often the humans are shuffled; by default 2 to 8 times, more for fewer stimuli.
    """

    def __init__(self, paths: PackedScanpaths, stimuli: int, seed: int = 0, shuffles: int | None = None) -> None:
        fewest, most = SHUFFLES
        times = shuffles or int(np.clip(np.ceil(SHUFFLED_STIMULI / stimuli), fewest, most))
        rng, self._rng = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        self._paths = paths
        self._shuffles = [shuffled_order(paths.stimulus, stimuli, rng) for _ in range(times)]
        self._centre = shuffled_order(paths.stimulus, stimuli, self._rng)
        self._gaussian = fixation_gaussian(paths)
        self._start, self._sampled = self._rng.bit_generator.state, 0

    def of(self, name: str, span: range) -> list[PackedScanpaths]:
        """The ensembles of a row for a span of stimuli, which are numbered from 0.

        Parameters
        ----------
        name : {"shuffled", "centre"}
            Which row.
        span : range
            Numbers of the stimuli.

        Returns
        -------
        list of PackedScanpaths
            One ensemble, or one per shuffle; stimuli are numbered from 0.
        """
        if name == "shuffled":
            return [self._moved(*one, span)[0] for one in self._shuffles]
        paths, before = self._moved(*self._centre, span)
        self._skip(before)
        self._sampled = before.stop
        return [centred(paths, self._gaussian, self._rng)]

    def _moved(self, order: Ints, target: Ints, span: range) -> tuple[PackedScanpaths, range]:
        """Scanpaths that were moved to these stimuli, and where they lie among all that were moved."""
        start, stop = np.searchsorted(target, (span.start, span.stop)).tolist()
        return self._paths.subset(order[start:stop]).moved_to(target[start:stop] - span.start), range(start, stop)

    def _skip(self, until: range) -> None:
        """Pass over the noise of scanpaths before these, so that each has its own whatever the spans."""
        if until.start < self._sampled:
            self._rng.bit_generator.state, self._sampled = self._start, 0
        lengths = self._paths.lengths[self._centre[0][self._sampled : until.start]]
        for start in range(0, len(lengths), PACKED_AT_ONCE):
            self._rng.normal(size=(int(lengths[start : start + PACKED_AT_ONCE].sum()), 2))


@dataclass(eq=False)
class Humans:
    """The human side of some stimuli.

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
    estimator : {"fair", "printed"}
        Of CRPS.
    """

    paths: PackedScanpaths
    stimuli: int
    context: Context
    chosen: Sequence[MetricSpec]
    protocols: Sequence[str]
    estimator: Estimator

    @property
    def needed(self) -> list[MetricSpec]:
        """The metrics that are computed: the chosen ones and, for KLD, their components."""
        return self._needed(self.chosen)

    @cached_property
    def among(self) -> Ensemble:
        """Scores of every viewer with every viewer."""
        return compare(self.needed, self.paths, self.paths, self.context, self.stimuli, within=False)

    @property
    def pairs(self) -> PairScores:
        """Human–human scores for KLD."""
        return human_pairs(self.among, self._counted(self.chosen))

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
            Series of each metric, and scores of pairs for KLD.
        """
        chosen = self.chosen if chosen is None else chosen
        within = "crps" in self.protocols
        scored = [
            compare(self._needed(chosen), self.paths, paths, self.context, self.stimuli, within) for paths in ensembles
        ]
        series: dict[str, dict[str, Series]] = {protocol: {} for protocol in self.protocols if protocol != "kld"}
        for spec in chosen:
            for protocol in series:
                series[protocol][spec.name] = _average([self._series(protocol, spec, one) for one in scored])
        undefined = {spec.name: sum(int(np.isnan(one.cross[spec.name]).sum()) for one in scored) for spec in chosen}
        return Row(series, generated_pairs(scored, self._counted(chosen)), undefined, len(scored))

    def human_row(self) -> Row:
        """Score each viewer by the others.

        Returns
        -------
        Row
            The row `human`.
        """
        others = without_self(self.among)
        loo = {spec.name: leave_one_out(spec, self.among, self.estimator) for spec in self.chosen}
        series = {
            protocol: {name: rows[protocol] for name, rows in loo.items()}
            for protocol in self.protocols
            if protocol != "kld"
        }
        undefined = {spec.name: int(np.isnan(others.cross[spec.name]).sum()) for spec in self.chosen}
        return Row(series, generated_pairs([others], self._counted(self.chosen)), undefined)

    def _needed(self, chosen: Sequence[MetricSpec]) -> list[MetricSpec]:
        return with_components(chosen) if "kld" in self.protocols else list(chosen)

    def _counted(self, chosen: Sequence[MetricSpec]) -> list[str]:
        """The metrics whose scores KLD counts."""
        if "kld" not in self.protocols:
            return []
        return list(dict.fromkeys(name for spec in chosen for name in spec.components or (spec.name,)))

    def _series(self, protocol: str, spec: MetricSpec, ensemble: Ensemble) -> Series:
        if protocol == "crps":
            return crps(spec, ensemble, self.estimator)
        return mean_pair(spec, ensemble) if protocol == "mean" else best_of(spec, ensemble)


def shuffled_order(stimulus: Ints, stimuli: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Assign every scanpath to another stimulus, the viewers of one picture to different ones.

    The k-th viewer of a stimulus goes to the stimulus `shift[k]` further on a random circle of all stimuli.

    Parameters
    ----------
    stimulus : ndarray of int, (P,)
        Stimulus of each scanpath, sorted.
    stimuli : int
        Number of stimuli, at least two.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    order, target : ndarray of int, (P,)
        The scanpaths sorted by their new stimulus, and that stimulus.

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
    slot = np.arange(len(stimulus)) - np.searchsorted(stimulus, stimulus)
    shifts = np.resize(1 + rng.permutation(stimuli - 1), int(slot.max()) + 1)
    target = circle[(position[stimulus] + shifts[slot]) % stimuli]
    order = np.argsort(target, kind="stable")
    return order, target[order]


def fixation_gaussian(paths: PackedScanpaths) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of all fixations, (2,) px each.

    Parameters
    ----------
    paths : PackedScanpaths
        Human scanpaths.

    Returns
    -------
    mean, std : ndarray, (2,)
        px.
    """
    return np.asarray(paths.xy_px.mean(axis=0)), np.asarray(paths.xy_px.std(axis=0))


def centred(paths: PackedScanpaths, gaussian: tuple[Floats, Floats], rng: np.random.Generator) -> PackedScanpaths:
    """Replace the positions of scanpaths by samples of a Gaussian.

    Parameters
    ----------
    paths : PackedScanpaths
        Whose numbers of fixations and durations are kept.
    gaussian : (ndarray, ndarray), (2,)
        Its mean and standard deviation, px.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    PackedScanpaths
        With positions clipped to the frame.
    """
    xy_px = rng.normal(*gaussian, paths.xy_px.shape)
    return PackedScanpaths(
        np.clip(xy_px, 0, EVALUATION_FRAME.size_px - 1), paths.duration_ms, paths.first, paths.stimulus
    )


def _average(series: Sequence[Series]) -> Series:
    """The mean over ensembles, summed one by one: numpy's order would depend on the number of stimuli."""
    if len(series) == 1:
        return series[0]
    total, count, weight = (np.zeros(len(series[0].value)) for _ in range(3))
    for one in series:
        defined = ~np.isnan(one.value)
        total += np.where(defined, one.value, 0.0)
        count += defined
        weight += one.weight
    return Series(np.where(count > 0, total / np.maximum(count, 1), np.nan), weight / len(series))
