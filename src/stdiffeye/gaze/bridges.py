"""Gaze as the objects of other programs: MNE-Python, pymovements, pysaliency; each where it is installed.

| method | gives | of |
|---|---|---|
| `.to_mne()` | `mne.io.RawArray`: eye-gaze channels, annotations | a trajectory, trial or recording |
| `.to_pymovements()` | `pymovements.Gaze` with px, and its fixations as events | the same |
| `.to_pysaliency()` | `pysaliency.FixationTrains` | scanpaths, trials and lists of them |

Conventions: px with y downwards, times in the other program's unit, NaN where the eye was lost. pymovements needs the
distance and the size of the screen in cm for degrees; a frame knows px per degree only, so a screen at 60 cm with
square pixels is described that has the same px per degree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import Recording
from stdiffeye.gaze.types import Scanpath, Trajectory, Trial

if TYPE_CHECKING:
    import mne
    import pymovements
    import pysaliency

DISTANCE_CM = 60.0
LONGEST_SHOWN = 60


def to_mne(gaze: Trajectory | Trial | Recording) -> mne.io.RawArray:
    """Samples as MNE's Raw; events of the tracker or fixations of the trial, and messages, as annotations.

    Parameters
    ----------
    gaze : Trajectory, Trial or Recording
        What to convert.

    Returns
    -------
    mne.io.RawArray
        Channels for x, y and pupil of each eye.

    Raises
    ------
    InputError
        When MNE is not installed.
    """
    mne = _installed("mne")
    raw = _recording(gaze)
    channels: dict[str, tuple[Floats, tuple[str, ...]]] = {}
    for eye in raw.eyes:
        xy_px, pupil = getattr(raw, f"{eye}_px"), getattr(raw, f"{eye}_pupil")
        channels[f"xpos_{eye}"] = xy_px[:, 0], ("eyegaze", "px", eye, "x")
        channels[f"ypos_{eye}"] = xy_px[:, 1], ("eyegaze", "px", eye, "y")
        if pupil is not None:
            channels[f"pupil_{eye}"] = pupil, ("pupil", "au", eye)
    kinds = ["pupil" if name.startswith("pupil") else "eyegaze" for name in channels]
    info = mne.create_info(list(channels), raw.rate_hz, kinds)
    made = mne.io.RawArray(np.stack([values for values, _ in channels.values()]), info, verbose="ERROR")
    mne.preprocessing.eyetracking.set_channel_types_eyetrack(made, {name: kind for name, (_, kind) in channels.items()})
    begin = float(raw.time_ms[0])
    rows: list[tuple[float, float, str]]
    rows = [(event.start_ms - begin, event.duration_ms, event.kind) for event in raw.events]
    rows += [(message.time_ms - begin, 0.0, message.text[:LONGEST_SHOWN]) for message in raw.messages]
    rows += [(onset, duration, "fixation") for onset, duration in _fixations(gaze)]
    onsets, durations, words = ([row[column] for row in rows] for column in range(3))
    made.set_annotations(mne.Annotations(np.array(onsets) / 1000, np.array(durations) / 1000, words), verbose="ERROR")
    return made


def to_pymovements(gaze: Trajectory | Trial | Recording) -> pymovements.Gaze:
    """Samples as pymovements' Gaze, with its experiment and, of a trial, its fixations as events.

    Parameters
    ----------
    gaze : Trajectory, Trial or Recording
        What to convert.

    Returns
    -------
    pymovements.Gaze
        Samples in px, with time in ms.

    Raises
    ------
    InputError
        When pymovements is not installed.
    """
    polars, pm = _installed("polars"), _installed("pymovements")
    raw = _recording(gaze)
    columns: dict[str, Any] = {"time": raw.time_ms}
    for eye in raw.eyes:
        xy_px = getattr(raw, f"{eye}_px")
        columns |= {f"x_{eye}": xy_px[:, 0], f"y_{eye}": xy_px[:, 1]}
    begin = float(raw.time_ms[0])
    spans = np.array(list(_fixations(gaze)), dtype=np.float64).reshape(-1, 2)
    events = pm.Events(name="fixation", onsets=begin + spans[:, 0], offsets=begin + spans.sum(axis=1))
    return pm.Gaze(
        polars.DataFrame(columns),
        _experiment(pm, raw.frame, raw.rate_hz),
        events if len(spans) else None,
        time_column="time",
        time_unit="ms",
        pixel_columns=[name for name in columns if name != "time"],
    )


def to_pysaliency(gaze: Scanpath | Trial | Iterable[Scanpath | Trial]) -> pysaliency.FixationTrains:
    """Scanpaths as fixation trains; pictures are numbered in the order in which they come, times are seconds.

    Parameters
    ----------
    gaze : Scanpath, Trial or iterable of them
        What to convert.

    Returns
    -------
    pysaliency.FixationTrains
        One train per scanpath.

    Raises
    ------
    InputError
        When a trial has no scanpath, or pysaliency is not installed.
    """
    pysaliency = _installed("pysaliency")
    several: Sequence[Any] = [gaze] if isinstance(gaze, Scanpath | Trial) else list(gaze)
    trials = [one if isinstance(one, Trial) else Trial("", str(number), one) for number, one in enumerate(several)]
    paths = [trial.scanpath for trial in trials]
    if not paths or any(path is None for path in paths):
        raise InputError("pysaliency holds fixations: every trial needs a scanpath; extract them first")
    known = [path for path in paths if path is not None]
    names = list(dict.fromkeys(trial.name for trial in trials))
    subjects = list(dict.fromkeys(trial.subject for trial in trials))
    timed = all(path.onset_ms is not None for path in known)
    return pysaliency.FixationTrains.from_fixation_trains(
        [path.xy_px[:, 0] for path in known],
        [path.xy_px[:, 1] for path in known],
        [
            path.onset_ms / 1000 if timed and path.onset_ms is not None else np.arange(float(len(path)))
            for path in known
        ],
        np.array([names.index(trial.name) for trial in trials]),
        np.array([subjects.index(trial.subject) for trial in trials]),
    )


def _experiment(pm: Any, frame: Frame, rate_hz: float) -> Any:
    width_px, height_px = round(frame.width_px), round(frame.height_px)
    if frame.px_per_degree is None:
        return pm.Experiment(width_px, height_px, origin="upper left", sampling_rate=rate_hz)
    px_per_cm = frame.px_per_degree / (DISTANCE_CM * float(np.tan(np.radians(1))))
    size_cm = width_px / px_per_cm, height_px / px_per_cm
    return pm.Experiment(width_px, height_px, *size_cm, DISTANCE_CM, "upper left", rate_hz)


def _recording(gaze: Any) -> Recording:
    if isinstance(gaze, Recording):
        return gaze
    trajectory = gaze.trajectory if isinstance(gaze, Trial) else gaze
    if not isinstance(trajectory, Trajectory):
        raise InputError(f"{gaze!r:.80} has no samples: take a trial with a trajectory, a trajectory or a recording")
    return Recording(trajectory.time_ms, trajectory.rate_hz, trajectory.frame, left_px=trajectory.xy_px)


def _fixations(gaze: Any) -> list[tuple[float, float]]:
    path = gaze.scanpath if isinstance(gaze, Trial) else getattr(gaze, "scanpath", None)
    if path is None or path.onset_ms is None or path.duration_ms is None:
        return []
    return list(zip(path.onset_ms.tolist(), path.duration_ms.tolist(), strict=True))


def _installed(package: str) -> Any:
    """One of the programs that gaze is handed to, or a sentence on how to get it."""
    try:
        if package == "mne":
            import mne

            return mne
        if package == "polars":
            import polars

            return polars
        if package == "pymovements":
            import pymovements

            return pymovements
        import pysaliency

        return pysaliency
    except ImportError:
        raise InputError(f"this needs {package}: pip install {package}") from None
