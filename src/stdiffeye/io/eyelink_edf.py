"""EyeLink `.edf`, read through eyelinkio's bundled SR Research library (extra `edf`): the same recordings as from ASC.

The library runs in a child process (`edf_library`), since a damaged file can crash it. Values are rounded to the tenth
of a pixel that the file stores and edf2asc prints. Conventions as in `eyelink_asc`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import XY, Event, Message, Recording
from stdiffeye.io.bytes_in import EDF_MAGIC
from stdiffeye.io.eyelink_asc import COORDS, Box, screen_frame
from stdiffeye.io.native import parse_apart

MISSING_FROM = 99_999_999.0  # the library's word for "no value" is 1e8, or −32768
MISSING_INTEGER = -32768.0
DECIMALS = 1


def read_edf(path: str | Path, frame: Frame | None = None) -> list[Recording]:
    """The blocks of an EDF file in the order of the file.

    Parameters
    ----------
    frame
        The screen, for a file that does not give its size (and instead of what it says when it does).
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path} does not exist" if not path.exists() else f"{path} is not a file")
    with path.open("rb") as file:
        if not file.read(len(EDF_MAGIC)).startswith(EDF_MAGIC):
            raise InputError(f"{path} is not an EyeLink EDF file: it does not begin with {EDF_MAGIC.decode()}")
    read = parse_apart("edf", path, "an EyeLink EDF file")
    boxes = _boxes(read)
    blocks = [(block, box) for block, box in zip(read, boxes, strict=True) if len(block["samples"])]
    if not blocks:
        raise InputError(f"{path} holds no samples")
    sizes = np.concatenate([block["samples"][:, -1] for block, _ in blocks])
    sizes = sizes[(sizes > 0) & (sizes < MISSING_FROM)]
    px_per_degree = float(np.mean(sizes)) if len(sizes) else None
    return [
        _recording(path, block, box, frame or screen_frame(path, box, px_per_degree), (number, len(blocks)))
        for number, (block, box) in enumerate(blocks, start=1)
    ]


def _boxes(blocks: list[dict[str, Any]]) -> list[Box | None]:
    """The screen of each block: the last that was told up to its end."""
    box: Box | None = None
    boxes = []
    for block in blocks:
        for _, text in block["messages"]:
            if found := COORDS.search(text):
                left, top, right, bottom = (float(word.rstrip(",")) for word in found.groups())
                box = (left, top, right, bottom)
        boxes.append(box)
    return boxes


def _event(values: list[Any], rate_hz: float) -> Event:
    kind, eye, start, end, *positions = values
    x, y, end_x, end_y = positions
    duration = end - start + 1000 / rate_hz
    if kind == "blink":
        return Event(kind, eye, start, duration)
    if kind == "fixation":
        return Event(kind, eye, start, duration, _xy(x, y))
    return Event(kind, eye, start, duration, _xy(x, y), _xy(end_x, end_y))


def _xy(x: float, y: float) -> XY | None:
    if max(x, y) >= MISSING_FROM or MISSING_INTEGER in (x, y):
        return None
    return round(x, DECIMALS), round(y, DECIMALS)


def _recording(path: Path, block: dict[str, Any], box: Box | None, frame: Frame, order: tuple[int, int]) -> Recording:
    number, blocks = order
    table = block["samples"]
    values = np.round(table[:, 1:], DECIMALS)
    values[(values >= MISSING_FROM) | (values == MISSING_INTEGER)] = np.nan
    origin = box[:2] if box else (0.0, 0.0)
    columns: dict[str, Floats] = {}
    for index, eye in enumerate(block["eyes"]):
        columns[f"{eye}_px"] = values[:, 3 * index : 3 * index + 2] - origin
        columns[f"{eye}_pupil"] = values[:, 3 * index + 2]
    return Recording(
        table[:, 0],
        block["rate_hz"],
        frame,
        name=path.stem if blocks == 1 else f"{path.stem} block {number}",
        subject=path.stem,
        events=tuple(_event(event, block["rate_hz"]).moved(origin) for event in block["events"]),
        messages=tuple(Message(time_ms, text) for time_ms, text in block["messages"]),
        **columns,  # type: ignore[arg-type]
    )
