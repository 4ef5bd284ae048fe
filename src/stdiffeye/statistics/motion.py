"""Kinematics of raw gaze: fixations, saccades, and the movements within fixations.

Conventions
-----------
* Both sides of a comparison go through the same fixation extractor, whatever scanpath a trial may carry.
* Lengths are in degrees, so every frame must know its pixels per degree.
* Both sides have the same sampling rate, since jitter and peak velocity depend on it.
* Trials without any extracted fixation are left out and counted.

Quantities
----------
* `fixations_per_second` per trial.
* `fixation_duration_ms` per fixation, including those cut at both ends of a trial.
* `saccade_amplitude_deg` per saccade: distance between the two fixations.
* `peak_velocity_deg_s` per saccade: the largest central difference (x[t+1] − x[t−1])/2Δt between the two fixations, one
  sample on either side included. Its relation to amplitude is the main sequence (Bahill, Clark, Stark 1975).
* `jitter_deg_s` per fixation: median speed from sample to sample (tracker noise and drift).
* `power_deg2_hz` over `frequency_hz`: power within fixations, x and y added, over detrended Hann windows of 250 ms. The
  median over windows, since one burst of tracking loss would dominate the mean.
* `saccade_bend` per saccade: the largest distance of gaze between the two fixations from the straight line through
  them, over the amplitude. Of saccades of 1 degree or more, since the tracker's noise bends smaller ones. A saccade is
  *bent* above a quarter. Two saccades that the extractor joins are bent; so is one whose lens overshoots (Purkinje).
* `fixation_extent_deg` per fixation: diagonal of the box around its samples. Gaze *moves* in a fixation above 1 degree.
* `out_of_frame_share` per trial, of the samples that are not lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats, Points
from stdiffeye.errors import InputError
from stdiffeye.gaze import Trajectory, Trial
from stdiffeye.gaze.extraction import fixation_intervals, scanpath_of
from stdiffeye.statistics.distances import ks

Intervals = NDArray[np.int64]

SPECTRUM_WINDOW_MS = 250.0
# The ends of an extracted fixation still hold the saccade's foot; jitter and spectrum leave them out.
FIXATION_EDGE_MS = 20.0
# Below it the amplitude is mostly noise and says little about the peak velocity.
SMALLEST_SACCADE_DEG = 0.5
MAIN_SEQUENCE_BINS = 12
NOISE_BAND_FROM_HZ = 4.0
BENT_FROM_DEG = 1.0
BENT_ABOVE = 0.25
MOVES_ABOVE_DEG = 1.0


@dataclass(frozen=True)
class Kinematics:
    """Result of `kinematics`; definitions at the head of this module.

    Attributes
    ----------
    rate_hz : float
        Sampling rate of all trajectories.
    fixations_per_second, out_of_frame_share : ndarray, (trials,)
        Per trial.
    fixation_duration_ms, fixation_extent_deg, jitter_deg_s : ndarray
        Per fixation; jitter of those that are long enough.
    saccade_amplitude_deg, peak_velocity_deg_s, saccade_bend : ndarray
        Per saccade with samples that are not lost; bend of those that are long enough.
    frequency_hz, power_deg2_hz : ndarray, (F,)
        Spectrum within fixations, NaN where no fixation is long enough.
    trials, left_out : int
        Trials that were measured, and trials that were not.
    """

    rate_hz: float
    fixations_per_second: Floats
    fixation_duration_ms: Floats
    saccade_amplitude_deg: Floats
    peak_velocity_deg_s: Floats
    saccade_bend: Floats
    fixation_extent_deg: Floats
    jitter_deg_s: Floats
    frequency_hz: Floats
    power_deg2_hz: Floats
    out_of_frame_share: Floats
    trials: int
    left_out: int

    @property
    def bent_saccade_share(self) -> float:
        """Share of the saccades that are bent; NaN where none is long enough."""
        return float((self.saccade_bend > BENT_ABOVE).mean()) if len(self.saccade_bend) else math.nan

    @property
    def moving_fixation_share(self) -> float:
        """Share of the fixations in which gaze moves."""
        return float((self.fixation_extent_deg > MOVES_ABOVE_DEG).mean())

    def main_sequence(self, bins: int = MAIN_SEQUENCE_BINS) -> tuple[Floats, Floats]:
        """Return median amplitude (deg) and median peak velocity (deg/s) in bins of equally many saccades."""
        amplitude, velocity = self._clear_saccades()
        order = np.argsort(amplitude)
        groups = [group for group in np.array_split(order, bins) if len(group)]
        return (
            np.array([np.median(amplitude[group]) for group in groups]),
            np.array([np.median(velocity[group]) for group in groups]),
        )

    def distance_to(self, human: Kinematics) -> dict[str, float]:
        """Compute distances to the humans.

        Parameters
        ----------
        human : Kinematics
            Of the humans, at the same sampling rate.

        Returns
        -------
        dict of str to float
            KS distance of each quantity, in [0, 1]; NaN where one side has no values. `main_sequence` is the KS of log
            peak velocity relative to the humans' median at the same amplitude. `jitter_spectrum` is the KS of power
            over frequency. `spectrum_decades` is the largest difference of log10 power from 4 Hz to 0.48 of the rate.
            Those that end in `excess` are differences of shares, ours − the humans'.

        Raises
        ------
        InputError
            When the sampling rates differ.
        """
        if not math.isclose(self.rate_hz, human.rate_hz):
            raise InputError(
                f"gaze at {self.rate_hz:g} Hz cannot be compared with gaze at {human.rate_hz:g} Hz: jitter and peak "
                f"velocity depend on the rate; resample one of them (stdiffeye.gaze.cleaning.resample)"
            )
        return {
            "fixations_per_second": ks(self.fixations_per_second, human.fixations_per_second),
            "fixation_duration": ks(self.fixation_duration_ms, human.fixation_duration_ms),
            "saccade_amplitude": ks(self.saccade_amplitude_deg, human.saccade_amplitude_deg),
            "peak_velocity": ks(self.peak_velocity_deg_s, human.peak_velocity_deg_s),
            "main_sequence": ks(self._relative_velocity(human), human._relative_velocity(human)),
            "jitter": ks(self.jitter_deg_s, human.jitter_deg_s),
            "jitter_spectrum": float(np.abs(_cumulated(self) - _cumulated(human)).max()),
            "out_of_frame": ks(self.out_of_frame_share, human.out_of_frame_share),
            "spectrum_decades": _decades(self, human),
            "out_of_frame_excess": float(self.out_of_frame_share.mean() - human.out_of_frame_share.mean()),
            "bent_saccades_excess": self.bent_saccade_share - human.bent_saccade_share,
            "moving_fixations_excess": self.moving_fixation_share - human.moving_fixation_share,
        }

    def rates(self) -> dict[str, float]:
        """Return the shares of bent saccades and of fixations in which gaze moves."""
        return {"bent saccades": self.bent_saccade_share, "fixations that move": self.moving_fixation_share}

    def to_json(self) -> dict[str, Any]:
        """Return means and quartiles of every quantity, the main sequence and the spectrum; NaN as null."""
        names = (
            "fixations_per_second",
            "fixation_duration_ms",
            "saccade_amplitude_deg",
            "peak_velocity_deg_s",
            "saccade_bend",
            "fixation_extent_deg",
            "jitter_deg_s",
            "out_of_frame_share",
        )
        amplitude, velocity = self.main_sequence()
        return {
            "rate_hz": self.rate_hz,
            "trials": self.trials,
            "left_out": self.left_out,
            **{name: _summary(getattr(self, name)) for name in names},
            "bent_saccade_share": None if math.isnan(self.bent_saccade_share) else self.bent_saccade_share,
            "moving_fixation_share": self.moving_fixation_share,
            "main_sequence": {"amplitude_deg": amplitude.tolist(), "peak_velocity_deg_s": velocity.tolist()},
            "spectrum": {
                "frequency_hz": self.frequency_hz.tolist(),
                "power_deg2_hz": [None if math.isnan(value) else value for value in self.power_deg2_hz.tolist()],
            },
        }

    def _clear_saccades(self) -> tuple[Floats, Floats]:
        clear = (self.saccade_amplitude_deg >= SMALLEST_SACCADE_DEG) & (self.peak_velocity_deg_s > 0)
        return self.saccade_amplitude_deg[clear], self.peak_velocity_deg_s[clear]

    def _relative_velocity(self, human: Kinematics) -> Floats:
        """log(peak velocity / humans' median at this amplitude), interpolated between bins in log–log."""
        amplitude, velocity = self._clear_saccades()
        knots = human.main_sequence()
        if not len(knots[0]):
            return np.empty(0)
        return np.log(velocity) - np.interp(np.log(amplitude), np.log(knots[0]), np.log(knots[1]))


def kinematics(trials: Sequence[Trial], method: str = "judd") -> Kinematics:
    """Measure the kinematics of raw gaze.

    Parameters
    ----------
    trials : sequence of Trial
        Trials without a trajectory are left out and counted.
    method : str
        Fixation extractor, as in `stdiffeye.gaze.extraction.extract`.

    Returns
    -------
    Kinematics
        Quantities pooled over trials.

    Raises
    ------
    InputError
        When no trial has a trajectory or any fixation, rates differ, or a frame does not know its pixels per degree.

    Examples
    --------
    >>> import numpy as np
    >>> from stdiffeye import Frame
    >>> from stdiffeye.gaze import Trajectory
    >>> xy_px = np.repeat([[100.0, 100.0], [200.0, 100.0]], 60, axis=0)
    >>> trial = Trial("a.jpg", "1", trajectory=Trajectory(xy_px, 240, Frame(400, 300, px_per_degree=20)))
    >>> kinematics([trial]).saccade_amplitude_deg
    array([5.])
    """
    raw = [trial.trajectory for trial in trials if trial.trajectory is not None]
    if not raw:
        raise InputError(f"none of the {len(trials)} trials has a trajectory: kinematics need raw gaze")
    rates = {trajectory.rate_hz for trajectory in raw}
    if len(rates) > 1:
        raise InputError(f"trajectories of different rates cannot be pooled: {sorted(rates)} Hz; resample them first")
    measured = [one for one in (_movements(trajectory, method) for trajectory in raw) if one is not None]
    if not measured:
        raise InputError(
            f"no fixation found in any of {len(raw)} trajectories by {method!r}: are they lost or too short?"
        )
    rate_hz = raw[0].rate_hz
    frequency, power = _spectrum(raw, method, rate_hz)

    def pooled(name: str) -> Floats:
        return np.concatenate([one[name] for one in measured])

    return Kinematics(
        rate_hz=rate_hz,
        fixations_per_second=pooled("fixations_per_second"),
        fixation_duration_ms=pooled("fixation_duration_ms"),
        saccade_amplitude_deg=pooled("saccade_amplitude_deg"),
        peak_velocity_deg_s=pooled("peak_velocity_deg_s"),
        saccade_bend=pooled("saccade_bend"),
        fixation_extent_deg=pooled("fixation_extent_deg"),
        jitter_deg_s=pooled("jitter_deg_s"),
        frequency_hz=frequency,
        power_deg2_hz=power,
        out_of_frame_share=pooled("out_of_frame_share"),
        trials=len(measured),
        left_out=len(trials) - len(measured),
    )


def _movements(trajectory: Trajectory, method: str) -> dict[str, Floats] | None:
    intervals = fixation_intervals(trajectory, method)
    if not len(intervals):
        return None
    scanpath = scanpath_of(trajectory, intervals)
    scale = 1 / trajectory.frame.require_px_per_degree()
    amplitude = np.hypot(*np.diff(scanpath.xy_px, axis=0).T) * scale
    velocity = _peak_velocities(trajectory, intervals) * scale
    defined = ~np.isnan(velocity)
    straying = _straying(trajectory, intervals, scanpath.xy_px) * scale
    long_enough = (amplitude >= BENT_FROM_DEG) & ~np.isnan(straying)
    seen = trajectory.xy_px[~trajectory.lost]
    assert scanpath.duration_ms is not None
    return {
        "fixations_per_second": np.array([len(scanpath) / (trajectory.duration_ms / 1000)]),
        "fixation_duration_ms": scanpath.duration_ms,
        "saccade_amplitude_deg": amplitude[defined],
        "peak_velocity_deg_s": velocity[defined],
        "saccade_bend": straying[long_enough] / amplitude[long_enough],
        "fixation_extent_deg": _extents(trajectory, intervals) * scale,
        "jitter_deg_s": _jitters(trajectory, intervals) * scale,
        "out_of_frame_share": np.array([1 - float(trajectory.frame.contains(seen).mean())]),
    }


def _peak_velocities(trajectory: Trajectory, intervals: Intervals) -> Floats:
    """(M − 1,) px/s; NaN where every sample in between is lost."""
    xy = trajectory.xy_px
    speed = np.full(len(xy), np.nan)
    speed[1:-1] = np.hypot(*(xy[2:] - xy[:-2]).T) * (trajectory.rate_hz / 2)
    peaks = np.full(max(len(intervals) - 1, 0), np.nan)
    for m, (stop, start) in enumerate(zip(intervals[:-1, 1], intervals[1:, 0], strict=True)):
        between = speed[max(stop - 1, 0) : start + 1]
        between = between[~np.isnan(between)]
        if len(between):
            peaks[m] = between.max()
    return peaks


def _straying(trajectory: Trajectory, intervals: Intervals, positions_px: Points) -> Floats:
    """(M − 1,) largest distance from the line through both fixations, px; NaN where every sample in between is lost."""
    farthest = np.full(max(len(intervals) - 1, 0), np.nan)
    for m, (stop, start) in enumerate(zip(intervals[:-1, 1], intervals[1:, 0], strict=True)):
        away = trajectory.xy_px[stop:start] - positions_px[m]
        away = away[~np.isnan(away).any(axis=1)]
        step = positions_px[m + 1] - positions_px[m]
        if len(away) and step.any():
            farthest[m] = np.abs(away @ np.array([-step[1], step[0]])).max() / np.hypot(*step)
    return farthest


def _extents(trajectory: Trajectory, intervals: Intervals) -> Floats:
    """(M,) diagonal of the box around each fixation's samples, px; 0 where all of them are lost."""
    found = []
    for start, stop in intervals:
        rest = trajectory.xy_px[start:stop]
        rest = rest[~np.isnan(rest).any(axis=1)]
        found.append(float(np.hypot(*np.ptp(rest, axis=0))) if len(rest) else 0.0)
    return np.array(found)


def _inner(trajectory: Trajectory, intervals: Intervals) -> list[Floats]:
    """The samples of each fixation without its ends, px."""
    edge = round(FIXATION_EDGE_MS / 1000 * trajectory.rate_hz)
    return [trajectory.xy_px[start + edge : stop - edge] for start, stop in intervals]


def _jitters(trajectory: Trajectory, intervals: Intervals) -> Floats:
    """(≤ M,) median speed from sample to sample of each fixation that is long enough, px/s."""
    found = []
    for rest in _inner(trajectory, intervals):
        steps = np.hypot(*np.diff(rest, axis=0).T)
        steps = steps[~np.isnan(steps)]
        if len(steps):
            found.append(float(np.median(steps)) * trajectory.rate_hz)
    return np.array(found)


def _spectrum(raw: Sequence[Trajectory], method: str, rate_hz: float) -> tuple[Floats, Floats]:
    """Frequencies and median power of whole windows within fixations; NaN where no fixation is long enough."""
    length = round(SPECTRUM_WINDOW_MS / 1000 * rate_hz)
    hann = np.hanning(length + 2)[1:-1]
    ramp = np.linspace(-1, 1, length)
    frequency: Floats = np.asarray(np.fft.rfftfreq(length, 1 / rate_hz)[1:], dtype=np.float64)
    powers: list[Floats] = []
    for trajectory in raw:
        scale = 1 / trajectory.frame.require_px_per_degree()
        for rest in _inner(trajectory, fixation_intervals(trajectory, method)):
            for first in range(0, len(rest) - length + 1, length // 2):
                window = rest[first : first + length] * scale
                if np.isnan(window).any():
                    continue
                window = window - window.mean(axis=0)
                window = window - np.outer(ramp, ramp @ window / (ramp @ ramp))
                power = (np.abs(np.fft.rfft(window * hann[:, None], axis=0)[1:]) ** 2).sum(axis=1)
                powers.append(2 * power / (rate_hz * (hann @ hann)))
    return frequency, np.median(powers, axis=0) if powers else np.full(len(frequency), np.nan)


def _cumulated(one: Kinematics) -> Floats:
    return np.cumsum(one.power_deg2_hz) / one.power_deg2_hz.sum()


def _decades(one: Kinematics, other: Kinematics) -> float:
    band = (one.frequency_hz >= NOISE_BAND_FROM_HZ) & (one.frequency_hz <= 0.48 * one.rate_hz)
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.abs(np.log10(one.power_deg2_hz[band]) - np.log10(other.power_deg2_hz[band]))
    return float(difference.max())


def _summary(values: Floats) -> dict[str, float | int | None]:
    if not len(values):
        return {"n": 0, "mean": None, "q25": None, "median": None, "q75": None}
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    return {"n": len(values), "mean": float(values.mean()), "q25": low, "median": middle, "q75": high}
