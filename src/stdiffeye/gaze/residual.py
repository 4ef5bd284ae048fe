"""What a recorded trajectory does beyond its scanpath's skeleton, as a signal of even size.

The skeleton (see `lifting`) pins where the eye is and when it moves; what is left is velocity: drift, tremor, tracker
noise, and how a saccade differs from minimum jerk. Divided by a scale known beforehand and put through asinh, it has
about unit variance within fixations as within saccades, so that one noise schedule serves both.

    r = (v − v_L) / s,   s = ν + 0.6 · smoothed |v_L|,   y = asinh(r / 0.6)

ν is the trial's sample-to-sample noise: the median speed within fixations in deg/s. The vigour of a saccade is how fast
it is for its size: ln of its peak velocity over what is usual, which differs from one person to another and, more so,
from one saccade to the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats, Points
from stdiffeye.gaze._scale import px_per_degree_of
from stdiffeye.gaze.lifting import Skeleton, settle, skeleton_of
from stdiffeye.gaze.types import Scanpath, Trajectory

SHARE = 0.6  # of the skeleton's speed that counts as scale, and the point where asinh bends
SMOOTHING_MS = 37.0
SLOWEST_NOISE_DEG_S = 0.05
# The main sequence of DOVES' train split: median ln of peak velocity (deg/s) at these amplitudes.
AMPLITUDE_DEG = (0.5, 0.75, 1.1, 1.6, 2.3, 3.4, 5.0, 7.3, 11.0, 16.0)
USUAL_LOG_PEAK = (4.0, 4.18, 4.45, 4.74, 5.0, 5.25, 5.46, 5.67, 5.87, 6.03)


@dataclass(frozen=True)
class TrajectoryCondition:
    """The condition of the trajectory stage: one row per sample.

    Parameters
    ----------
    skeleton : Skeleton
        The scanpath, lifted without drift and noise.
    velocity_deg_s : array, shape (T, 2)
        Velocity of the skeleton.
    scale_deg_s : array, shape (T,)
        s, by which the residual is divided.
    noise_deg_s : float
        ν, the tracker's noise.
    vigour : array, shape (T,)
        That of the saccade that is under way; 0 within fixations.
    phase : array, shape (T,)
        Fractional part of the fixation index: 0 in the middle of a fixation, ½ halfway to the next.
    """

    skeleton: Skeleton
    velocity_deg_s: Floats
    scale_deg_s: Floats
    noise_deg_s: float
    vigour: Floats
    phase: Floats

    def __len__(self) -> int:
        return len(self.scale_deg_s)


def trajectory_condition(
    scanpath: Scanpath,
    rate_hz: float,
    noise_deg_s: float,
    px_per_degree: float | None = None,
    vigour: Floats | None = None,
) -> TrajectoryCondition:
    """What the trajectory stage is given: the skeleton of a scanpath, for a tracker of some noise.

    Parameters
    ----------
    scanpath : Scanpath
        M fixations with durations and onsets.
    rate_hz : float
        Samples per second.
    noise_deg_s : float
        ν, the tracker's noise from sample to sample.
    px_per_degree : float, optional
        Pixels per degree, where the frame does not say them.
    vigour : array, shape (M − 1,), optional
        One number per saccade; by default 0, the usual. Saccades too small to measure have none.

    Returns
    -------
    TrajectoryCondition
        Skeleton, velocity, scale, noise, vigour and phase of each sample.
    """
    from scipy.ndimage import maximum_filter1d, uniform_filter1d  # late: scipy is a tenth of the time to load a model

    skeleton = skeleton_of(scanpath, rate_hz, px_per_degree)
    velocity = _velocity(skeleton.xy_px, rate_hz) / px_per_degree_of(scanpath.frame, px_per_degree)
    width = 2 * round(SMOOTHING_MS / 1000 * rate_hz / 2) + 1
    speed = uniform_filter1d(maximum_filter1d(np.hypot(*velocity.T), width), width)
    noise = max(noise_deg_s, SLOWEST_NOISE_DEG_S)
    clear = amplitudes_deg(scanpath, px_per_degree) >= AMPLITUDE_DEG[0]
    wanted, now = np.where(clear, 0.0 if vigour is None else vigour, 0.0), np.zeros(len(skeleton))
    for (start, stop), own in zip(skeleton.saccades, wanted, strict=True):
        now[start:stop] = own
    return TrajectoryCondition(skeleton, velocity, noise + SHARE * speed, noise, now, _phase(skeleton))


def residual(
    trajectory: Trajectory, scanpath: Scanpath, px_per_degree: float | None = None
) -> tuple[Floats, TrajectoryCondition]:
    """What a recording has beyond its skeleton, from the first fixation's start to the last one's end.

    Parameters
    ----------
    trajectory : Trajectory
        The samples.
    scanpath : Scanpath
        Its fixations, extracted from this trajectory, so that onsets count from the first sample.
    px_per_degree : float, optional
        Pixels per degree, where the frame does not say them.

    Returns
    -------
    tuple
        y (T, 2), NaN where lost; and the `TrajectoryCondition` that it was computed by.
    """
    assert scanpath.onset_ms is not None
    rate, first = trajectory.rate_hz, round(scanpath.onset_ms[0] * trajectory.rate_hz / 1000)
    skeleton = skeleton_of(scanpath, rate, px_per_degree)
    xy = trajectory.xy_px[first : first + len(skeleton)]
    if len(xy) < len(skeleton):  # rounding may let the last fixation end one sample after the recording
        xy = np.concatenate([xy, np.full((len(skeleton) - len(xy), 2), np.nan)])
    velocity = _velocity(xy, rate) / px_per_degree_of(trajectory.frame, px_per_degree)
    noise_deg_s = fixation_noise_deg_s(velocity, skeleton.in_fixation)
    vigour = saccade_vigour(velocity, skeleton.saccades, amplitudes_deg(scanpath, px_per_degree))
    guided = trajectory_condition(scanpath, rate, noise_deg_s, px_per_degree, vigour)
    r = (velocity - guided.velocity_deg_s) / guided.scale_deg_s[:, None]
    return np.arcsinh(r / SHARE), guided


def trajectory_of(
    y: Floats, guided: TrajectoryCondition, scanpath: Scanpath, px_per_degree: float | None = None
) -> Trajectory:
    """The inverse of `residual`: a trajectory whose fixations are the scanpath's.

    Parameters
    ----------
    y : array, shape (T, 2)
        The residual.
    guided : TrajectoryCondition
        Skeleton and scales of the scanpath.
    scanpath : Scanpath
        The fixations.
    px_per_degree : float, optional
        Pixels per degree, where the frame does not say them.

    Returns
    -------
    Trajectory
        Marked as synthesised.
    """
    skeleton = guided.skeleton
    velocity = guided.velocity_deg_s + guided.scale_deg_s[:, None] * SHARE * np.sinh(y)
    step_px = velocity * (px_per_degree_of(scanpath.frame, px_per_degree) / skeleton.rate_hz)
    xy_px = skeleton.xy_px[0] + np.cumsum(step_px, axis=0)
    return Trajectory(settle(xy_px, skeleton, scanpath.xy_px), skeleton.rate_hz, scanpath.frame, synthesised=True)


def fixation_noise_deg_s(velocity_deg_s: Floats, in_fixation: NDArray[np.bool_]) -> float:
    """ν: the median speed within fixations.

    Parameters
    ----------
    velocity_deg_s : array, shape (T, 2)
        Velocity, NaN where lost.
    in_fixation : array of bool, shape (T,)
        Which samples lie in fixations.

    Returns
    -------
    float
        Degrees per second.
    """
    return float(np.nanmedian(np.hypot(*velocity_deg_s[in_fixation].T)))


def amplitudes_deg(scanpath: Scanpath, px_per_degree: float | None = None) -> Floats:
    """Amplitude of each saccade.

    Parameters
    ----------
    scanpath : Scanpath
        M fixations.
    px_per_degree : float, optional
        Pixels per degree, where the frame does not say them.

    Returns
    -------
    array, shape (M − 1,)
        Degrees from each fixation to the next.
    """
    return np.hypot(*np.diff(scanpath.xy_px, axis=0).T) / px_per_degree_of(scanpath.frame, px_per_degree)


def saccade_vigour(velocity_deg_s: Floats, saccades: NDArray[np.int64], amplitude_deg: Floats) -> Floats:
    """How much faster each saccade is than usual for its amplitude.

    Parameters
    ----------
    velocity_deg_s : array, shape (T, 2)
        Velocity, NaN where lost.
    saccades : array, shape (M − 1, 2)
        Samples [start, stop) of each saccade.
    amplitude_deg : array, shape (M − 1,)
        Their amplitudes.

    Returns
    -------
    array, shape (M − 1,)
        ln of peak velocity over the usual one; 0 where it is lost.
    """
    speed = np.hypot(*((velocity_deg_s[1:] + velocity_deg_s[:-1]) / 2).T)
    peak = np.array([np.nan_to_num(speed[max(start - 1, 0) : stop + 1]).max(initial=0.0) for start, stop in saccades])
    usual = np.interp(np.log(np.maximum(amplitude_deg, AMPLITUDE_DEG[0])), np.log(AMPLITUDE_DEG), USUAL_LOG_PEAK)
    return np.where(peak > 0, np.log(np.maximum(peak, 1e-9)) - usual, 0.0)


def _velocity(xy: Points, rate_hz: float) -> Floats:
    """(T, 2) per second, from the sample before; zero at the first."""
    return np.diff(xy, axis=0, prepend=xy[:1]) * rate_hz


def _phase(skeleton: Skeleton) -> Floats:
    middle = skeleton.fixations.mean(axis=1)
    index = np.interp(np.arange(len(skeleton)), middle, np.arange(len(middle)))
    return index - np.floor(index)
