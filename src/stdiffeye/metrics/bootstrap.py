"""Bootstrap over stimuli: confidence intervals, and paired tests between systems.

A replicate resamples the stimuli with replacement; all systems share the same replicates. The interval is the
2.5–97.5 % range over the replicates. Shared replicates make the difference of two systems a paired test.

Efron & Tibshirani 1993.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.metrics.protocols import Series

LEVELS = (2.5, 97.5)
STIMULI_PER_BLOCK = 1024  # of which all replicates are held at a time: 8 MB for a thousand


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


def resamples(stimuli: int, replicates: int, seed: int) -> Iterator[tuple[slice, Floats]]:
    """Resample stimuli with replacement, some stimuli at a time: no matrix of all stimuli and replicates is held.

    How many of a replicate's stimuli fall into each block is sampled first, then which of the block they are. Together
    that is one sample of all stimuli.

    Parameters
    ----------
    stimuli : int
        Number of stimuli.
    replicates : int
        Number of replicates; may be 0.
    seed : int
        Of the resampling.

    Yields
    ------
    block : slice
        Which stimuli.
    weights : ndarray, (replicates, stimuli of the block)
        How often each of them occurs in each replicate.

    Examples
    --------
    >>> [(block.stop, weights.sum(axis=1)) for block, weights in resamples(4, 3, seed=0)]
    [(4, array([4., 4., 4.]))]
    """
    rng = np.random.default_rng(seed)
    if stimuli <= STIMULI_PER_BLOCK:
        yield slice(0, stimuli), rng.multinomial(stimuli, _even(stimuli), size=replicates).astype(np.float64)
        return
    starts = range(0, stimuli, STIMULI_PER_BLOCK)
    sizes = np.array([min(STIMULI_PER_BLOCK, stimuli - start) for start in starts])
    share = rng.multinomial(stimuli, sizes / stimuli, size=replicates)
    for number, (start, size) in enumerate(zip(starts, sizes.tolist(), strict=True)):
        within = np.random.default_rng([seed, number]).multinomial(share[:, number], _even(size))
        yield slice(start, start + size), within.astype(np.float64)


@dataclass
class SeriesSum:
    """The average of a series over stimuli, and of its replicates, as a running sum.

    Parameters
    ----------
    series : Series
        Value and weight of each stimulus.
    pooled : bool
        Whether to weight the stimuli by their number of pairs; else they count alike.
    replicates : int
        Number of replicates.
    """

    series: Series
    pooled: bool
    replicates: int

    def __post_init__(self) -> None:
        self._weighted, self._weight = np.zeros(self.replicates), np.zeros(self.replicates)

    def add(self, block: slice, weights: Floats) -> None:
        """Add the stimuli of a block to the replicates' sums.

        Parameters
        ----------
        block : slice
            Which stimuli.
        weights : array, shape (B, stimuli of the block)
            How often each replicate holds each stimulus.
        """
        weighted, weight = self._terms(block)
        self._weighted += weights @ weighted
        self._weight += weights @ weight

    def result(self) -> Replicates:
        """Return the average and its replicates, when all blocks were added.

        Returns
        -------
        Replicates
            Over all stimuli, and over each replicate.
        """
        weighted, weight = self._terms(slice(None))
        return Replicates(float(_ratio(weighted.sum(), weight.sum())), _ratio(self._weighted, self._weight))

    def _terms(self, block: slice) -> tuple[Floats, Floats]:
        value = self.series.value[block]
        defined = ~np.isnan(value)
        weight = defined * (self.series.weight[block] if self.pooled else 1.0)
        return np.where(defined, value, 0.0) * weight, weight


def gap_closed(model: Replicates, human: Replicates, shuffled: Replicates) -> Replicates:
    """Compute (shuffled − model) / (shuffled − human), replicate by replicate.

    Parameters
    ----------
    model, human, shuffled : Replicates
        One metric of the three rows, under the same resampling.

    Returns
    -------
    Replicates
        Shares; NaN where the rows human and shuffled are equal.
    """
    value = _ratio(shuffled.value - model.value, shuffled.value - human.value)
    return Replicates(
        float(value), _ratio(shuffled.replicates - model.replicates, shuffled.replicates - human.replicates)
    )


def mean_of(several: list[Replicates]) -> Replicates:
    """Average several numbers, replicate by replicate.

    Parameters
    ----------
    several : list of Replicates
        Numbers under the same resampling.

    Returns
    -------
    Replicates
        Their mean.
    """
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


def _even(count: int) -> Floats:
    return np.full(count, 1 / count)


def _ratio(numerator: float | Floats, denominator: float | Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.asarray(denominator) != 0, np.divide(numerator, denominator), np.nan)
