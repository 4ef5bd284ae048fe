"""KLD: histograms of human–human and human–generated scores, and the divergence between them.

Histograms have 99 equal bins between the joint extremes of both sides. Human–human scores are those of unordered pairs.
KLD is KL(human ‖ generated + 1e-10) with the natural logarithm; for MM the mean over its five dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats, Ints
from stdiffeye.metrics.pairs import Pairs
from stdiffeye.metrics.protocols import Ensemble
from stdiffeye.metrics.spec import MetricSpec

BINS = 99
KLD_FLOOR = 1e-10


@dataclass(frozen=True, eq=False)
class Histograms:
    """Histograms of scores per stimulus, from which KLD is computed.

    Attributes
    ----------
    counts : ndarray, (2, C, S, 99)
        Counts of human–human and of human–generated scores, per component of the metric, stimulus and bin.
    """

    counts: NDArray[Any]

    @property
    def stimuli(self) -> int:
        """Number of stimuli with any human–generated score."""
        return int((self.counts[1].sum(axis=(0, 2)) > 0).sum())

    def kld(self, weights: Floats) -> Floats:
        """Return KL(human ‖ generated + 1e-10), mean over components.

        Parameters
        ----------
        weights : array, shape (B, S)
            How often each stimulus counts.

        Returns
        -------
        array, shape (B,)
            One divergence per row of weights.
        """
        return divergence(weights @ self.counts)


def divergence(counts: Floats) -> Floats:
    """Return KL(human ‖ generated + 1e-10), mean over components.

    Parameters
    ----------
    counts : array, shape (2, C, B, 99)
        Histograms: human and generated, C components, B replicates.

    Returns
    -------
    array, shape (B,)
        One divergence per replicate.
    """
    return _kl(counts[0], counts[1]).mean(axis=0)


def histograms(spec: MetricSpec, humans: Ensemble, ensembles: Sequence[Ensemble]) -> Histograms:
    """Count scores for KLD, in bins that both sides share.

    Parameters
    ----------
    spec : MetricSpec
        Which metric.
    humans : Ensemble
        The humans compared with themselves.
    ensembles : sequence of Ensemble
        Of one system; several (the shuffled humans) are pooled.

    Returns
    -------
    Histograms
        Counts per stimulus.
    """
    unordered = humans.cross_pairs.a < humans.cross_pairs.b
    own_stimulus = humans.cross_stimulus[unordered]
    other_stimulus = np.concatenate([ensemble.cross_stimulus for ensemble in ensembles])
    counts = []
    for name in spec.components or (spec.name,):
        own = humans.cross[name][unordered]
        other = np.concatenate([ensemble.cross[name] for ensemble in ensembles])
        low, high = _extremes(own, other)
        counts.append(
            [
                _counts(values, stimulus, humans.stimuli, low, high)
                for values, stimulus in ((own, own_stimulus), (other, other_stimulus))
            ]
        )
    return Histograms(np.array(counts).transpose(1, 0, 2, 3))


def without_self(humans: Ensemble) -> Ensemble:
    """Compare humans with the *other* humans: the ensemble of the row `human` for KLD.

    Parameters
    ----------
    humans : Ensemble
        All pairs of humans.

    Returns
    -------
    Ensemble
        The same without the pairs of a human with themselves.
    """
    off = humans.cross_pairs.a != humans.cross_pairs.b
    pairs = Pairs(humans.cross_pairs.a[off], humans.cross_pairs.b[off])
    cross = {name: values[off] for name, values in humans.cross.items()}
    stimulus = humans.stimulus_of_human
    return Ensemble(pairs, cross, {}, {}, stimulus, stimulus, humans.stimuli)


def _kl(human: Floats, generated: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        p = human / human.sum(axis=-1, keepdims=True)
        q = generated / generated.sum(axis=-1, keepdims=True) + KLD_FLOOR
        q /= q.sum(axis=-1, keepdims=True)
        p_log_p = p * np.log(np.where(p > 0, p, 1.0))
    return np.asarray((p_log_p - p * np.log(q)).sum(axis=-1))


def _extremes(*values: Floats) -> tuple[float, float]:
    every = np.concatenate(values)
    every = every[~np.isnan(every)]
    if len(every) == 0:
        return 0.0, 1.0
    low, high = float(every.min()), float(every.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _counts(values: Floats, stimulus: Ints, stimuli: int, low: float, high: float) -> NDArray[Any]:
    defined = ~np.isnan(values)
    values, stimulus = values[defined], stimulus[defined]
    edges = np.linspace(low, high, BINS + 1)
    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, BINS - 1)
    counts = np.bincount(stimulus * BINS + bins, minlength=stimuli * BINS).reshape(stimuli, BINS)
    # As small as they can be: at a million stimuli these are the largest arrays of an evaluation.
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))
