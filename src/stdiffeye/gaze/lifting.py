"""From a scanpath to a trajectory that could have made it: `lift`, and its still form, `skeleton`.

A lifted trajectory is synthesised: each fixation is held for its duration with slow drift and tracker noise, and
consecutive fixations are joined by saccades of main-sequence duration with a minimum-jerk course. It never replaces a
recording, and says so (`Trajectory.synthesised`).

The constants come from DOVES and Lund2013 by the command `stdiffeye reproduce lifting-constants`; docs/lifting.md
shows the fits and how well extraction gives the scanpath back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Points
from stdiffeye.errors import InputError
from stdiffeye.gaze._scale import px_per_degree_of
from stdiffeye.gaze.extraction import fixation_intervals
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.oculomotor import (
    CONSTANTS,
    LiftConstants,
    minimum_jerk,
    overshoot_deg,
    saccade_duration_ms,
    wander_deg,
)
from stdiffeye.gaze.types import Scanpath, Trajectory

SHORTEST_MS = SMALLEST_DEG = 1e-9  # keep a saccade of no duration or path from dividing by zero


ATTEMPTS = 8  # to sample drift and noise under which every fixation can be found
LONGEST_SHOULDER_MS = 50.0  # of 96 % of the intervals between fixations of DOVES; beyond it, the eye rests


@dataclass(frozen=True)
class Skeleton:
    """A lifted scanpath without drift and noise.

    Parameters
    ----------
    xy_px : array, shape (T, 2)
        Position.
    rate_hz, frame
        As of a trajectory.
    fixation : array of int, shape (T,)
        Number of the fixation that is held or, within a saccade, was left last; from 0.
    in_fixation : array of bool, shape (T,)
        False within saccades.
    saccades : array of int, shape (M − 1, 2)
        [start, stop) of the intervals between fixations, in samples.
    """

    xy_px: Points
    rate_hz: float
    frame: Frame
    fixation: NDArray[np.int64]
    in_fixation: NDArray[np.bool_]
    saccades: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.xy_px)

    @property
    def fixations(self) -> NDArray[np.int64]:
        """(M, 2) [start, stop) of the fixations, in samples."""
        edges = np.concatenate([[0], self.saccades.ravel(), [len(self)]])
        return edges.reshape(-1, 2)

    @property
    def trajectory(self) -> Trajectory:
        return Trajectory(self.xy_px, self.rate_hz, self.frame, synthesised=True)


def skeleton_of(
    scanpath: Scanpath,
    rate_hz: float = 240.0,
    px_per_degree: float | None = None,
    constants: LiftConstants = CONSTANTS,
    overshoot: bool = False,
) -> Skeleton:
    """Fixations held, saccades of minimum jerk between them.

    Where the scanpath knows its onsets the true times between fixations are kept, and the movement takes the
    main-sequence share of them; otherwise they are the movement's duration and the shoulders that an extractor sees.

    Parameters
    ----------
    scanpath : Scanpath
        With durations.
    rate_hz : float
        Samples per second.
    px_per_degree : float, optional
        Where the frame does not know it; by default the picture was 30 degrees wide.
    constants : LiftConstants
    overshoot : bool
        Whether the smallest saccades overshoot and come back, as they do in recordings.

    Returns
    -------
    Skeleton

    Raises
    ------
    InputError
        When the scanpath has no durations.

    Examples
    --------
    >>> path = Scanpath([[100, 100], [400, 300]], Frame(800, 600, 24), duration_ms=[250, 300])
    >>> skeleton_of(path).fixations.tolist()
    [[0, 60], [79, 151]]
    """
    scale_px = px_per_degree_of(scanpath.frame, px_per_degree)
    amplitude_deg = np.hypot(*np.diff(scanpath.xy_px, axis=0).T) / scale_px
    beyond_deg = overshoot_deg(amplitude_deg, constants) if overshoot else np.zeros_like(amplitude_deg)
    # Out to the turning point at the main sequence's pace, and back at the same mean speed.
    outward_share = (amplitude_deg + beyond_deg) / np.maximum(amplitude_deg + 2 * beyond_deg, SMALLEST_DEG)
    outward_share = np.where(beyond_deg > 0, outward_share, 1.0)
    movement_ms = saccade_duration_ms(amplitude_deg + beyond_deg, constants) / outward_share
    start_ms, stop_ms = _timeline_ms(scanpath, movement_ms, constants)
    edges = _edges(start_ms, stop_ms, rate_hz)
    time_ms = np.arange(edges[-1]) * (1000 / rate_hz)
    fixation = np.searchsorted(edges[2::2], np.arange(edges[-1]), side="right")
    xy_px = scanpath.xy_px[fixation]
    in_fixation = np.ones(edges[-1], dtype=bool)
    saccades = edges[1:-1].reshape(-1, 2)
    for m, (start, stop) in enumerate(saccades):
        in_fixation[start:stop] = False
        gap_ms = start_ms[m + 1] - stop_ms[m]
        lasts_ms = min(movement_ms[m], gap_ms)
        begins_ms = stop_ms[m] + constants.shoulder_share_before * (gap_ms - lasts_ms)
        tau = (time_ms[start:stop] - begins_ms) / max(lasts_ms, SHORTEST_MS)
        xy_px[start:stop] = _course(
            tau, scanpath.xy_px[m], scanpath.xy_px[m + 1], scale_px * beyond_deg[m], outward_share[m]
        )
    return Skeleton(xy_px, rate_hz, scanpath.frame, fixation, in_fixation, saccades)


def extend_fixations(
    scanpath: Scanpath, px_per_degree: float | None = None, constants: LiftConstants = CONSTANTS
) -> Scanpath:
    """The same, with fixations that last until the eye leaves.

    Files leave out blinks, lost samples and more; what lies between two fixations beyond the time that a saccade takes
    is spent at the first of them.

    Parameters
    ----------
    scanpath : Scanpath
        Fixations; without durations and onsets it is returned as it is.
    px_per_degree : float, optional
        Pixels per degree, where the frame does not say them.
    constants : LiftConstants
        Duration of saccades.

    Returns
    -------
    Scanpath
        The same fixations, some of them longer.
    """
    if scanpath.onset_ms is None or scanpath.duration_ms is None or len(scanpath) < 2:
        return scanpath
    amplitude_deg = np.hypot(*np.diff(scanpath.xy_px, axis=0).T) / px_per_degree_of(scanpath.frame, px_per_degree)
    movement_ms, between_ms = saccade_duration_ms(amplitude_deg, constants), np.diff(scanpath.onset_ms)
    duration_ms, gap_ms = scanpath.duration_ms.copy(), between_ms - scanpath.duration_ms[:-1]
    rests = gap_ms > movement_ms + LONGEST_SHOULDER_MS
    until_leaving_ms = between_ms - movement_ms - constants.shoulder_ms
    duration_ms[:-1] = np.where(rests, until_leaving_ms, duration_ms[:-1])
    return Scanpath(scanpath.xy_px, scanpath.frame, duration_ms, scanpath.onset_ms)


def lift(
    scanpath: Scanpath,
    rate_hz: float = 240.0,
    rng: np.random.Generator | None = None,
    noise: float = 1.0,
    px_per_degree: float | None = None,
    constants: LiftConstants = CONSTANTS,
) -> Trajectory:
    """A synthesised trajectory whose fixations are the scanpath's.

    Drift and noise are sampled again in the rare case that they hide a fixation from Judd's rule: where two fixations
    lie at one place, what the first has drifted may cancel the small saccade between them.

    Parameters
    ----------
    scanpath : Scanpath
        With durations; its onsets, where known, are kept.
    rate_hz : float
        Samples per second.
    rng : numpy.random.Generator, optional
        Source of drift and noise; None gives the skeleton with its overshoots, without either.
    noise : float
        Scale of drift and noise; 1 is human with a good tracker, 0 none.
    px_per_degree : float, optional
        Where the frame does not know it; by default the picture was 30 degrees wide.
    constants : LiftConstants

    Returns
    -------
    Trajectory
        `synthesised` is True.

    Raises
    ------
    InputError
        When the scanpath has no durations.

    Examples
    --------
    >>> path = Scanpath([[100, 100], [400, 300]], Frame(800, 600, 24), duration_ms=[250, 300])
    >>> lift(path, 240, np.random.default_rng(0))
    Trajectory(151 samples, 0.63 s at 240 Hz, 800×600 px, synthesised)
    """
    skeleton = skeleton_of(scanpath, rate_hz, px_per_degree, constants, overshoot=True)
    if rng is None or noise == 0:
        return skeleton.trajectory
    scale_px = noise * px_per_degree_of(scanpath.frame, px_per_degree)

    def noisy() -> Trajectory:
        xy_px = skeleton.xy_px + scale_px * wander_deg(len(skeleton), rate_hz, rng, constants)
        return Trajectory(settle(xy_px, skeleton, scanpath.xy_px), rate_hz, scanpath.frame, synthesised=True)

    def count(trajectory: Trajectory) -> int:
        return len(fixation_intervals(trajectory, px_per_degree=px_per_degree))

    lifted = noisy()
    if count(lifted) == len(scanpath):
        return lifted
    # Fixations that are too short for Judd's rule are not found without noise either.
    findable = count(skeleton.trajectory)
    for _ in range(ATTEMPTS - 1):
        if count(lifted) == findable:
            break
        lifted = min(lifted, noisy(), key=lambda one: abs(count(one) - findable))
    return lifted


def settle(xy_px: Points, skeleton: Skeleton, positions_px: Points) -> Points:
    """Shift each fixation so that its median is its position; the saccade between two takes up the difference.

    The change follows the saccade's own path length, so that it adds speed only where the eye moves.

    Parameters
    ----------
    xy_px : array, shape (T, 2)
        Gaze to shift.
    skeleton : Skeleton
        Its fixations and saccades, in samples.
    positions_px : array, shape (M, 2)
        Where the fixations shall be.

    Returns
    -------
    array, shape (T, 2)
        The shifted gaze.
    """
    shift = np.empty_like(xy_px)
    offsets = []
    for (start, stop), position in zip(skeleton.fixations, positions_px, strict=True):
        offsets.append(position - np.median(xy_px[start:stop], axis=0))
        shift[start:stop] = offsets[-1]
    for m, (start, stop) in enumerate(skeleton.saccades):
        if stop == start:
            continue
        path = np.cumsum(np.hypot(*np.diff(skeleton.xy_px[start - 1 : stop + 1], axis=0).T))
        share = path[:-1] / path[-1] if path[-1] > 0 else np.arange(1, stop - start + 1) / (stop - start + 1)
        shift[start:stop] = offsets[m] + share[:, None] * (offsets[m + 1] - offsets[m])
    return xy_px + shift


def _course(
    tau: NDArray[np.float64], origin_px: Points, goal_px: Points, beyond_px: float, outward_share: float
) -> Points:
    """Positions of one saccade at its own times `tau`: minimum jerk to the goal, or `beyond_px` past it and back."""
    if beyond_px == 0:
        return origin_px + minimum_jerk(tau)[:, None] * (goal_px - origin_px)
    step_px = goal_px - origin_px
    length_px = float(np.hypot(*step_px))
    # Two fixations at the very same place have no direction between them: such a saccade goes sideways and back.
    direction = step_px / length_px if length_px > 0 else np.array([1.0, 0.0])
    turn_px = goal_px + beyond_px * direction
    outward = minimum_jerk(tau / outward_share)[:, None] * (turn_px - origin_px)
    back = minimum_jerk((tau - outward_share) / (1 - outward_share))[:, None] * (goal_px - turn_px)
    return origin_px + outward + back


def _edges(start_ms: NDArray[np.float64], stop_ms: NDArray[np.float64], rate_hz: float) -> NDArray[np.int64]:
    """(2M,) start and stop of every fixation in samples; each has at least one, however short."""
    edges = np.rint(np.stack([start_ms, stop_ms], axis=1) * rate_hz / 1000).astype(np.int64).ravel()
    for m in range(0, len(edges), 2):
        edges[m] = max(edges[m], edges[m - 1]) if m else 0
        edges[m + 1] = max(edges[m + 1], edges[m] + 1)
    return edges


def _timeline_ms(
    scanpath: Scanpath, movement_ms: NDArray[np.float64], constants: LiftConstants
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """When each fixation starts and stops, from the first one's start."""
    if scanpath.duration_ms is None:
        raise InputError(
            f"{scanpath} cannot be lifted without durations: the data set does not give them; "
            "Scanpath(…, duration_ms=…) sets them"
        )
    gap_ms = scanpath.gap_ms
    gap_ms = movement_ms + constants.shoulder_ms if gap_ms is None else np.maximum(gap_ms, 0)
    start_ms = np.concatenate([[0.0], np.cumsum(scanpath.duration_ms[:-1] + gap_ms)])
    return start_ms, start_ms + scanpath.duration_ms
