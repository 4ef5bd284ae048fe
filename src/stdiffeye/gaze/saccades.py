"""Saccades and post-saccadic oscillations by thresholds that adapt to the noise of the recording.

After Nyström and Holmqvist, Behav. Res. Methods 42 (2010), with two changes that agree better with experts: noise is
the median and the median deviation of speed, not mean and SD, and a saccade ends where its speed crosses a threshold.

Conventions: speed by a Savitzky–Golay filter of order 2 over 12 ms. Noise is that of the speeds below the peak
threshold, which is iterated until it settles. Thresholds are median + k · 1.4826 · median deviation: k = 16 for the
peak of a saccade, 10 for its edges, 4 and 2 for the peak and the end of an oscillation. No noise makes the peak
threshold larger than 100 deg/s. An oscillation begins at the saccade's end, and is there where the speed rises to a
peak once more within the next 40 ms: a saccade that only slows down has none. It ends where the last such peak does.
Stretches with lost samples are no saccades. The factors were chosen on half of the recordings that experts labelled;
`stdiffeye reproduce extractors` scores the other half.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import savgol_filter

from stdiffeye.arrays import Floats, Ints, Points
from stdiffeye.gaze._scale import runs, samples_of

FILTER_MS, ORDER = 12.0, 2
# The last two hold where there is no noise to rise above.
FIRST_THRESHOLD_DEG_S, LEAST_PEAK_DEG_S, LEAST_EDGE_DEG_S = 100.0, 25.0, 10.0
MAD_TO_SD = 1.4826
SETTLED_DEG_S, MOST_ROUNDS = 1.0, 50
OSCILLATION_MS = 40.0
MIN_SACCADE_MS, MAX_SACCADE_MS = 10.0, 150.0
FASTEST_DEG_S = 1000.0


@dataclass(frozen=True)
class SaccadeFactors:
    """Thresholds on speed, in robust standard deviations above its median."""

    peak: float = 16.0
    """A saccade is faster somewhere."""
    edge: float = 10.0
    """It begins and ends here."""
    oscillation_peak: float = 4.0
    """The speed of an oscillation rises above this once more."""
    oscillation_end: float = 2.0
    """Its last peak ends here."""


@dataclass(frozen=True)
class SaccadesFound:
    """Where saccades and the oscillations after them begin and end, in samples [start, stop).

    Attributes
    ----------
    saccades : array, shape (M, 2)
    oscillations : array, shape (K, 2)
    speed_deg_s : array, shape (N,)
        The speed that they were found by, NaN near lost samples.
    """

    saccades: Ints
    oscillations: Ints
    speed_deg_s: Floats


DEFAULT_FACTORS = SaccadeFactors()


def find_saccades(
    xy_px: Points, rate_hz: float, px_per_degree: float, factors: SaccadeFactors = DEFAULT_FACTORS
) -> SaccadesFound:
    """The saccades of one eye's gaze, and the oscillations that follow some of them.

    Parameters
    ----------
    xy_px : array, shape (N, 2)
        Position, NaN where lost.
    rate_hz, px_per_degree : float
        Samples per second, and the scale.
    factors : SaccadeFactors
        Thresholds.

    Returns
    -------
    SaccadesFound

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath
    >>> from stdiffeye.gaze.lifting import lift
    >>> path = Scanpath([[200, 200], [600, 400], [300, 500]], Frame(1024, 768, 34), [300, 300, 300])
    >>> gaze = lift(path, 1000, np.random.default_rng(0))
    >>> len(find_saccades(gaze.xy_px, 1000, 34).saccades)
    2
    """
    speed = filtered_speed(xy_px / px_per_degree, rate_hz)
    middle, std = _noise(speed, factors.peak)
    edge = max(middle + factors.edge * std, LEAST_EDGE_DEG_S)
    peak_and_end = (middle + factors.oscillation_peak * std, middle + factors.oscillation_end * std)
    saccades: list[tuple[int, int]] = []
    oscillations: list[tuple[int, int]] = []
    with np.errstate(invalid="ignore"):
        peaks = runs(speed > max(middle + factors.peak * std, LEAST_PEAK_DEG_S))
        stretches = runs(speed > edge)
    taken = 0
    for start, stop in stretches.tolist():
        holds_peak = ((peaks[:, 0] >= start) & (peaks[:, 1] <= stop)).any()
        if start < taken or not holds_peak or not _plausible(speed, start, stop, rate_hz):
            continue
        saccades.append((start, stop))
        after = _oscillation(speed, stop, peak_and_end, rate_hz)
        if after > stop:
            oscillations.append((stop, after))
        taken = after
    return SaccadesFound(_array(saccades), _array(oscillations), speed)


def filtered_speed(xy: Points, rate_hz: float) -> Floats:
    """Speed by a Savitzky–Golay filter.

    Parameters
    ----------
    xy : array, shape (N, 2)
        Positions in any unit, NaN where lost.
    rate_hz : float
        Samples per second.

    Returns
    -------
    array, shape (N,)
        Units per second; NaN where the filter's window holds a lost sample.
    """
    width = max(2 * round(FILTER_MS / 1000 * rate_hz / 2) + 1, ORDER + 3)
    if len(xy) < width:
        return np.full(len(xy), np.nan)
    lost = np.asarray(np.isnan(xy).any(axis=1))
    whole = np.where(lost[:, None], 0.0, xy)
    slope = savgol_filter(whole, width, ORDER, deriv=1, delta=1 / rate_hz, axis=0, mode="interp")
    speed = np.hypot(slope[:, 0], slope[:, 1])
    speed[np.convolve(lost, np.ones(width), mode="same") > 0] = np.nan
    return np.asarray(speed)


def _noise(speed: Floats, factor: float) -> tuple[float, float]:
    """Median and robust SD of the speeds below the peak threshold that follows from them."""
    known = speed[np.isfinite(speed)]
    threshold, middle, std = FIRST_THRESHOLD_DEG_S, 0.0, 0.0
    for _ in range(MOST_ROUNDS):
        below = known[known < threshold]
        if len(below) == 0:
            break
        middle = float(np.median(below))
        std = MAD_TO_SD * float(np.median(np.abs(below - middle)))
        before, threshold = threshold, max(middle + factor * std, LEAST_PEAK_DEG_S)
        if abs(threshold - before) < SETTLED_DEG_S:
            break
    # A tracker may be as noisy as that, but an eye is not.
    return middle, min(std, max(FIRST_THRESHOLD_DEG_S - middle, 0.0) / factor)


def _plausible(speed: Floats, start: int, stop: int, rate_hz: float) -> bool:
    """Whether an eye moves so, and whether both ends were seen."""
    duration_ms = (stop - start) * 1000 / rate_hz
    edges_seen = start > 0 and stop < len(speed) and bool(np.isfinite(speed[[start - 1, stop]]).all())
    fastest = float(speed[start:stop].max())
    return edges_seen and MIN_SACCADE_MS <= duration_ms <= MAX_SACCADE_MS and fastest <= FASTEST_DEG_S


def _oscillation(speed: Floats, start: int, peak_and_end: tuple[float, float], rate_hz: float) -> int:
    """Where the oscillation that begins at a saccade's end stops; `start` where there is none."""
    window = speed[start : start + samples_of(OSCILLATION_MS, rate_hz)]
    if len(window) < 3 or not np.isfinite(window).all():
        return start
    peak, end = peak_and_end
    inner = window[1:-1]
    rises = np.flatnonzero((inner >= window[:-2]) & (inner > window[2:]) & (inner > peak))
    if len(rises) == 0:
        return start
    last = int(rises[-1]) + 1
    slow = np.flatnonzero(window[last:] <= end)
    return start + (last + int(slow[0]) if len(slow) else len(window))


def _array(intervals: list[tuple[int, int]]) -> Ints:
    return np.array(intervals, dtype=np.int64).reshape(-1, 2)
