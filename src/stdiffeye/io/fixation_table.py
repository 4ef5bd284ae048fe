"""Trials as a table of one row per fixation: what CSV and Parquet share.

Columns: name, subject, task, dataset, split, picture, sampling, width_px, height_px, px_per_degree, viewing_ms,
target_x_px, target_y_px, target_width_px, target_height_px, fixation (from 1), x_px, y_px, duration_ms, onset_ms. Only
name, x_px and y_px must be there (and a frame); unknown is empty. Rows of a trial follow each other; a trial ends where
name, subject or task change or where `fixation` does not rise. Trajectories and details are not part of the table, but
for how a generated trial was sampled (independent, representative).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.io.pictures import picture_word

WORDS = ("name", "subject", "task", "dataset", "split", "picture", "sampling")
BOX = ("target_x_px", "target_y_px", "target_width_px", "target_height_px")
PER_TRIAL = ("width_px", "height_px", "px_per_degree", "viewing_ms", *BOX)
PER_FIXATION = ("fixation", "x_px", "y_px", "duration_ms", "onset_ms")
COLUMNS = (*WORDS, *PER_TRIAL, *PER_FIXATION)
ALWAYS = ("name", "subject", "task", "width_px", "height_px", "fixation", "x_px", "y_px")
SYNONYMS = {
    "image": "name",
    "stimulus": "name",
    "sample": "subject",
    "width": "width_px",
    "height": "height_px",
    "x": "x_px",
    "y": "y_px",
    "t": "duration_ms",
    "duration": "duration_ms",
    "onset": "onset_ms",
}

Table = dict[str, NDArray[Any]]


def table_from_trials(trials: Sequence[Trial], folder: Path | None = None) -> Table:
    """Columns of equal length; numbers are float64 with NaN for unknown, words are object arrays.

    Columns that are empty throughout are left out. Pictures are named relative to the `folder` of the file.
    """
    scanpaths = []
    for trial in trials:
        if trial.scanpath is None:
            raise InputError(f"trial {trial.name!r} of {trial.subject!r} has no scanpath: extract one first")
        scanpaths.append(trial.scanpath)
    counts = np.array([len(scanpath) for scanpath in scanpaths], dtype=np.int64)
    table: Table = {}
    for key in WORDS:
        values = np.array([_word(trial, key, folder) for trial in trials], dtype=object)
        table[key] = np.repeat(values, counts)
    per_trial = np.array([_trial_numbers(trial) for trial in trials], dtype=np.float64).reshape(-1, len(PER_TRIAL))
    table |= dict(zip(PER_TRIAL, np.repeat(per_trial, counts, axis=0).T, strict=True))
    fixations = np.concatenate([np.empty((0, len(PER_FIXATION))), *map(_fixation_numbers, scanpaths)])
    table |= dict(zip(PER_FIXATION, fixations.T, strict=True))
    return {key: values for key, values in table.items() if key in ALWAYS or not _empty(values)}


def trials_from_table(
    table: Mapping[str, Sequence[Any] | NDArray[Any]], where: str, frame: Frame | None
) -> list[Trial]:
    """The inverse of `table_from_trials`; `where` names the file in errors, `frame` serves rows without one."""
    columns = _columns(table, where)
    bounds = _trial_bounds(columns)
    return [_trial(columns, start, stop, where, frame) for start, stop in pairwise(bounds)]


def _columns(table: Mapping[str, Any], where: str) -> Table:
    columns: Table = {}
    for key, values in table.items():
        name = SYNONYMS.get(key.strip().lower(), key.strip().lower())
        if name in WORDS:
            columns[name] = np.array(["" if value is None else str(value) for value in values], dtype=object)
        elif name in COLUMNS:
            columns[name] = _numbers(values, f"{where}: column {key!r}")
    missing = [key for key in ("name", "x_px", "y_px") if key not in columns]
    if missing:
        raise InputError(
            f"{where} is no table of fixations: it has no column {', '.join(missing)} "
            f"(it has {', '.join(list(table)[:8])}); raw samples go through `stdiffeye fixations`"
        )
    return columns


def _numbers(values: Any, what: str) -> NDArray[np.float64]:
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return values.astype(np.float64)
    try:
        return np.array([value or "nan" if isinstance(value, str) else value for value in values], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must hold numbers: {error}") from None


def _trial_bounds(columns: Table) -> list[int]:
    count = len(columns["name"])
    if count == 0:
        return []
    new = np.zeros(count, dtype=bool)
    for key in ("name", "subject", "task"):
        if key in columns:
            new[1:] |= columns[key][1:] != columns[key][:-1]
    if "fixation" in columns:
        new[1:] |= np.diff(columns["fixation"]) <= 0
    return [0, *np.flatnonzero(new).tolist(), count]


def _trial(columns: Table, start: int, stop: int, where: str, frame: Frame | None) -> Trial:
    name = str(columns["name"][start])
    numbers = {key: _number(columns, key, start) for key in PER_TRIAL}
    if numbers["width_px"] is not None and numbers["height_px"] is not None:
        frame = Frame(numbers["width_px"], numbers["height_px"], numbers["px_per_degree"])
    if frame is None:
        raise InputError(
            f"{where}: trial {name!r} does not say how large its picture is: "
            "add the columns width_px and height_px, or give a frame from Python"
        )
    times = {key: columns[key][start:stop] if key in columns else None for key in ("duration_ms", "onset_ms")}
    known = {key: None if value is None or np.isnan(value).all() else value for key, value in times.items()}
    words = {key: str(columns[key][start]) if key in columns else "" for key in WORDS}
    try:
        scanpath = Scanpath(np.column_stack([columns["x_px"][start:stop], columns["y_px"][start:stop]]), frame, **known)
    except InputError as error:
        raise InputError(f"{where}: trial {name!r} (row {start + 1}): {error}") from None
    return Trial(
        words["name"],
        words["subject"],
        scanpath,
        task=words["task"],
        dataset=words["dataset"],
        split=words["split"],
        picture=Path(words["picture"]) if words["picture"] else None,
        target_box_px=_box([numbers[key] for key in BOX]),
        viewing_ms=numbers["viewing_ms"],
        details={"sampling": words["sampling"]} if words["sampling"] else {},
    )


def _box(values: Sequence[float | None]) -> tuple[float, float, float, float] | None:
    known = [value for value in values if value is not None]
    return (known[0], known[1], known[2], known[3]) if len(known) == len(BOX) else None


def _word(trial: Trial, key: str, folder: Path | None) -> str:
    value = trial.details.get(key, "") if key == "sampling" else getattr(trial, key)
    return "" if value is None else picture_word(value, folder) if isinstance(value, Path) else str(value)


def _trial_numbers(trial: Trial) -> list[float | None]:
    frame = trial.frame
    return [
        frame.width_px,
        frame.height_px,
        frame.px_per_degree,
        trial.viewing_ms,
        *(trial.target_box_px or (None,) * 4),
    ]


def _fixation_numbers(scanpath: Scanpath) -> NDArray[np.float64]:
    unknown = np.full(len(scanpath), np.nan)
    duration = unknown if scanpath.duration_ms is None else scanpath.duration_ms
    onset = unknown if scanpath.onset_ms is None else scanpath.onset_ms
    return np.column_stack([np.arange(1, len(scanpath) + 1), scanpath.xy_px, duration, onset])


def _number(columns: Table, key: str, row: int) -> float | None:
    if key not in columns or np.isnan(columns[key][row]):
        return None
    return float(columns[key][row])


def _empty(values: NDArray[Any]) -> bool:
    return not any(values) if values.dtype == object else bool(np.isnan(values).all())
