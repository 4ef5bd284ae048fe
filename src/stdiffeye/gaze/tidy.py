"""Gaze as tidy tables for R, pandas and polars: a row per fixation, saccade or sample, a column per quantity.

| table | columns after name, task and subject |
|---|---|
| `fixations` | fixation (from 1), x_px, y_px, onset_ms, duration_ms |
| `saccades` | saccade (from 1), onset_ms, duration_ms, from_x_px, from_y_px, to_x_px, to_y_px, and their shape: |
| | amplitude_px, amplitude_deg, direction_deg, peak_deg_s |
| `samples` | time_ms, x_px, y_px |

Conventions: px of the gaze's frame with y downwards; times from the picture's onset; unknown is NaN. A saccade is the
step from a fixation to the next. Its direction is 0 to the right and 90 upwards. Its peak velocity is that of the
trajectory between the two fixations, by central differences; degrees need `px_per_degree` of the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.types import Scanpath, Trajectory, Trial

TableName = Literal["fixations", "saccades", "samples"]
TABLES: tuple[TableName, ...] = get_args(TableName)
Columns = dict[str, NDArray[Any]]
AnyGaze = Scanpath | Trajectory | Trial


def tidy_table(gaze: AnyGaze | Iterable[AnyGaze], table: TableName = "fixations") -> Columns:
    """Gaze as columns of equal length.

    Parameters
    ----------
    gaze : Scanpath, Trajectory, Trial, or iterable of these
        Trials without what the table shows have no rows. Gaze that is no trial has no name, and its number as subject.
    table : "fixations", "saccades" or "samples"
        What a row is.

    Returns
    -------
    dict of str to ndarray
        Column → values; words are object arrays, numbers float64, counts int64. Generated gaze has a column
        `sampling`: independent or representative.

    Raises
    ------
    InputError
        For a table of another name.

    Examples
    --------
    >>> from stdiffeye import Frame
    >>> path = Scanpath([[20, 30], [50, 70]], Frame(100, 80, 10), [200, 300], [0, 240])
    >>> saccade = tidy_table(path, "saccades")
    >>> saccade["amplitude_deg"].tolist(), saccade["duration_ms"].tolist()
    ([5.0], [40.0])
    """
    if table not in TABLES:
        raise InputError(f"there is no table {table!r}; choose one of {', '.join(TABLES)}")
    trials = _trials(gaze)
    blocks = [MAKERS[table](trial) for trial in trials]
    counts = [len(next(iter(block.values()))) for block in blocks]
    words = {
        key: np.repeat(np.array([getattr(trial, key) for trial in trials], dtype=object), counts)
        for key in ("name", "task", "subject")
    }
    empty = MAKERS[table](None)
    columns = words | {key: np.concatenate([none, *(block[key] for block in blocks)]) for key, none in empty.items()}
    sampling = [str(trial.details.get("sampling", "")) for trial in trials]
    return columns | {"sampling": np.repeat(np.array(sampling, dtype=object), counts)} if any(sampling) else columns


def _fixations(trial: Trial | None) -> Columns:
    path = None if trial is None else trial.scanpath
    if path is None:
        return _no_rows("fixation", "x_px", "y_px", "onset_ms", "duration_ms")
    return {
        "fixation": np.arange(1, len(path) + 1),
        "x_px": path.xy_px[:, 0],
        "y_px": path.xy_px[:, 1],
        "onset_ms": _or_unknown(path.onset_ms, len(path)),
        "duration_ms": _or_unknown(path.duration_ms, len(path)),
    }


def _saccades(trial: Trial | None) -> Columns:
    path = None if trial is None else trial.scanpath
    if trial is None or path is None or len(path) == 1:
        ends = ("from_x_px", "from_y_px", "to_x_px", "to_y_px")
        shape = ("amplitude_px", "amplitude_deg", "direction_deg", "peak_deg_s")
        return _no_rows("saccade", "onset_ms", "duration_ms", *ends, *shape)
    count, (dx, dy) = len(path) - 1, np.diff(path.xy_px, axis=0).T
    amplitude = np.hypot(dx, dy)
    duration = _or_unknown(path.gap_ms, count)
    timed = path.onset_ms is not None and path.duration_ms is not None
    onset = (path.onset_ms + path.duration_ms)[:-1] if timed else np.full(count, np.nan)  # type: ignore[operator]
    return {
        "saccade": np.arange(1, count + 1),
        "onset_ms": onset,
        "duration_ms": duration,
        "from_x_px": path.xy_px[:-1, 0],
        "from_y_px": path.xy_px[:-1, 1],
        "to_x_px": path.xy_px[1:, 0],
        "to_y_px": path.xy_px[1:, 1],
        "amplitude_px": amplitude,
        "amplitude_deg": amplitude / (path.frame.px_per_degree or np.nan),
        "direction_deg": np.degrees(np.arctan2(-dy, dx)),
        "peak_deg_s": _peaks(trial.trajectory, onset, onset + duration),
    }


def _samples(trial: Trial | None) -> Columns:
    gaze = None if trial is None else trial.trajectory
    if gaze is None:
        return _no_rows("time_ms", "x_px", "y_px")
    return {"time_ms": gaze.time_ms, "x_px": gaze.xy_px[:, 0], "y_px": gaze.xy_px[:, 1]}


MAKERS: dict[TableName, Callable[[Trial | None], Columns]] = {
    "fixations": _fixations,
    "saccades": _saccades,
    "samples": _samples,
}


def _peaks(gaze: Trajectory | None, start_ms: Floats, end_ms: Floats) -> Floats:
    """Largest speed in deg/s between two times each; NaN where times, samples or the scale are not known."""
    if gaze is None or gaze.frame.px_per_degree is None or len(gaze) < 3:
        return np.full(len(start_ms), np.nan)
    speed = np.hypot(*np.gradient(gaze.xy_px, axis=0).T) * gaze.rate_hz / gaze.frame.px_per_degree
    step_ms = 1000 / gaze.rate_hz
    peaks = np.full(len(start_ms), np.nan)
    for number, (start, end) in enumerate(zip(start_ms, end_ms, strict=True)):
        # A sample on either side: short saccades begin and end between samples.
        within = speed[(gaze.time_ms >= start - step_ms) & (gaze.time_ms <= end + step_ms)]
        if np.isfinite(within).any():
            peaks[number] = np.nanmax(within)
    return peaks


def _trials(gaze: AnyGaze | Iterable[AnyGaze]) -> Sequence[Trial]:
    several: Iterable[Any] = [gaze] if isinstance(gaze, AnyGaze) else gaze
    return [one if isinstance(one, Trial) else _trial(one, number) for number, one in enumerate(several, start=1)]


def _trial(gaze: Scanpath | Trajectory, number: int) -> Trial:
    if isinstance(gaze, Scanpath):
        return Trial("", str(number), gaze)
    return Trial("", str(number), getattr(gaze, "scanpath", None), gaze)  # generated gaze knows its fixations


def _no_rows(first: str, *others: str) -> Columns:
    counted = np.int64 if first in ("fixation", "saccade") else np.float64
    return {first: np.zeros(0, counted)} | {key: np.zeros(0) for key in others}


def _or_unknown(values: Floats | None, count: int) -> Floats:
    return np.full(count, np.nan) if values is None else values
