"""COCO-Search18 and COCO-FreeView: the public JSON, and the raw recordings where one has them.

A recording is `recordings/<viewer>….edf` or `.asc`: the first number in its name is the JSON's `subject`. Its trials
are cut by the experiment's messages, and a trial belongs to the row of the same viewer and picture whose first and
last fixation it passes within 20 px. Rows without a recording keep their scanpath only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial
from stdiffeye.gaze.cleaning import resample, trimmed_range
from stdiffeye.gaze.trial_messages import split_trials
from stdiffeye.io.descriptions import Description
from stdiffeye.io.recordings import read_recording
from stdiffeye.io.scanpath_json import trial_from_row
from stdiffeye.io.sets import scanpath_json

RECORDINGS = "recordings"
FREE_VIEWING = "freeview"


class Item(NamedTuple):
    where: str
    row: dict[str, Any]
    recording: Path | None


def items(description: Description, source: Path) -> Iterator[Item]:
    """Rows of the JSON; viewer by viewer where there are recordings, so that each is read once."""
    recordings = find_recordings(source)
    for subject, path in recordings.items():
        for where, row in scanpath_json.items(description, source):
            if str(row.get("subject")) == subject:
                yield Item(where, row, path)
    for where, row in scanpath_json.items(description, source):
        if str(row.get("subject")) not in recordings:
            yield Item(where, row, None)


def find_recordings(source: Path) -> dict[str, Path]:
    """Viewer's number → recording."""
    found: dict[str, Path] = {}
    for path in sorted((source / RECORDINGS).glob("*")):
        number = re.search(r"\d+", path.name)
        if number is None or not re.search(r"\.(edf|asc|asc\.gz)$", path.name, re.IGNORECASE):
            continue
        subject = str(int(number.group()))
        if subject in found:
            raise InputError(f"{found[subject]} and {path} are both named after viewer {subject}: keep one")
        found[subject] = path
    return found


def load(description: Description, source: Path, item: Item) -> Trial | None:
    row = dict(item.row)
    if row.get("condition") == FREE_VIEWING:
        row["task"] = ""
    if row.get("bbox") is not None and not np.any(row["bbox"]):
        row["bbox"] = None  # target-absent rows carry an empty box
    trial = trial_from_row(
        row, item.where, description.frame, dataset=description.name, viewing_ms=description.viewing_ms
    )
    if trial is None or trial.scanpath is None or item.recording is None:
        return trial
    trajectory = _matching(item.recording, trial.name, trial.scanpath)
    if trajectory is None:
        return trial
    return Trial(**{**vars(trial), "trajectory": trajectory})


def _matching(recording: Path, name: str, scanpath: Scanpath) -> Trajectory | None:
    """The raw gaze of a row; of several looks at a picture, the one that passes its first and last fixation."""
    candidates = _trials_by_picture(recording, scanpath.frame).get(Path(name).stem, [])
    for trajectory in candidates:
        try:
            trimmed_range(trajectory, scanpath)
        except InputError:
            continue
        return trajectory
    return candidates[0] if candidates else None


@lru_cache(maxsize=1)
def _trials_by_picture(path: Path, frame: Frame) -> dict[str, list[Trajectory]]:
    """Picture's stem → raw gaze at its own rate, lost samples kept."""
    trials: dict[str, list[Trajectory]] = {}
    for trial in split_trials(read_recording(path)):
        size = (trial.frame.width_px, trial.frame.height_px)
        if size != (frame.width_px, frame.height_px):
            raise InputError(f"{path} was recorded at {size[0]:g}×{size[1]:g} px, expected the display's {frame}")
        gaze = resample(trial.time_ms, trial.xy_px(), trial.rate_hz, frame, max_gap_ms=0)
        stem = re.split(r"[\\/]", trial.name.split()[0] if trial.name else "")[-1]
        trials.setdefault(Path(stem).stem, []).append(gaze)
    return trials
