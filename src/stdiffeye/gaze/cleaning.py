"""From raw samples to a trajectory of steady rate that fits its scanpath.

Conventions: a lost sample is NaN; time is never closed up; gaps up to 75 ms are bridged by straight lines, longer ones
stay lost; resampling is linear in time (1000 to 240 Hz is no whole stride). Nothing is changed in place.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame, as_points
from stdiffeye.gaze.index import anchors
from stdiffeye.gaze.nouns import Scanpath, Trajectory

MAX_GAP_MS = 75.0
TRIM_RADIUS_PX = 20.0
MAX_POINTS = 1500
MAX_FIXATIONS = 16
ROUNDING_MS = 1e-6


def resample(
    time_ms: ArrayLike, xy_px: ArrayLike, rate_hz: float, frame: Frame, max_gap_ms: float = MAX_GAP_MS
) -> Trajectory:
    """Samples at their own times to a steady rate, linear in time from the first sample to the last.

    Parameters
    ----------
    time_ms : (N,) strictly rising; steps may vary, and missing rows are gaps like lost samples.
    xy_px : (N, 2), NaN where lost.
    max_gap_ms : gaps up to this long are bridged; longer ones are NaN. A gap's length is the time between its
        neighbours less one ordinary step.

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
    """Bridge gaps of lost samples up to `max_gap_ms` by straight lines; longer ones and those at the ends stay."""
    if not trajectory.lost.any():
        return trajectory
    time, seen = trajectory.time_ms, ~trajectory.lost
    step_ms = 1000 / trajectory.rate_hz
    return replace(trajectory, xy_px=_interpolated(time, time[seen], trajectory.xy_px[seen], max_gap_ms + step_ms))


def trimmed_range(trajectory: Trajectory, scanpath: Scanpath, radius_px: float = TRIM_RADIUS_PX) -> tuple[int, int]:
    """[start, stop) from the first sample within `radius_px` of the first fixation to the last one of the last."""
    start = _near(trajectory, scanpath, 0, radius_px)[0]
    stop = _near(trajectory, scanpath, -1, radius_px)[-1] + 1
    if stop <= start:
        raise InputError(
            f"the eye is last within {radius_px:g} px of the last fixation (sample {stop - 1}) before it is first "
            f"there for the first fixation (sample {start}); are scanpath and trajectory of the same trial?"
        )
    return int(start), int(stop)


def trim_to_fixations(trajectory: Trajectory, scanpath: Scanpath, radius_px: float = TRIM_RADIUS_PX) -> Trajectory:
    """Cut what lies before the first sample within `radius_px` of the first fixation and after the last of the last."""
    start, stop = trimmed_range(trajectory, scanpath, radius_px)
    return trajectory[start:stop]


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


def _timed_samples(time_ms: ArrayLike, xy_px: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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


def _interpolated(
    wanted: NDArray[np.float64], time: NDArray[np.float64], xy: NDArray[np.float64], max_step_ms: float
) -> NDArray[np.float64]:
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
    known = inside & (on_sample | short)
    for axis in range(2):
        result[known, axis] = np.interp(wanted[known], time, xy[:, axis])
    return result


def _near(trajectory: Trajectory, scanpath: Scanpath, which: int, radius_px: float) -> NDArray[np.int64]:
    away_px = np.hypot(*(trajectory.xy_px - scanpath.xy_px[which]).T)
    near = np.flatnonzero(away_px <= radius_px)
    if len(near) == 0:
        nearest = (
            "all samples are lost" if trajectory.lost.all() else f"the nearest is {np.nanmin(away_px):.0f} px away"
        )
        word = "first" if which == 0 else "last"
        raise InputError(f"no sample within {radius_px:g} px of the {word} fixation; {nearest}")
    return near
