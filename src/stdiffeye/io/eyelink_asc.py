"""EyeLink `.asc` (what SR Research's edf2asc writes), plain or gzipped: one `Recording` per START … END block.

Conventions
-----------
* Gaze in screen px (edf2asc's default); HREF or raw pupil coordinates are refused. One or two eyes, remote or not.
* The rate comes from the SAMPLES line, else from the `!MODE RECORD` message, else from the timestamps. Blocks of
  different rates in one file are fine: each `Recording` has its own. Older 2000 Hz files write each whole ms twice;
  the second of such a pair is half a ms later.
* The screen comes from GAZE_COORDS or DISPLAY_COORDS (left, top, right, bottom). These name the last pixel
  (0 0 1023 767) but some experiments write the size (0 0 1920 1080); screens have even sizes, which tells them apart.
* px per degree is the mean of the RES figures of the file's END lines, one value for the whole file.
* Messages between two blocks belong to the later one, messages after the last block to the last.
* A missing END (recording broken off) is tolerated; a sample line that cannot be read is an error with its number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import XY, Event, EventKind, Message, Recording
from stdiffeye.io.asc_scan import NO_TIME, Scan, scan
from stdiffeye.io.bytes_in import decoded, text_bytes

KIND = "an EyeLink ASC file"
VALUES_PER_EYE = 3  # x, y, pupil
EVENT_KINDS: dict[str, EventKind] = {"EFIX": "fixation", "ESACC": "saccade", "EBLINK": "blink"}
COORDS = re.compile(r"(?:GAZE|DISPLAY)_COORDS\s*=?\s+(\S+)[\s,]+(\S+)[\s,]+(\S+)[\s,]+(\S+)")
Box = tuple[float, float, float, float]  # left, top, right, bottom of the screen
MODE_RATE = re.compile(r"!MODE\s+RECORD\s+\S+\s+(\d+(?:\.\d+)?)")


@dataclass
class _AscBlock:
    """One START … END while it is being read."""

    first_sample: int
    last_sample: int = -1
    eyes: tuple[str, ...] = ()
    rate_hz: float | None = None
    box: Box | None = None
    events: list[Event] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)


@dataclass
class _State:
    """What the lines so far have said."""

    blocks: list[_AscBlock] = field(default_factory=list)
    is_open: bool = False
    box: Box | None = None
    mode_rate_hz: float | None = None
    waiting: list[Message] = field(default_factory=list)  # messages since the last block ended
    px_per_degree: list[float] = field(default_factory=list)


def read_asc(path: str | Path, frame: Frame | None = None) -> list[Recording]:
    """The blocks of an ASC file in the order of the file.

    Parameters
    ----------
    frame
        The screen, for a file that does not give its size (and instead of what it says when it does).
    """
    path = Path(path)
    data = text_bytes(path, KIND)
    scanned = scan(data)
    if len(scanned.time) == 0:
        raise InputError(
            f"{path} holds no samples: either it is not {KIND}, or it was converted with events only (edf2asc -e)"
        )
    state = _State()
    for line, text in _lines(data, scanned):
        try:
            _take_line(state, text, int(scanned.samples_before[line]))
        except (ValueError, IndexError) as error:
            where = _line_number(data, int(scanned.line_start[line]))
            raise InputError(f"{path} line {where}: {error} in {text[:60]!r}") from None
    blocks = _finished_blocks(state, scanned)
    if not blocks:
        raise InputError(f"{path} holds no samples between START and END")
    pixels = float(np.mean(state.px_per_degree)) if state.px_per_degree else None
    return [
        _recording(path, data, scanned, block, frame or screen_frame(path, block.box, pixels), number, len(blocks))
        for number, block in enumerate(blocks, start=1)
    ]


def _lines(data: bytes, scanned: Scan) -> Iterator[tuple[int, str]]:
    for line, (start, end) in enumerate(zip(scanned.line_start.tolist(), scanned.line_end.tolist(), strict=True)):
        text = decoded(data[start:end])
        if text[0].isalpha():
            yield line, text.rstrip()


def _take_line(state: _State, text: str, samples_before: int) -> None:
    words = text.split()
    match words[0]:
        case "MSG":
            _take_message(state, text)
        case "START":
            _close(state, samples_before)
            eyes = tuple(eye for eye in ("LEFT", "RIGHT") if eye in words)
            state.blocks.append(_AscBlock(samples_before, eyes=eyes, messages=state.waiting))
            state.waiting, state.is_open = [], True
        case "SAMPLES" if state.is_open:
            _take_layout(state, words, samples_before)
        case "END" if state.is_open:
            _close(state, samples_before)
            if "RES" in words:
                at = words.index("RES") + 1
                sizes = [float(word) for word in words[at : at + 2] if word != "."]
                state.px_per_degree += [float(np.mean(sizes))] if sizes and min(sizes) > 0 else []
        case "EFIX" | "ESACC" | "EBLINK" if state.is_open:
            state.blocks[-1].events.append(_event(words))


def _take_message(state: _State, text: str) -> None:
    _, time, *rest = text.split(maxsplit=2)
    message = Message(_finite(time), rest[0] if rest else "")
    (state.blocks[-1].messages if state.is_open else state.waiting).append(message)
    if found := COORDS.search(message.text):
        left, top, right, bottom = (_finite(word.rstrip(",")) for word in found.groups())
        state.box = (left, top, right, bottom)
    elif found := MODE_RATE.search(message.text):
        state.mode_rate_hz = float(found[1])


def _take_layout(state: _State, words: list[str], samples_before: int) -> None:
    if "GAZE" not in words:
        raise ValueError(f"gaze is not in screen px but in {words[1:2]}: convert the EDF again with gaze coordinates")
    rate = float(words[words.index("RATE") + 1]) if "RATE" in words else None
    block = state.blocks[-1]
    if samples_before > block.first_sample and block.rate_hz != rate:
        _close(state, samples_before)
        state.blocks.append(_AscBlock(samples_before))
        state.is_open, block = True, state.blocks[-1]
    block.rate_hz = rate
    block.eyes = tuple(eye for eye in ("LEFT", "RIGHT") if eye in words) or block.eyes


def _close(state: _State, samples_before: int) -> None:
    if state.is_open:
        block = state.blocks[-1]
        block.last_sample, block.box = samples_before, state.box
        block.rate_hz = block.rate_hz or state.mode_rate_hz
        state.is_open = False


def _event(words: list[str]) -> Event:
    kind = EVENT_KINDS[words[0]]
    if words[1] not in ("L", "R"):
        raise ValueError(f"the eye must be L or R, got {words[1]!r},")
    eye: Literal["left", "right"] = "left" if words[1] == "L" else "right"
    start, duration = _finite(words[2]), _finite(words[4])
    if kind == "blink":
        return Event(kind, eye, start, duration)
    end_xy = _xy(words[7:9]) if kind == "saccade" else None
    return Event(kind, eye, start, duration, _xy(words[5:7]), end_xy)


def _xy(words: list[str]) -> XY | None:
    if len(words) < 2 or "." in words:
        return None
    return _finite(words[0]), _finite(words[1])


def _finite(word: str) -> float:
    value = float(word)
    if not math.isfinite(value):
        raise ValueError(f"{word!r} is no number")
    return value


def _finished_blocks(state: _State, scanned: Scan) -> list[_AscBlock]:
    samples = len(scanned.time)
    _close(state, samples)
    if not state.blocks:
        # edf2asc can be told to leave everything but the samples out.
        only = _AscBlock(0, samples, box=state.box, rate_hz=state.mode_rate_hz, messages=state.waiting)
        two = int(scanned.fields.min()) >= 2 * VALUES_PER_EYE
        only.eyes = ("LEFT", "RIGHT") if two else ("LEFT",)
        return [only]
    state.blocks[-1].messages.extend(state.waiting)
    kept: list[_AscBlock] = []
    orphans: list[Message] = []
    for block in state.blocks:
        if block.last_sample > block.first_sample:
            block.messages[:0] = orphans
            orphans = []
            kept.append(block)
        else:
            orphans += block.messages
    if kept:
        kept[-1].messages.extend(orphans)
    return kept


def screen_frame(path: Path, box: Box | None, px_per_degree: float | None) -> Frame:
    """The screen that a DISPLAY_COORDS or GAZE_COORDS message describes."""
    if box is None:
        raise InputError(f"{path} does not say how large the screen is (no DISPLAY_COORDS message): give --screen")
    left, top, right, bottom = box
    width, height = (span + 1 if (span + 1) % 2 == 0 else span for span in (right - left, bottom - top))
    if not (width > 0 and height > 0):
        raise InputError(f"{path} says that the screen measures {width:g} × {height:g} px: give --screen")
    return Frame(width, height, px_per_degree)


def _recording(
    path: Path, data: bytes, scanned: Scan, block: _AscBlock, frame: Frame, number: int, blocks: int
) -> Recording:
    span = slice(block.first_sample, block.last_sample)
    eyes = block.eyes or ("LEFT",)
    _require_fields(path, data, scanned, span, VALUES_PER_EYE * len(eyes))
    time = scanned.time[span].copy()
    rate = block.rate_hz or _rate_of(time, path)
    if rate > 1000:
        time[1:][np.diff(time) == 0] += 1000 / rate
    backwards = np.diff(time) <= 0
    if backwards.any():
        at = int(backwards.argmax())
        where = _line_number(data, int(scanned.sample_at[span][at + 1]))
        raise InputError(f"{path} line {where}: time runs backwards, {time[at + 1]:.10g} after {time[at]:.10g} ms")
    columns: dict[str, Floats] = {}
    origin = block.box[:2] if block.box else (0.0, 0.0)
    for index, eye in enumerate(eyes):
        x, y, pupil = scanned.values[VALUES_PER_EYE * index : VALUES_PER_EYE * (index + 1), span]
        columns[f"{eye.lower()}_px"] = np.stack([x, y], axis=1) - origin
        columns[f"{eye.lower()}_pupil"] = pupil
    stem = path.name.split(".")[0]
    return Recording(
        time,
        rate,
        frame,
        name=stem if blocks == 1 else f"{stem} block {number}",
        subject=stem,
        events=tuple(event.moved(origin) for event in block.events),
        messages=tuple(block.messages),
        **columns,  # type: ignore[arg-type]
    )


def _require_fields(path: Path, data: bytes, scanned: Scan, span: slice, needed: int) -> None:
    fields = scanned.fields[span]
    bad = (fields < needed) | (fields == NO_TIME)
    if bad.any():
        at = int(scanned.sample_at[span][int(bad.argmax())])
        text = decoded(data[at : data.find(b"\n", at) if b"\n" in data[at:] else len(data)]).rstrip()
        raise InputError(
            f"{path} line {_line_number(data, at)} should be a time and {needed} numbers, got {text[:60]!r}: "
            "the file is damaged or cut short"
        )


def _rate_of(time: Floats, path: Path) -> float:
    step = np.diff(time)
    if len(step) == 0 or not np.median(step) > 0:
        raise InputError(f"{path} does not say its rate, and {len(time)} samples are too few to tell it")
    return float(1000 / np.median(step))


def _line_number(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1
