"""Microsaccades by Engbert and Kliegl's rule: what is fast for this trial, in both eyes where there are two.

Sources: Engbert and Kliegl, Vision Res. 43 (2003); Engbert and Mergenthaler, PNAS 103 (2006); the median deviation as
in Engbert, Sinn, Mergenthaler and Trukenbrod (2015).

Conventions: velocity is taken over five samples, v(n) = (x(n+2) + x(n+1) − x(n−1) − x(n−2)) / 6Δt. A sample is fast
where (vx / ηx)² + (vy / ηy)² > 1. There η = λ √median((v − median v)²) of this trial, with λ = 6. A microsaccade is a
run of fast samples of at least 6 ms with an amplitude up to 1.5 degrees. With two eyes it must overlap in time with
one of the other eye; it then lasts from the first onset to the last end. Lost samples are never fast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats, Ints, Points
from stdiffeye.gaze._scale import runs, samples_of

LAMBDA = 6.0
MIN_DURATION_MS = 6.0
MAX_AMPLITUDE_DEG = 1.5
SMALLEST_THRESHOLD = 1e-10


def velocity(xy: Points, rate_hz: float) -> Floats:
    """Velocity over five samples.

    Parameters
    ----------
    xy : array, shape (N, 2)
        Positions in any unit, NaN where lost.
    rate_hz : float
        Samples per second.

    Returns
    -------
    array, shape (N, 2)
        Units per second; NaN within two samples of an end or of a lost sample.
    """
    result = np.full(xy.shape, np.nan)
    if len(xy) >= 5:
        result[2:-2] = (xy[4:] + xy[3:-1] - xy[1:-3] - xy[:-4]) * (rate_hz / 6)
    return result


def fast_intervals(
    xy: Points, rate_hz: float, factor: float = LAMBDA, min_duration_ms: float = MIN_DURATION_MS
) -> Ints:
    """Runs of samples that are fast for this stretch of one eye's gaze.

    Parameters
    ----------
    xy : array, shape (N, 2)
        Position in any unit, NaN where lost.
    rate_hz : float
        Samples per second.
    factor : float
        λ, the threshold in median deviations.
    min_duration_ms : float
        Shorter runs are left out.

    Returns
    -------
    array, shape (M, 2)
        First sample of each run, and the one after its last.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> gaze = rng.normal(0, 0.01, (500, 2))
    >>> gaze[250:] += 0.6
    >>> fast_intervals(gaze, 500).tolist()
    [[248, 252]]
    """
    speed = velocity(xy, rate_hz)
    if not np.isfinite(speed).any():
        return np.zeros((0, 2), np.int64)
    threshold = np.maximum(factor * np.sqrt(_velocity_std(speed)), SMALLEST_THRESHOLD)
    with np.errstate(invalid="ignore"):
        fast = ((speed / threshold) ** 2).sum(axis=1) > 1
    found = runs(fast)
    return found[np.diff(found, axis=1)[:, 0] >= samples_of(min_duration_ms, rate_hz)]


def microsaccades(
    eyes: list[Points], rate_hz: float, px_per_degree: float, max_amplitude_deg: float = MAX_AMPLITUDE_DEG
) -> Ints:
    """Microsaccades of one eye, or those that both eyes make together.

    Parameters
    ----------
    eyes : list of one or two arrays, shape (N, 2)
        Position in px, NaN where lost, of the same times.
    rate_hz, px_per_degree : float
        Samples per second, and the scale.
    max_amplitude_deg : float
        What is larger is a saccade.

    Returns
    -------
    array, shape (M, 2)
        First sample of each microsaccade, and the one after its last.
    """
    found = [fast_intervals(xy, rate_hz) for xy in eyes]
    together = found[0] if len(found) == 1 else _overlapping(*found)
    small = [
        max(amplitude_px(xy[start:stop]) for xy in eyes) <= max_amplitude_deg * px_per_degree
        for start, stop in together
    ]
    return together[np.array(small, dtype=bool)]


def amplitude_px(xy: Points) -> float:
    """Diagonal of the box around a stretch of gaze, which a small overshoot does not hide.

    Parameters
    ----------
    xy : array, shape (N, 2)
        Positions, NaN where lost.

    Returns
    -------
    float
        Length of the diagonal, in the unit of `xy`.
    """
    return float(np.hypot(*(np.nanmax(xy, axis=0) - np.nanmin(xy, axis=0))))


def _velocity_std(speed: Floats) -> Floats:
    middle = np.nanmedian(speed, axis=0)
    return np.asarray(np.nanmedian((speed - middle) ** 2, axis=0))


def _overlapping(one: Ints, other: Ints) -> Ints:
    """What both eyes do at once: groups of runs that overlap, with at least one of each eye."""
    marked = sorted([(start, stop, 0) for start, stop in one.tolist()] + [(a, b, 1) for a, b in other.tolist()])
    groups: list[tuple[int, int, set[int]]] = []
    for start, stop, eye in marked:
        if groups and start < groups[-1][1]:
            first, last, seen = groups[-1]
            groups[-1] = (first, max(last, stop), seen | {eye})
        else:
            groups.append((start, stop, {eye}))
    both = [(start, stop) for start, stop, seen in groups if len(seen) == 2]
    return np.array(both, dtype=np.int64).reshape(-1, 2)


def inside(intervals: Ints, outer: NDArray[np.bool_]) -> Ints:
    """Keep the intervals all of whose samples are marked.

    Parameters
    ----------
    intervals : array, shape (K, 2)
        Samples [start, stop).
    outer : array of bool, shape (N,)
        The marks.

    Returns
    -------
    array, shape (k, 2)
        Those that are kept, in order.
    """
    kept = np.array([bool(outer[start:stop].all()) for start, stop in intervals], dtype=bool)
    return intervals[kept]
