"""Shards of a store in the making: a worker writes a shard whole, the end joins all shards as a stream.

A shard is `shard-00012.safetensors` (numbers), `shard-00012.jsonl` (words) and `shard-00012.json` (counts). The
last is written last: where it exists the shard is finished. Joining holds some tens of bytes per trial, never gaze.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.data.clean import PreparedTrial
from stdiffeye.data.tensor_file import Array, Pieces, map_tensors, write_tensors
from stdiffeye.files import atomic_write, read_json, write_json, write_text
from stdiffeye.gaze.quality import QualityReport

WORDS = ("name", "subject", "task", "split", "picture")
NUMBERS = {  # per trial: dtype and shape of one value
    "n_fixations": ("<i4", ()),
    "n_points": ("<i4", ()),
    "width": ("<f8", ()),
    "height": ("<f8", ()),
    "px_per_degree": ("<f8", ()),
    "viewing_ms": ("<f8", ()),
    "box": ("<f8", (4,)),
    "has_durations": ("|b1", ()),
    "has_onsets": ("|b1", ()),
    "has_trajectory": ("|b1", ()),
    "synthesised": ("|b1", ()),
}
GAZE = {  # per fixation, per sample
    "scanpaths": {"xy": ("<f8", (2,)), "duration": ("<f8", ()), "onset": ("<f8", ())},
    "trajectories": {"xy": ("<f4", (2,)), "rho": ("<f4", ())},
}
COUNT_OF = {"scanpaths": "n_fixations", "trajectories": "n_points"}


@dataclass
class ShardReport:
    """Counts of one shard, or of all."""

    trials: int = 0
    fixations: int = 0
    points: int = 0
    cut: int = 0
    quality: QualityReport = field(default_factory=QualityReport)
    notes: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        return vars(self) | {"quality": self.quality.as_dict(), "notes": dict(self.notes)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> ShardReport:
        quality, notes = QualityReport.from_dict(values["quality"]), Counter(values["notes"])
        return cls(**(values | {"quality": quality, "notes": notes}))

    def __str__(self) -> str:
        lines = [str(self.quality)]
        if self.cut:
            lines.append(f"  {self.cut:,} of the kept trials were cut at the end (too many fixations or points)")
        lines += [f"  {count:,} {note}" for note, count in self.notes.most_common()]
        return "\n".join(lines)

    def merge(self, other: ShardReport) -> ShardReport:
        return ShardReport(
            self.trials + other.trials,
            self.fixations + other.fixations,
            self.points + other.points,
            self.cut + other.cut,
            self.quality.merge(other.quality),
            self.notes + other.notes,
        )


def shard_files(folder: Path, number: int) -> tuple[Path, Path, Path]:
    """Numbers, words, counts."""
    stem = f"shard-{number:05d}"
    return folder / f"{stem}.safetensors", folder / f"{stem}.jsonl", folder / f"{stem}.json"


def finished_shard(folder: Path, number: int) -> ShardReport | None:
    counts = shard_files(folder, number)[2]
    return ShardReport.from_dict(read_json(counts)) if counts.is_file() else None


def write_shard(
    folder: Path, number: int, trials: Sequence[PreparedTrial], pictures: Sequence[str], report: ShardReport
) -> None:
    """Write a shard; `pictures` are the trials' files relative to the pictures' root, "" for none."""
    numbers_file, words_file, counts_file = shard_files(folder, number)
    lines = [_line(prepared, picture) for prepared, picture in zip(trials, pictures, strict=True)]
    write_tensors(numbers_file, _numbers(trials))
    write_text(words_file, "".join(lines))
    write_json(counts_file, report.as_dict())


def _line(prepared: PreparedTrial, picture: str) -> str:
    trial = prepared.trial
    words = {"name": trial.name, "subject": trial.subject, "task": trial.task, "split": trial.split}
    return json.dumps(words | {"picture": picture, "details": trial.details}, ensure_ascii=False) + "\n"


def _numbers(trials: Sequence[PreparedTrial]) -> dict[str, Array | Pieces]:
    rows = [_row(prepared) for prepared in trials]
    tensors: dict[str, Array | Pieces] = {}
    for key, (dtype, shape) in NUMBERS.items():
        tensors[key] = np.array([row[key] for row in rows], dtype=dtype).reshape(len(rows), *shape)
    for kind, columns in GAZE.items():
        for key, (dtype, shape) in columns.items():
            pieces = [_gaze(prepared, kind, key) for prepared in trials]
            count = sum(map(len, pieces))
            tensors[f"{kind}.{key}"] = Pieces(dtype, (count, *shape), pieces)
    return tensors


def _row(prepared: PreparedTrial) -> dict[str, Any]:
    trial = prepared.trial
    scanpath, trajectory = trial.scanpath, trial.trajectory
    nan = float("nan")
    return {
        "n_fixations": 0 if scanpath is None else len(scanpath),
        "n_points": 0 if trajectory is None else len(trajectory),
        "width": trial.frame.width_px,
        "height": trial.frame.height_px,
        "px_per_degree": trial.frame.px_per_degree or nan,
        "viewing_ms": trial.viewing_ms or nan,
        "box": trial.target_box_px or (nan,) * 4,
        "has_durations": scanpath is not None and scanpath.duration_ms is not None,
        "has_onsets": scanpath is not None and scanpath.onset_ms is not None,
        "has_trajectory": trajectory is not None,
        "synthesised": trajectory is not None and trajectory.synthesised,
    }


def _gaze(prepared: PreparedTrial, kind: str, key: str) -> Array:
    scanpath, trajectory = prepared.trial.scanpath, prepared.trial.trajectory
    dtype, shape = GAZE[kind][key]
    values: Array | None = None
    if kind == "scanpaths" and scanpath is not None:
        values = {"xy": scanpath.xy_px, "duration": scanpath.duration_ms, "onset": scanpath.onset_ms}[key]
        values = np.full(len(scanpath), np.nan) if values is None else values
    if kind == "trajectories" and trajectory is not None:
        values = trajectory.xy_px if key == "xy" else prepared.rho
    return np.empty((0, *shape), dtype) if values is None else np.asarray(values, dtype)


def join_shards(folder: Path, count: int, report: ShardReport) -> dict[str, list[str]]:
    """Join the shards 0 … count − 1 into the files of a store in the same folder; returns the words."""
    words, columns = _join_lines(folder, count, report.trials)
    for key, (dtype, shape) in NUMBERS.items():
        columns[key] = Pieces(dtype, (report.trials, *shape), _pieces(folder, count, key))
    write_tensors(folder / "columns.safetensors", columns)
    for kind, total in (("scanpaths", report.fixations), ("trajectories", report.points)):
        tensors: dict[str, Array | Pieces] = {
            key: Pieces(dtype, (total, *shape), _pieces(folder, count, f"{kind}.{key}"))
            for key, (dtype, shape) in GAZE[kind].items()
        }
        lengths = map_tensors(folder / "columns.safetensors")[COUNT_OF[kind]]
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        write_tensors(folder / f"{kind}.safetensors", tensors | {"offsets": offsets.astype("<i8")})
    return words


def remove_shards(folder: Path) -> None:
    for path in folder.glob("shard-*"):
        path.unlink()


def _pieces(folder: Path, count: int, key: str) -> Iterator[Array]:
    for number in range(count):
        yield map_tensors(shard_files(folder, number)[0])[key]


def _join_lines(folder: Path, count: int, trials: int) -> tuple[dict[str, list[str]], dict[str, Array | Pieces]]:
    ids: dict[str, dict[str, int]] = {key: {} for key in WORDS}
    columns = {key: array("i") for key in WORDS}
    offsets, position = array("q"), 0
    with atomic_write(folder / "trials.jsonl") as temporary, open(temporary, "wb") as out:
        for number in range(count):
            with open(shard_files(folder, number)[1], "rb") as shard:
                for line in shard:
                    offsets.append(position)
                    position += out.write(line)
                    row = json.loads(line)
                    for key in WORDS:
                        known = ids[key]
                        absent = key == "picture" and not row[key]
                        columns[key].append(-1 if absent else known.setdefault(row[key], len(known)))
    arrays: dict[str, Array | Pieces] = {
        f"{key}_id": np.frombuffer(column, "<i4", count=trials) for key, column in columns.items()
    }
    arrays["line_offset"] = np.frombuffer(offsets, "<i8", count=trials)
    return {key: list(known) for key, known in ids.items()}, arrays
