"""Tobii exports (`.tsv`): Tobii Studio, Tobii Pro Lab, and the raw table of the older SDK (T/TX series).

Conventions
-----------
* A sample with a validity code above 1 (0 sure … 4 not found), or the word `Invalid`, is lost, as is (−1, −1).
* Rows that are not eye samples (another sensor, events without a gaze cell) are left out.
* A change of participant, recording or stimulus begins a new recording.
* Positions as shares of the screen (SDK tables) need the screen's size; without it 1920 × 1080 px, the TX300's own
  monitor, is taken with a warning. Studio and Pro Lab write px and usually the screen's size.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import Recording
from stdiffeye.io.table import Table, in_ms, recordings_of

SDK_SCREEN = Frame(1920, 1080)
LAST_VALID_CODE = 1
LOST = -1.0
RESOLUTION = re.compile(r"(\d+)\s*[x×]\s*(\d+)")
UNIT_IN_NAME = re.compile(r"\[\s*(ms|s|[uµμ]s)\s*\]")


@dataclass(frozen=True)
class _Dialect:
    """How one program names its columns; a name stands for every header that begins with it."""

    time: str
    gaze: dict[str, tuple[str, str]]
    validity: dict[str, str]
    subject: str = ""
    stimulus: str = ""
    sensor: str = ""
    resolution: tuple[str, ...] = ()
    shares: bool = False


DIALECTS = (
    _Dialect(
        time="RecordingTimestamp",
        gaze={"left": ("GazePointLeftX", "GazePointLeftY"), "right": ("GazePointRightX", "GazePointRightY")},
        validity={"left": "ValidityLeft", "right": "ValidityRight"},
        subject="ParticipantName",
        stimulus="MediaName",
        resolution=("RecordingResolution",),
    ),
    _Dialect(
        time="Recording timestamp",
        gaze={eye: (f"Gaze point {eye} X", f"Gaze point {eye} Y") for eye in ("left", "right")},
        validity={"left": "Validity left", "right": "Validity right"},
        subject="Participant name",
        stimulus="Presented Stimulus name",
        sensor="Sensor",
        resolution=("Recording resolution width", "Recording resolution height"),
    ),
    _Dialect(
        time="Time",
        gaze={"left": ("LGazePos2dx", "LGazePos2dy"), "right": ("RGazePos2dx", "RGazePos2dy")},
        validity={"left": "LValidity", "right": "RValidity"},
        shares=True,
    ),
)


def is_tobii(header: list[str]) -> bool:
    """Whether a table's header is one of Tobii's."""
    return _dialect(header) is not None


def read_tobii(path: str | Path, frame: Frame | None = None) -> list[Recording]:
    """The recordings of a Tobii export, one per participant and stimulus.

    Parameters
    ----------
    frame
        The screen; needed only where the export does not give its size, and it wins where both do.
    """
    table = Table.read(path)
    dialect = _dialect(table.header)
    if dialect is None:
        raise InputError(f"{path} is not a Tobii export: no gaze column such as {DIALECTS[0].gaze['left'][0]!r}")
    table = _eye_rows(table, dialect)
    frame = frame or _screen(table, dialect)
    time_name = _find(table.header, dialect.time)
    assert time_name is not None
    found = UNIT_IN_NAME.search(time_name)
    unit = None if found is None else found[1].replace("µ", "u").replace("μ", "u")
    time_ms = in_ms(table.numbers(time_name), unit)
    eyes = {eye: xy for eye in ("left", "right") if (xy := _gaze(table, dialect, eye, frame)) is not None}
    stem = table.path.name.split(".")[0]
    subjects = _words_or(table, dialect.subject, stem)
    names = _words_or(table, dialect.stimulus, stem)
    return recordings_of(time_ms, eyes, frame, list(zip(subjects, names, strict=True)))


def _dialect(header: list[str]) -> _Dialect | None:
    for dialect in DIALECTS:
        has_gaze = any(all(_find(header, name) for name in pair) for pair in dialect.gaze.values())
        if has_gaze and _find(header, dialect.time):
            return dialect
    return None


def _find(header: list[str], name: str) -> str | None:
    """The header that is `name`, with or without a unit behind it (`GazePointLeftX (ADCSpx)`)."""
    if not name:
        return None
    return next((column for column in header if re.fullmatch(re.escape(name) + r"\s*(?:[(\[].*[)\]])?", column)), None)


def _eye_rows(table: Table, dialect: _Dialect) -> Table:
    rows = table.rows
    if (name := _find(table.header, dialect.sensor)) is not None:
        rows = [row for row, word in zip(rows, table.words(name), strict=True) if word in ("", "Eye Tracker")]
    codes = [_find(table.header, name) for name in dialect.validity.values()]
    validity = [table.header.index(name) for name in codes if name is not None]
    if validity:
        rows = [row for row in rows if any(row[at].strip() for at in validity)]
    if not rows:
        raise InputError(f"{table.path} holds no samples: none of its {len(table.rows)} rows is an eye sample")
    return Table(table.path, table.header, rows)


def _gaze(table: Table, dialect: _Dialect, eye: str, frame: Frame) -> Floats | None:
    x, y = (_find(table.header, name) for name in dialect.gaze[eye])
    if x is None or y is None:
        return None
    xy = np.stack([table.numbers(x), table.numbers(y)], axis=1)
    xy[(xy == LOST).all(axis=1)] = np.nan
    if (name := _find(table.header, dialect.validity[eye])) is not None:
        xy[[_is_bad(word) for word in table.words(name)]] = np.nan
    return frame.denormalise(xy) if dialect.shares else xy


def _is_bad(word: str) -> bool:
    if word.isdigit():
        return int(word) > LAST_VALID_CODE
    return word.lower() not in ("valid", "whole", "partial")


def _screen(table: Table, dialect: _Dialect) -> Frame:
    columns = [name for name in (_find(table.header, pattern) for pattern in dialect.resolution) if name is not None]
    text = " x ".join(table.words(name)[0] for name in columns)
    if columns and (found := RESOLUTION.search(text)):
        return Frame(int(found[1]), int(found[2]))
    if not dialect.shares:
        raise InputError(f"{table.path} does not say how large the screen is: give --screen WIDTHxHEIGHT")
    size = f"{SDK_SCREEN.width_px:g}×{SDK_SCREEN.height_px:g}"
    warnings.warn(f"{table.path} does not say how large the screen is: {size} px taken; give --screen", stacklevel=3)
    return SDK_SCREEN


def _words_or(table: Table, name: str, otherwise: str) -> list[str]:
    column = _find(table.header, name)
    if column is None:
        return [otherwise] * len(table.rows)
    return [word or otherwise for word in table.words(column)]
