"""A laboratory's own folder of recordings: EyeLink, Tobii, tables or BIDS, as they lie there.

A trial is called after its picture, where there is a folder of pictures and a word of the trial's name is one of
them; otherwise after the message that began it. Gaze is in px of the screen, or of the picture where the description
says how that lay on the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from stdiffeye.gaze import Frame, Placement
from stdiffeye.gaze.recording import Recording
from stdiffeye.gaze.samples import RawTrial
from stdiffeye.io.descriptions import Description, picture_path
from stdiffeye.io.pictures import check_picture
from stdiffeye.io.table import Columns
from stdiffeye.io.trial_files import ReadingOptions, find_recordings, read_raw_trials


class RecordedTrial(NamedTuple):
    """A trial by its number within a file."""

    path: Path
    number: int


def items(description: Description, source: Path) -> Iterator[RecordedTrial]:
    for path in find_recordings(source):
        for number in range(_count(path, _options(description), _stamp(path))):
            yield RecordedTrial(path, number)


def load(description: Description, source: Path, item: RecordedTrial) -> RawTrial:
    raw = _trials(item.path, _options(description), _stamp(item.path))[item.number]
    raw = replace(raw, dataset=description.name, task=description.task)
    if description.viewing_ms is not None:
        raw = replace(raw, viewing_ms=description.viewing_ms)
    picture = _picture(description, source, raw.name)
    if picture is None:
        return raw
    shown = raw.recording
    if description.placement:
        width_px, height_px = check_picture(source / description.pictures / picture)
        shown = on_picture(shown, Frame(width_px, height_px), description.placement)
    return replace(raw, name=picture, recording=shown, details=raw.details | {"trial": raw.name})


def on_picture(recording: Recording, picture: Frame, placement: str) -> Recording:
    """The same gaze in px of a picture that lay on the screen as `placement` says; the tracker's events stay out."""
    placed = Placement.letterbox if placement == "letterbox" else Placement.centred
    shown = placed(picture, recording.frame)
    seen = Frame(shown.width_px, shown.height_px, recording.frame.px_per_degree)
    frame = seen.resized(picture.width_px, picture.height_px)
    eyes: dict[str, Any] = {f"{eye}_px": shown.to_image(getattr(recording, f"{eye}_px")) for eye in recording.eyes}
    return replace(recording, frame=frame, events=(), **eyes)


def _options(description: Description) -> ReadingOptions:
    columns = None if description.columns is None else Columns.parse(description.columns)
    return ReadingOptions(description.start, description.end, columns, description.frame, keep_ids=description.keep_ids)


@lru_cache(maxsize=1)
def _trials(path: Path, options: ReadingOptions, stamp: int) -> list[RawTrial]:
    return read_raw_trials(path, options)


@lru_cache(maxsize=4096)
def _count(path: Path, options: ReadingOptions, stamp: int) -> int:
    return len(_trials(path, options, stamp))


def _stamp(path: Path) -> int:
    """When a file, or the newest of a folder, was changed: what was read before that is read again."""
    files = path.rglob("*") if path.is_dir() else [path]
    return max(file.stat().st_mtime_ns for file in files)


def _picture(description: Description, source: Path, name: str) -> str | None:
    """The picture that a trial's name names, whole or by one of its words; relative to the pictures' folder."""
    folder = source / description.pictures
    if not description.pictures or not folder.is_dir():
        return None
    words = [re.split(r"[\\/]", word)[-1] for word in name.split()]
    found = (picture_path(description, folder, word, description.task) for word in (name, *words))
    return next((picture for picture in found if picture is not None), None)
