"""How eyes move between and within fixations: main sequence, overshoot, course of a saccade, drift, tracker noise.

The constants come from DOVES and Lund2013 by the command `stdiffeye reproduce lifting-constants`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LiftConstants:
    """What the eye and the tracker do between and within fixations; from `stdiffeye reproduce lifting-constants`."""

    saccade_base_ms: float = 16.3
    """Duration of a vanishing saccade."""
    saccade_ms_per_deg: float = 2.76
    """How much longer each degree of amplitude takes."""
    shoulder_ms: float = 21.6
    """How much longer than the movement an extractor's interval between two fixations is."""
    shoulder_share_before: float = 0.5
    """The share of it that lies before the movement."""
    drift_deg2_s: float = 0.0061
    """Diffusion constant of the slow drift within a fixation, per axis half the variance gained per second."""
    drift_persistence_ms: float = 18.5
    """How long drift keeps its velocity."""
    noise_deg: float = 0.0045
    """Standard deviation of the tracker's noise, per axis and sample."""
    overshoot_deg: float = 0.594
    """By how much a vanishing saccade overshoots its goal before it comes back."""
    overshoot_deg_per_deg: float = 0.774
    """How much less it is with each degree of amplitude; none below zero."""


CONSTANTS = LiftConstants()


def saccade_duration_ms(
    amplitude_deg: NDArray[np.float64], constants: LiftConstants = CONSTANTS
) -> NDArray[np.float64]:
    """Main sequence: how long a saccade lasts.

    Parameters
    ----------
    amplitude_deg : array
        Amplitude of each saccade.
    constants : LiftConstants
        Slope and intercept of the main sequence.

    Returns
    -------
    array
        Milliseconds, in the shape of the amplitudes.
    """
    return constants.saccade_base_ms + constants.saccade_ms_per_deg * np.asarray(amplitude_deg)


def overshoot_deg(amplitude_deg: NDArray[np.float64], constants: LiftConstants = CONSTANTS) -> NDArray[np.float64]:
    """How far small saccades go beyond their goal.

    Parameters
    ----------
    amplitude_deg : array
        Amplitude of each saccade.
    constants : LiftConstants
        Overshoot at amplitude 0, and its slope.

    Returns
    -------
    array
        Degrees, in the shape of the amplitudes; 0 for large ones.
    """
    return np.maximum(constants.overshoot_deg - constants.overshoot_deg_per_deg * np.asarray(amplitude_deg), 0)


def minimum_jerk(time: NDArray[np.float64]) -> NDArray[np.float64]:
    """The smoothest course from 0 to 1 over unit time (Flash and Hogan 1985): 10 τ³ − 15 τ⁴ + 6 τ⁵.

    Parameters
    ----------
    time : array
        Time as a share of the movement; clipped to [0, 1].

    Returns
    -------
    array
        Share of the way, 0 to 1.
    """
    tau = np.clip(time, 0, 1)
    return tau**3 * (10 + tau * (6 * tau - 15))


def wander_deg(
    length: int, rate_hz: float, rng: np.random.Generator, constants: LiftConstants = CONSTANTS
) -> NDArray[np.float64]:
    """Sample drift and tracker noise: a walk whose velocity persists for a while, and white noise on top.

    Parameters
    ----------
    length : int
        Number of samples T.
    rate_hz : float
        Samples per second.
    rng : Generator
        Source of randomness.
    constants : LiftConstants
        Sizes of drift and noise.

    Returns
    -------
    array, shape (T, 2)
        Offsets in degrees.
    """
    from stdiffeye.gaze import _kernels

    persistence_s = constants.drift_persistence_ms / 1000
    speed_deg_s = np.sqrt(constants.drift_deg2_s / persistence_s)
    velocity = speed_deg_s * _kernels.persistent(rng.normal(size=(length, 2)), np.exp(-1 / (rate_hz * persistence_s)))
    return np.cumsum(velocity, axis=0) / rate_hz + rng.normal(0, constants.noise_deg, (length, 2))
