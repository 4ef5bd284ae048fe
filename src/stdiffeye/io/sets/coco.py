"""COCO-Search18 and COCO-FreeView: the public JSON, and the raw recordings where one has them.

A recording is `recordings/<viewer>….edf` or `.asc`: the first number in its name is the JSON's `subject`. Its trials
are cut by the experiment's messages, and a trial belongs to the row of the same viewer and picture whose first and
last fixation it passes within 20 px. Rows without a recording keep their scanpath only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.files import temporary_folder
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.gaze.cleaning import fixation_span
from stdiffeye.gaze.recording import Recording
from stdiffeye.gaze.samples import RawTrial
from stdiffeye.io.descriptions import Description
from stdiffeye.io.scanpath_json import trial_from_row
from stdiffeye.io.sets import scanpath_rows
from stdiffeye.io.trial_files import ReadingOptions, read_raw_trials

RECORDINGS = "recordings"
FREE_VIEWING = "freeview"
NO_RECORDING = "no recording"  # no viewer's number, so no viewer's file


class CocoRow(NamedTuple):
    where: str
    row: dict[str, Any]
    recording: Path | None


def items(description: Description, source: Path) -> Iterator[CocoRow]:
    """Rows of the JSON; viewer by viewer where there are recordings, so that each is read once."""
    recordings = find_recordings(source)
    rows = scanpath_rows.items(description, source)
    if not recordings:
        yield from (CocoRow(where, row, None) for where, row in rows)
        return
    with temporary_folder() as folder:
        by_viewer = _sorted_by_viewer(rows, recordings, folder)
        for subject, recording in {**recordings, NO_RECORDING: None}.items():
            with open(by_viewer / subject, encoding="utf-8") as lines:
                yield from (CocoRow(where, row, recording) for where, row in map(json.loads, lines))


def _sorted_by_viewer(rows: Iterator[scanpath_rows.PlacedRow], recordings: dict[str, Path], folder: Path) -> Path:
    """The folder with a file of rows per viewer: the JSON may be larger than memory, and is read once."""
    with ExitStack() as stack:
        names = (*recordings, NO_RECORDING)
        files = {name: stack.enter_context(open(folder / name, "w", encoding="utf-8")) for name in names}
        for where, row in rows:
            subject = str(row.get("subject"))
            files[subject if subject in recordings else NO_RECORDING].write(json.dumps([where, row]) + "\n")
    return folder


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


def load(description: Description, source: Path, item: CocoRow) -> Trial | RawTrial | None:
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
    recording = _matching(item.recording, trial.name, trial.scanpath)
    return trial if recording is None else _raw(trial, recording)


def _raw(trial: Trial, recording: Recording) -> RawTrial:
    fields = {name: value for name, value in vars(trial).items() if name not in ("trajectory", "picture")}
    return RawTrial(recording=recording, **fields)


def _matching(path: Path, name: str, scanpath: Scanpath) -> Recording | None:
    """The recording of a row; of several trials on a picture, the one that passes its first and last fixation."""
    candidates = _recordings_by_picture(path, scanpath.frame).get(Path(name).stem, [])
    for recording in candidates:
        try:
            fixation_span(recording.xy_px(), scanpath)
        except InputError:
            continue
        return recording
    return candidates[0] if candidates else None


@lru_cache(maxsize=1)
def _recordings_by_picture(path: Path, frame: Frame) -> dict[str, list[Recording]]:
    """Picture's stem → its trials in a recording."""
    found: dict[str, list[Recording]] = {}
    for raw in read_raw_trials(path, ReadingOptions(keep_ids=True)):
        screen = raw.recording.frame
        size = (screen.width_px, screen.height_px)
        if size != (frame.width_px, frame.height_px):
            raise InputError(f"{path} was recorded at {size[0]:g}×{size[1]:g} px, expected the display's {frame}")
        stem = re.split(r"[\\/]", raw.name.split()[0] if raw.name else "")[-1]
        found.setdefault(Path(stem).stem, []).append(replace(raw.recording, frame=frame))
    return found
