"""Eye tracking in BIDS (1.11): read a data set, or one of its `_physio.tsv.gz` files, into recordings.

Conventions
-----------
* `_physio.tsv.gz` with `PhysioType` "eyetrack" in its sidecar; columns by the sidecar's `Columns`; `n/a` is lost.
* Sidecars are inherited from folders above, as BIDS has it; nearer ones win.
* The screen is `StimulusPresentation` of the events' sidecar (resolution, origin, size, distance). Only
  `SampleCoordinateSystem` "gaze-on-screen" in pixels is gaze on a picture; anything else is refused.
* Two files that differ only in `recording-` and have the same timestamps are the two eyes of one recording.
* `_physioevents.tsv.gz` gives messages and the tracker's own fixations, saccades and blinks.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.files import read_json
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import XY, Event, Message, Recording
from stdiffeye.io.bytes_in import decoded, read_bytes
from stdiffeye.io.table import in_ms

NOTHING = "n/a"
PHYSIO, PHYSIO_EVENTS, EVENTS = "physio", "physioevents", "events"
PIXELS = ("px", "pixel", "pixels", "pix")
TIME_UNITS = {
    "ms": ("ms", "msec", "millisecond", "milliseconds"),
    "s": ("s", "sec", "second", "seconds"),
    "us": ("us", "µs", "μs", "microsecond", "microseconds"),
    "ns": ("ns", "nanosecond", "nanoseconds"),
}
GAZE_ON_SCREEN = "gaze-on-screen"
PX_PER_DEGREE = "PixelsPerDegree"  # our own field; BIDS knows only size and distance
STIMULUS = "stimulus_name"
BIDS_NAME = "bids"  # among the details of a recording: how its files are called
EVENT_KINDS = ("fixation", "saccade", "blink")
EVENT_POSITIONS = ("x_px", "y_px", "end_x_px", "end_y_px")


@dataclass(frozen=True)
class _OneEye:
    """What one physio file and its sidecars hold."""

    path: Path
    eye: Literal["left", "right"]
    time_ms: Floats
    xy_px: Floats
    pupil: Floats | None
    rate_hz: float
    frame: Frame
    events: tuple[Event, ...]
    messages: tuple[Message, ...]


def read_bids(path: str | Path) -> list[Recording]:
    """The eye-tracking recordings of a BIDS data set, or of one physio file in it, ordered by name."""
    path = Path(path)
    files = sorted(path.rglob("sub-*_physio.tsv.gz")) if path.is_dir() else [path]
    eyes = [_one_eye(file) for file in files if _sidecar(file, PHYSIO).get("PhysioType") == "eyetrack"]
    if not eyes:
        raise InputError(
            f"{path} holds no eye tracking in BIDS: no sub-*_physio.tsv.gz whose sidecar says PhysioType 'eyetrack'"
        )
    groups: dict[str, list[_OneEye]] = {}
    for one in eyes:
        groups.setdefault(_without_recording(one.path), []).append(one)
    return [recording for group in groups.values() for recording in _recordings(group)]


def is_bids(path: Path) -> bool:
    """Whether a path is a BIDS data set, one viewer's folder or a physio file of one."""
    if path.is_dir():
        whole = path.parent if path.name.startswith("sub-") else path
        return (whole / "dataset_description.json").exists()
    return path.name.startswith("sub-") and path.name.endswith("_physio.tsv.gz")


def _recordings(group: list[_OneEye]) -> list[Recording]:
    if (
        len(group) == 2
        and {one.eye for one in group} == {"left", "right"}
        and np.array_equal(group[0].time_ms, group[1].time_ms)
        and group[0].frame == group[1].frame
    ):
        return [_joined(group)]
    return [_joined([one]) for one in group]


def _joined(group: list[_OneEye]) -> Recording:
    first = group[0]
    columns: dict[str, Any] = {f"{one.eye}_px": one.xy_px for one in group}
    columns |= {f"{one.eye}_pupil": one.pupil for one in group}
    entities = _entities(first.path)
    return Recording(
        first.time_ms,
        first.rate_hz,
        first.frame,
        name=_stimulus(first.path) or _without_recording(first.path),
        subject=entities["sub"],
        events=tuple(event for one in group for event in one.events),
        messages=tuple(message for one in group for message in one.messages),
        details={BIDS_NAME: _without_recording(first.path)},
        **columns,
    )


def _one_eye(path: Path) -> _OneEye:
    sidecar = _sidecar(path, PHYSIO)
    system = sidecar.get("SampleCoordinateSystem")
    if system != GAZE_ON_SCREEN:
        raise InputError(f"{path}: SampleCoordinateSystem is {system!r}, only {GAZE_ON_SCREEN!r} is gaze on a picture")
    names, table = _cells(path, sidecar)
    for name in ("x_coordinate", "y_coordinate"):
        unit = str(_object(sidecar, name).get("Units", "pixel")).lower()
        if unit not in PIXELS:
            raise InputError(f"{path}: {name} is in {unit!r}, expected pixels")
    numbers = {name: _numbers(path, name, table[:, index]) for index, name in enumerate(names)}
    rate = sidecar.get("SamplingFrequency")
    if not isinstance(rate, int | float) or not rate > 0:
        raise InputError(f"{path}: SamplingFrequency must be a positive number of Hz, got {rate!r}")
    if "timestamp" in numbers:
        time_ms = in_ms(numbers["timestamp"], _time_unit(path, sidecar))
    else:
        time_ms = (float(sidecar.get("StartTime", 0)) + np.arange(len(table)) / rate) * 1000
    frame, origin = _screen(path, sidecar)
    xy = np.stack([numbers["x_coordinate"], numbers["y_coordinate"]], axis=1)
    if origin[0] == "bottom":
        xy[:, 1] = frame.height_px - xy[:, 1]
    elif origin == ("center", "center"):
        xy = xy + frame.centre_px
    recorded = sidecar.get("RecordedEye")
    eye: Literal["left", "right"] = "right" if recorded == "right" else "left"
    events, messages = _tracker_events(path, eye)
    return _OneEye(path, eye, time_ms, xy, numbers.get("pupil_size"), float(rate), frame, events, messages)


def _cells(path: Path, sidecar: dict[str, Any]) -> tuple[list[str], Any]:
    names = sidecar.get("Columns")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{path}: its sidecar has no list `Columns`, which BIDS requires as the file has no header")
    lines = decoded(read_bytes(path)).splitlines()
    rows = [line.split("\t") for line in lines]
    bad = next((number for number, row in enumerate(rows, start=1) if len(row) != len(names)), None)
    if bad is not None:
        raise InputError(f"{path} line {bad} has {len(rows[bad - 1])} cells, `Columns` names {len(names)}")
    missing = [] if path.name.endswith(f"_{PHYSIO_EVENTS}.tsv.gz") else ["x_coordinate", "y_coordinate"]
    missing = [name for name in missing if name not in names]
    if missing:
        raise InputError(f"{path} has no column {missing[0]!r}; it has {', '.join(names)}")
    return names, np.array(rows, dtype=object).reshape(len(rows), len(names))


def _numbers(path: Path, name: str, words: Any) -> Floats:
    try:
        return np.array([math.nan if word == NOTHING else float(word) for word in words], dtype=np.float64)
    except ValueError as error:
        raise InputError(f"{path} column {name!r}: {error}") from None


def _screen(path: Path, sidecar: dict[str, Any]) -> tuple[Frame, tuple[str, ...]]:
    shown = _object(_sidecar(path, EVENTS), "StimulusPresentation")
    resolution = shown.get("ScreenResolution")
    if not (isinstance(resolution, list) and len(resolution) == 2):
        raise InputError(f"{path}: no StimulusPresentation.ScreenResolution in the events' sidecar beside it")
    px_per_degree = sidecar.get(PX_PER_DEGREE)
    size, distance = shown.get("ScreenSize"), shown.get("ScreenDistance")
    if px_per_degree is None and isinstance(size, list) and isinstance(distance, int | float) and size[0]:
        px_per_degree = resolution[0] / size[0] * distance * math.tan(math.radians(1))
    origin = tuple(shown.get("ScreenOrigin") or ("top", "left"))
    if origin not in (("top", "left"), ("bottom", "left"), ("center", "center")):
        raise InputError(f"{path}: ScreenOrigin {origin} is not one of top left, bottom left, center center")
    width_px, height_px = resolution
    return Frame(width_px, height_px, px_per_degree), origin


def _tracker_events(path: Path, eye: Literal["left", "right"]) -> tuple[tuple[Event, ...], tuple[Message, ...]]:
    file = path.with_name(path.name.replace(f"_{PHYSIO}.tsv.gz", f"_{PHYSIO_EVENTS}.tsv.gz"))
    if not file.exists():
        return (), ()
    names, table = _cells(file, _sidecar(file, PHYSIO_EVENTS))
    if "onset" not in names:
        raise InputError(f"{file} has no column 'onset'; it has {', '.join(names)}")
    unit = _time_unit(path, _sidecar(path, PHYSIO)) or "ms"
    events, messages = [], []
    for cells in table:
        row = dict(zip(names, cells, strict=True))
        start_ms = float(in_ms(_numbers(file, "onset", [row["onset"]]), unit)[0])
        kind = row.get("trial_type", NOTHING)
        if kind in EVENT_KINDS:
            duration_ms = float(_numbers(file, "duration", [row.get("duration", NOTHING)])[0]) * 1000
            x, y, end_x, end_y = _numbers(
                file, "position", [row.get(name, NOTHING) for name in EVENT_POSITIONS]
            ).tolist()
            events.append(Event(kind, eye, start_ms, round(duration_ms, 6), _xy(x, y), _xy(end_x, end_y)))
        elif row.get("message", NOTHING) != NOTHING:
            messages.append(Message(start_ms, row["message"]))
    return tuple(events), tuple(messages)


def _object(sidecar: dict[str, Any], name: str) -> dict[str, Any]:
    value = sidecar.get(name)
    return value if isinstance(value, dict) else {}


def _time_unit(path: Path, sidecar: dict[str, Any]) -> str | None:
    """The unit of the timestamps; None where the sidecar does not say."""
    word = _object(sidecar, "timestamp").get("Units")
    if word is None:
        return None
    unit = next((unit for unit, words in TIME_UNITS.items() if str(word).lower() in words), None)
    if unit is None:
        raise InputError(f"{path}: timestamps are in {word!r}, expected one of {', '.join(TIME_UNITS)}")
    return unit


def _xy(x: float, y: float) -> XY | None:
    return None if math.isnan(x) or math.isnan(y) else (x, y)


def _stimulus(path: Path) -> str | None:
    """The picture's name, where the events file names exactly one."""
    file = path.with_name(f"{_without_recording(path)}_{EVENTS}.tsv")
    if not file.exists():
        return None
    header, *rows = [line.split("\t") for line in decoded(read_bytes(file)).splitlines()]
    if STIMULUS not in header or len(rows) != 1:
        return None
    return rows[0][header.index(STIMULUS)]


def _sidecar(path: Path, suffix: str) -> dict[str, Any]:
    """All JSON that applies to a file by BIDS's inheritance, the nearest last."""
    mine = _entities(path)
    folders = [path.parent, *path.parent.parents]
    root = next((at for at, folder in enumerate(folders) if (folder / "dataset_description.json").exists()), 0)
    merged: dict[str, Any] = {}
    for folder in reversed(folders[: root + 1]):
        candidates = [*folder.glob(f"*_{suffix}.json"), *folder.glob(f"{suffix}.json")]
        for file in sorted(candidates, key=lambda file: len(file.name)):
            if _entities(file).items() <= mine.items():
                values = read_json(file)
                if not isinstance(values, dict):
                    raise InputError(f"{file} must hold a JSON object, got {json.dumps(values)[:40]}")
                merged |= values
    return merged


def _entities(path: Path) -> dict[str, str]:
    entities = path.name.split(".")[0].split("_")[:-1]
    return dict(entity.split("-", maxsplit=1) for entity in entities if "-" in entity)


def _without_recording(path: Path) -> str:
    entities = path.name.split(".")[0].split("_")[:-1]
    return "_".join(entity for entity in entities if not entity.startswith("recording-"))
