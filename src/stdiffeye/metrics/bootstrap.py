"""Bootstrap over stimuli: confidence intervals, and paired tests between systems.

A replicate resamples the stimuli with replacement; all systems share the same replicates. The interval is the
2.5–97.5 % range over the replicates. Shared replicates make the difference of two systems a paired test. The bins of
KLD stay those of the whole sample, so that a replicate is a weighted sum of the stimuli's histograms.

Efron & Tibshirani 1993.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.metrics.protocols import Histograms, Series

LEVELS = (2.5, 97.5)


@dataclass(frozen=True, eq=False)
class Replicates:
    """A number and its value in each bootstrap replicate.

    Attributes
    ----------
    value : float
        On all stimuli.
    replicates : ndarray, (B,)
        On the resampled stimuli.

    Examples
    --------
    >>> low, high = Replicates(0.5, np.linspace(0, 1, 101)).interval
    >>> round(low, 3), round(high, 3)
    (0.025, 0.975)
    """

    value: float
    replicates: Floats

    @property
    def interval(self) -> tuple[float, float]:
        """2.5 % and 97.5 % quantile of the replicates; NaN without replicates."""
        finite = self.replicates[np.isfinite(self.replicates)]
        if len(finite) == 0:
            return float("nan"), float("nan")
        low, high = np.percentile(finite, LEVELS)
        return float(low), float(high)


def resamples(stimuli: int, replicates: int, seed: int) -> Floats:
    """Resample stimuli with replacement.

    Parameters
    ----------
    stimuli : int
        Number of stimuli.
    replicates : int
        Number of replicates; may be 0.
    seed : int
        Of the resampling.

    Returns
    -------
    ndarray, (replicates, stimuli)
        How often each stimulus occurs in each replicate.

    Examples
    --------
    >>> resamples(4, 3, seed=0).sum(axis=1)
    array([4., 4., 4.])
    """
    rng = np.random.default_rng(seed)
    return rng.multinomial(stimuli, np.full(stimuli, 1 / stimuli), size=replicates).astype(np.float64)


def of_series(series: Series, pooled: bool, weights: Floats) -> Replicates:
    """Average a series over stimuli.

    Parameters
    ----------
    series : Series
        Value and weight of each stimulus.
    pooled : bool
        Whether to weight the stimuli by their number of pairs; else they count alike.
    weights : ndarray, (B, S)
        What `resamples` returned.

    Returns
    -------
    Replicates
        The average and its replicates.
    """
    defined = ~np.isnan(series.value)
    weight = defined * (series.weight if pooled else 1.0)
    weighted = np.where(defined, series.value, 0.0) * weight
    return Replicates(float(_ratio(weighted.sum(), weight.sum())), _ratio(weights @ weighted, weights @ weight))


def of_histograms(histograms: Histograms, weights: Floats) -> Replicates:
    """Compute KLD over all stimuli, with a replicate for each row of `weights` (B, S)."""
    once = np.ones((1, histograms.counts.shape[2]))
    return Replicates(float(histograms.kld(once)[0]), histograms.kld(weights) if len(weights) else np.empty(0))


def gap_closed(model: Replicates, human: Replicates, shuffled: Replicates) -> Replicates:
    """Compute (shuffled − model) / (shuffled − human), replicate by replicate; NaN where the rows are equal."""
    value = _ratio(shuffled.value - model.value, shuffled.value - human.value)
    return Replicates(
        float(value), _ratio(shuffled.replicates - model.replicates, shuffled.replicates - human.replicates)
    )


def mean_of(several: list[Replicates]) -> Replicates:
    """Average several numbers, replicate by replicate."""
    return Replicates(
        float(np.mean([one.value for one in several])), np.mean([one.replicates for one in several], axis=0)
    )


def difference(one: Replicates, other: Replicates) -> tuple[Replicates, float]:
    """Subtract two numbers, replicate by replicate, and test the difference.

    Parameters
    ----------
    one, other : Replicates
        Of the same resampled stimuli.

    Returns
    -------
    difference : Replicates
        one − other.
    p : float
        Two-sided p value of the paired bootstrap; NaN without replicates.
    """
    found = Replicates(one.value - other.value, one.replicates - other.replicates)
    finite = found.replicates[np.isfinite(found.replicates)]
    if len(finite) == 0:
        return found, float("nan")
    tail = min(int((finite <= 0).sum()), int((finite >= 0).sum()))
    return found, min(1.0, 2 * (tail + 1) / (len(finite) + 1))


def _ratio(numerator: float | Floats, denominator: float | Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.asarray(denominator) != 0, np.divide(numerator, denominator), np.nan)
