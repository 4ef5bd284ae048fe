"""Scanpaths as the HDF5 files that pysaliency reads as `FixationTrains` (extra `tables`).

Layout (version 1.1): train_xs, train_ys, train_ts (n, longest) padded with NaN, train_ns (n,) the picture's number,
train_subjects (n,); attributes per scanpath in the group `scanpath_attributes`. Pictures are known by number only,
so their names, frames and durations are kept in data sets of our own that pysaliency leaves alone. train_ts is the
onset in seconds, or the fixation's number where onsets are unknown, as pysaliency itself does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.io.native import parse_apart
from stdiffeye.io.native_parsers import HDF5_GROUP

TYPE, VERSION = "FixationTrains", "1.1"
KEYS = ("train_xs", "train_ys", "train_ts", "train_ns", "train_subjects")


def write_pysaliency(path: str | Path, trials: Iterable[Trial]) -> None:
    """Write scanpaths; whole or not at all."""
    h5py = _h5py()
    rows = [trial for trial in trials if trial.scanpath is not None]
    scanpaths = [trial.scanpath for trial in rows if trial.scanpath is not None]
    names = list(dict.fromkeys(trial.name for trial in rows))
    subjects = list(dict.fromkeys(trial.subject for trial in rows))
    numbers = {name: number for number, name in enumerate(names)}
    viewers = {subject: number for number, subject in enumerate(subjects)}
    onsets = [_onset_s(scanpath) for scanpath in scanpaths]
    durations = [np.full(len(s), np.nan) if s.duration_ms is None else s.duration_ms / 1000 for s in scanpaths]
    frames = [(t.frame.width_px, t.frame.height_px, t.frame.px_per_degree or np.nan) for t in rows]
    with atomic_write(path) as temporary, h5py.File(temporary, "w") as file:
        file.attrs["type"], file.attrs["version"] = np.bytes_(TYPE), np.bytes_(VERSION)
        file.attrs["__attributes__"] = np.bytes_(json.dumps(["subjects", "scanpath_index"]))
        file["train_xs"] = _padded([scanpath.xy_px[:, 0] for scanpath in scanpaths])
        file["train_ys"] = _padded([scanpath.xy_px[:, 1] for scanpath in scanpaths])
        file["train_ts"] = _padded(onsets)
        file["train_ns"] = np.array([numbers[trial.name] for trial in rows], dtype=np.int64)
        file["train_subjects"] = np.array([viewers[trial.subject] for trial in rows], dtype=np.int64)
        group = file.create_group("scanpath_attributes")
        group.attrs["__attributes__"] = np.bytes_(json.dumps([]))
        ours = file.create_group(HDF5_GROUP)
        ours.attrs["words"] = json.dumps({"name": names, "subject": subjects})
        ours["tasks"] = [trial.task for trial in rows]
        ours["sampling"] = [str(trial.details.get("sampling", "")) for trial in rows]
        ours["frames"] = np.array(frames, dtype=np.float64).reshape(-1, 3)
        ours["durations_s"] = _padded(durations)
        ours["has_onsets"] = np.array([scanpath.onset_ms is not None for scanpath in scanpaths], dtype=bool)


def read_pysaliency(path: str | Path, frame: Frame | None = None) -> list[Trial]:
    """Scanpaths of a pysaliency file; `frame` is needed for files that pysaliency wrote, which do not hold it."""
    read = parse_apart("hdf5", Path(path), "HDF5", keys=list(KEYS))
    data, extra, words = read["data"], read["ours"] or {}, read["words"]
    missing = [key for key in KEYS if key not in data]
    if missing:
        raise InputError(f"{path} holds no FixationTrains of pysaliency: it has no {', '.join(missing)}")
    if frame is None and "frames" not in extra:
        raise InputError(f"{path} does not say the pictures' size, and no frame was given")
    return [_trial(data, extra, words, number, frame) for number in range(len(data["train_ns"]))]


def _trial(data: dict[str, Any], extra: dict[str, Any], words: Any, number: int, frame: Frame | None) -> Trial:
    name, subject = int(data["train_ns"][number]), int(data["train_subjects"][number])
    x = data["train_xs"][number]
    length = int((~np.isnan(x)).sum())
    duration = onset = None
    if extra:
        width_px, height_px, px_per_degree = extra["frames"][number].tolist()
        frame = Frame(width_px, height_px, None if np.isnan(px_per_degree) else px_per_degree)
        duration = extra["durations_s"][number, :length] * 1000
        duration = None if np.isnan(duration).any() else duration.round(6)
        if extra["has_onsets"][number]:
            onset = (data["train_ts"][number, :length] * 1000).round(6)
    assert frame is not None
    scanpath = Scanpath(np.column_stack([x, data["train_ys"][number]])[:length], frame, duration, onset)
    task = extra["tasks"][number] if extra else ""
    sampling = extra["sampling"][number] if "sampling" in extra else ""
    details = {"sampling": sampling} if sampling else {}
    if words is None:
        return Trial(str(name), str(subject), scanpath, task=task)
    return Trial(words["name"][name], words["subject"][subject], scanpath, task=task, details=details)


def _onset_s(scanpath: Scanpath) -> NDArray[np.float64]:
    return np.arange(len(scanpath), dtype=float) if scanpath.onset_ms is None else scanpath.onset_ms / 1000


def _padded(rows: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    result = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for number, row in enumerate(rows):
        result[number, : len(row)] = row
    return result


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise InputError("HDF5 needs h5py: pip install 'stdiffeye[tables]'") from None
    return h5py
