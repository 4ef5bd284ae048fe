"""The store: many prepared trials on disk, opened in an instant and memory-mapped by training.

A store is a folder:

    store.json               what it is: format and version, data set, settings, words, sizes, checksum, quality
    trials.jsonl             one line per trial: name, subject, task, split, picture, details
    columns.safetensors      one number per trial and column: ids, sizes, counts
    scanpaths.safetensors    xy (F, 2), duration (F,), onset (F,) of all fixations, offsets (n + 1,); float64, ms, px
    trajectories.safetensors xy (P, 2), rho (P,) of all samples, offsets (n + 1,); float32, px

NaN stands for a duration or an onset that is unknown, and for a lost sample. Trial i owns the fixations
offsets[i] … offsets[i + 1], and likewise the samples; no samples means that there is no trajectory.
store.json holds SHA-256 of every file and of itself. Version, sizes, store.json and the index (trials.jsonl and
columns) are checked on opening, scanpaths and trajectories when first used.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stdiffeye.border import reading
from stdiffeye.data.store_manifest import (
    MANIFEST,
    check_columns,
    check_file,
    check_files,
    check_manifest,
    read_manifest,
)
from stdiffeye.data.tensor_file import Array, map_tensors
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial
from stdiffeye.progress import track


class ScanpathArrays(NamedTuple):
    """All fixations of a store, memory-mapped; those of trial i are offsets[i] … offsets[i + 1]."""

    xy_px: NDArray[np.float64]  # (F, 2)
    duration_ms: NDArray[np.float64]  # (F,) NaN where unknown
    onset_ms: NDArray[np.float64]  # (F,) NaN where unknown
    offsets: NDArray[np.int64]  # (n + 1,)


class TrajectoryArrays(NamedTuple):
    """All samples of a store, memory-mapped; those of trial i are offsets[i] … offsets[i + 1]."""

    xy_px: NDArray[np.float32]  # (P, 2) NaN where lost
    rho: NDArray[np.float32]  # (P,) fixation index in [0, 1]
    offsets: NDArray[np.int64]  # (n + 1,)


class Store:
    """PreparedTrial trials. Open with `Store.open(path)`.

    Attributes
    ----------
    path
        The folder.
    info
        What store.json says.
    columns
        Name → (n,) array, memory-mapped. `name_id`, `subject_id`, `task_id`, `split_id`, `picture_id` (−1 for none)
        point into `words`; `width`, `height`, `px_per_degree`, `viewing_ms` are NaN where unknown, `box` is (n, 4);
        `n_fixations`, `n_points`; `has_durations`, `has_onsets`, `has_trajectory`, `synthesised` are bool.
    words
        "name" | "subject" | "task" | "split" | "picture" → the list that the ids point into.
    pictures_root
        The folder that the pictures' names are relative to; None when there are none.
    """

    def __init__(self, path: Path, info: dict[str, Any], pictures_root: Path | None) -> None:
        self.path = path
        self.info = info
        self.pictures_root = pictures_root
        self.words: dict[str, list[str]] = info["words"]
        self.columns: dict[str, Array] = map_tensors(path / "columns.safetensors")
        check_columns(path, info, self.columns)
        self._left_out: frozenset[str] = frozenset()

    @classmethod
    def open(cls, path: str | Path, pictures: str | Path | None = None) -> Store:
        """Open and check a store.

        Parameters
        ----------
        path : path
            Folder that `prepare` wrote.
        pictures : path, optional
            Folder of the pictures, where it was moved since the store was made.

        Returns
        -------
        Store
            The store, whose arrays are mapped from disk.

        Raises
        ------
        InputError
            When the folder holds no whole store, or a file differs from its checksum.
        """
        path = Path(path)
        info = read_manifest(path)
        with reading(path / MANIFEST):
            check_files(path, info)
            check_manifest(path, info)
            recorded = info["pictures_root"]  # relative to the store: nobody else needs to know where it was made
            beside = None if recorded is None else Path(os.path.normpath(path.absolute() / recorded))
            root = beside if pictures is None else Path(pictures)
            if pictures is not None and not Path(pictures).is_dir():
                raise InputError(f"{pictures} is no folder: expected the pictures of {info['dataset']}")
            return cls(path, info, root)

    def __len__(self) -> int:
        return int(self.info["trials"])

    def __repr__(self) -> str:
        return f"Store({self.info['dataset']}: {len(self)} trials on {len(self.words['name'])} stimuli, {self.path})"

    @property
    def dataset(self) -> str:
        return str(self.info["dataset"])

    @property
    def rate_hz(self) -> float:
        """Of all trajectories."""
        return float(self.info["settings"]["rate_hz"])

    @property
    def ordered(self) -> bool:
        """False where a trial is the positions that all viewers of a picture fixated, in no order."""
        return bool(self.info["description"].get("ordered", True))

    @cached_property
    def _scanpaths(self) -> ScanpathArrays:
        arrays = self._mapped("scanpaths.safetensors")
        return ScanpathArrays(arrays["xy"], arrays["duration"], arrays["onset"], arrays["offsets"])

    @cached_property
    def _trajectories(self) -> TrajectoryArrays:
        arrays = self._mapped("trajectories.safetensors")
        return TrajectoryArrays(arrays["xy"], arrays["rho"], arrays["offsets"])

    def _mapped(self, name: str) -> dict[str, Array]:
        with reading(self.path / name):
            check_file(self.path, self.info, name)
            return map_tensors(self.path / name)

    def scanpath_arrays(self) -> ScanpathArrays:
        """Positions, durations and onsets of all fixations, mapped from disk.

        Returns
        -------
        ScanpathArrays
            Arrays over all fixations, and where each trial begins in them.
        """
        return self._scanpaths

    def trajectory_arrays(self) -> TrajectoryArrays:
        """Positions and fixation indices of all samples, mapped from disk.

        Returns
        -------
        TrajectoryArrays
            Arrays over all samples, and where each trial begins in them.
        """
        return self._trajectories

    @cached_property
    def pictures(self) -> dict[str, Path]:
        """Stimulus name → its picture, for those that have one."""
        if self.pictures_root is None:
            return {}
        names, files = self.columns["name_id"], self.columns["picture_id"]
        _, first = np.unique(names, return_index=True)
        words, root = self.words, self.pictures_root
        return {words["name"][names[i]]: root / words["picture"][files[i]] for i in sorted(first) if files[i] >= 0}

    def where(self, split: str | None = None) -> NDArray[np.int64]:
        """Numbers of the trials of a split, or of all.

        Parameters
        ----------
        split : str, optional
            "train", "validation" or "test"; by default all.

        Returns
        -------
        array, shape (n,)
            Numbers, ascending; stimuli that were left out are not among them.

        Raises
        ------
        InputError
            When the store has no such split.
        """
        if split is not None and split not in self.words["split"]:
            raise InputError(f"{self.path} has no split {split!r}: it has {', '.join(self.words['split'])}")
        kept = np.ones(len(self), dtype=bool)
        if split is not None:
            kept &= self.columns["split_id"] == self.words["split"].index(split)
        if self._left_out:
            left_out = np.array([name in self._left_out for name in self.words["name"]])
            kept &= ~left_out[self.columns["name_id"]]
        return np.flatnonzero(kept)

    def without(self, names: Collection[str]) -> Store:
        """The same store, whose splits lack the stimuli of these names; trials keep their numbers.

        Parameters
        ----------
        names : collection of str
            Names of the stimuli to leave out.

        Returns
        -------
        Store
            The same files, mapped again.
        """
        other = Store(self.path, self.info, self.pictures_root)
        other._left_out = self._left_out | frozenset(names)
        return other

    def trials(self, split: str | None = None, quiet: bool = True) -> Iterator[Trial]:
        """Trials one after the other, all or those of a split; refused where their fixations have no order.

        Parameters
        ----------
        split : str, optional
            "train", "validation" or "test"; by default all.
        quiet : bool
            Show no progress.

        Yields
        ------
        Trial
            With scanpath and trajectory as far as the store has them.

        Raises
        ------
        InputError
            When the fixations have no order, as in sets of fixation maps.
        """
        if not self.ordered:
            raise InputError(f"{self.path} has fixations in no order: only `stdiffeye train encoder` learns from it")
        for number in track(self.where(split).tolist(), f"reading {self.dataset}", quiet=quiet):
            yield self[number]

    def __getitem__(self, number: int) -> Trial:
        if not -len(self) <= number < len(self):
            raise IndexError(f"trial {number} of {len(self)}")
        with reading(self.path):
            return self._trial(number % len(self))

    def _trial(self, number: int) -> Trial:
        line = self._line(number)
        row = {key: column[number] for key, column in self.columns.items()}
        frame = Frame(_plain(row["width"]), _plain(row["height"]), _known(row["px_per_degree"]))
        box = None if np.isnan(row["box"]).any() else tuple(row["box"].tolist())
        picture = None
        if self.pictures_root is not None and row["picture_id"] >= 0:
            picture = self.pictures_root / self.words["picture"][row["picture_id"]]
        return Trial(
            name=line["name"],
            subject=line["subject"],
            scanpath=self._scanpath(number, frame),
            trajectory=self._trajectory(number, frame),
            task=line["task"],
            dataset=self.dataset,
            split=line["split"],
            picture=picture,
            target_box_px=box,
            viewing_ms=_known(row["viewing_ms"]),
            details=line["details"],
        )

    def rho(self, number: int) -> NDArray[np.float32]:
        """(T,) fixation index of a trial's samples.

        Parameters
        ----------
        number : int
            Number of the trial.

        Returns
        -------
        array, shape (T,)
            Fixation index of each sample.
        """
        _, rho, offsets = self._trajectories
        return np.array(rho[offsets[number] : offsets[number + 1]])

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process maps the same files."""
        return _opened_again, (self.path, self.pictures_root, self._left_out)

    @cached_property
    def _lines(self) -> mmap.mmap:
        with open(self.path / "trials.jsonl", "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def _line(self, number: int) -> dict[str, Any]:
        start = int(self.columns["line_offset"][number])
        return dict(json.loads(self._lines[start : self._lines.find(b"\n", start)]))

    def _scanpath(self, number: int, frame: Frame) -> Scanpath | None:
        xy, duration, onset, offsets = self._scanpaths
        span = slice(int(offsets[number]), int(offsets[number + 1]))
        if span.start == span.stop:
            return None
        durations = duration[span] if self.columns["has_durations"][number] else None
        onsets = onset[span] if self.columns["has_onsets"][number] else None
        return Scanpath(xy[span], frame, durations, onsets)

    def _trajectory(self, number: int, frame: Frame) -> Trajectory | None:
        xy, _, offsets = self._trajectories
        span = slice(int(offsets[number]), int(offsets[number + 1]))
        if span.start == span.stop:
            return None
        synthesised = bool(self.columns["synthesised"][number])
        return Trajectory(np.asarray(xy[span], np.float64), self.rate_hz, frame, synthesised)


def _opened_again(path: Path, pictures: Path | None, left_out: frozenset[str]) -> Store:
    store = Store.open(path, pictures)
    return store.without(left_out) if left_out else store


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _plain(value: float) -> float:
    return int(value) if float(value).is_integer() else float(value)
