"""Scanpaths as JSON in the style of COCO-Search18: a list of one object per trial.

    {"name": "000000005649.jpg", "subject": 1, "task": "chair", "width": 1680, "height": 1050,
     "X": [848.7, 463.2], "Y": [538.2, 497.8], "T": [346, 244]}

Conventions: X, Y in px of width × height, 0-based; T in ms, absent or null where unknown; `onset` in ms from the
picture's onset; `bbox` the target as x, y, width, height; a generated trial carries `sample` instead of `subject`.
`trajectory` may hold raw gaze as {"rate_hz", "X", "Y", "synthesised"} with null where the eye was lost. Any other
key is kept in `Trial.details` and written back. Files may be gzipped. Objects are read one after the other, so
that memory does not grow with the file.
"""

from __future__ import annotations

import gzip
import io
import json
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from stdiffeye.border import NO_TEXT
from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write
from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial
from stdiffeye.io.bytes_in import open_unpacked
from stdiffeye.io.pictures import picture_word, with_pictures_inside

COCO_SEARCH18_FRAME = Frame(1680, 1050)  # the display; its JSON does not repeat it in every row
COCO_SEARCH18_CONDITIONS = ("present", "absent", "freeview")
SPLIT_WORDS = {"valid": "validation", "val": "validation", "dev": "validation", "training": "train", "testing": "test"}
CHUNK_CHARACTERS = 1 << 20
LONGEST_ROW = 1 << 28  # characters of one trial: a day of raw gaze at 100 Hz
TRAJECTORY_DECIMALS = 3  # a thousandth of a pixel, far below any tracker's noise
_WHO = {"name", "subject", "sample", "task", "dataset", "split", "picture", "viewing_ms"}
_WHERE = {"width", "height", "px_per_degree", "X", "Y", "T", "onset", "bbox", "trajectory"}
_KNOWN = _WHO | _WHERE
_WORDS = _WHO - {"viewing_ms"}
LONGEST_WORD = 4096


def read_scanpaths(path: str | Path, frame: Frame | None = None) -> list[Trial]:
    """All trials of a JSON file; trials without a fixation are left out with a warning.

    Parameters
    ----------
    frame
        For rows that do not say their width and height.
    """
    return with_pictures_inside(list(iterate_scanpaths(path, frame)), path)


def iterate_scanpaths(path: str | Path, frame: Frame | None = None) -> Iterator[Trial]:
    """The trials of `read_scanpaths` one after the other; the pictures that they name are not looked up."""
    empty = 0
    for number, row in enumerate(iterate_rows(path), start=1):
        trial = trial_from_row(row, f"row {number} of {path}", frame)
        if trial is None:
            empty += 1
        else:
            yield trial
    if empty:
        warnings.warn(f"{path}: {empty} trials without a fixation were left out", stacklevel=2)


def write_scanpaths(path: str | Path, trials: Iterable[Trial]) -> None:
    """Write trials as JSON, one per line; gzipped when the name ends in .gz. Whole or not at all."""
    with atomic_write(path) as temporary, _open_to_write(temporary) as file:
        separator = "[\n"
        for trial in trials:
            file.write(
                separator + json.dumps(row_from_trial(trial, Path(path).parent), allow_nan=False, ensure_ascii=False)
            )
            separator = ",\n"
        file.write("\n]\n" if separator == ",\n" else "[]\n")


def iterate_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON list, one after the other, without holding the file in memory."""
    with open_unpacked(Path(path)) as unpacked, io.TextIOWrapper(unpacked, encoding="utf-8") as file:
        try:
            yield from _iterate_list(file, path)
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not JSON: {error}") from None


def _iterate_list(file: IO[str], path: str | Path) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    buffer, at, number = file.read(CHUNK_CHARACTERS).lstrip("\ufeff \t\r\n"), 1, 0
    if not buffer.startswith("["):
        raise InputError(f"{path} is not a list of trials: it starts with {buffer[:20]!r}, expected '['")
    while True:
        at = _skip(buffer, at, " \t\r\n,")
        if at < len(buffer) and buffer[at] == "]":
            return
        try:
            row, at = decoder.raw_decode(buffer, at)
        except json.JSONDecodeError as error:
            more = file.read(max(CHUNK_CHARACTERS, len(buffer) - at))  # doubling keeps one huge row linear
            if not more:
                raise InputError(f"{path} is not whole JSON: {error.msg} after trial {number}") from None
            buffer, at = buffer[at:] + more, 0
            if len(buffer) > LONGEST_ROW:
                raise InputError(f"{path}: trial {number + 1} has more than {LONGEST_ROW >> 20} MB") from None
            continue
        number += 1
        if not isinstance(row, dict):
            raise InputError(f"row {number} of {path} is {type(row).__name__}, expected an object with name, X and Y")
        yield row


def _skip(text: str, at: int, characters: str) -> int:
    while at < len(text) and text[at] in characters:
        at += 1
    return at


def trial_from_row(row: dict[str, Any], where: str, frame: Frame | None = None, **given: Any) -> Trial | None:
    """One object of the list as a `Trial`; None when it has no fixation and no samples.

    Parameters
    ----------
    where
        Names the row in errors.
    frame
        When the row does not say its width and height; its px_per_degree counts in any case.
    given
        Fields of `Trial` that hold unless the row says otherwise.
    """
    missing = [key for key in ("name", "X", "Y") if key not in row]
    if missing:
        keys = ", ".join(map(str, list(row)[:8]))
        raise InputError(f"{where} has no {' and no '.join(map(repr, missing))}; it has the keys {keys}")
    try:
        frame = _frame(row, where, frame)
        scanpath = _scanpath(row, where, frame)
        trajectory = _trajectory(row.get("trajectory"), frame)
        if scanpath is None and trajectory is None:
            return None
        words = {key: _word(row, key) for key in _WORDS}
        fields: dict[str, Any] = {**given, "task": words["task"] or given.get("task", "")}
        fields |= {key: row[key] for key in ("viewing_ms",) if row.get(key) is not None}
        fields |= {key: words[key] for key in ("dataset",) if words[key]}
        if words["split"]:
            fields["split"] = SPLIT_WORDS.get(words["split"], words["split"])
        if words["picture"]:
            fields["picture"] = Path(words["picture"])
        if row.get("bbox") is not None:
            fields["target_box_px"] = _box(row["bbox"], where)
        details = {key: value for key, value in row.items() if key not in _KNOWN}
        if "subject" not in row and "sample" in row:
            details["sample"] = row["sample"]
        subject = words["subject"] if "subject" in row else words["sample"]
        return Trial(words["name"], subject, scanpath, trajectory, details=details, **fields)
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(where) else f"{where}: {message}") from None


def _word(row: dict[str, Any], key: str) -> str:
    """A field that is a word or a whole number, as a word; "" where it is absent."""
    value = row.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{key!r} must be a word or a number, got {value!r:.60}")
    word = str(value)
    if NO_TEXT.search(word) or len(word) > LONGEST_WORD:
        raise InputError(f"{key!r} must be a word of at most {LONGEST_WORD} characters of text, got {word!r:.60}")
    return word


def row_from_trial(trial: Trial, folder: Path | None = None) -> dict[str, Any]:
    """What `trial_from_row` reads; the picture is named relative to the `folder` of the file."""
    row: dict[str, Any] = {"name": trial.name}
    if "sample" in trial.details:
        row["sample"] = trial.details["sample"]
    if "sample" not in trial.details or str(trial.details["sample"]) != trial.subject:
        row["subject"] = _number_if_whole(trial.subject)
    row["task"] = trial.task
    row["width"], row["height"] = _plain(trial.frame.width_px), _plain(trial.frame.height_px)
    optional = {
        "px_per_degree": trial.frame.px_per_degree,
        "dataset": trial.dataset or None,
        "split": trial.split or None,
        "picture": None if trial.picture is None else picture_word(trial.picture, folder),
        "bbox": None if trial.target_box_px is None else [_plain(value) for value in trial.target_box_px],
        "viewing_ms": trial.viewing_ms,
    }
    row |= {key: value for key, value in optional.items() if value is not None}
    row |= {key: value for key, value in trial.details.items() if key not in row}
    return row | _gaze_columns(trial)


def _gaze_columns(trial: Trial) -> dict[str, Any]:
    columns: dict[str, Any] = {"X": [], "Y": []}
    if trial.scanpath is not None:
        columns["X"], columns["Y"] = trial.scanpath.xy_px.T.tolist()
        if trial.scanpath.duration_ms is not None:
            columns["T"] = [_plain(value) for value in trial.scanpath.duration_ms.tolist()]
        if trial.scanpath.onset_ms is not None:
            columns["onset"] = [_plain(value) for value in trial.scanpath.onset_ms.tolist()]
    if trial.trajectory is not None:
        x, y = trial.trajectory.xy_px.round(TRAJECTORY_DECIMALS).T.tolist()
        columns["trajectory"] = {
            "rate_hz": _plain(trial.trajectory.rate_hz),
            "synthesised": trial.trajectory.synthesised,
            "X": [None if value != value else value for value in x],
            "Y": [None if value != value else value for value in y],
        }
    return columns


def _frame(row: dict[str, Any], where: str, frame: Frame | None) -> Frame:
    px_per_degree = row.get("px_per_degree", None if frame is None else frame.px_per_degree)
    if row.get("width") is not None and row.get("height") is not None:
        return Frame(row["width"], row["height"], px_per_degree)
    if frame is not None:
        return Frame(frame.width_px, frame.height_px, px_per_degree)
    if row.get("condition") in COCO_SEARCH18_CONDITIONS:
        return COCO_SEARCH18_FRAME
    raise InputError(
        f"{where} does not say how large its picture is: add 'width' and 'height' in px, or give a frame from Python"
    )


def _scanpath(row: dict[str, Any], where: str, frame: Frame) -> Scanpath | None:
    columns = {key: row[key] for key in ("X", "Y", "T", "onset") if row.get(key) is not None}
    for key, values in columns.items():
        if not isinstance(values, list):
            raise InputError(f"{where}: {key!r} must be a list of numbers, got {values!r:.60}")
    lengths = {key: len(values) for key, values in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        raise InputError(f"{where}: the lists of fixations differ in length ({shown})")
    if not lengths.get("X"):
        return None
    try:
        x, y, *_ = arrays = [np.array(values, dtype=np.float64) for values in columns.values()]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: X, Y, T and onset must hold numbers") from None
    if any(array.ndim != 1 for array in arrays):
        raise InputError(f"{where}: X, Y, T and onset must be lists of numbers, not of lists")
    named = dict(zip(columns, arrays, strict=True))
    return Scanpath(np.column_stack([x, y]), frame, named.get("T"), named.get("onset"))


def _trajectory(value: Any, frame: Frame) -> Trajectory | None:
    if value is None:
        return None
    try:
        x, y = (np.array(value[key], dtype=np.float64) for key in ("X", "Y"))
        xy_px = np.column_stack([x, y])
        return Trajectory(xy_px, float(value["rate_hz"]), frame, bool(value.get("synthesised", False)))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"its trajectory cannot be read ({error}): expected rate_hz, X and Y") from None


def _box(value: Any, where: str) -> tuple[float, float, float, float]:
    try:
        x, y, width, height = map(float, value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: bbox must be x, y, width, height in px, got {value!r:.60}") from None
    return x, y, width, height


def _open_to_write(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        stream: Any = gzip.GzipFile(path, "wb", mtime=0)  # no time stamp: the same trials, the same bytes
        return io.TextIOWrapper(stream, encoding="utf-8")
    return open(path, "w", encoding="utf-8")


def _plain(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)


def _number_if_whole(text: str) -> str | int:
    return int(text) if text.isdecimal() and str(int(text)) == text else text
