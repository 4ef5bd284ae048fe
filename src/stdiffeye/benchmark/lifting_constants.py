"""The constants of the lift, fitted on DOVES and Lund2013, and the round trip of every OSIE scanpath.

Main sequence: the saccades that experts marked in Lund2013. Drift, tracker noise and the course of small saccades:
DOVES, training pictures, trials that pass the quality gate. Shoulders: Judd's extractor on noise-free lifted saccades.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from stdiffeye.arrays import Floats
from stdiffeye.benchmark.lifting_report import document
from stdiffeye.files import write_text
from stdiffeye.gaze import Frame, QualityReport, Scanpath, Trajectory, Trial, extract, fixation_intervals, lift
from stdiffeye.gaze._scale import runs
from stdiffeye.gaze.oculomotor import CONSTANTS, LiftConstants, saccade_duration_ms
from stdiffeye.io.lund2013 import Label, read_lund2013_folder
from stdiffeye.io.sets import read_set
from stdiffeye.progress import track

RATE_HZ = 240.0
MIN_AMPLITUDE_DEG = 0.5  # below, an expert's first and last sample of a saccade say little about its amplitude
SMALL_DEG = 0.6  # about what Judd's rule needs of a saccade that goes straight to its goal
MAX_LAG_MS = 100.0
PERSISTENCES_MS = np.arange(1.0, 60.0, 0.5)
MIN_DRIFT_FIXATION_MS = 200.0
MIN_FIXATION_MS = 80.0
SEED = 2013


@dataclass(frozen=True)
class Saccade:
    """What lies between two extracted fixations of a recording."""

    amplitude_deg: float
    gap_ms: float
    path_deg: float
    peak_deg_s: float


@dataclass(frozen=True)
class RoundTrip:
    """Lift, extract, compare."""

    trials: int
    same_count_share: float
    median_position_px: float
    median_duration_ms: float
    p95_duration_ms: float


def reproduce(data: Path, out: Path, quiet: bool = False) -> Path:
    """Fit the constants, measure the round trip with those in use, and write the report."""
    recordings = doves(data / "doves")
    saccades = [saccade for gaze in track(recordings, "DOVES", quiet=quiet) for saccade in saccades_of(gaze)]
    fitted = fit(data / "lund2013", recordings, saccades)
    osie = [trial.scanpath for trial in read_set("osie", data / "osie") if trial.scanpath is not None]
    readings = {
        "every fixation ≥ 80 ms, at least two": [s for s in osie if len(s) > 1 and _shortest_ms(s) >= MIN_FIXATION_MS],
        "shorter fixations left out, at least two remain": [s for s in map(without_short, osie) if s and len(s) > 1],
        "shorter fixations kept, at least two of ≥ 80 ms": [s for s in osie if len(without_short(s) or ()) > 1],
    }
    trips = {name: round_trip(track(paths, "OSIE", quiet=quiet)) for name, paths in readings.items()}
    straight = replace(CONSTANTS, overshoot_deg=0.0)
    name, paths = next(iter(readings.items()))
    trips[f"{name}; no overshoot"] = round_trip(track(paths, "OSIE", quiet=quiet), straight)
    lifted = [saccade for gaze in relifted(recordings) for saccade in saccades_of(gaze)]
    write_text(out, document(asdict(CONSTANTS), asdict(fitted), trips, saccades, lifted))
    return out


def doves(folder: Path) -> list[Trajectory]:
    """Training recordings that pass the quality gate, at their own rate."""
    gate = QualityReport()
    training = (trial for trial in read_set("doves", folder) if isinstance(trial, Trial) and trial.split == "train")
    return [trial.trajectory for trial in training if trial.trajectory is not None and gate.admit(trial.trajectory)]


def fit(lund2013: Path, recordings: Sequence[Trajectory], saccades: Sequence[Saccade]) -> LiftConstants:
    """All constants, each from its own data."""
    base_ms, ms_per_deg = main_sequence(lund2013)
    drift_deg2_s, persistence_ms, noise_deg = drift_and_noise(recordings)
    partly = LiftConstants(
        saccade_base_ms=base_ms,
        saccade_ms_per_deg=ms_per_deg,
        drift_deg2_s=drift_deg2_s,
        drift_persistence_ms=persistence_ms,
        noise_deg=noise_deg,
    )
    shoulder_ms, share_before = shoulders(partly)
    whole = replace(partly, shoulder_ms=shoulder_ms, shoulder_share_before=share_before)
    small = [saccade for saccade in saccades if saccade.amplitude_deg < SMALL_DEG]
    level, slope = straight_line(
        np.array([saccade.amplitude_deg for saccade in small]),
        np.array([(saccade.path_deg - saccade.amplitude_deg) / 2 for saccade in small]),
    )
    return replace(whole, overshoot_deg=level, overshoot_deg_per_deg=-slope)


def main_sequence(folder: Path) -> tuple[float, float]:
    """Duration of the saccades that experts marked: ms at zero amplitude and ms per degree."""
    amplitude_deg, duration_ms = [], []
    for pair in read_lund2013_folder(folder).values():
        for recording in pair.values():
            gaze = recording.trajectory
            for start, stop in runs(recording.label == Label.SACCADE):
                step_px = gaze.xy_px[stop - 1] - gaze.xy_px[start]
                amplitude_deg.append(float(np.hypot(*step_px)) / gaze.frame.require_px_per_degree())
                duration_ms.append((stop - start) * 1000 / gaze.rate_hz)
    amplitude, duration = np.array(amplitude_deg), np.array(duration_ms)
    clear = amplitude >= MIN_AMPLITUDE_DEG  # a lost end (NaN) is not clear
    return straight_line(amplitude[clear], duration[clear])


def straight_line(x: Floats, y: Floats) -> tuple[float, float]:
    """Level and slope by Theil and Sen: the median slope of all pairs, which outliers hardly touch."""
    rise, run = y[:, None] - y, x[:, None] - x
    slope = float(np.median(rise[run > 0] / run[run > 0]))
    return float(np.median(y - slope * x)), slope


def drift_and_noise(recordings: Iterable[Trajectory]) -> tuple[float, float, float]:
    """Diffusion constant (deg²/s), persistence (ms) and noise (deg per axis), from how far the eye is after a while.

    Within a fixation the squared distance after τ is on average 4 σ² + 4 D (τ − c (1 − exp(−τ/c))): a walk with
    persistence c, and noise. The least squares of relative errors, over a grid of c.
    """
    lag_s, observed = squared_distance_deg2(recordings)
    best = (np.inf, 0.0, 0.0, 0.0)
    for persistence_ms in PERSISTENCES_MS:
        persistence_s = persistence_ms / 1000
        walk = 4 * (lag_s - persistence_s * (1 - np.exp(-lag_s / persistence_s)))
        terms = np.stack([walk, np.full_like(lag_s, 4)], axis=1) / observed[:, None]
        (drift, variance), error = nnls(terms, np.ones_like(lag_s))
        if error < best[0]:
            best = (error, float(drift), float(persistence_ms), float(np.sqrt(variance)))
    return best[1:]


def squared_distance_deg2(recordings: Iterable[Trajectory]) -> tuple[Floats, Floats]:
    """Lags (s) and the squared distance (deg²) after each, within long fixations.

    Taken from the median, which microsaccades and overshoot hardly touch: for a plane Gaussian the mean is the
    median / ln 2.
    """
    by_lag: dict[int, list[Floats]] = {}
    rate_hz = 0.0
    for gaze in recordings:
        rate_hz = gaze.rate_hz
        xy_deg = gaze.frame.to_degrees(gaze.xy_px)
        for start, stop in fixation_intervals(gaze):
            if (stop - start) * 1000 / rate_hz < MIN_DRIFT_FIXATION_MS:
                continue
            for lag in range(1, round(MAX_LAG_MS * rate_hz / 1000) + 1):
                step = xy_deg[start + lag : stop] - xy_deg[start : stop - lag]
                by_lag.setdefault(lag, []).append((step**2).sum(axis=1))
    squared = np.array([np.median(np.concatenate(values)) for values in by_lag.values()]) / np.log(2)
    return np.array(list(by_lag)) / rate_hz, squared


def saccades_of(gaze: Trajectory) -> Iterator[Saccade]:
    """What Judd's extractor leaves between fixations, measured."""
    intervals = fixation_intervals(gaze)
    xy_deg = gaze.frame.to_degrees(gaze.xy_px)
    for before, after in itertools.pairwise(intervals):
        origin, goal = (np.median(xy_deg[start:stop], axis=0) for start, stop in (before, after))
        piece = xy_deg[before[1] - 1 : after[0] + 1]
        step_deg = np.hypot(*np.diff(piece, axis=0).T)
        amplitude = float(np.hypot(*(goal - origin)))
        yield Saccade(
            amplitude_deg=amplitude,
            gap_ms=float(after[0] - before[1]) * 1000 / gaze.rate_hz,
            path_deg=float(step_deg.sum()),
            peak_deg_s=float(step_deg.max()) * gaze.rate_hz,
        )


def shoulders(constants: LiftConstants) -> tuple[float, float]:
    """How much longer than the movement Judd's interval is (ms), and the share of that before it."""
    frame, hold_ms, gap_ms = Frame(1000, 1000, px_per_degree=25), 400.0, 200.0
    before, after = [], []
    for amplitude_deg in np.arange(1.5, 20, 0.25):  # large enough not to overshoot
        xy_px = np.array([[100, 500], [100 + 25 * amplitude_deg, 500]])
        path = Scanpath(xy_px, frame, np.array([hold_ms, hold_ms]), np.array([0.0, hold_ms + gap_ms]))
        found = extract(lift(path, RATE_HZ, constants=constants))
        lasts_ms = float(saccade_duration_ms(np.array(amplitude_deg), constants))
        begins_ms = hold_ms + constants.shoulder_share_before * (gap_ms - lasts_ms)
        assert found.onset_ms is not None
        assert found.duration_ms is not None
        before.append(begins_ms - found.duration_ms[0])
        after.append(found.onset_ms[1] - begins_ms - lasts_ms)
    total = float(np.mean(before) + np.mean(after))
    return total, float(np.mean(before)) / total


def round_trip(paths: Iterable[Scanpath], constants: LiftConstants = CONSTANTS) -> RoundTrip:
    """Lift with drift and noise, extract with Judd's rule, compare; errors over trials of equal count."""
    rng = np.random.default_rng(SEED)
    trials, same = 0, 0
    error_px: list[Floats] = []
    duration_ms: list[Floats] = []
    for path in paths:
        trials += 1
        found = extract(lift(path, RATE_HZ, rng, constants=constants))
        if len(found) == len(path):
            assert found.duration_ms is not None
            assert path.duration_ms is not None
            same += 1
            error_px.append(np.hypot(*(found.xy_px - path.xy_px).T))
            duration_ms.append(np.abs(found.duration_ms - path.duration_ms))
    durations = np.concatenate(duration_ms)
    return RoundTrip(
        trials=trials,
        same_count_share=same / trials,
        median_position_px=float(np.median(np.concatenate(error_px))),
        median_duration_ms=float(np.median(durations)),
        p95_duration_ms=float(np.percentile(durations, 95)),
    )


def relifted(recordings: Iterable[Trajectory]) -> Iterator[Trajectory]:
    """Each recording's scanpath, lifted again without its own times between fixations."""
    rng = np.random.default_rng(SEED)
    for gaze in recordings:
        yield lift(replace(extract(gaze), onset_ms=None), gaze.rate_hz, rng)


def without_short(path: Scanpath) -> Scanpath | None:
    """The fixations of at least 80 ms, None where there are none."""
    assert path.duration_ms is not None
    kept = path.duration_ms >= MIN_FIXATION_MS
    return Scanpath(path.xy_px[kept], path.frame, path.duration_ms[kept]) if kept.any() else None


def _shortest_ms(path: Scanpath) -> float:
    assert path.duration_ms is not None
    return float(path.duration_ms.min())
