"""How the eye moves in raw gaze: fixations, saccades, and what the eye does while it rests.

Conventions: both sides of a comparison go through the same fixation extractor, whatever scanpath a trial may carry;
lengths in degrees (every frame must know its pixels per degree); the same sampling rate on both sides, since jitter
and peak velocity depend on it. Trials of which the extractor makes nothing are left out and counted.

* `fixations_per_second` per trial.
* `fixation_duration_ms` per fixation, the cut ones at both ends of a trial included.
* `saccade_amplitude_deg`, `peak_velocity_deg_s` per saccade: distance between the two fixations' places; the largest
  central difference (x[t+1] − x[t−1])/2Δt between them, one sample on either side included. Their relation is the
  main sequence (Bahill, Clark, Stark 1975).
* `jitter_deg_s` per fixation: median speed from sample to sample (tracker noise and drift).
* `power_deg2_hz` over `frequency_hz`: power within fixations, median over Hann windows of a quarter of a second (the
  median, since one burst of tracking loss would rule the mean), a straight line taken off, x and y added.
* `out_of_frame_share` per trial, of the samples that are not lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze import Trajectory, Trial
from stdiffeye.gaze.fixations import fixation_intervals, scanpath_of
from stdiffeye.stats.distances import ks

Floats = NDArray[np.float64]
Intervals = NDArray[np.int64]

SPECTRUM_WINDOW_MS = 250.0
# The ends of an extracted fixation still hold the saccade's foot; jitter and spectrum leave them out.
FIXATION_EDGE_MS = 20.0
# Below it the amplitude is mostly noise and says little about the peak velocity.
SMALLEST_SACCADE_DEG = 0.5
MAIN_SEQUENCE_BINS = 12
NOISE_BAND_FROM_HZ = 4.0


@dataclass(frozen=True)
class Kinematics:
    """What `kinematics` finds; definitions at the head of this file."""

    rate_hz: float
    fixations_per_second: Floats
    fixation_duration_ms: Floats
    saccade_amplitude_deg: Floats
    peak_velocity_deg_s: Floats
    jitter_deg_s: Floats
    frequency_hz: Floats
    power_deg2_hz: Floats
    out_of_frame_share: Floats
    trials: int
    left_out: int

    def main_sequence(self, bins: int = MAIN_SEQUENCE_BINS) -> tuple[Floats, Floats]:
        """Median amplitude (deg) and median peak velocity (deg/s) in bins of equally many saccades."""
        amplitude, velocity = self._clear_saccades()
        order = np.argsort(amplitude)
        parts = [part for part in np.array_split(order, bins) if len(part)]
        return (
            np.array([np.median(amplitude[part]) for part in parts]),
            np.array([np.median(velocity[part]) for part in parts]),
        )

    def distance_to(self, human: Kinematics) -> dict[str, float]:
        """Distances to people, each in [0, 1] and 0 when alike; NaN where one side has no such thing.

        KS of each quantity; `main_sequence` is the KS of log peak velocity relative to the humans' median at the
        same amplitude; `jitter_spectrum` the KS of power over frequency; and beside them `spectrum_decades`, the
        largest difference of log10 power from 4 Hz to 0.48 of the rate, and `out_of_frame_excess`, the difference
        of the mean shares.
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
        }

    def to_json(self) -> dict[str, Any]:
        """Medians and quartiles of every quantity, the main sequence and the spectrum; NaN as null."""
        names = (
            "fixations_per_second",
            "fixation_duration_ms",
            "saccade_amplitude_deg",
            "peak_velocity_deg_s",
            "jitter_deg_s",
            "out_of_frame_share",
        )
        amplitude, velocity = self.main_sequence()
        return {
            "rate_hz": self.rate_hz,
            "trials": self.trials,
            "left_out": self.left_out,
            **{name: _summary(getattr(self, name)) for name in names},
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
        """log(peak velocity / humans' median at this amplitude), the median drawn through the bins in log–log."""
        amplitude, velocity = self._clear_saccades()
        knots = human.main_sequence()
        if not len(knots[0]):
            return np.empty(0)
        return np.log(velocity) - np.interp(np.log(amplitude), np.log(knots[0]), np.log(knots[1]))


def kinematics(trials: Sequence[Trial], method: str = "judd") -> Kinematics:
    """Measure the movements of raw gaze.

    Parameters
    ----------
    trials : those without a trajectory are left out and counted.
    method : fixation extractor, as in `stdiffeye.gaze.fixations.extract`.
    """
    raw = [trial.trajectory for trial in trials if trial.trajectory is not None]
    if not raw:
        raise InputError(f"none of the {len(trials)} trials has a trajectory: kinematics need raw gaze")
    rates = {trajectory.rate_hz for trajectory in raw}
    if len(rates) > 1:
        raise InputError(f"trajectories of different rates cannot be pooled: {sorted(rates)} Hz; resample them first")
    parts = [one for one in (_movements(trajectory, method) for trajectory in raw) if one is not None]
    if not parts:
        raise InputError(
            f"no fixation found in any of {len(raw)} trajectories by {method!r}: are they lost or too short?"
        )
    rate_hz = raw[0].rate_hz
    frequency, power = _spectrum(raw, method, rate_hz)

    def pooled(name: str) -> Floats:
        return np.concatenate([part[name] for part in parts])

    return Kinematics(
        rate_hz=rate_hz,
        fixations_per_second=pooled("fixations_per_second"),
        fixation_duration_ms=pooled("fixation_duration_ms"),
        saccade_amplitude_deg=pooled("saccade_amplitude_deg"),
        peak_velocity_deg_s=pooled("peak_velocity_deg_s"),
        jitter_deg_s=pooled("jitter_deg_s"),
        frequency_hz=frequency,
        power_deg2_hz=power,
        out_of_frame_share=pooled("out_of_frame_share"),
        trials=len(parts),
        left_out=len(trials) - len(parts),
    )


def _movements(trajectory: Trajectory, method: str) -> dict[str, Floats] | None:
    intervals = fixation_intervals(trajectory, method)
    if not len(intervals):
        return None
    scanpath = scanpath_of(trajectory, intervals)
    scale = 1 / trajectory.frame.require_px_per_degree()
    amplitude = np.hypot(*np.diff(scanpath.xy_px, axis=0).T) * scale
    velocity = _peak_velocities(trajectory, intervals) * scale
    known = ~np.isnan(velocity)
    seen = trajectory.xy_px[~trajectory.lost]
    assert scanpath.duration_ms is not None
    return {
        "fixations_per_second": np.array([len(scanpath) / (trajectory.duration_ms / 1000)]),
        "fixation_duration_ms": scanpath.duration_ms,
        "saccade_amplitude_deg": amplitude[known],
        "peak_velocity_deg_s": velocity[known],
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
