"""SMI text, as the IDF Converter and BeGaze write raw data (`… Samples.txt`).

Layout: lines `## Name:<tab>value` say the rate, the viewer, the screen in px and mm and its distance. A header `Time,
Type, Trial, L POR X [px], …` follows, then rows of type SMP, and of type MSG with `# Message: …` in the fourth cell.
Times are µs. A point of regard of (0, 0) is lost. One recording per trial number. It is called after the first picture
that a message of the trial names.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import Message, Recording
from stdiffeye.io.bytes_in import decoded, open_unpacked, text_bytes
from stdiffeye.io.table import Table, in_ms, recordings_of

KIND = "SMI text"
MARKS = (b"## [iView]", b"## [Run]", b"## Sample Rate", b"## IDF Version")
LOOKED_AT = 4096
MESSAGE = "# Message:"
PICTURE = re.compile(r"[^\s\\/]+\.(?:jpe?g|png|bmp|gif|tiff?|avi|mp4)\b", re.IGNORECASE)
POINTS = {"left": ("L POR X [px]", "L POR Y [px]"), "right": ("R POR X [px]", "R POR Y [px]")}


def is_smi(path: Path) -> bool:
    """Whether a text file begins with SMI's comments."""
    with open_unpacked(path) as file:
        head = file.read(LOOKED_AT)
    return any(mark in head for mark in MARKS)


def read_smi(path: str | Path, frame: Frame | None = None) -> list[Recording]:
    """The recordings of an SMI text file, one per trial.

    Parameters
    ----------
    frame
        The screen, instead of what the file says.
    """
    path = Path(path)
    lines = [line for line in decoded(text_bytes(path, KIND)).splitlines() if line.strip()]
    facts = _facts([line for line in lines if line.startswith("##")])
    rows = [line.split("\t") for line in lines if not line.startswith("##")]
    if not rows or rows[0][0].strip() != "Time" or "Type" not in rows[0]:
        raise InputError(f"{path} is not {KIND}: it has no header line that begins with Time and Type")
    header = [name.strip() for name in rows[0]]
    at = header.index("Type")
    samples = [row for row in rows[1:] if len(row) > at and row[at].strip() == "SMP"]
    short = next((number for number, row in enumerate(samples, 1) if len(row) != len(header)), None)
    if not samples or short is not None:
        what = "no sample" if short is None else f"a sample of {len(samples[short - 1])} cells at {short}"
        raise InputError(f"{path} holds {what}, the header has {len(header)}: cut short?")
    table = Table(path, header, samples)
    screen = frame or _screen(path, facts)
    eyes = {eye: xy for eye, names in POINTS.items() if (xy := _gaze(table, names)) is not None}
    if not eyes:
        raise InputError(f"{path} has no column {POINTS['left'][0]!r}: export the point of regard (POR), too")
    subject = facts.get("Subject") or path.name.split(".")[0]
    numbers = table.words("Trial") if "Trial" in header else ["1"] * len(samples)
    made = recordings_of(in_ms(table.numbers("Time"), "us"), eyes, screen, [(subject, name) for name in numbers])
    return _named(made, _messages(path, rows[1:], at))


def _named(recordings: list[Recording], messages: list[Message]) -> list[Recording]:
    """Recordings with the messages since the last one ended; called after the first picture among them."""
    ends = [float(one.time_ms[-1]) for one in recordings[:-1]] + [float("inf")]
    named, begin = [], float("-inf")
    for one, end in zip(recordings, ends, strict=True):
        own = tuple(message for message in messages if begin <= message.time_ms < end)
        pictures = (found[0] for message in own if (found := PICTURE.search(message.text)))
        name = next(pictures, f"trial {one.name}")
        named.append(replace(one, name=name, messages=own, details=one.details | {"trial": one.name}))
        begin = end
    return named


def _messages(path: Path, rows: list[list[str]], type_at: int) -> list[Message]:
    found = []
    for row in rows:
        if len(row) > type_at and row[type_at].strip() == "MSG":
            text = next((word for word in row if MESSAGE in word), row[-1]).replace(MESSAGE, "").strip()
            try:
                time_ms = float(row[0]) / 1000
            except ValueError:
                raise InputError(f"{path}: a message has the time {row[0]!r:.40}, expected µs") from None
            if not np.isfinite(time_ms):
                raise InputError(f"{path}: a message has the time {row[0]!r:.40}, expected µs")
            found.append(Message(time_ms, text))
    return found


def _facts(comments: list[str]) -> dict[str, str]:
    """`## Calibration Area:<tab>1680<tab>1050` → {"Calibration Area": "1680 1050"}."""
    pairs = (line.removeprefix("##").partition(":") for line in comments)
    return {name.strip(): " ".join(value.split()) for name, colon, value in pairs if colon}


def _screen(path: Path, facts: dict[str, str]) -> Frame:
    px, mm = (_numbers(facts.get(name, "")) for name in ("Calibration Area", "Stimulus Dimension [mm]"))
    distance = _numbers(facts.get("Head Distance [mm]", ""))
    if len(px) < 2 or min(px) <= 0:
        raise InputError(f"{path} does not say how large the screen is: give --screen WIDTHxHEIGHT")
    known = len(mm) >= 2 and min(mm) > 0 and len(distance) == 1 and distance[0] > 0
    scale = px[0] / mm[0] * distance[0] * float(np.tan(np.radians(1))) if known else None
    return Frame(px[0], px[1], scale)


def _numbers(text: str) -> list[float]:
    return [float(word) for word in re.findall(r"\d+(?:\.\d+)?", text)[:2]]


def _gaze(table: Table, names: tuple[str, str]) -> Floats | None:
    if not set(names) <= set(table.header):
        return None
    xy = np.stack([table.numbers(name) for name in names], axis=1)
    xy[(xy == 0).all(axis=1)] = np.nan
    return xy
