"""From scores of pairs to one number per stimulus: CRPS, mean, best, KLD; the same code for all metrics.

With human scanpaths x_1 … x_I and generated ones y_1 … y_J (the ensemble) on a stimulus, and d(human, generated):

* **crps** mean_ij d(x_i, y_j) − ½ mean_jk d(y_j, y_k), the diagonal j = k included as the paper prints it.
  `estimator="fair"` leaves the diagonal out, so that the value does not depend on the size of the ensemble.
* **mean** mean_ij d(x_i, y_j).
* **best** mean_i min_j d(x_i, y_j), max for similarities.
* **kld** over all stimuli: KL of the distributions of human–human and of human–generated scores (`divergence.py`).

Similarities use the same formulas, and larger is better: CRPS_sim = ½ − CRPS(1 − s). CRPS is a proper score only for
distances of negative type (`negative_type.py`): KTD by construction, the others not in general.

Undefined scores (NaN) are left out of every mean; a stimulus without any has weight 0.

Gneiting & Raftery 2007; Ferro 2014 (fair).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from stdiffeye.arrays import Floats, Ints
from stdiffeye.metrics.pairs import Pairs
from stdiffeye.metrics.paths import PackedScanpaths
from stdiffeye.metrics.spec import Context, MetricSpec, scores

Estimator = Literal["printed", "fair"]
PROTOCOLS = ("crps", "mean", "best", "kld")


@dataclass(frozen=True, eq=False)
class Series:
    """One number per stimulus.

    Attributes
    ----------
    value : ndarray, (S,)
        NaN where undefined.
    weight : ndarray, (S,)
        Weight of each stimulus in a pooled average: pairs or humans with a defined score.
    """

    value: Floats
    weight: Floats


@dataclass(frozen=True, eq=False)
class Ensemble:
    """One system's scanpaths on all stimuli, scored against the humans and against each other.

    Attributes
    ----------
    cross_pairs : Pairs
        (human, generated) pairs of one stimulus.
    cross : dict of str to ndarray, (pairs,)
        Metric → scores of `cross_pairs`.
    within_pairs : dict of bool to Pairs
        (generated, generated) pairs: all ordered ones (False), or j ≤ k for symmetric metrics (True).
    within : dict of str to ndarray, (pairs,)
        Metric → scores of `within_pairs`.
    stimulus_of_human, stimulus_of_path : ndarray of int
        Number of the stimulus of each human and each generated scanpath.
    stimuli : int
        Number of stimuli.
    """

    cross_pairs: Pairs
    cross: dict[str, Floats]
    within_pairs: dict[bool, Pairs]  # by symmetry
    within: dict[str, Floats]
    stimulus_of_human: Ints
    stimulus_of_path: Ints
    stimuli: int

    @property
    def cross_stimulus(self) -> Ints:
        """(pairs,) number of the stimulus of each cross pair."""
        return self.stimulus_of_human[self.cross_pairs.a]


def all_pairs(a: PackedScanpaths, b: PackedScanpaths, stimuli: int) -> Pairs:
    """Pair every scanpath of `a` with every scanpath of `b` on the same stimulus.

    Parameters
    ----------
    a, b : PackedScanpaths
        Both sorted by stimulus.
    stimuli : int
        Number of stimuli.

    Returns
    -------
    Pairs
        Sorted by `a`, then by `b`.
    """
    count = np.bincount(b.stimulus, minlength=stimuli)
    start = np.concatenate([[0], np.cumsum(count)])[:-1]
    repeats = count[a.stimulus]
    one = np.repeat(np.arange(len(a)), repeats)
    within = np.arange(len(one)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return Pairs(one, start[a.stimulus[one]] + within)


def compare(
    chosen: Sequence[MetricSpec],
    human: PackedScanpaths,
    generated: PackedScanpaths,
    context: Context,
    stimuli: int,
    within: bool = True,
) -> Ensemble:
    """Score an ensemble against the humans and against itself.

    Parameters
    ----------
    chosen : sequence of MetricSpec
        Which metrics.
    human, generated : PackedScanpaths
        Both sorted by stimulus.
    context : Context
        Clusters and semantic maps of the stimuli.
    stimuli : int
        Number of stimuli.
    within : bool
        Whether to score the pairs within the ensemble, which only CRPS needs.

    Returns
    -------
    Ensemble
        Scores of all pairs.
    """
    cross_pairs = all_pairs(human, generated, stimuli)
    cross = scores(chosen, human, generated, cross_pairs, context)
    ordered = all_pairs(generated, generated, stimuli)
    half = ordered.a <= ordered.b
    within_pairs = {False: ordered, True: Pairs(ordered.a[half], ordered.b[half])}
    inner: dict[str, Floats] = {}
    if within:
        for symmetric, pairs in within_pairs.items():
            some = [spec for spec in chosen if spec.symmetric is symmetric]
            inner |= scores(some, generated, generated, pairs, context)
    return Ensemble(cross_pairs, cross, within_pairs, inner, human.stimulus, generated.stimulus, stimuli)


def mean_pair(spec: MetricSpec, ensemble: Ensemble) -> Series:
    """Compute the protocol `mean`: mean_ij d(x_i, y_j) of each stimulus.

    Parameters
    ----------
    spec : MetricSpec
        Which metric.
    ensemble : Ensemble
        Scores of pairs.

    Returns
    -------
    Series
        (S,) values, weighted by the number of defined pairs.
    """
    total, count = _sums(ensemble.cross[spec.name], ensemble.cross_stimulus, ensemble.stimuli)
    return Series(_divide(total, count), count)


def best_of(spec: MetricSpec, ensemble: Ensemble) -> Series:
    """Compute the protocol `best`: mean_i min_j d(x_i, y_j) of each stimulus, max for similarities.

    Parameters
    ----------
    spec : MetricSpec
        Which metric.
    ensemble : Ensemble
        Scores of pairs.

    Returns
    -------
    Series
        (S,) values, weighted by the number of humans with a defined score.
    """
    best = _best_by_human(spec, ensemble.cross[spec.name], ensemble.cross_pairs.a)
    humans = _runs(ensemble.cross_pairs.a)[1]
    total, count = _sums(best, ensemble.stimulus_of_human[humans], ensemble.stimuli)
    return Series(_divide(total, count), count)


def crps(spec: MetricSpec, ensemble: Ensemble, estimator: Estimator) -> Series:
    """Compute the protocol `crps`: mean_ij d(x_i, y_j) − ½ mean_jk d(y_j, y_k) of each stimulus.

    Parameters
    ----------
    spec : MetricSpec
        Which metric.
    ensemble : Ensemble
        Scores of pairs, those within the ensemble included.
    estimator : {"printed", "fair"}
        Whether the second mean includes the diagonal j = k, or leaves it out.

    Returns
    -------
    Series
        (S,) values, weighted by the number of humans with a defined score.
    """
    distance = mean_pair(spec, ensemble).value
    pairs = ensemble.within_pairs[spec.symmetric]
    diagonal = pairs.a == pairs.b
    multiple = np.where(diagonal, 0.0 if estimator == "fair" else 1.0, 2.0 if spec.symmetric else 1.0)
    total, count = _sums(ensemble.within[spec.name], ensemble.stimulus_of_path[pairs.a], ensemble.stimuli, multiple)
    defined = ~np.isnan(ensemble.cross[spec.name])
    humans = _runs(ensemble.cross_pairs.a[defined])[1]
    weight = np.bincount(ensemble.stimulus_of_human[humans], minlength=ensemble.stimuli).astype(np.float64)
    return Series(distance - _divide(total, count) / 2, weight)


def leave_one_out(spec: MetricSpec, humans: Ensemble, estimator: Estimator) -> dict[str, Series]:
    """Compute crps, mean and best of the row `human`: each viewer as the truth, the others as the ensemble.

    Parameters
    ----------
    spec : MetricSpec
        Which metric.
    humans : Ensemble
        The humans compared with themselves; its cross scores are all ordered pairs.
    estimator : {"printed", "fair"}
        As in `crps`.

    Returns
    -------
    dict of str to Series
        Protocol → (S,) values.
    """
    a, b, values = humans.cross_pairs.a, humans.cross_pairs.b, humans.cross[spec.name]
    viewers, stimulus = len(humans.stimulus_of_human), humans.stimulus_of_human
    off = a != b
    distance, others = _sums(values[off], a[off], viewers)
    counted = off if estimator == "fair" else np.ones_like(off)
    total, pairs = _sums(values[counted], stimulus[a[counted]], humans.stimuli)
    row, row_pairs = _sums(values[counted], a[counted], viewers)
    column, column_pairs = _sums(values[counted], b[counted], viewers)
    own, own_pairs = _sums(values[counted & ~off], a[counted & ~off], viewers)
    diversity = _divide(total[stimulus] - row - column + own, pairs[stimulus] - row_pairs - column_pairs + own_pairs)
    per_viewer = {
        "crps": _divide(distance, others) - diversity / 2,
        "mean": _divide(distance, others),
        "best": _scattered(_best_by_human(spec, values[off], a[off]), _runs(a[off])[1], viewers),
    }
    return {protocol: _by_stimulus(value, stimulus, humans.stimuli) for protocol, value in per_viewer.items()}


def without_self(humans: Ensemble) -> Ensemble:
    """Return the humans against the *other* humans: the ensemble of the row `human` for KLD.

    Parameters
    ----------
    humans : Ensemble
        The humans compared with themselves.

    Returns
    -------
    Ensemble
        Without the pairs of a viewer with itself.
    """
    off = humans.cross_pairs.a != humans.cross_pairs.b
    pairs = Pairs(humans.cross_pairs.a[off], humans.cross_pairs.b[off])
    cross = {name: values[off] for name, values in humans.cross.items()}
    stimulus = humans.stimulus_of_human
    return Ensemble(pairs, cross, {}, {}, stimulus, stimulus, humans.stimuli)


def _best_by_human(spec: MetricSpec, values: Floats, human: Ints) -> Floats:
    """Best value of each human; `human` is sorted. NaN where no score is defined."""
    lower = spec.direction == "lower"
    starts = _runs(human)[0]
    filled = np.where(np.isnan(values), np.inf if lower else -np.inf, values)
    best = (np.minimum if lower else np.maximum).reduceat(filled, starts) if len(starts) else np.empty(0)
    return np.where(np.isinf(best), np.nan, best)


def _runs(sorted_owner: Ints) -> tuple[Ints, Ints]:
    """Where each owner begins in a sorted list, and who it is."""
    starts = np.flatnonzero(np.diff(sorted_owner, prepend=-1))
    return starts, sorted_owner[starts]


def _sums(values: Floats, owner: Ints, owners: int, multiple: Floats | None = None) -> tuple[Floats, Floats]:
    """Sum of the defined values of each owner, and how many they are."""
    defined = ~np.isnan(values)
    each = defined * (1.0 if multiple is None else multiple)
    total = np.bincount(owner, weights=np.where(defined, values, 0.0) * each, minlength=owners)
    count = np.bincount(owner, weights=each, minlength=owners)
    return total.astype(np.float64), count.astype(np.float64)


def _divide(total: Floats, count: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / np.where(count > 0, count, 1.0), np.nan)


def _scattered(values: Floats, where: Ints, size: int) -> Floats:
    out = np.full(size, np.nan)
    out[where] = values
    return out


def _by_stimulus(per_viewer: Floats, stimulus: Ints, stimuli: int) -> Series:
    total, count = _sums(per_viewer, stimulus, stimuli)
    return Series(_divide(total, count), count)
