"""Gaze on its way to disk: a file to which each picture's gaze is appended as soon as it is there.

A record is the length of its content (8 bytes), a checksum (8 bytes) and the content: a JSON header and the arrays
that it describes. What a killed program half wrote at the end is cut off when the file is opened again. While it
grows, the file is called NAME.partial and locked; it takes its name when its shard is finished.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.files import locked
from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial

_LENGTH_BYTES, _CHECKSUM_BYTES = 8, 8
PARTIAL = ".partial"


@dataclass(frozen=True)
class PictureGaze:
    """The gaze of all samples on one picture, or why there is none."""

    name: str
    trials: list[Trial]
    error: str = ""


class GazeLog:
    """A log that is written; use it in a `with` block.

    Attributes
    ----------
    done
        How many pictures it holds already.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.partial = path, Path(f"{path}{PARTIAL}")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = self.partial.open("ab")  # closed by `__exit__`
        if not locked(self._file):
            self._file.close()
            raise InputError(f"another program is writing {self.partial}: wait for it, or choose another --out")
        ends = [0, *_ends(self.partial)]
        self.done = len(ends) - 1
        self._file.truncate(ends[-1])

    def __enter__(self) -> GazeLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._file.close()

    def append(self, gaze: PictureGaze) -> None:
        """Add a picture; from here on it outlives this program."""
        content = _encoded(gaze)
        self._file.write(len(content).to_bytes(_LENGTH_BYTES, "little") + _checksum(content) + content)
        self._file.flush()
        self.done += 1

    def finish(self) -> None:
        """All of the shard's pictures are there."""
        os.fsync(self._file.fileno())
        self.partial.replace(self.path)


def read_log(path: Path) -> Iterator[PictureGaze]:
    """The pictures of a log, one after the other; a damaged log is refused."""
    with open(path, "rb") as file:
        while head := file.read(_LENGTH_BYTES + _CHECKSUM_BYTES):
            content = file.read(int.from_bytes(head[:_LENGTH_BYTES], "little"))
            if _checksum(content) != head[_LENGTH_BYTES:]:
                raise InputError(f"{path} is damaged: remove it and run the same command again")
            yield _decoded(content)


def _ends(path: Path) -> Iterator[int]:
    """Where each whole record ends."""
    end = 0
    with open(path, "rb") as file:
        while len(head := file.read(_LENGTH_BYTES + _CHECKSUM_BYTES)) == _LENGTH_BYTES + _CHECKSUM_BYTES:
            length = int.from_bytes(head[:_LENGTH_BYTES], "little")
            if length > path.stat().st_size or _checksum(file.read(length)) != head[_LENGTH_BYTES:]:
                return
            end += len(head) + length
            yield end


def _encoded(gaze: PictureGaze) -> bytes:
    arrays: list[Floats] = []
    rows = [_row(trial, arrays) for trial in gaze.trials]
    header = {
        "name": gaze.name,
        "error": gaze.error,
        "trials": rows,
        "shapes": [list(array.shape) for array in arrays],
    }
    text = json.dumps(header).encode()
    parts: Iterable[bytes] = (np.ascontiguousarray(array, dtype="<f8").tobytes() for array in arrays)
    return len(text).to_bytes(_LENGTH_BYTES, "little") + text + b"".join(parts)


def _row(trial: Trial, arrays: list[Floats]) -> dict[str, Any]:
    """What a trial is but numbers; those are added to `arrays`, and counted from the end."""
    path, gaze = trial.scanpath, trial.trajectory
    row: dict[str, Any] = {
        "subject": trial.subject,
        "task": trial.task,
        "picture": None if trial.picture is None else str(trial.picture),
        "details": trial.details,
        "frame": [trial.frame.width_px, trial.frame.height_px, trial.frame.px_per_degree],
    }
    if path is not None:
        columns = {"xy": path.xy_px, "duration": path.duration_ms, "onset": path.onset_ms}
        row["scanpath"] = {key: _added(value, arrays) for key, value in columns.items() if value is not None}
    if gaze is not None:
        row["trajectory"] = {"rate_hz": gaze.rate_hz, "xy": _added(gaze.xy_px, arrays)}
    return row


def _added(values: Floats, arrays: list[Floats]) -> int:
    arrays.append(values)
    return len(arrays) - 1


def _decoded(content: bytes) -> PictureGaze:
    length = int.from_bytes(content[:_LENGTH_BYTES], "little")
    header = json.loads(content[_LENGTH_BYTES : _LENGTH_BYTES + length])
    arrays: list[Floats] = []
    at = _LENGTH_BYTES + length
    for shape in header["shapes"]:
        values = np.frombuffer(content, "<f8", int(np.prod(shape)), at).reshape(shape)
        arrays.append(values)
        at += values.nbytes
    name = header["name"]
    return PictureGaze(name, [_trial(name, row, arrays) for row in header["trials"]], header["error"])


def _trial(name: str, row: dict[str, Any], arrays: list[Floats]) -> Trial:
    frame, path, gaze = Frame(*row["frame"]), row.get("scanpath"), row.get("trajectory")
    scanpath = trajectory = None
    if path is not None:
        duration, onset = (arrays[path[key]] if key in path else None for key in ("duration", "onset"))
        scanpath = Scanpath(arrays[path["xy"]], frame, duration, onset)
    if gaze is not None:
        trajectory = Trajectory(arrays[gaze["xy"]], gaze["rate_hz"], frame, synthesised=True)
    return Trial(
        name=name,
        subject=row["subject"],
        scanpath=scanpath,
        trajectory=trajectory,
        task=row["task"],
        picture=None if row["picture"] is None else Path(row["picture"]),
        details=row["details"],
    )


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECKSUM_BYTES).digest()
