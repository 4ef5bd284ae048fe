"""Recordings written as a BIDS 1.11 eye-tracking data set that passes the BIDS validator.

One recording is one `run-` of its subject, in `beh/`; each eye is a `recording-eye1`, `-eye2` of it. Timestamps stay
the tracker's, in ms. Trials that were split off become runs of their own, with the stimulus in `_events.tsv`.
"""

from __future__ import annotations

import gzip
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stdiffeye.errors import InputError
from stdiffeye.files import disk_errors, temporary_folder, write_json, write_text
from stdiffeye.gaze.recording import XY, Event, Recording
from stdiffeye.io.bids import EVENT_POSITIONS, GAZE_ON_SCREEN, NOTHING, PX_PER_DEGREE, STIMULUS
from stdiffeye.pseudonyms import name_without, pseudonym

BIDS_VERSION = "1.11.1"
PHYSIO_EVENT_COLUMNS = ("onset", "duration", "trial_type", "message", *EVENT_POSITIONS)


@dataclass(frozen=True)
class Screen:
    """What BIDS requires of a screen and no recording knows: metres."""

    distance_m: float
    width_m: float
    height_m: float

    def __post_init__(self) -> None:
        for name in ("distance_m", "width_m", "height_m"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise InputError(f"Screen.{name} must be a positive number of metres, got {getattr(self, name)!r}")


def write_bids(
    folder: str | Path,
    recordings: Iterable[Recording],
    screen: Screen,
    task: str = "view",
    name: str = "Eye tracking",
    subjects: Sequence[str] | None = None,
    keep_ids: bool = False,
    messages: str | None = None,
) -> Path:
    """Write a whole data set into a new folder, or nothing at all.

    Parameters
    ----------
    screen
        Size and viewing distance, which BIDS requires for gaze on a screen.
    task, name
        BIDS's label of the task, and the data set's name.
    subjects
        Of the recordings, where these come one after the other and are not held together.
    keep_ids
        Viewers keep their names instead of pseudonyms, also in participants.tsv.
    messages
        Regular expression of the messages to write; by default none, since experimenters type names into them.
    """
    folder = Path(folder)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} exists already and is not empty: give a new folder")
    if subjects is None:
        recordings = list(recordings)
        subjects = [recording.subject for recording in recordings]
    if not subjects:
        raise InputError("there is no recording to write")
    try:
        re.compile(messages or "")
    except re.error as error:
        raise InputError(f"messages {messages!r} is no regular expression: {error}") from None
    hidden = {subject: subject if keep_ids else pseudonym(subject) for subject in subjects}
    labels = _labels(list(hidden.values()))
    with temporary_folder(folder.parent.absolute()) as building, disk_errors(folder):
        whole = building / "bids"
        whole.mkdir()
        _write_top(whole, labels, name, keep_ids)
        runs: Counter[str] = Counter()
        for given in recordings:
            recording = _published(given, hidden[given.subject], messages)
            label = labels[recording.subject]
            runs[label] += 1
            stem = f"sub-{label}_task-{_label(task, 'task')}_run-{runs[label]:02d}"
            _write_run(whole / f"sub-{label}" / "beh" / stem, recording, screen, task)
        if folder.exists():
            folder.rmdir()
        whole.replace(folder)
    return folder


def _published(recording: Recording, subject: str, messages: str | None) -> Recording:
    """A recording as others may see it: by another name, where it has one, and with the messages that match."""
    kept = () if messages is None else tuple(one for one in recording.messages if re.search(messages, one.text))
    name = name_without(recording.name, recording.subject, subject)
    return replace(recording, messages=kept, subject=subject, name=name)


def _labels(subjects: Sequence[str]) -> dict[str, str]:
    labels = {subject: _label(subject, "subject") for subject in subjects}
    taken = Counter(labels.values())
    twice = [subject for subject, label in labels.items() if taken[label] > 1]
    if twice:
        raise InputError(f"subjects {', '.join(map(repr, twice))} become the same BIDS label {labels[twice[0]]!r}")
    return labels


def _label(text: str, what: str) -> str:
    label = re.sub(r"[^0-9A-Za-z]+", "", text)
    if not label:
        raise InputError(f"a BIDS {what} needs letters or digits, got {text!r}")
    return label


def _write_top(folder: Path, labels: dict[str, str], name: str, keep_ids: bool) -> None:
    description = {"Name": name, "BIDSVersion": BIDS_VERSION, "DatasetType": "raw"}
    write_json(folder / "dataset_description.json", description)
    write_text(folder / "README.md", f"# {name}\n\nEye tracking in BIDS {BIDS_VERSION}, written by stdiffeye.\n")
    if not keep_ids:
        rows = [f"sub-{label}" for label in labels.values()]
        write_text(folder / "participants.tsv", "\n".join(["participant_id", *rows]) + "\n")
        return
    rows = [f"sub-{label}\t{_cell(subject)}" for subject, label in labels.items()]
    write_text(folder / "participants.tsv", "\n".join(["participant_id\tsource_name", *rows]) + "\n")
    about = {"source_name": {"Description": "The viewer's name in the recording that this was made from"}}
    write_json(folder / "participants.json", about)


def _write_run(stem: Path, recording: Recording, screen: Screen, task: str) -> None:
    for number, eye in enumerate(recording.eyes, start=1):
        base = f"{stem}_recording-eye{number}"
        xy = getattr(recording, f"{eye}_px")
        pupil = getattr(recording, f"{eye}_pupil")
        columns = [recording.time_ms, xy[:, 0], xy[:, 1], *([] if pupil is None else [pupil])]
        _write_table(f"{base}_physio.tsv.gz", zip(*(column.tolist() for column in columns), strict=True))
        write_json(f"{base}_physio.json", {"TaskName": task} | _physio_sidecar(recording, eye, pupil is not None))
        rows = _event_rows(recording, eye, with_messages=number == 1)
        if rows:
            _write_table(f"{base}_physioevents.tsv.gz", rows)
            write_json(f"{base}_physioevents.json", {"TaskName": task} | _physio_events_sidecar())
    seconds = recording.duration_ms / 1000
    write_text(f"{stem}_events.tsv", f"onset\tduration\t{STIMULUS}\n0\t{seconds:.6g}\t{_cell(recording.name)}\n")
    write_json(f"{stem}_events.json", _events_sidecar(recording, screen, task))


def _write_table(path: str, rows: Iterable[Sequence[Any]]) -> None:
    text = "".join("\t".join(map(_cell, row)) + "\n" for row in rows)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    # Without the time of writing, so that the same recording gives the same bytes.
    Path(path).write_bytes(gzip.compress(text.encode(), mtime=0))


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() else repr(value)
    return " ".join(str(value).split()) or NOTHING


def _event_rows(recording: Recording, eye: str, with_messages: bool) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = [_event_row(event) for event in recording.events if event.eye == eye]
    if with_messages:
        rows += [(item.time_ms, None, None, item.text, None, None, None, None) for item in recording.messages]
    return sorted(rows, key=lambda row: row[0])


def _event_row(event: Event) -> tuple[Any, ...]:
    nowhere: XY = (math.nan, math.nan)
    positions = (*(event.xy_px or nowhere), *(event.end_xy_px or nowhere))
    return (event.start_ms, round(event.duration_ms / 1000, 9), event.kind, None, *positions)


def _physio_sidecar(recording: Recording, eye: str, has_pupil: bool) -> dict[str, Any]:
    sidecar: dict[str, Any] = {
        "PhysioType": "eyetrack",
        "SamplingFrequency": recording.rate_hz,
        "StartTime": 0,
        "Columns": ["timestamp", "x_coordinate", "y_coordinate", *(["pupil_size"] if has_pupil else [])],
        "RecordedEye": eye,
        "SampleCoordinateSystem": GAZE_ON_SCREEN,
        "timestamp": {"LongName": "Time of the sample", "Description": "The tracker's own clock", "Units": "ms"},
    }
    for axis, way in (("x", "to the right of the screen's left edge"), ("y", "down from the screen's top edge")):
        sidecar[f"{axis}_coordinate"] = {"LongName": f"Gaze {axis}", "Description": f"Gaze {way}", "Units": "pixel"}
    if has_pupil:
        text = "Pupil area or diameter, as the tracker was set up to report, in its own unit"
        sidecar["pupil_size"] = {"LongName": "Pupil size", "Description": text, "Units": "arbitrary"}
    if recording.frame.px_per_degree is not None:
        sidecar[PX_PER_DEGREE] = recording.frame.px_per_degree
    return sidecar


def _physio_events_sidecar() -> dict[str, Any]:
    positions = {
        name: {"Description": f"{word} on the screen; of a fixation its mean position", "Units": "pixel"}
        for name, word in zip(EVENT_POSITIONS, ("Start x", "Start y", "End x", "End y"), strict=True)
    }
    levels = {
        kind: {"Description": f"A {kind} as the tracker's own parser found it"}
        for kind in ("fixation", "saccade", "blink")
    }
    return {
        "Columns": list(PHYSIO_EVENT_COLUMNS),
        "Description": "Messages of the experiment and events of the tracker's own parser",
        "OnsetSource": "timestamp",
        "trial_type": {"LongName": "Kind of event", "Levels": levels},
        **positions,
    }


def _events_sidecar(recording: Recording, screen: Screen, task: str) -> dict[str, Any]:
    return {
        "TaskName": task,
        "StimulusPresentation": {
            "ScreenDistance": screen.distance_m,
            "ScreenOrigin": ["top", "left"],
            "ScreenResolution": [round(recording.frame.width_px), round(recording.frame.height_px)],
            "ScreenSize": [screen.width_m, screen.height_m],
        },
        STIMULUS: {"LongName": "Stimulus", "Description": "The trial or picture that was looked at"},
    }
