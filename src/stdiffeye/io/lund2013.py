"""Lund2013: raw gaze with every sample labelled by hand, by two experts (Andersson et al., Behav. Res. 2017).

Layout: one MATLAB file per recording and expert, `<recording>_labelled_<expert>.mat`, that holds a struct `ETdata` with
`pos` (N, 6: time µs, pupil x, y, gaze x, y px, label), `screenRes` px, `screenDim` m, `viewDist` m. Gaze (0, 0)
means lost. Two faults of the published files are mended: the rate comes from the times (`sampFreq` says 500 Hz in two
recordings of 200 Hz), and empty rows at the end are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stdiffeye.border import reading
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Trajectory
from stdiffeye.io.matlab import read_mat

MARK = "_labelled_"
FIELDS = ("pos", "screenRes", "screenDim", "viewDist")
MICROSECONDS = 1e6


class Label(IntEnum):
    """What an expert called a sample."""

    FIXATION = 1
    SACCADE = 2
    POST_SACCADIC_OSCILLATION = 3
    PURSUIT = 4
    BLINK = 5
    UNDEFINED = 6


@dataclass(frozen=True)
class LabelledRecording:
    """One recording as one expert labelled it.

    Parameters
    ----------
    name
        The recording ("UL39_img_konijntjes").
    expert
        Who labelled it ("MN", "RA").
    trajectory
        The samples, NaN where lost.
    label
        (T,) a `Label` for every sample.
    """

    name: str
    expert: str
    trajectory: Trajectory
    label: NDArray[np.int64]


def read_lund2013(path: str | Path) -> LabelledRecording:
    """Read one labelled recording."""
    path = Path(path)
    name, mark, expert = path.stem.partition(MARK)
    if not mark or not expert:
        raise InputError(f"{path.name} is not named as Lund2013 files are, <recording>{MARK}<expert>.mat")
    with reading(path):
        return _read(path, name, expert)


def _read(path: Path, name: str, expert: str) -> LabelledRecording:
    data = _struct(path)
    rows = np.atleast_2d(np.asarray(data["pos"], dtype=np.float64))
    if rows.shape[1] != 6 or len(rows) < 2:
        raise InputError(f"{path}: ETdata.pos must have 6 columns and at least 2 rows, got shape {rows.shape}")
    rows = rows[rows[:, 0] > 0]
    step_us = float(np.median(np.diff(rows[:, 0]))) if len(rows) > 1 else 0.0
    if step_us <= 0:
        raise InputError(
            f"{path}: times in the first column of ETdata.pos must rise, their median step is {step_us:g} µs"
        )
    label = rows[:, 5].astype(np.int64)
    if not np.isin(label, list(Label)).all():
        raise InputError(f"{path}: labels must be 1 to 6, got {sorted(set(label.tolist()) - set(map(int, Label)))}")
    xy_px = rows[:, 3:5].copy()
    xy_px[(xy_px == 0).all(axis=1)] = np.nan
    return LabelledRecording(name, expert, Trajectory(xy_px, round(MICROSECONDS / step_us), _frame(data)), label)


def read_lund2013_folder(folder: str | Path) -> dict[str, dict[str, LabelledRecording]]:
    """All recordings of a folder: recording name → expert → labelled recording."""
    recordings: dict[str, dict[str, LabelledRecording]] = {}
    for path in sorted(Path(folder).glob(f"*{MARK}*.mat")):
        recording = read_lund2013(path)
        recordings.setdefault(recording.name, {})[recording.expert] = recording
    if not recordings:
        raise InputError(f"{folder} holds no Lund2013 recordings (*{MARK}*.mat)")
    return recordings


def _struct(path: Path) -> dict[str, NDArray[np.float64]]:
    struct = read_mat(path).get("ETdata")
    missing = [name for name in FIELDS if not hasattr(struct, name)]
    if missing:
        raise InputError(f"{path} is not a Lund2013 recording: it has no ETdata.{missing[0]}")
    return {name: np.asarray(getattr(struct, name)) for name in FIELDS}


def _frame(data: dict[str, NDArray[np.float64]]) -> Frame:
    """The screen; px per degree at its middle, along the width."""
    width_px, height_px = np.asarray(data["screenRes"], dtype=np.float64).ravel().tolist()
    width_m = float(np.ravel(data["screenDim"])[0])
    metres_per_degree = float(data["viewDist"]) * np.tan(np.deg2rad(1))
    return Frame(width_px, height_px, px_per_degree=width_px * metres_per_degree / width_m)
