"""The path of the eye around each fixation as a short code, from which samples follow: one row of numbers per fixation.

A scanpath says where and when the eye rests. A row of the code says what it does there and on the way to the next
fixation, each number of about unit variance:

* the level of the tracker's noise: ln of the median speed from sample to sample that the rest of the code leaves;
* settling, an exponential decay of 30 ms along and across the saccade that led here (lens overshoot, glissades);
* drift, cosines of rising frequency over the fixation, in x and y;
* the saccade to the next fixation, sines along and across it: what differs from minimum jerk.

A decoded fixation has its median at the scanpath's position, and Gaussian noise with the spectrum of DOVES.
`stdiffeye reproduce path-code` finds the constants in DOVES' train split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats, Points
from stdiffeye.gaze._scale import px_per_degree_of
from stdiffeye.gaze.lifting import Skeleton, settle, skeleton_of
from stdiffeye.gaze.types import Scanpath, Trajectory

COSINES, ALONG, ACROSS = 4, 8, 4
SETTLING_MS, RIDGE = 30.0, 1e-3
SAMPLES_PER_COSINE = 4  # a shorter fixation has fewer cosines
FEWEST_NOISY = 8  # samples of a fixation whose noise can be measured
SETTLING = slice(1, 3)
DRIFT = slice(3, 3 + 2 * COSINES)
SACCADE = slice(DRIFT.stop, DRIFT.stop + ALONG + ACROSS)
WIDTH = SACCADE.stop
SMALLEST_DEG = 0.3  # added to a saccade's amplitude, so that the smallest have a scale
ACROSS_POWER = 0.6  # how curvature grows with amplitude
USUAL_SAMPLES = 60  # of a fixation; drift grows with the root of its duration
FURTHEST = 5.0  # standard deviations that are decoded
# The smaller a saccade, the more its code varies: its standard deviation at these amplitudes, in DOVES' train split.
AMPLITUDE_DEG, SACCADE_STD = (0.2, 0.45, 0.8, 1.5), (2.05, 1.35, 0.96, 0.95)
SLOWEST_DEG_S = 0.05


@dataclass(frozen=True)
class PathCodeConstants:
    """How large each number is in people's gaze; from `stdiffeye reproduce path-code`."""

    centre: tuple[float, ...] = (
        *(0.1598, 0.0814, 0.0053),
        *(-0.0083, 0.0022, 0.0003, 0.0034, 0.0, 0.0011, 0.0004, 0.001),
        *(0.0514, 0.0067, -0.0276, -0.0336, 0.0273, 0.0176, -0.0103, -0.004),
        *(0.0206, -0.0082, -0.0046, 0.004),
    )
    """Median of each raw number: noise and settling; drift; the saccade along; the saccade across."""
    scale: tuple[float, ...] = (
        *(0.34893, 0.14361, 0.09069),
        *(0.04045, 0.03771, 0.01713, 0.01492, 0.00969, 0.0088, 0.00593, 0.00545),
        *(0.09104, 0.05474, 0.03944, 0.03501, 0.01974, 0.01737, 0.00973, 0.00622),
        *(0.07693, 0.03705, 0.03366, 0.02138),
    )
    """Its robust standard deviation; beyond it the code grows as a logarithm."""
    std: tuple[float, ...] = (
        *(0.865, 1.03, 1.04),
        *(1.005, 1.031, 1.007, 1.062, 0.999, 1.038, 1.005, 1.021),
        *(0.974, 0.901, 1.065, 0.913, 0.976, 0.868, 0.954, 0.984),
        *(0.965, 0.926, 1.045, 0.954),
    )
    """Standard deviation of the asinh that is taken of it."""
    frequency_hz: tuple[float, ...] = (
        *(4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 40.0, 48.0, 56.0),
        *(60.0, 64.0, 72.0, 80.0, 88.0, 96.0, 104.0, 112.0, 120.0),
    )
    """Frequencies at which the spectrum of the noise is known."""
    noise_s: tuple[float, ...] = (
        *(0.014, 0.0142, 0.0112, 0.00903, 0.00754, 0.00606, 0.00619, 0.00535, 0.00428, 0.00365, 0.0027),
        *(0.00502, 0.00225, 0.00231, 0.00182, 0.00131, 0.00102, 0.00102, 0.00107, 0.00113),
    )
    """Root mean square of the noise's cosines (orthonormal, per axis) at these frequencies, for a level of 1 deg/s."""


CONSTANTS = PathCodeConstants()


def encode(trajectory: Trajectory, scanpath: Scanpath, px_per_degree: float | None = None) -> Floats:
    """Code of a recording, one row per fixation and the saccade after it.

    Parameters
    ----------
    trajectory : Trajectory
        The samples.
    scanpath : Scanpath
        Its M fixations, extracted from this trajectory, so that onsets count from the first sample.
    px_per_degree : float, optional
        Pixels per degree, where the frame does not say them.

    Returns
    -------
    array, shape (M, WIDTH)
        NaN where a number is unknown: lost samples, short fixations, the last saccade.
    """
    raw, *_ = raw_code(trajectory, scanpath, px_per_degree)
    return compressed(raw)


def decode(
    code: Floats,
    scanpath: Scanpath,
    rate_hz: float,
    rng: np.random.Generator | None,
    px_per_degree: float | None = None,
    constants: PathCodeConstants = CONSTANTS,
) -> Trajectory:
    """The trajectory of a scanpath and its code.

    Parameters
    ----------
    code : array, shape (M, WIDTH)
        As `encode` returns it; unknown numbers take their usual value.
    scanpath : Scanpath
        M fixations with durations and onsets.
    rate_hz : float
        Samples per second of the result.
    rng : Generator or None
        Source of the noise; without one there is no noise.
    px_per_degree : float, optional
        Pixels per degree, where the frame does not say them.
    constants : PathCodeConstants
        Scales of the code.

    Returns
    -------
    Trajectory
        A synthesised trajectory with these fixations.
    """
    raw, scale_px = expanded(code, constants), px_per_degree_of(scanpath.frame, px_per_degree)
    skeleton = skeleton_of(scanpath, rate_hz, px_per_degree)
    position = scanpath.xy_px / scale_px
    turns = _turns(position)
    xy = np.empty((len(skeleton), 2))
    for m, (start, stop) in enumerate(skeleton.fixations):
        basis = _fixation_basis(stop - start, rate_hz)
        weights = _fixation_weights(raw[m], stop - start, turns[m - 1] if m else None)
        xy[start:stop] = position[m] + basis[:, 1:] @ weights[: basis.shape[1] - 1]
        if rng is not None:
            xy[start:stop] += np.exp(raw[m, 0]) * _noise(basis, rate_hz, rng, constants)
    for m, (start, stop) in enumerate(skeleton.saccades):
        if stop > start:
            basis = _saccade_basis(stop - start)
            weights = _saccade_weights(raw[m], position[m + 1] - position[m])[: basis.shape[1]]
            xy[start:stop] = _straight(skeleton, m, xy, scanpath.xy_px) + basis @ weights @ turns[m].T
    return Trajectory(settle(xy * scale_px, skeleton, scanpath.xy_px), rate_hz, scanpath.frame, synthesised=True)


def raw_code(
    trajectory: Trajectory, scanpath: Scanpath, px_per_degree: float | None = None
) -> tuple[Floats, list[Floats], Skeleton]:
    """The code before it is compressed, and what it leaves out.

    Parameters
    ----------
    trajectory : Trajectory
        The samples.
    scanpath : Scanpath
        Its M fixations, extracted from this trajectory.
    px_per_degree : float, optional
        Pixels per degree, where the frame does not say them.

    Returns
    -------
    tuple
        Code (M, WIDTH) in degrees over the usual scale; the rest of each fixation in degrees; the skeleton.
    """
    assert scanpath.onset_ms is not None
    rate, scale_px = trajectory.rate_hz, px_per_degree_of(scanpath.frame, px_per_degree)
    skeleton = skeleton_of(scanpath, rate, px_per_degree)
    first = round(float(scanpath.onset_ms[0]) * rate / 1000)
    xy = trajectory.xy_px[first : first + len(skeleton)] / scale_px
    if len(xy) < len(skeleton):  # rounding may let the last fixation end one sample after the recording
        xy = np.concatenate([xy, np.repeat(xy[-1:], len(skeleton) - len(xy), axis=0)])
    position, smooth = scanpath.xy_px / scale_px, np.full_like(xy, np.nan)
    turns, raw, left = _turns(position), np.full((len(scanpath), WIDTH), np.nan), []
    for m, (start, stop) in enumerate(skeleton.fixations):
        basis, seen = _fixation_basis(stop - start, rate), xy[start:stop] - position[m]
        weights = _fit(basis, seen)
        smooth[start:stop] = position[m] + basis @ weights
        left.append(seen - basis @ weights)
        raw[m, : SACCADE.start] = _fixation_row(weights[1:], left[-1], rate, turns[m - 1] if m else None)
    for m, (start, stop) in enumerate(skeleton.saccades):
        if stop > start:
            beyond = (xy[start:stop] - _straight(skeleton, m, smooth, scanpath.xy_px)) @ turns[m]
            raw[m, SACCADE] = _saccade_row(_fit(_saccade_basis(stop - start), beyond), position[m + 1] - position[m])
    return raw, left, skeleton


def compressed(raw: Floats, constants: PathCodeConstants = CONSTANTS) -> Floats:
    """Compress a raw code to about unit variance with light tails.

    Parameters
    ----------
    raw : array, shape (M, WIDTH)
        As `raw_code` returns it.
    constants : PathCodeConstants
        Centre and scales of the code.

    Returns
    -------
    array, shape (M, WIDTH)
        The code.
    """
    return np.arcsinh((raw - constants.centre) / constants.scale) / constants.std


def expanded(code: Floats, constants: PathCodeConstants = CONSTANTS) -> Floats:
    """The inverse of `compressed`, within the range of human gaze.

    Parameters
    ----------
    code : array, shape (M, WIDTH)
        The code; NaN stands for the usual value.
    constants : PathCodeConstants
        Centre and scales of the code.

    Returns
    -------
    array, shape (M, WIDTH)
        The raw code.
    """
    shown = np.clip(np.nan_to_num(code), -FURTHEST, FURTHEST)
    return np.sinh(shown * constants.std) * constants.scale + constants.centre


def with_other_saccades(code: Floats, scanpath: Scanpath, which: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """The code with the course of some saccades sampled again, as varied as in people's saccades of their amplitude.

    Parameters
    ----------
    code, scanpath
        As in `decode`.
    which : array of int
        Numbers of the saccades.
    rng : Generator
        Source of the new courses.

    Returns
    -------
    array, shape (M, WIDTH)
        A new code, otherwise the same.
    """
    amplitude_deg = np.hypot(*np.diff(scanpath.xy_px, axis=0).T) / px_per_degree_of(scanpath.frame)
    std, changed = np.interp(amplitude_deg[which], AMPLITUDE_DEG, SACCADE_STD), code.copy()
    changed[which, SACCADE] = std[:, None] * rng.normal(size=(len(which), ALONG + ACROSS))
    return changed


# ---------------------------------------------------------------- bases


def _fixation_basis(samples: int, rate_hz: float) -> Floats:
    """(n, 2 + cosines) a constant, settling, and cosines of rising frequency."""
    t = np.arange(samples) + 0.5
    order = np.arange(1, min(COSINES, samples // SAMPLES_PER_COSINE) + 1)
    decay = np.exp(-t * 1000 / (rate_hz * SETTLING_MS))
    return np.column_stack([np.ones(samples), decay, np.cos(np.pi / samples * np.outer(t, order))])


def _saccade_basis(samples: int) -> Floats:
    """(n, sines) that are zero at both fixations."""
    time = np.arange(1, samples + 1) / (samples + 1)
    return np.sin(np.pi * np.outer(time, np.arange(1, min(ALONG, samples) + 1)))


def _fit(basis: Floats, values: Floats) -> Floats:
    """Least squares, slightly shrunk where columns of the basis are alike; NaN where a value is."""
    gram = basis.T @ basis
    weights: Floats = np.asarray(np.linalg.solve(gram + RIDGE * np.diag(np.diag(gram)), basis.T @ values), np.float64)
    return weights


def _turns(position: Points) -> NDArray[np.float64]:
    """(M − 1, 2, 2) whose columns are the directions along and across each saccade."""
    step = np.diff(position, axis=0)
    length = np.hypot(*step.T)[:, None]
    along = np.where(length > 0, step / np.maximum(length, 1e-12), [1.0, 0.0])
    return np.stack([along, np.stack([-along[:, 1], along[:, 0]], axis=1)], axis=2)


def _straight(skeleton: Skeleton, saccade: int, xy: Floats, position_px: Points) -> Floats:
    """(n, 2) from where one fixation's path ends to where the next one's begins, with the skeleton's course."""
    start, stop = skeleton.saccades[saccade]
    step = position_px[saccade + 1] - position_px[saccade]
    share = (skeleton.xy_px[start:stop] - position_px[saccade]) @ step / max(float(step @ step), 1e-9)
    return xy[start - 1] + share[:, None] * (xy[stop] - xy[start - 1])


# ---------------------------------------------------------------- rows


def _fixation_row(weights: Floats, left: Floats, rate_hz: float, turn: Floats | None) -> Floats:
    """(SACCADE.start,) of a fixation's weights (settling, cosines) and of what they leave (n, 2)."""
    row, samples = np.full(SACCADE.start, np.nan), len(left)
    if samples >= FEWEST_NOISY:
        speed = float(np.median(np.hypot(*np.diff(left, axis=0).T))) * rate_hz
        row[0] = np.log(max(speed, SLOWEST_DEG_S)) if np.isfinite(speed) else np.nan
    if turn is not None:
        row[SETTLING] = weights[0] @ turn
    drift = weights[1:].ravel() / np.sqrt(samples / USUAL_SAMPLES)
    row[DRIFT.start : DRIFT.start + len(drift)] = drift
    return row


def _fixation_weights(row: Floats, samples: int, turn: Floats | None) -> Floats:
    """(1 + COSINES, 2) of a row."""
    settling = np.zeros(2) if turn is None else turn @ row[SETTLING]
    return np.vstack([settling, row[DRIFT].reshape(-1, 2) * np.sqrt(samples / USUAL_SAMPLES)])


def _saccade_scale(step_deg: Floats) -> tuple[float, float]:
    """The usual size of what goes along and across a saccade, in degrees."""
    size = float(np.hypot(*step_deg)) + SMALLEST_DEG
    return size, size**ACROSS_POWER


def _saccade_row(weights: Floats, step_deg: Floats) -> Floats:
    along, across = _saccade_scale(step_deg)
    row = np.full(ALONG + ACROSS, np.nan)
    row[: len(weights)] = weights[:, 0] / along
    row[ALONG : ALONG + len(weights)] = weights[:ACROSS, 1] / across
    return row


def _saccade_weights(row: Floats, step_deg: Floats) -> Floats:
    """(ALONG, 2) of a row."""
    along, across = _saccade_scale(step_deg)
    weights = np.zeros((ALONG, 2))
    weights[:, 0], weights[:ACROSS, 1] = row[SACCADE][:ALONG] * along, row[SACCADE][ALONG:] * across
    return weights


# ---------------------------------------------------------------- noise


def _noise(basis: Floats, rate_hz: float, rng: np.random.Generator, constants: PathCodeConstants) -> Floats:
    """(n, 2) noise of a level of 1 deg/s within a fixation, apart from what its basis says."""
    from scipy.fft import idct  # late: scipy's transforms take a tenth of the time to load a model

    samples = len(basis)
    size = np.interp(noise_frequencies(samples, rate_hz), constants.frequency_hz, constants.noise_s)
    noise = idct(size[:, None] * rng.normal(size=(samples, 2)), axis=0, norm="ortho")
    return noise - basis @ _fit(basis, noise)


def noise_frequencies(samples: int, rate_hz: float) -> Floats:
    """Frequencies of the cosines that `dct` takes a fixation apart into.

    Parameters
    ----------
    samples : int
        Length n of the fixation.
    rate_hz : float
        Samples per second.

    Returns
    -------
    array, shape (n,)
        Hertz, ascending from 0.
    """
    frequency: Floats = np.asarray(np.arange(samples) * (rate_hz / (2 * samples)), np.float64)
    return frequency


def noise_sizes(left: Sequence[Floats], raw: Floats, rate_hz: float, frequency_hz: Sequence[float]) -> Floats:
    """Spectrum of the noise within fixations, for a level of 1 deg/s.

    Parameters
    ----------
    left : sequence of array, shape (n, 2)
        What the code leaves of each fixation, in degrees.
    raw : array, shape (M, WIDTH)
        The raw code, whose first column is the level of the noise.
    rate_hz : float
        Samples per second.
    frequency_hz : sequence of float
        F frequencies to read the spectrum at.

    Returns
    -------
    array, shape (k, F)
        ln of the size, for each fixation that is long enough.
    """
    from scipy.fft import dct

    rows = []
    for one, level in zip(left, raw[:, 0], strict=True):
        if len(one) >= USUAL_SAMPLES / 2 and np.isfinite(level):
            size = np.sqrt((dct(one, axis=0, norm="ortho") ** 2).mean(axis=1))
            usual = np.log(size[1:] + 1e-9) - level
            rows.append(np.interp(frequency_hz, noise_frequencies(len(one), rate_hz)[1:], usual))
    return np.array(rows).reshape(-1, len(frequency_hz))
