"""Recordings written as an EyeLink `.asc` (gzipped when the name ends in .gz), laid out as edf2asc does.

For made recordings (the demonstration, tests) and for giving cleaned blocks to programs that read nothing else.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

from stdiffeye.arrays import Floats
from stdiffeye.files import atomic_write
from stdiffeye.gaze.recording import XY, Event, Recording

LOST = "   ."
FLAGS = {1: "...", 2: "....."}
EVENT_WORDS = {"fixation": "EFIX", "saccade": "ESACC", "blink": "EBLINK"}
HEADER = "** WRITTEN BY stdiffeye\n** TYPE: EDF_FILE BINARY EVENT SAMPLE TAGGED\n**\n\n"


def write_asc(path: str | Path, recordings: Sequence[Recording]) -> None:
    """Write blocks one after the other, whole or not at all."""
    text = HEADER + "".join(line for recording in recordings for line in _block(recording))
    data = text.encode()
    with atomic_write(path) as temporary:
        temporary.write_bytes(gzip.compress(data, mtime=0) if Path(path).name.endswith(".gz") else data)


def _block(recording: Recording) -> Iterator[str]:
    time = _clock(recording.time_ms)
    first, last = recording.time_ms[0], recording.time_ms[-1]
    frame, eyes = recording.frame, "\t".join(eye.upper() for eye in recording.eyes)
    said = [(item.time_ms, f"MSG\t{_clock([item.time_ms])[0]} {item.text}\n") for item in recording.messages]
    yield from (line for at, line in said if at < first)
    coordinates = f"0.00 0.00 {frame.width_px - 1:.2f} {frame.height_px - 1:.2f}"
    yield f"MSG\t{time[0]} GAZE_COORDS {coordinates}\n"
    yield f"START\t{time[0]} \t{eyes}\tSAMPLES\tEVENTS\nPRESCALER\t1\nVPRESCALER\t1\nPUPIL\tAREA\n"
    for kind in ("EVENTS", "SAMPLES"):
        yield f"{kind}\tGAZE\t{eyes}\tRATE\t{recording.rate_hz:7.2f}\tTRACKING\tCR\tFILTER\t2\n"
    between = [item for item in said if first <= item[0] <= last]
    between += [(event.start_ms, _event_start(event)) for event in recording.events]
    between += [(event.start_ms + event.duration_ms, _event(event)) for event in recording.events]
    between.sort(key=lambda item: item[0])
    waiting = iter([*between, (float("inf"), "")])
    at, line = next(waiting)
    for moment, sample in zip(recording.time_ms.tolist(), _samples(recording, time), strict=True):
        while at <= moment:
            yield line
            at, line = next(waiting)
        yield sample
    while line:
        yield line
        at, line = next(waiting)
    density = frame.px_per_degree
    yield f"END\t{time[-1]} \tSAMPLES\tEVENTS" + (f"\tRES\t{density:7.2f}\t{density:7.2f}\n" if density else "\n")
    yield from (line for at, line in said if at > last)


def _clock(time_ms: Floats | Sequence[float]) -> list[str]:
    times = list(map(float, time_ms))
    return [f"{at:.0f}" for at in times] if all(at.is_integer() for at in times) else [f"{at:.1f}" for at in times]


def _samples(recording: Recording, time: list[str]) -> Iterator[str]:
    columns = [time]
    for eye in recording.eyes:
        xy, pupil = getattr(recording, f"{eye}_px"), getattr(recording, f"{eye}_pupil")
        zero = [f"{0:7.1f}"] * len(time)
        columns += [_numbers(xy[:, 0]), _numbers(xy[:, 1]), zero if pupil is None else _numbers(pupil)]
    flags = FLAGS[len(recording.eyes)]
    for row in zip(*columns, strict=True):
        yield "\t".join(row) + f"\t{flags}\n"


def _numbers(values: Floats) -> list[str]:
    return [LOST if value != value else f"{value:7.1f}" for value in values.tolist()]


def _event_start(event: Event) -> str:
    return f"S{EVENT_WORDS[event.kind][1:]} {event.eye[0].upper()}   {_clock([event.start_ms])[0]}\n"


def _event(event: Event) -> str:
    start, end = _clock([event.start_ms, event.start_ms + event.duration_ms - 1])
    line = f"{EVENT_WORDS[event.kind]} {event.eye[0].upper()}   {start}\t{end}\t{event.duration_ms:g}"
    if event.kind == "blink":
        return line + "\n"
    positions = [event.xy_px] if event.kind == "fixation" else [event.xy_px, event.end_xy_px]
    return "\t".join([line, *map(_position, positions)]) + "\t0\n"


def _position(xy: XY | None) -> str:
    return f"{LOST}\t{LOST}" if xy is None else f"{xy[0]:7.1f}\t{xy[1]:7.1f}"
