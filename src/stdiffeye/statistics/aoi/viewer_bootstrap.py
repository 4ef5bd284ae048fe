"""Bootstrap over viewers: means of what each viewer did, with 95 % intervals.

A replicate resamples the viewers of one picture with replacement. Viewers for whom a measure is not defined (no time to
the first fixation without a fixation) do not count in its mean. Efron & Tibshirani 1993.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats

LEVELS = (2.5, 97.5)
NORMAL_975 = 1.959964
FEWEST_DEFINED = 5  # viewers with a value: resampling fewer tells no interval


@dataclass(frozen=True, eq=False)
class ViewerEstimate:
    """A mean over viewers, or a difference of two.

    Attributes
    ----------
    value : float
        NaN where no viewer has a value.
    low, high : float
        95 % interval; NaN with fewer than five viewers who have a value.
    """

    value: float
    low: float
    high: float

    @property
    def decided(self) -> bool:
        """Whether the interval leaves out 0."""
        return bool(self.low > 0 or self.high < 0)


def viewer_weights(viewers: int, replicates: int, rng: np.random.Generator) -> Floats:
    """(replicates, viewers) how often each viewer occurs in each replicate."""
    return rng.multinomial(viewers, np.full(viewers, 1 / viewers), size=replicates).astype(np.float64)


def weighted_means(values: Floats, weights: Floats) -> Floats:
    """(B, A) means over the defined of values (V, A) with weights (B, V); NaN where none is."""
    defined = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((weights @ np.where(defined, values, 0.0)) / (weights @ defined.astype(np.float64)))


def means(values: Floats, replicates: int, rng: np.random.Generator) -> list[ViewerEstimate]:
    """Estimates of the mean of each column of values (V, A)."""
    once = weighted_means(values, np.ones((1, len(values))))[0]
    resampled = weighted_means(values, viewer_weights(len(values), replicates, rng))
    return _estimates(once, resampled, np.isfinite(values).sum(axis=0) >= FEWEST_DEFINED)


def shares(hits: Floats) -> list[ViewerEstimate]:
    """Estimates of shares of viewers, from (V, A) of 0 and 1, with Wilson's interval.

    Resampling viewers who all did the same would say that all viewers ever will.
    """
    count, z = len(hits), NORMAL_975
    found = []
    for share in hits.mean(axis=0).tolist():
        centre = (share + z * z / (2 * count)) / (1 + z * z / count)
        half = z / (1 + z * z / count) * np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
        found.append(ViewerEstimate(share, max(0.0, float(centre - half)), min(1.0, float(centre + half))))
    return found


def differences(
    one: Floats, other: Floats, replicates: int, rng: np.random.Generator, paired: bool = False
) -> list[ViewerEstimate]:
    """Estimates of mean(one) − mean(other) of each column of (V, A) and (W, A).

    Paired: row k of both is the same viewer, and both are resampled together.
    """
    weights = viewer_weights(len(one), replicates, rng)
    others = weights if paired else viewer_weights(len(other), replicates, rng)
    value = weighted_means(one, np.ones((1, len(one)))) - weighted_means(other, np.ones((1, len(other))))
    enough = np.minimum(np.isfinite(one).sum(axis=0), np.isfinite(other).sum(axis=0)) >= FEWEST_DEFINED
    return _estimates(value[0], weighted_means(one, weights) - weighted_means(other, others), enough)


def _estimates(values: Floats, replicates: Floats, enough: NDArray[np.bool_]) -> list[ViewerEstimate]:
    """Estimates of A numbers, from their values (A,), their replicates (B, A) and whether these tell an interval."""
    found = []
    for value, column, known in zip(values.tolist(), replicates.T, enough.tolist(), strict=True):
        finite = column[np.isfinite(column)]
        low, high = np.percentile(finite, LEVELS) if known and len(finite) else (np.nan, np.nan)
        found.append(ViewerEstimate(value, float(low), float(high)))
    return found
