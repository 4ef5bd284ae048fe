"""Scanpaths as the HDF5 files that pysaliency reads as `FixationTrains` (extra `tables`).

Layout (version 1.1): train_xs, train_ys, train_ts (n, longest) padded with NaN, train_ns (n,) the picture's number,
train_subjects (n,); attributes per scanpath in the group `scanpath_attributes`. Pictures are known by number only,
so their names, frames and durations are kept in data sets of our own that pysaliency leaves alone. train_ts is the
onset in seconds, or the fixation's number where onsets are unknown, as pysaliency itself does.

Later releases of pysaliency write `Scanpaths` and `ScanpathFixations`, which are read too. A data set of pysaliency is
two files: beside the fixations its `FileStimuli` (version 2.0), with the pictures' names, relative to the file, and
shapes (rows, columns, channels). `write_pysaliency_dataset` writes both; `read_pysaliency` finds them beside its file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.io.native import parse_apart
from stdiffeye.io.native_parsers import HDF5_GROUP
from stdiffeye.io.pictures import PICTURE_FORMATS

TYPE, VERSION = "FixationTrains", "1.1"
KEYS = ("train_xs", "train_ys", "train_ts", "train_ns", "train_subjects")
LATER_KEYS = {
    "train_xs": "xs",
    "train_ys": "ys",
    "train_ns": "n",
    "train_ts": "fixation_attributes/ts",
    "train_subjects": "scanpath_attributes/subject",
}
"""What the same data are called in `Scanpaths`; in `ScanpathFixations` they are in its group of that name."""
GROUPS = ("", "scanpaths/")
STIMULI, FIXATIONS = "stimuli.hdf5", "fixations.hdf5"
STIMULI_TYPE, STIMULI_VERSION = "FileStimuli", "2.0"


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


def write_pysaliency_dataset(folder: str | Path, trials: Iterable[Trial]) -> list[Path]:
    """Write a data set of pysaliency: stimuli.hdf5, which names the trials' pictures, and fixations.hdf5."""
    rows, folder = list(trials), Path(folder)
    pictures = {trial.name: trial.picture for trial in rows}
    lost = [name for name, picture in pictures.items() if picture is None or not picture.is_file()]
    if lost:
        raise InputError(f"{lost[0]!r} has no picture here, which the stimuli of pysaliency need")
    files = [picture for picture in pictures.values() if picture is not None]
    h5py = _h5py()
    with atomic_write(folder / STIMULI) as temporary, h5py.File(temporary, "w") as file:
        file.attrs["type"], file.attrs["version"] = np.bytes_(STIMULI_TYPE), np.bytes_(STIMULI_VERSION)
        file.attrs["size"] = len(files)
        names = [os.path.relpath(picture.resolve(), folder.resolve()) for picture in files]
        file.create_dataset("filenames", data=names, dtype=h5py.special_dtype(vlen=str))
        shapes = file.create_dataset("shapes", (len(files),), dtype=h5py.special_dtype(vlen=np.dtype("int64")))
        for number, picture in enumerate(files):
            shapes[number] = _shape(picture)
    write_pysaliency(folder / FIXATIONS, rows)
    return [folder / STIMULI, folder / FIXATIONS]


def read_pysaliency(path: str | Path, frame: Frame | None = None) -> list[Trial]:
    """Scanpaths of a pysaliency file.

    Files that pysaliency wrote know pictures by number only: their names and sizes are those of the stimuli.hdf5 beside
    it, else `frame` is needed.
    """
    path = Path(path)
    later = [group + name for group in GROUPS for name in (*LATER_KEYS.values(), "length")]
    read = parse_apart("hdf5", path, "HDF5", keys=[*KEYS, *later])
    data, extra, words = _of_any_version(read["data"]), read["ours"] or {}, read["words"]
    missing = [key for key in KEYS if key not in data]
    if missing:
        raise InputError(f"{path} holds no scanpaths of pysaliency: it has no {', '.join(missing)}")
    trials = len(data["train_ns"])
    if "frames" in extra:
        return [_trial(data, extra, words, number, frame) for number in range(trials)]
    stimuli = _stimuli(path.with_name(STIMULI)) if path.with_name(STIMULI).is_file() else []
    if frame is None and not stimuli:
        raise InputError(f"{path} does not say the pictures' size, has no {STIMULI} beside it, and no frame was given")
    if stimuli and data["train_ns"].max(initial=0) >= len(stimuli):
        raise InputError(f"{path} is of more pictures than the {len(stimuli)} of {STIMULI} beside it")
    found = []
    for number in range(trials):
        picture, own = stimuli[int(data["train_ns"][number])] if stimuli else (None, frame)
        trial = _trial(data, {}, None, number, own)
        found.append(trial if picture is None else replace(trial, name=picture.name, picture=picture))
    return found


def _of_any_version(data: dict[str, Any]) -> dict[str, Any]:
    """The same under the names of `FixationTrains`; what is no table of numbers is left out."""
    named = dict(data)
    for group in GROUPS:
        if group + "xs" in data:
            named |= {key: data[group + name] for key, name in LATER_KEYS.items() if group + name in data}
            named.setdefault("train_subjects", np.zeros(len(named.get("train_ns", []))))
            named.setdefault("train_ts", np.full_like(named["train_xs"], np.nan))
    return {key: value for key, value in named.items() if isinstance(value, np.ndarray)}


def _stimuli(path: Path) -> list[tuple[Path, Frame]]:
    """Picture and frame of each stimulus."""
    data = parse_apart("hdf5", path, "HDF5", keys=["filenames", "shapes"])["data"]
    names, shapes = data.get("filenames"), data.get("shapes")
    if not isinstance(names, list) or not isinstance(shapes, list) or len(names) != len(shapes):
        raise InputError(f"{path} holds no {STIMULI_TYPE} of pysaliency: expected filenames and shapes")
    if any(len(shape) < 2 for shape in shapes):
        raise InputError(f"{path} holds a picture without rows and columns")
    return [(path.parent / name, Frame(shape[1], shape[0])) for name, shape in zip(names, shapes, strict=True)]


def _shape(picture: Path) -> tuple[int, ...]:
    """Rows, columns and channels as pysaliency reads the picture."""
    with Image.open(picture, formats=PICTURE_FORMATS) as image:
        channels = len(image.getbands())
        return (image.height, image.width) + ((channels,) if channels > 1 else ())


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
