"""I-VT: a fixation is a stretch in which the eye moves slower than a threshold.

Source: Salvucci and Goldberg (ETRA 2000); the three practical rules (speed over a window, joining neighbours, dropping
short ones) as in Olsen, "The Tobii I-VT fixation filter" (2012). A lost sample is no fixation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stdiffeye.gaze._scale import px_per_degree_of, runs, samples_of
from stdiffeye.gaze.types import Trajectory

# Chosen by `stdiffeye reproduce extractors` on recordings that two experts labelled; joining does not help there.
MAX_SPEED_DEG_S = 30.0
WINDOW_MS = 12.0
MAX_GAP_MS = 75.0
MAX_STEP_DEG = 0.0
MIN_FIXATION_MS = 60.0


def fixation_intervals(
    trajectory: Trajectory,
    px_per_degree: float | None = None,
    max_speed_deg_s: float = MAX_SPEED_DEG_S,
    window_ms: float = WINDOW_MS,
    max_gap_ms: float = MAX_GAP_MS,
    max_step_deg: float = MAX_STEP_DEG,
    min_fixation_ms: float = MIN_FIXATION_MS,
) -> NDArray[np.int64]:
    """Where fixations begin and end by a threshold on speed.

    Parameters
    ----------
    trajectory : Trajectory
    px_per_degree : float, optional
        For frames that do not know it.
    max_speed_deg_s : float
        The threshold.
    window_ms : float
        Speed is measured between the samples half a window before and after.
    max_gap_ms, max_step_deg : float
        Slow stretches this near to each other in time and position are one fixation (0: none).
    min_fixation_ms : float
        What is shorter is dropped.

    Returns
    -------
    array, shape (M, 2)
        First sample of each fixation, and the one after its last.
    """
    scale = px_per_degree_of(trajectory.frame, px_per_degree)
    with np.errstate(invalid="ignore"):
        slow = speed_px_s(trajectory, window_ms) <= max_speed_deg_s * scale
    intervals = runs(slow)
    if max_step_deg > 0:
        intervals = _joined(
            intervals, trajectory.xy_px, samples_of(max_gap_ms, trajectory.rate_hz, at_least=0), max_step_deg * scale
        )
    long_enough = np.diff(intervals, axis=1)[:, 0] >= samples_of(min_fixation_ms, trajectory.rate_hz)
    return intervals[long_enough]


def speed_px_s(trajectory: Trajectory, window_ms: float = WINDOW_MS) -> NDArray[np.float64]:
    """Speed across a window around each sample; the window is shorter at both ends.

    Parameters
    ----------
    trajectory : Trajectory
        T samples.
    window_ms : float
        Length of the window.

    Returns
    -------
    array, shape (T,)
        Pixels per second; NaN where a sample is lost.
    """
    half = samples_of(window_ms / 2, trajectory.rate_hz)
    here = np.arange(len(trajectory))
    before, after = np.maximum(here - half, 0), np.minimum(here + half, len(trajectory) - 1)
    step_px = trajectory.xy_px[after] - trajectory.xy_px[before]
    speed = np.hypot(step_px[:, 0], step_px[:, 1]) * trajectory.rate_hz / np.maximum(after - before, 1)
    speed[trajectory.lost] = np.nan
    return speed


def _joined(
    intervals: NDArray[np.int64], xy_px: NDArray[np.float64], max_gap: int, max_step_px: float
) -> NDArray[np.int64]:
    """Neighbours that are close in time and place, joined from left to right."""
    joined: list[list[int]] = []
    position = np.zeros(2)
    for start, stop in intervals.tolist():
        here = xy_px[start:stop].mean(axis=0)
        if joined and start - joined[-1][1] <= max_gap and np.hypot(*(here - position)) <= max_step_px:
            joined[-1][1] = stop
            position = np.nanmean(xy_px[joined[-1][0] : stop], axis=0)
        else:
            joined.append([start, stop])
            position = here
    return np.array(joined, dtype=np.int64).reshape(-1, 2)
