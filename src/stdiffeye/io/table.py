"""Gaze as a table (CSV, TSV, any single-character delimiter), with a mapping that says which column is what.

One row per sample. Lines that begin with `#` are comments. Decimal commas are understood where the comma is not the
delimiter. A gap is an empty cell, a word such as `NaN`, or the value given as `lost`. An eye that the file does not
name is kept as the left one.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import Recording
from stdiffeye.io.bytes_in import decoded, text_bytes

DELIMITERS = ("\t", ",", ";", "|", " ")
SNIFFED_LINES = 10
LOST_WORDS = frozenset({"", ".", "-", "nan", "na", "n/a", "none", "null", "inf", "-inf"})
MS_PER_UNIT = {"ms": 1.0, "s": 1000.0, "us": 0.001, "ns": 0.000001}
# A step between samples shorter than this many units means seconds, longer than that one microseconds.
LONGEST_STEP_S, LONGEST_STEP_MS = 0.2, 300.0
GAP_FROM = 1.5  # a step this many times the usual one has lost a sample

GUESSES: dict[str, tuple[str, ...]] = {
    "time": ("time", "timestamp", "time_ms", "timestamp_ms", "time_us", "time_s", "t"),
    "x": ("x", "x_px", "gaze_x", "gx", "x_coordinate", "pixel_x"),
    "y": ("y", "y_px", "gaze_y", "gy", "y_coordinate", "pixel_y"),
    "left_x": ("left_x", "x_left", "left_gaze_x", "lx", "xl", "left_x_px", "x_left_pix"),
    "left_y": ("left_y", "y_left", "left_gaze_y", "ly", "yl", "left_y_px", "y_left_pix"),
    "right_x": ("right_x", "x_right", "right_gaze_x", "rx", "xr", "right_x_px", "x_right_pix"),
    "right_y": ("right_y", "y_right", "right_gaze_y", "ry", "yr", "right_y_px", "y_right_pix"),
}


@dataclass(frozen=True)
class Columns:
    """Which column is what. Either x and y, or those of the left or right eye, or both eyes.

    Examples
    --------
    >>> Columns.parse("time=t,x=gx,y=gy,unit=us,lost=-1").time_unit
    'us'
    """

    time: str
    x: str | None = None
    y: str | None = None
    left_x: str | None = None
    left_y: str | None = None
    right_x: str | None = None
    right_y: str | None = None
    trial: str | None = None
    """Column whose value names the trial or picture; a change begins a new recording."""
    subject: str | None = None
    """Column whose value names the viewer."""
    time_unit: str | None = None
    """ms, s, us or ns; by default told from the step between samples."""
    lost: float | None = None
    """A coordinate that means "lost", such as -1 or 0."""

    def __post_init__(self) -> None:
        if self.time_unit is not None and self.time_unit not in MS_PER_UNIT:
            raise InputError(f"the unit of time must be one of {', '.join(MS_PER_UNIT)}, got {self.time_unit!r}")
        for first, second in (("x", "y"), ("left_x", "left_y"), ("right_x", "right_y")):
            if (getattr(self, first) is None) != (getattr(self, second) is None):
                raise InputError(f"columns need both {first} and {second}, or neither")
        if self.x is None and self.left_x is None and self.right_x is None:
            raise InputError("columns need x and y, or left_x and left_y, or right_x and right_y")

    @classmethod
    def parse(cls, text: str) -> Columns:
        """From `time=t,x=gx,y=gy,unit=us,lost=-1`."""
        known = {item.name for item in fields(cls)}
        values: dict[str, str | float] = {}
        for pair in filter(None, (pair.strip() for pair in text.split(","))):
            key, equals, value = pair.partition("=")
            key = "time_unit" if key.strip() == "unit" else key.strip()
            if not equals or key not in known:
                raise InputError(f"--columns {pair!r} is not KEY=COLUMN with KEY one of {', '.join(sorted(known))}")
            values[key] = _as_float(value, "lost") if key == "lost" else value.strip()
        if "time" not in values:
            raise InputError(f"--columns {text!r} names no time column: time=…,x=…,y=…")
        return cls(**values)  # type: ignore[arg-type]

    @classmethod
    def guess(cls, header: Sequence[str], path: Path) -> Columns:
        """From the usual names, upper or lower case."""
        lower = {name.strip().lower(): name for name in header}
        found = {key: next((lower[name] for name in names if name in lower), None) for key, names in GUESSES.items()}
        pairs = [("x", "y"), ("left_x", "left_y"), ("right_x", "right_y")]
        complete = {key: found[key] for pair in pairs if all(found[one] for one in pair) for key in pair}
        if found["time"] is None or not complete:
            raise InputError(
                f"{path}: cannot tell which columns hold time, x and y among {_shown(header)}: "
                "say it with --columns time=…,x=…,y=…"
            )
        return cls(time=found["time"], **complete)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Table:
    """The cells of a delimited file."""

    path: Path
    header: list[str]
    rows: list[list[str]]

    @classmethod
    def header_of(cls, path: str | Path) -> list[str]:
        """The names of the columns, without a look at more than the first lines."""
        return cls._parsed(Path(path), SNIFFED_LINES).header

    @classmethod
    def read(cls, path: str | Path) -> Table:
        """All of a file."""
        return cls._parsed(Path(path))

    @classmethod
    def _parsed(cls, path: Path, most: int | None = None) -> Table:
        lines = [line for line in decoded(text_bytes(path, "a table")).splitlines() if line.strip() and line[0] != "#"]
        if len(lines) < 2:
            raise InputError(f"{path} holds no samples: a table needs a header line and rows below it")
        try:
            delimiter = _delimiter(lines, path)
            header, *rows = csv.reader(lines[:most], delimiter=delimiter, skipinitialspace=delimiter == " ")
        except csv.Error as error:
            raise InputError(f"{path} is not a table: {error}") from None
        for number, row in enumerate(rows, start=2):
            if len(row) != len(header):
                raise InputError(f"{path} row {number} has {len(row)} cells, the header {len(header)}: cut short?")
        return cls(path, [name.strip() for name in header], rows)

    def words(self, name: str) -> list[str]:
        """A column as it stands."""
        if name not in self.header:
            raise InputError(f"{self.path} has no column {name!r}; it has {_shown(self.header)}")
        at = self.header.index(name)
        return [row[at].strip() for row in self.rows]

    def numbers(self, name: str) -> Floats:
        """A column as numbers, NaN where there is none."""
        words = self.words(name)
        try:
            return np.array([np.nan if word.lower() in LOST_WORDS else float(word.replace(",", ".")) for word in words])
        except ValueError as error:
            raise InputError(f"{self.path} column {name!r}: {error}") from None


def read_table(path: str | Path, columns: Columns | None = None, frame: Frame | None = None) -> list[Recording]:
    """The recordings of a table: one, or one per trial and viewer where columns say so.

    Parameters
    ----------
    columns
        Which column is what; by default the usual names are looked for.
    frame
        The screen that x and y are pixels of.
    """
    table = Table.read(path)
    columns = columns or Columns.guess(table.header, table.path)
    if frame is None:
        raise InputError(f"{path} does not say how large the screen is: give --screen WIDTHxHEIGHT")
    eyes: dict[str, Floats] = {}
    for eye, x, y in (
        ("left", columns.left_x or columns.x, columns.left_y or columns.y),
        ("right", columns.right_x, columns.right_y),
    ):
        if x is not None and y is not None:
            xy = np.stack([table.numbers(x), table.numbers(y)], axis=1)
            if columns.lost is not None:
                xy[(xy == columns.lost).any(axis=1)] = np.nan
            eyes[eye] = xy
    time_ms = in_ms(table.numbers(columns.time), columns.time_unit)
    stem = table.path.name.split(".")[0]
    trials = table.words(columns.trial) if columns.trial else [stem] * len(time_ms)
    subjects = table.words(columns.subject) if columns.subject else [stem] * len(time_ms)
    return recordings_of(time_ms, eyes, frame, list(zip(subjects, trials, strict=True)))


def recordings_of(
    time_ms: Floats, eyes: dict[str, Floats], frame: Frame, keys: Sequence[tuple[str, str]]
) -> list[Recording]:
    """One recording per run of rows with the same key (subject, name)."""
    recordings = []
    for (subject, name), span in _runs(keys):
        time = time_ms[span]
        if not np.isfinite(time).all():
            raise InputError(f"row {span.start + int((~np.isfinite(time)).argmax()) + 2} of {name!r} has no time")
        if (np.diff(time) <= 0).any():
            at = int((np.diff(time) <= 0).argmax())
            raise InputError(
                f"row {span.start + at + 3} of {name!r}: time runs backwards, {time[at + 1]:.10g} after "
                f"{time[at]:.10g} ms; "
                "does the file hold several trials or viewers (--columns …,trial=…,subject=…)?"
            )
        gaze = {f"{eye}_px": xy[span] for eye, xy in eyes.items()}
        recordings.append(
            Recording(time, rate_of(time, name), frame, name=name, subject=subject, **gaze)  # type: ignore[arg-type]
        )
    return recordings


def in_ms(time: Floats, unit: str | None) -> Floats:
    """Times in ms; without a unit the step between samples tells it (30 to 2000 Hz are told apart safely)."""
    if unit is None:
        steps = np.diff(time[np.isfinite(time)])
        step = float(np.median(steps[steps > 0])) if (steps > 0).any() else 1.0
        unit = "s" if step < LONGEST_STEP_S else "ms" if step < LONGEST_STEP_MS else "us"
    return time * MS_PER_UNIT[unit]


def rate_of(time_ms: Floats, name: str) -> float:
    """Samples per second, as a whole number, from the mean step without the gaps.

    The mean, because a clock that jitters between two steps has a median of one of them.
    """
    if len(time_ms) < 2:
        raise InputError(f"{name!r} has a single sample: too few to tell the rate")
    steps = np.diff(time_ms)
    rate = 1000 / float(steps[steps < GAP_FROM * np.median(steps)].mean())
    return float(round(rate)) if rate >= 1 else rate


def _runs(keys: Sequence[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], slice]]:
    for key, group in groupby(range(len(keys)), key=lambda row: keys[row]):
        rows = list(group)
        yield key, slice(rows[0], rows[-1] + 1)


def _delimiter(lines: list[str], path: Path) -> str:
    head = lines[:SNIFFED_LINES]
    for candidate in DELIMITERS:
        counts = {len(row) for row in csv.reader(head, delimiter=candidate, skipinitialspace=candidate == " ")}
        if len(counts) == 1 and counts.pop() > 1:
            return candidate
    fallback = max(DELIMITERS, key=head[0].count)
    if fallback not in head[0]:
        raise InputError(f"{path} is not a table: its first line, {head[0][:40]!r}, holds no tab, comma or semicolon")
    return fallback


def _as_float(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{what} must be a number, got {text!r}") from None


def _shown(header: Sequence[str], most: int = 12) -> str:
    more = f" and {len(header) - most} more" if len(header) > most else ""
    return ", ".join(repr(name[:40]) for name in header[:most]) + more
