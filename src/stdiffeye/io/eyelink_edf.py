"""EyeLink `.edf`, read through eyelinkio's bundled SR Research library (extra `edf`): the same recordings as from ASC.

eyelinkio's own `read_edf` numbers the samples evenly and so closes up the time between blocks; experiments' messages
then no longer fit. So the items are taken one by one from the library that eyelinkio loads, with the tracker's clock.
Values are rounded to the tenth of a pixel that the file stores and edf2asc prints. Conventions as in `eyelink_asc`.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import XY, Event, EventKind, Message, Recording
from stdiffeye.io.bytes_in import EDF_MAGIC
from stdiffeye.io.eyelink_asc import COORDS, Box, screen_frame

NEEDS = "reading EyeLink EDF files needs the extra `edf`: pip install 'stdiffeye[edf]', or convert to ASC with edf2asc"

# SR Research's item codes and flags (EDF API manual).
SAMPLE, MESSAGE, RECORDING_INFO, NO_MORE = 200, 24, 30, 0
EVENT_KINDS: dict[int, EventKind] = {8: "fixation", 6: "saccade", 4: "blink"}
GAZE_IN_SAMPLES, HALF_MS_LATER = 0x0400, 0x0002
STATE_STOPPED = 0
EYES: dict[int, tuple[str, ...]] = {1: ("left",), 2: ("right",), 3: ("left", "right")}
CONSISTENCY_CHECK, LOAD_EVENTS, LOAD_SAMPLES = 0, 1, 1
MISSING_FROM = 99_999_999.0  # the library's word for "no value" is 1e8, or −32768
MISSING_INTEGER = -32768.0
DECIMALS = 1


@dataclass
class _EdfBlock:
    rate_hz: float
    eyes: tuple[str, ...]
    samples: list[tuple[float, ...]] = field(default_factory=list)  # time, then x, y, pupil per eye, then px per degree
    events: list[Event] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    box: Box | None = None


def read_edf(path: str | Path, frame: Frame | None = None) -> list[Recording]:
    """The blocks of an EDF file in the order of the file.

    Parameters
    ----------
    frame : the screen, for a file that does not give its size (and instead of what it says when it does).
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path} does not exist" if not path.exists() else f"{path} is not a file")
    with path.open("rb") as file:
        if not file.read(len(EDF_MAGIC)).startswith(EDF_MAGIC):
            raise InputError(f"{path} is not an EyeLink EDF file: it does not begin with {EDF_MAGIC.decode()}")
    try:
        from eyelinkio.edf import _edf2py as library
    except (ImportError, OSError, AssertionError):
        raise InputError(NEEDS) from None
    blocks = [block for block in _blocks(path, library) if block.samples]
    if not blocks:
        raise InputError(f"{path} holds no samples")
    sizes = [sample[-1] for block in blocks for sample in block.samples if 0 < sample[-1] < MISSING_FROM]
    px_per_degree = float(np.mean(sizes)) if sizes else None
    return [
        _recording(path, block, frame or screen_frame(path, block.box, px_per_degree), number, len(blocks))
        for number, block in enumerate(blocks, start=1)
    ]


def _blocks(path: Path, library: Any) -> list[_EdfBlock]:
    blocks: list[_EdfBlock] = []
    waiting: list[Message] = []
    box: Box | None = None
    is_open = False
    for code, data in _items(path, library):
        if code == RECORDING_INFO:
            info = data.rec
            is_open = info.state != STATE_STOPPED
            if is_open:
                _require_gaze(path, info)
                blocks.append(_EdfBlock(float(info.sample_rate), EYES[info.eye], messages=waiting, box=box))
                waiting = []
        elif code == MESSAGE:
            message = _message(data.fe)
            (blocks[-1].messages if is_open else waiting).append(message)
            if found := COORDS.search(message.text):
                left, top, right, bottom = (float(word.rstrip(",")) for word in found.groups())
                box = (left, top, right, bottom)
                if is_open:
                    blocks[-1].box = box
        elif is_open and code == SAMPLE:
            blocks[-1].samples.append(_sample(data.fs, blocks[-1].eyes))
        elif is_open and code in EVENT_KINDS:
            blocks[-1].events.append(_event(EVENT_KINDS[code], data.fe, blocks[-1].rate_hz))
    if blocks:
        blocks[-1].messages.extend(waiting)
    return blocks


def _require_gaze(path: Path, info: Any) -> None:
    if info.eye not in EYES or not info.sample_rate > 0:
        raise InputError(f"{path} is damaged: a block of eye {info.eye} at {info.sample_rate:g} Hz")
    if not info.sflags & GAZE_IN_SAMPLES:
        raise InputError(f"{path} holds no gaze in screen px: record with gaze coordinates switched on")


def _items(path: Path, library: Any) -> Iterator[tuple[int, Any]]:
    error = ctypes.c_int(1)
    with _quiet_library():
        file = library.edf_open_file(os.fsencode(path), CONSISTENCY_CHECK, LOAD_EVENTS, LOAD_SAMPLES, error)
    if not file or error.value != 0:
        raise InputError(f"{path} cannot be read as an EyeLink EDF (library error {error.value}): is it cut short?")
    try:
        while (code := library.edf_get_next_data(file)) != NO_MORE:
            yield code, library.edf_get_float_data(file).contents
    finally:
        with _quiet_library():
            library.edf_close_file(file)


@contextmanager
def _quiet_library() -> Iterator[None]:
    """The library prints its own progress and errors; standard output and error belong to our one line."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        yield
    finally:
        if os.name == "posix":
            ctypes.CDLL(None).fflush(None)
        for target, copy in enumerate(kept, start=1):
            os.dup2(copy, target)
            os.close(copy)
        os.close(silent)


def _sample(sample: Any, eyes: tuple[str, ...]) -> tuple[float, ...]:
    time = sample.time + (0.5 if sample.flags & HALF_MS_LATER else 0.0)
    values: list[float] = [time]
    for eye in eyes:
        index = 0 if eye == "left" else 1
        values += [sample.gx[index], sample.gy[index], sample.pa[index]]
    return (*values, (sample.rx + sample.ry) / 2)


def _message(event: Any) -> Message:
    text = event.message
    length = text.contents.len if text else 0
    # The text follows its own two-byte length.
    raw = ctypes.string_at(ctypes.addressof(text.contents) + ctypes.sizeof(ctypes.c_short), length) if text else b""
    try:
        words = raw.rstrip(b"\0").decode("utf-8")
    except UnicodeDecodeError:
        words = raw.rstrip(b"\0").decode("latin-1")
    return Message(float(event.sttime), words.strip())


def _event(kind: EventKind, event: Any, rate_hz: float) -> Event:
    eye: Literal["left", "right"] = "left" if event.eye == 0 else "right"
    duration = event.entime - event.sttime + 1000 / rate_hz
    if kind == "blink":
        return Event(kind, eye, float(event.sttime), duration)
    if kind == "fixation":
        return Event(kind, eye, float(event.sttime), duration, _xy(event.gavx, event.gavy))
    return Event(kind, eye, float(event.sttime), duration, _xy(event.gstx, event.gsty), _xy(event.genx, event.geny))


def _xy(x: float, y: float) -> XY | None:
    if max(x, y) >= MISSING_FROM or MISSING_INTEGER in (x, y):
        return None
    return round(x, DECIMALS), round(y, DECIMALS)


def _recording(path: Path, block: _EdfBlock, frame: Frame, number: int, blocks: int) -> Recording:
    table = np.array(block.samples, dtype=np.float64)
    values = np.round(table[:, 1:], DECIMALS)
    values[(values >= MISSING_FROM) | (values == MISSING_INTEGER)] = np.nan
    origin = block.box[:2] if block.box else (0.0, 0.0)
    columns: dict[str, Floats] = {}
    for index, eye in enumerate(block.eyes):
        columns[f"{eye}_px"] = values[:, 3 * index : 3 * index + 2] - origin
        columns[f"{eye}_pupil"] = values[:, 3 * index + 2]
    return Recording(
        table[:, 0],
        block.rate_hz,
        frame,
        name=path.stem if blocks == 1 else f"{path.stem} block {number}",
        subject=path.stem,
        events=tuple(event.moved(origin) for event in block.events),
        messages=tuple(block.messages),
        **columns,  # type: ignore[arg-type]
    )
