"""Gazepoint CSV, as Gazepoint Analysis exports it (`User 0_all_gaze.csv`).

Layout: `MEDIA_ID, MEDIA_NAME, CNT, TIME(…), TIMETICK(…), FPOGX, …, BPOGX, BPOGY, BPOGV, …, USER, …`; positions are
shares of the screen from the top left corner, times are seconds, a validity (`…V`) of 0 is lost. The eyes of their own
(`LPOGX`, `RPOGX`) are taken where the export has them, else the best point of gaze (`BPOGX`). What an experiment wrote
into `USER` is a message. One recording per medium; the time may begin anew with each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import Message, Recording
from stdiffeye.io.table import Table, in_ms, recordings_of

EYES = {"left": "LPOG", "right": "RPOG"}
BEST = ("BPOG", "FPOG")
SUFFIXES = ("_all_gaze", "_fixations")


def is_gazepoint(header: Sequence[str]) -> bool:
    """Whether a table's header is one of Gazepoint's."""
    return _time(header) is not None and any(f"{point}X" in header for point in (*EYES.values(), *BEST))


def read_gazepoint(path: str | Path, frame: Frame | None = None) -> list[Recording]:
    """The recordings of a Gazepoint export, one per medium.

    Parameters
    ----------
    frame
        The screen, which the file does not describe.
    """
    if frame is None:
        raise InputError(f"{path} holds shares of the screen and not its size: give --screen WIDTHxHEIGHT")
    table = Table.read(path)
    time_name = _time(table.header)
    assert time_name is not None
    time_ms = in_ms(table.numbers(time_name), "s")
    own = {eye: xy for eye, point in EYES.items() if (xy := _gaze(table, point, frame)) is not None}
    best = (_gaze(table, point, frame) for point in BEST)
    eyes = own or {"left": next(xy for xy in best if xy is not None)}
    stem = table.path.name.split(".")[0]
    subject = next((stem.removesuffix(end) for end in SUFFIXES if stem.endswith(end)), stem)
    names = table.words("MEDIA_NAME") if "MEDIA_NAME" in table.header else [stem] * len(time_ms)
    said = table.words("USER") if "USER" in table.header else [""] * len(time_ms)
    made, first = [], 0
    for one in recordings_of(time_ms, eyes, frame, [(subject, name or stem) for name in names]):
        spoken = zip(one.time_ms.tolist(), said[first : first + len(one)], strict=True)
        made.append(replace(one, messages=tuple(Message(at, text) for at, text in spoken if text)))
        first += len(one)
    return made


def _time(header: Sequence[str]) -> str | None:
    """`TIME` or `TIME(2024/05/01 10:00:00.000)`."""
    return next((name for name in header if name == "TIME" or name.startswith("TIME(")), None)


def _gaze(table: Table, point: str, frame: Frame) -> Floats | None:
    if f"{point}X" not in table.header or f"{point}Y" not in table.header:
        return None
    xy = np.stack([table.numbers(f"{point}X"), table.numbers(f"{point}Y")], axis=1)
    if f"{point}V" in table.header:
        xy[table.numbers(f"{point}V") != 1] = np.nan
    return frame.denormalise(xy)
