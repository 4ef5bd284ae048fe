"""The constants of the path code, fitted on DOVES' train split, and what recordings lose by it (validation split)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.benchmark import Budget
from stdiffeye.benchmark.model_report import markdown_table
from stdiffeye.benchmark.systems_table import stores_of
from stdiffeye.data.store import Store
from stdiffeye.files import write_text
from stdiffeye.gaze import Trajectory, Trial, fixation_intervals, path_code
from stdiffeye.gaze.path_code import CONSTANTS, PathCodeConstants
from stdiffeye.progress import track
from stdiffeye.statistics import kinematics
from stdiffeye.statistics.motion import Kinematics

ROUNDS = 8  # in which the noise's spectrum is brought to the recordings'
MOST_CHANGE = 4.0  # of power in one of them: at low frequencies the drift says most of it, and noise little
NOISE_FROM_HZ = 12.0  # below, the code's cosines leave nothing of a short fixation to measure noise by
FITTED_ON = 6  # the spectrum is fitted on every sixth trial
ROBUST = 0.6745  # median of |x| of a standard normal number
SEED = 0
QUANTITIES = {
    "fixations_per_second": "fixations/s",
    "fixation_duration": "duration",
    "saccade_amplitude": "amplitude",
    "peak_velocity": "peak velocity",
    "main_sequence": "main sequence",
    "jitter": "jitter",
    "spectrum_decades": "spectrum (decades)",
}
WITHOUT: dict[str, list[int]] = {
    "the whole code": [],
    "half of the sines along": list(range(path_code.SACCADE.start + path_code.ALONG // 2, path_code.SACCADE.stop - 4)),
    "no sines across": list(range(path_code.SACCADE.start + path_code.ALONG, path_code.SACCADE.stop)),
    "no saccade code": list(range(path_code.SACCADE.start, path_code.SACCADE.stop)),
    "no drift": list(range(path_code.DRIFT.start, path_code.DRIFT.stop)),
    "no settling": list(range(path_code.SETTLING.start, path_code.SETTLING.stop)),
    "the same noise for all": [0],
}
"""Numbers of the code that are replaced by their usual values."""

HEAD = """# The path code

Made by `stdiffeye reproduce path-code`. The index-aligned form of ST-DiffEye (`st-diffeye-aligned`) has one token for
each fixation. Beside position, duration and gap it holds a code of {width} numbers: what the eye does during the
fixation, and on its way to the next (`stdiffeye.gaze.path_code`). No trajectory of that system can be better than this
code, so here the code is measured alone.

Recordings of DOVES' validation split are encoded and decoded. The code keeps the level of the tracker's noise, not its
samples. Noise is sampled again, and the position error includes it. Quantities are KS distances to the recordings;
the spectrum's is the largest difference of log10 power from 4 Hz on. In all rows but the first, some numbers of the
code are replaced by their usual values.
"""


def reproduce(data: Path, out: Path, budget: Budget, quiet: bool = False) -> Path:
    """Fit the constants, and write what is lost with those in use."""
    (store,) = stores_of(data, ["doves"], budget.work, quiet).values()
    fitted = fit(recorded(store, "train"), quiet)
    rows = [["code", "position error, median (95 %), degrees", "same number of fixations", *QUANTITIES.values()]]
    validation = recorded(store, "validation")
    for name, left_out in track(list(WITHOUT.items()), "decoding", quiet=quiet):
        rows.append([name, *_cells(validation, left_out)])
    constants = [["constant", "used", "fitted"]]
    for name in ("centre", "scale", "std", "frequency_hz", "noise_s"):
        constants.append([f"`{name}`", *(" ".join(f"{v:.4g}" for v in getattr(c, name)) for c in (CONSTANTS, fitted))])
    head = HEAD.format(width=path_code.WIDTH)
    write_text(out, "\n".join([head, markdown_table(rows), "\n## Constants\n", markdown_table(constants)]) + "\n")
    return out


def recorded(store: Store, split: str) -> list[Trial]:
    """Trials with raw gaze and at least two fixations."""
    return [
        t for t in store.trials(split) if t.trajectory is not None and t.scanpath is not None and len(t.scanpath) > 1
    ]


def fit(trials: Sequence[Trial], quiet: bool = False) -> PathCodeConstants:
    """The constants for recordings."""
    rows, sizes = [], []
    for trial in track(trials, "encoding", quiet=quiet):
        assert trial.trajectory is not None
        assert trial.scanpath is not None
        raw, left, _ = path_code.raw_code(trial.trajectory, trial.scanpath)
        rows.append(raw)
        sizes.append(path_code.noise_sizes(left, raw, trial.trajectory.rate_hz, CONSTANTS.frequency_hz))
    raw = np.concatenate(rows)
    centre = np.nanmedian(raw, axis=0)
    scale = np.nanmedian(np.abs(raw - centre), axis=0) / ROBUST
    std = np.nanstd(np.arcsinh((raw - centre) / scale), axis=0)
    noise = np.exp(np.median(np.concatenate(sizes), axis=0))
    lowest = np.asarray(CONSTANTS.frequency_hz) < NOISE_FROM_HZ
    noise[lowest] = noise[~lowest][0]
    constants = replace(CONSTANTS, centre=_rounded(centre), scale=_rounded(scale), std=_rounded(std))
    return _with_spectrum(replace(constants, noise_s=_rounded(noise)), trials[::FITTED_ON])


def _with_spectrum(constants: PathCodeConstants, trials: Sequence[Trial]) -> PathCodeConstants:
    """The same, with the power of decoded gaze within fixations brought to the recordings'."""
    human = kinematics(_as_far_as_decoded(trials))
    for _ in range(ROUNDS):
        found = kinematics(_decoded(trials, constants, []))
        ratio = np.interp(constants.frequency_hz, found.frequency_hz, human.power_deg2_hz / found.power_deg2_hz)
        ratio = np.clip(ratio, 1 / MOST_CHANGE, MOST_CHANGE)
        constants = replace(constants, noise_s=_rounded(np.asarray(constants.noise_s) * np.sqrt(ratio)))
    return constants


def _decoded(trials: Sequence[Trial], constants: PathCodeConstants, left_out: list[int]) -> list[Trial]:
    rng, gaze = np.random.default_rng(SEED), []
    for trial in trials:
        assert trial.trajectory is not None
        assert trial.scanpath is not None
        code = path_code.compressed(path_code.raw_code(trial.trajectory, trial.scanpath)[0], constants)
        code[:, left_out] = np.nan
        decoded = path_code.decode(code, trial.scanpath, trial.trajectory.rate_hz, rng, constants=constants)
        gaze.append(Trial(trial.name, trial.subject, None, decoded))
    return gaze


def _as_far_as_decoded(trials: Sequence[Trial]) -> list[Trial]:
    """Recordings from the first fixation's start to the last one's end."""
    return [Trial(trial.name, trial.subject, None, _between_fixations(trial)) for trial in trials]


def _between_fixations(trial: Trial) -> Trajectory:
    whole, path = trial.trajectory, trial.scanpath
    assert whole is not None
    assert path is not None
    assert path.onset_ms is not None
    assert path.duration_ms is not None
    ends_ms = (path.onset_ms[0], path.onset_ms[-1] + path.duration_ms[-1])
    first, last = (round(float(ms) * whole.rate_hz / 1000) for ms in ends_ms)
    return replace(whole, xy_px=whole.xy_px[first:last])


def _cells(trials: Sequence[Trial], left_out: list[int]) -> list[str]:
    human, decoded = _as_far_as_decoded(trials), _decoded(trials, CONSTANTS, left_out)
    errors, same = [], 0
    for one, other in zip(human, decoded, strict=True):
        assert one.trajectory is not None
        assert other.trajectory is not None
        n = min(len(one.trajectory), len(other.trajectory))
        apart = np.hypot(*(one.trajectory.xy_px[:n] - other.trajectory.xy_px[:n]).T)
        errors.append(apart / one.trajectory.frame.require_px_per_degree())
        same += len(fixation_intervals(one.trajectory)) == len(fixation_intervals(other.trajectory))
    error = np.concatenate(errors)
    distance = _distances(kinematics(decoded), kinematics(human))
    position = f"{np.nanmedian(error):.3f} ({np.nanquantile(error, 0.95):.3f})"
    return [position, f"{same / len(trials):.0%}", *distance]


def _distances(decoded: Kinematics, human: Kinematics) -> list[str]:
    distance = decoded.distance_to(human)
    return [f"{distance[name]:.3f}" for name in QUANTITIES]


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(float(f"{value:.5g}") for value in values)
