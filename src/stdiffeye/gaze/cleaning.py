"""From raw samples to a trajectory of constant rate that fits its scanpath.

Conventions: a lost sample is NaN; time is never closed up; gaps up to 75 ms are bridged by straight lines, longer ones
stay lost; resampling is linear in time (1000 to 240 Hz is no whole stride). Nothing is changed in place.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from stdiffeye.arrays import Floats, Ints, Points
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame, as_points
from stdiffeye.gaze.index import anchors
from stdiffeye.gaze.types import Scanpath, Trajectory

MAX_GAP_MS = 75.0
TRIM_RADIUS_PX = 20.0
MAX_POINTS = 1500
MAX_FIXATIONS = 16
ROUNDING_MS = 1e-6


def resample(
    time_ms: ArrayLike, xy_px: ArrayLike, rate_hz: float, frame: Frame, max_gap_ms: float = MAX_GAP_MS
) -> Trajectory:
    """Samples at their own times to a constant rate, linear in time from the first sample to the last.

    Parameters
    ----------
    time_ms : array, shape (N,)
        Strictly rising; steps may vary, and missing rows are gaps like lost samples.
    xy_px : array, shape (N, 2)
        NaN where lost.
    rate_hz : float
        Samples per second that are wanted.
    frame : Frame
        What the pixels are pixels of.
    max_gap_ms : float
        Gaps up to this long are bridged; longer ones are NaN. A gap's length is the time between its neighbours less
        one ordinary step.

    Returns
    -------
    Trajectory

    Raises
    ------
    InputError
        When times do not rise, or when there is not one for each sample.

    Examples
    --------
    >>> resample([0, 10, 20], [[0, 0], [10, 0], [20, 0]], 200, Frame(100, 100)).xy_px[:, 0].tolist()
    [0.0, 5.0, 10.0, 15.0, 20.0]
    """
    time, xy = _timed_samples(time_ms, xy_px)
    if not (np.isfinite(rate_hz) and rate_hz > 0):
        raise InputError(f"the rate to resample to must be a positive number of Hz, got {rate_hz!r}")
    count = int(np.floor((time[-1] - time[0] + ROUNDING_MS) * rate_hz / 1000)) + 1
    wanted = time[0] + np.arange(count) * (1000 / rate_hz)
    seen = ~np.isnan(xy).any(axis=1)
    step_ms = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    return Trajectory(_interpolated(wanted, time[seen], xy[seen], max_gap_ms + step_ms), rate_hz, frame)


def fill_gaps(trajectory: Trajectory, max_gap_ms: float = MAX_GAP_MS) -> Trajectory:
    """Bridge gaps of lost samples by straight lines; longer ones and those at the ends stay.

    Parameters
    ----------
    trajectory : Trajectory
    max_gap_ms : float
        The longest gap that is bridged.

    Returns
    -------
    Trajectory

    Examples
    --------
    >>> gaze = Trajectory([[0, 0], [float("nan")] * 2, [2, 0]], 240, Frame(10, 10))
    >>> fill_gaps(gaze).xy_px[:, 0].tolist()
    [0.0, 1.0, 2.0]
    """
    if not trajectory.lost.any():
        return trajectory
    time, seen = trajectory.time_ms, ~trajectory.lost
    step_ms = 1000 / trajectory.rate_hz
    return replace(trajectory, xy_px=_interpolated(time, time[seen], trajectory.xy_px[seen], max_gap_ms + step_ms))


def fixation_span(xy_px: ArrayLike, scanpath: Scanpath, radius_px: float = TRIM_RADIUS_PX) -> tuple[int, int]:
    """Which samples belong to a scanpath: from the first near its first fixation to the last near its last one.

    Parameters
    ----------
    xy_px : array, shape (N, 2)
        Samples in the scanpath's frame, NaN where lost.
    scanpath : Scanpath
    radius_px : float
        How near a sample must be.

    Returns
    -------
    start, stop : int
        The samples [start, stop).

    Raises
    ------
    InputError
        When no sample is near one of the two, or when the last comes before the first: another trial's gaze.

    Examples
    --------
    >>> fixation_span([[0, 0], [50, 50], [90, 50], [0, 0]], Scanpath([[50, 50], [90, 50]], Frame(100, 100)))
    (1, 3)
    """
    xy = as_points(xy_px)
    start = _near(xy, scanpath, 0, radius_px)[0]
    stop = _near(xy, scanpath, -1, radius_px)[-1] + 1
    if stop <= start:
        raise InputError(
            f"the eye is last within {radius_px:g} px of the last fixation (sample {stop - 1}) before it is first "
            f"there for the first fixation (sample {start}); are scanpath and trajectory of the same trial?"
        )
    return int(start), int(stop)


def truncate(
    trajectory: Trajectory,
    scanpath: Scanpath,
    max_points: int = MAX_POINTS,
    max_fixations: int = MAX_FIXATIONS,
    radius_px: float = TRIM_RADIUS_PX,
) -> tuple[Trajectory, Scanpath]:
    """At most `max_fixations` fixations, the trajectory up to the last of them, and at most `max_points` points.

    The scanpath is cut first. The trajectory then ends with the last sample that is within `radius_px` of the last
    kept fixation before the eye reaches the next one (the fixations' anchors tell when). Where `max_points` cuts more,
    the fixations whose anchors are cut go too, except the first.

    Parameters
    ----------
    trajectory : Trajectory
    scanpath : Scanpath
        Of the same trial, in the same frame.
    max_points, max_fixations : int
        What is kept at most.
    radius_px : float
        How near to a fixation a sample counts as being there.

    Returns
    -------
    trajectory : Trajectory
    scanpath : Scanpath

    Examples
    --------
    >>> frame = Frame(100, 80)
    >>> gaze = Trajectory([[10, 10]] * 60 + [[90, 70]] * 60, 240, frame)
    >>> truncate(gaze, Scanpath([[10, 10], [90, 70]], frame), max_fixations=1)
    (Trajectory(60 samples, 0.25 s at 240 Hz, 100×80 px), Scanpath(1 fixations, no durations, 100×80 px))
    """
    if len(scanpath) > max_fixations:
        anchor = anchors(trajectory, scanpath)
        here, following = int(anchor[max_fixations - 1]), int(anchor[max_fixations])
        away_px = np.hypot(*(trajectory.xy_px[here:following] - scanpath.xy_px[max_fixations - 1]).T)
        near = np.flatnonzero(away_px <= radius_px)
        stop = here + (int(near[-1]) if len(near) else 0) + 1
        trajectory, scanpath = trajectory[:stop], scanpath[:max_fixations]
    if len(trajectory) > max_points:
        kept = int((anchors(trajectory, scanpath) < max_points).sum())
        trajectory, scanpath = trajectory[:max_points], scanpath[: max(kept, 1)]
    return trajectory, scanpath


def _timed_samples(time_ms: ArrayLike, xy_px: ArrayLike) -> tuple[Floats, Floats]:
    time, xy = np.asarray(time_ms, dtype=np.float64), as_points(xy_px)
    if time.ndim != 1 or xy.shape != (len(time), 2):
        raise InputError(f"samples need one time each, got {time.shape} times and {xy.shape} places")
    if len(time) == 0:
        raise InputError("there are no samples to resample")
    if not np.isfinite(time).all():
        raise InputError("sample times must be finite numbers of ms")
    back = np.flatnonzero(np.diff(time) <= 0)
    if len(back):
        at = int(back[0])
        raise InputError(
            f"sample times must rise, but {time[at]:g} ms is followed by {time[at + 1]:g} ms (row {at + 1})"
        )
    return time, xy


def _interpolated(wanted: Floats, time: Floats, xy: Floats, max_step_ms: float) -> Floats:
    """Linear interpolation; NaN outside, and inside steps longer than `max_step_ms` (a little slack for rounding)."""
    result = np.full((len(wanted), 2), np.nan)
    if len(time) == 0:
        return result
    after = np.searchsorted(time, wanted - ROUNDING_MS)
    inside = after < len(time)
    after = np.minimum(after, len(time) - 1)
    on_sample = np.abs(time[after] - wanted) <= ROUNDING_MS
    before = np.maximum(after - 1, 0)
    short = (after > 0) & (time[after] - time[before] <= max_step_ms + ROUNDING_MS)
    mask = inside & (on_sample | short)
    for axis in range(2):
        result[mask, axis] = np.interp(wanted[mask], time, xy[:, axis])
    return result


def _near(xy_px: Points, scanpath: Scanpath, which: int, radius_px: float) -> Ints:
    away_px = np.hypot(*(xy_px - scanpath.xy_px[which]).T)
    near = np.flatnonzero(away_px <= radius_px)
    if len(near) == 0:
        everything_lost = np.isnan(away_px).all()
        nearest = "all samples are lost" if everything_lost else f"the nearest is {np.nanmin(away_px):.0f} px away"
        word = "first" if which == 0 else "last"
        raise InputError(f"no sample within {radius_px:g} px of the {word} fixation; {nearest}")
    return near
