"""Distances between two samples of one quantity.

Conventions: samples are one-dimensional and finite; order does not matter; an empty sample gives NaN. Distances are of
the empirical distributions F and G, so they shrink towards 0 only as fast as the samples grow. Compare them with the
distance between two halves of the humans (`Distribution.floor`).

* `ks` Kolmogorov–Smirnov, sup |F − G|, in [0, 1], without unit.
* `kuiper` its form for angles, sup(F − G) + sup(G − F), which does not depend on where the circle is cut (Kuiper 1960).
* `wasserstein` first Wasserstein distance, ∫ |F − G| dx, in the quantity's unit.
* `circular_wasserstein` the same around a circle, min_a ∫ |F − G − a| dx (Rabin, Delon, Gousseau 2011).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError

FULL_TURN_DEG = 360.0


def ks(one: ArrayLike, other: ArrayLike) -> float:
    """Compute the Kolmogorov–Smirnov distance of two samples.

    Parameters
    ----------
    one, other : array_like, (n,), (m,)
        Samples.

    Returns
    -------
    float
        In [0, 1], NaN where a sample is empty.

    Examples
    --------
    >>> ks([1, 2, 3], [1, 2, 3]), ks([1, 2], [5, 6])
    (0.0, 1.0)
    """
    _, difference = _cdf_difference(validate(one), validate(other))
    return float(np.abs(difference).max()) if len(difference) else float("nan")


def kuiper(one_deg: ArrayLike, other_deg: ArrayLike) -> float:
    """Compute Kuiper's distance of two samples of angles.

    Parameters
    ----------
    one_deg, other_deg : array_like, (n,), (m,)
        Angles in degrees, wrapped to one turn.

    Returns
    -------
    float
        In [0, 1], NaN where a sample is empty.

    Examples
    --------
    >>> kuiper([350, 10], [350, 370])
    0.0
    """
    _, difference = _cdf_difference(_wrapped(one_deg), _wrapped(other_deg))
    if not len(difference):
        return float("nan")
    return float(max(difference.max(), 0.0) + max(-difference.min(), 0.0))


def wasserstein(one: ArrayLike, other: ArrayLike) -> float:
    """Compute the first Wasserstein distance of two samples.

    Parameters
    ----------
    one, other : array_like, (n,), (m,)
        Samples.

    Returns
    -------
    float
        In the samples' unit, NaN where a sample is empty.

    Examples
    --------
    >>> wasserstein([0, 1], [5, 6])
    5.0
    """
    values, difference = _cdf_difference(validate(one), validate(other))
    if not len(difference):
        return float("nan")
    return float(np.abs(difference[:-1]) @ np.diff(values))


def circular_wasserstein(one_deg: ArrayLike, other_deg: ArrayLike) -> float:
    """Compute the first Wasserstein distance of two samples of angles, along the circle.

    Parameters
    ----------
    one_deg, other_deg : array_like, (n,), (m,)
        Angles in degrees, wrapped to one turn.

    Returns
    -------
    float
        In degrees, NaN where a sample is empty.

    Examples
    --------
    >>> circular_wasserstein([350], [10])
    20.0
    """
    values, difference = _cdf_difference(_wrapped(one_deg), _wrapped(other_deg))
    if not len(difference):
        return float("nan")
    widths = np.diff(np.append(values, values[0] + FULL_TURN_DEG))
    return float(np.abs(difference - _weighted_median(difference, widths)) @ widths)


def validate(sample: ArrayLike) -> Floats:
    """Return a flat float sample; NaN and infinity are errors, since they would silently change a distance."""
    values = np.asarray(sample, dtype=np.float64).ravel()
    if not np.isfinite(values).all():
        raise InputError(f"a sample holds {int((~np.isfinite(values)).sum())} NaN or infinite values of {len(values)}")
    return values


def _wrapped(angles_deg: ArrayLike) -> Floats:
    return validate(angles_deg) % FULL_TURN_DEG


def _cdf_difference(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Sorted distinct values of both samples, and F − G from each of them to the next."""
    if not (len(one) and len(other)):
        return np.empty(0), np.empty(0)
    values = np.unique(np.concatenate([one, other]))
    f = np.searchsorted(np.sort(one), values, side="right") / len(one)
    g = np.searchsorted(np.sort(other), values, side="right") / len(other)
    return values, f - g


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])
