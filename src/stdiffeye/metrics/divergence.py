"""KLD: how far is the distribution of human–generated scores from that of human–human ones, over all stimuli?

Histograms of both, in 99 equal bins between their joint extremes; KL(human ‖ generated + 1e-10), natural logarithm. For
a metric with components (MM) the mean of theirs. The bins are those of all stimuli together, so that extremes must be
known before anything is counted. A replicate of the bootstrap is a weighted sum of the stimuli's histograms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stdiffeye.arrays import Floats, Ints
from stdiffeye.metrics.bootstrap import Replicates
from stdiffeye.metrics.protocols import Ensemble

BINS = 99
KLD_FLOOR = 1e-10
Bounds = tuple[float, float]
UNKNOWN: Bounds = (np.inf, -np.inf)


@dataclass(frozen=True, eq=False)
class PairScores:
    """Scores of pairs of scanpaths of some stimuli.

    Attributes
    ----------
    stimulus : ndarray of int, (pairs,)
        Number of each pair's stimulus.
    values : dict of str to ndarray, (pairs,)
        Metric → scores, NaN where undefined.
    """

    stimulus: Ints
    values: dict[str, Floats]

    def bounds(self, metric: str) -> Bounds:
        """Return the smallest and the largest score; infinite the other way round where there is none.

        Parameters
        ----------
        metric : str
            Which one.

        Returns
        -------
        (float, float)
            Smallest and largest score.
        """
        defined = self.values[metric][~np.isnan(self.values[metric])]
        return (float(defined.min()), float(defined.max())) if len(defined) else UNKNOWN


def human_pairs(humans: Ensemble, metrics: Iterable[str]) -> PairScores:
    """Scores of each human with each other one, once; `humans` is the humans compared with themselves.

    Parameters
    ----------
    humans : Ensemble
        The humans compared with themselves.
    metrics : iterable of str
        Which metrics.

    Returns
    -------
    PairScores
        Of unordered pairs.
    """
    unordered = humans.cross_pairs.a < humans.cross_pairs.b
    values = {name: humans.cross[name][unordered] for name in metrics}
    return PairScores(humans.cross_stimulus[unordered], values)


def generated_pairs(ensembles: Sequence[Ensemble], metrics: Iterable[str]) -> PairScores:
    """Scores of humans with generated scanpaths; several ensembles (the shuffled humans) are pooled.

    Parameters
    ----------
    ensembles : sequence of Ensemble
        Of one system.
    metrics : iterable of str
        Which metrics.

    Returns
    -------
    PairScores
        Of all ensembles, one after the other.
    """
    stimulus = np.concatenate([ensemble.cross_stimulus for ensemble in ensembles])
    return PairScores(
        stimulus, {name: np.concatenate([ensemble.cross[name] for ensemble in ensembles]) for name in metrics}
    )


def joined_bounds(*several: Bounds) -> Bounds:
    """The range that covers all of these.

    Parameters
    ----------
    *several : (float, float)
        Smallest and largest score of each.

    Returns
    -------
    (float, float)
        Of all together.

    Examples
    --------
    >>> joined_bounds((1.0, 2.0), (0.5, 1.5), UNKNOWN)
    (0.5, 2.0)
    """
    return min(low for low, _ in several), max(high for _, high in several)


class DivergenceSum:
    """KLD of one metric and its replicates, from running sums of histograms.

    Parameters
    ----------
    bounds : dict of str to (float, float)
        Component of the metric → extremes of all scores of both sides.
    replicates : int
        Number of replicates.

    Attributes
    ----------
    stimuli : int
        Stimuli with any human–generated score so far.
    """

    def __init__(self, bounds: dict[str, Bounds], replicates: int) -> None:
        self.stimuli = 0
        self._edges = {name: np.linspace(*_span(one), BINS + 1) for name, one in bounds.items()}
        self._total = np.zeros((2, len(bounds), 1, BINS))
        self._sum = np.zeros((2, len(bounds), replicates, BINS))

    def add(self, human: PairScores, generated: PairScores, weights: Floats) -> None:
        """Add some stimuli, each as often as `weights` (replicates, stimuli) says.

        Parameters
        ----------
        human, generated : PairScores
            Scores of both sides; their stimuli are numbered from 0.
        weights : ndarray, (replicates, stimuli)
            How often each replicate holds each stimulus.
        """
        stimuli = weights.shape[1]
        for component, (name, edges) in enumerate(self._edges.items()):
            for side, scores in enumerate((human, generated)):
                counts = _counts(scores.values[name], scores.stimulus, stimuli, edges)
                self._total[side, component, 0] += counts.sum(axis=0)
                self._sum[side, component] += weights @ counts
        defined = np.any([~np.isnan(generated.values[name]) for name in self._edges], axis=0)
        self.stimuli += len(np.unique(generated.stimulus[defined]))

    def result(self) -> Replicates:
        """KLD and its replicates, when all stimuli were added.

        Returns
        -------
        Replicates
            Over all stimuli, and over each replicate.
        """
        return Replicates(float(_divergence(self._total)[0]), _divergence(self._sum))


def _span(bounds: Bounds) -> Bounds:
    low, high = bounds
    if low > high:
        return 0.0, 1.0
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _counts(values: Floats, stimulus: Ints, stimuli: int, edges: Floats) -> Floats:
    """(stimuli, bins) counts of the defined values."""
    defined = ~np.isnan(values)
    bins = np.clip(np.searchsorted(edges, values[defined], side="right") - 1, 0, BINS - 1)
    counts = np.bincount(stimulus[defined] * BINS + bins, minlength=stimuli * BINS)
    return counts.reshape(stimuli, BINS).astype(np.float64)


def _divergence(counts: Floats) -> Floats:
    """(B,) KL(human ‖ generated + 1e-10), mean over components, of counts (2, C, B, 99)."""
    human, generated = counts
    with np.errstate(invalid="ignore", divide="ignore"):
        p = human / human.sum(axis=-1, keepdims=True)
        q = generated / generated.sum(axis=-1, keepdims=True) + KLD_FLOOR
        q /= q.sum(axis=-1, keepdims=True)
        p_log_p = p * np.log(np.where(p > 0, p, 1.0))
    return np.asarray((p_log_p - p * np.log(q)).sum(axis=-1).mean(axis=0))
