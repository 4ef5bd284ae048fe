"""EyeLink `.edf` through eyelinkio's bundled SR Research library, as plain values; runs in a child process.

eyelinkio's own `read_edf` numbers the samples evenly and so closes up the time between blocks; experiments' messages
then no longer fit. So the items are taken one by one from the library that eyelinkio loads, with the tracker's clock.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError

NEEDS = "reading EyeLink EDF files needs the extra `edf`: pip install 'stdiffeye[edf]', or convert to ASC with edf2asc"

# SR Research's item codes and flags (EDF API manual).
SAMPLE, MESSAGE, RECORDING_INFO, NO_MORE = 200, 24, 30, 0
EVENT_KINDS = {8: "fixation", 6: "saccade", 4: "blink"}
GAZE_IN_SAMPLES, HALF_MS_LATER = 0x0400, 0x0002
STATE_STOPPED = 0
EYES: dict[int, tuple[str, ...]] = {1: ("left",), 2: ("right",), 3: ("left", "right")}
SIDES = {"left": 0, "right": 1}
RAW_BYTES = 1 << 23
CONSISTENCY_CHECK, LOAD_EVENTS, LOAD_SAMPLES = 0, 1, 1


@dataclass
class EdfBlock:
    """One block of recording as the library gives it."""

    rate_hz: float
    eyes: tuple[str, ...]
    layout: np.dtype[Any]
    """Of a sample as the library has it in memory."""
    events: list[list[Any]] = field(default_factory=list)
    """Kind, eye, start and end in ms, x, y at the start (a fixation's mean), x, y at the end."""
    messages: list[tuple[float, str]] = field(default_factory=list)
    raw: bytearray = field(default_factory=bytearray)
    """Samples as they came, until there are many."""
    tables: list[Floats] = field(default_factory=list)
    """Rows of time, then x, y, pupil per eye, then px per degree."""

    def take(self, samples: bytearray) -> None:
        """Keep samples that came."""
        self.raw += samples
        if len(self.raw) > RAW_BYTES:
            self.settle()

    def settle(self) -> None:
        """Turn samples that came into rows of numbers, all at once: a sample at a time takes ten times as long."""
        samples = np.frombuffer(bytes(self.raw), self.layout)
        self.raw.clear()
        columns = [samples["time"] + np.where(samples["flags"] & HALF_MS_LATER, 0.5, 0.0)]
        for eye in self.eyes:
            columns += [samples[name][:, SIDES[eye]] for name in ("gx", "gy", "pa")]
        degree = (samples["rx"].astype(np.float64) + samples["ry"]) / 2
        self.tables.append(np.column_stack([*columns, degree]).astype(np.float64))

    def as_dict(self) -> dict[str, Any]:
        self.settle()
        kept = {name: getattr(self, name) for name in ("rate_hz", "eyes", "events", "messages")}
        return kept | {"samples": np.concatenate(self.tables)}


def read_blocks(path: str) -> list[dict[str, Any]]:
    """The blocks of a file in its order; messages between two blocks belong to the later one."""
    try:
        from eyelinkio.edf import _edf2py as library
    except (ImportError, OSError, AssertionError):
        raise InputError(NEEDS) from None
    layout = np.dtype(library.FSAMPLE)
    blocks: list[EdfBlock] = []
    waiting: list[tuple[float, str]] = []
    is_open = False
    raw = bytearray()
    for code, data in _items(path, library, layout.itemsize, raw):
        if is_open:
            blocks[-1].take(raw)
        raw.clear()
        if code == RECORDING_INFO:
            info = data.rec
            is_open = info.state != STATE_STOPPED
            if is_open:
                _require_gaze(path, info)
                blocks.append(EdfBlock(float(info.sample_rate), EYES[info.eye], layout, messages=waiting))
                waiting = []
        elif code == MESSAGE:
            (blocks[-1].messages if is_open else waiting).append(_message(data.fe))
        elif is_open and code in EVENT_KINDS:
            blocks[-1].events.append(_event(EVENT_KINDS[code], data.fe))
    if blocks:
        blocks[-1].messages.extend(waiting)
    return [block.as_dict() for block in blocks]


def _require_gaze(path: str, info: Any) -> None:
    if info.eye not in EYES or not info.sample_rate > 0:
        raise InputError(f"{path} is damaged: a block of eye {info.eye} at {info.sample_rate:g} Hz")
    if not info.sflags & GAZE_IN_SAMPLES:
        raise InputError(f"{path} holds no gaze in screen px: record with gaze coordinates switched on")


def _items(path: str, library: Any, sample_bytes: int, raw: bytearray) -> Iterator[tuple[int, Any]]:
    """Code and data of each item but samples; samples that came before it are added to `raw` as they lie in memory."""
    error = ctypes.c_int(1)
    file = library.edf_open_file(os.fsencode(path), CONSISTENCY_CHECK, LOAD_EVENTS, LOAD_SAMPLES, error)
    if not file or error.value != 0:
        raise InputError(f"{path} cannot be read as an EyeLink EDF (library error {error.value}): is it cut short?")
    # Plain addresses: pointer objects for each of millions of samples take longer than the library itself. Nor is the
    # interpreter's lock given back for every sample: no other thread of the child process would use it.
    next_code = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(("edf_get_next_data", library.edfapi))
    next_data = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(("edf_get_float_data", library.edfapi))
    kind = library.edf_get_float_data.restype
    handle = ctypes.cast(file, ctypes.c_void_p).value
    known, window = 0, (ctypes.c_char * sample_bytes)()
    try:
        while (code := next_code(handle)) != NO_MORE:
            address = next_data(handle)
            if code != SAMPLE:
                yield code, ctypes.cast(address, kind).contents
                continue
            if address != known:
                known, window = address, (ctypes.c_char * sample_bytes).from_address(address)
            raw += window
            if len(raw) > RAW_BYTES:
                yield SAMPLE, None
        yield NO_MORE, None
    finally:
        library.edf_close_file(file)


def _message(event: Any) -> tuple[float, str]:
    text = event.message
    length = text.contents.len if text else 0
    # The text follows its own two-byte length.
    raw = ctypes.string_at(ctypes.addressof(text.contents) + ctypes.sizeof(ctypes.c_short), length) if text else b""
    try:
        words = raw.rstrip(b"\0").decode("utf-8")
    except UnicodeDecodeError:
        words = raw.rstrip(b"\0").decode("latin-1")
    return float(event.sttime), words.strip()


def _event(kind: str, event: Any) -> list[Any]:
    eye = "left" if event.eye == 0 else "right"
    first = (event.gavx, event.gavy) if kind == "fixation" else (event.gstx, event.gsty)
    return [kind, eye, float(event.sttime), float(event.entime), *first, event.genx, event.geny]
