"""Judd's extractor: a fixation is what lies between two bursts of speed.

Source: the rule `checkFixations` that Judd, Ehinger, Durand and Torralba (ICCV 2009) used on MIT1003, written from its
description: 240 Hz, 34 px per degree, critical change of speed 6 deg/s. Conventions: every sample count is a time
and scales with the rate, every speed scales with the pixels per degree. Lost samples (NaN) start no saccade.

1. a_k = a quarter of (mean speed over the 4 samples from k + 2 − mean speed over the 4 samples up to k).
2. A saccade begins where a exceeds the critical value for ≥ 2 samples and ends with the first run below its negative
   that begins within 25 samples; without one it is no saccade, unless the data end there.
3. Saccades ≤ 12 samples apart are one; so are a last saccade and ≤ 12 samples after it. The first fixation is exempt.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stdiffeye.gaze._scale import px_per_degree_of, runs, samples_of
from stdiffeye.gaze.types import Trajectory

CRITICAL_DEG_S = 6.0
SPEED_CHANGE_SHARE = 0.25
SAMPLE_MS = 1000 / 240
WINDOW_MS = 4 * SAMPLE_MS
GAP_MS = 1 * SAMPLE_MS
MIN_RUN_MS = 2 * SAMPLE_MS
MIN_ABOVE_MS = 3 * SAMPLE_MS
MIN_FIXATION_MS = 12 * SAMPLE_MS
LOOK_AHEAD_MS = 25 * SAMPLE_MS


def fixation_intervals(
    trajectory: Trajectory,
    px_per_degree: float | None = None,
    critical_deg_s: float = CRITICAL_DEG_S,
    min_fixation_ms: float = MIN_FIXATION_MS,
    max_loss_ms: float | None = None,
) -> NDArray[np.int64]:
    """Where fixations begin and end by Judd's rule.

    Parameters
    ----------
    trajectory : Trajectory
    px_per_degree : float, optional
        For frames that do not know it.
    critical_deg_s, min_fixation_ms : float
        Judd's two thresholds.
    max_loss_ms : float, optional
        Losses longer than this (blinks) end a fixation; None, as in Judd's program: none does.

    Returns
    -------
    array, shape (M, 2)
        First sample of each fixation, and the one after its last.
    """
    from stdiffeye.gaze import _kernels

    rate_hz = trajectory.rate_hz
    window, gap = samples_of(WINDOW_MS, rate_hz), samples_of(GAP_MS, rate_hz)
    critical_px_s = critical_deg_s * px_per_degree_of(trajectory.frame, px_per_degree)
    change = _kernels.speed_change(trajectory.xy_px, window, gap, SPEED_CHANGE_SHARE * rate_hz / window)
    saccades = _kernels.judd_saccades(
        change,
        max(len(trajectory) - gap - window, 0),
        critical_px_s,
        samples_of(MIN_RUN_MS, rate_hz),
        samples_of(MIN_ABOVE_MS, rate_hz),
        samples_of(LOOK_AHEAD_MS, rate_hz),
    )
    if max_loss_ms is not None:
        saccades = _with_losses(saccades, trajectory.lost, samples_of(max_loss_ms, rate_hz))
    return _between(saccades, len(trajectory), samples_of(min_fixation_ms, rate_hz))


def _with_losses(saccades: NDArray[np.int64], lost: NDArray[np.bool_], longest: int) -> NDArray[np.int64]:
    """Saccades and losses of more than `longest` samples together, as disjoint (first, last) in order."""
    losses = runs(lost)
    losses = losses[losses[:, 1] - losses[:, 0] > longest]
    moving = np.zeros(len(lost), dtype=bool)
    for start, stop in [*(saccades + np.array([0, 1])), *losses]:
        moving[start:stop] = True
    return runs(moving) - np.array([0, 1])


def _between(saccades: NDArray[np.int64], length: int, min_fixation: int) -> NDArray[np.int64]:
    """What saccades (first, last sample) leave over, as [start, stop); pauses of ≤ `min_fixation` go to the saccade."""
    starts = np.concatenate([[0], saccades[:, 1] + 1])
    stops = np.concatenate([saccades[:, 0], [length]])
    long_enough = stops - starts > min_fixation
    long_enough[0] = stops[0] > 0
    return np.stack([starts, stops], axis=1)[long_enough]
