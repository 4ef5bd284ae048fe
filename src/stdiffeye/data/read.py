"""Trials from wherever they are: a store, or any gaze file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from stdiffeye.data.store import Store
from stdiffeye.data.store_manifest import is_store
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, GazeList, Trial
from stdiffeye.io.gaze_files import iterate_gaze, read_gaze
from stdiffeye.io.predictions import is_prediction_file, read_predictions

File = str | Path
Gaze = File | Sequence[Trial]
"""A file or a store, or trials in memory."""


def read_trials(path: str | Path, split: str | None = None, frame: Frame | None = None) -> GazeList[Trial]:
    """All trials of a store or of a gaze file, or those of one split.

    Parameters
    ----------
    path : str or Path
        A store, or a file in JSON, CSV, TSV, Parquet or HDF5.
    split : {"train", "validation", "test"}, optional
    frame : Frame, optional
        For files that do not say their own.

    Returns
    -------
    GazeList of Trial

    Raises
    ------
    InputError
        When there is no such file or store, or when it has no trial of that split.

    Examples
    --------
    >>> len(read_trials("stores/osie", "test"))  # doctest: +SKIP
    900
    """
    path = Path(path)
    if _is_folder(path):
        return GazeList(Store.open(path).trials(split))
    trials = read_gaze(path, frame)
    if split is None:
        return trials
    chosen = GazeList(trial for trial in trials if trial.split == split)
    if not chosen:
        raise _no_such_split(path, split, {trial.split for trial in trials})
    return chosen


def trials_of(gaze: Gaze, human: Sequence[Trial] = (), split: str | None = None) -> Sequence[Trial]:
    """Trials in memory, or of a store or any gaze file; given the humans, also other programs' predictions."""
    if not isinstance(gaze, File):
        chosen = [trial for trial in gaze if split in (None, trial.split)]
        if split is not None and not chosen:
            raise InputError(f"there is no trial of the split {split!r}")
        return chosen
    return read_predictions(gaze, human) if human and is_prediction_file(gaze) else read_trials(gaze, split)


def iterate_trials(gaze: Gaze, split: str | None = None) -> Iterator[Trial]:
    """The trials of `trials_of` one after the other; a store and JSON are never held as a whole."""
    if not isinstance(gaze, File):
        yield from trials_of(gaze, split=split)
        return
    path = Path(gaze)
    if _is_folder(path):
        yield from Store.open(path).trials(split)
        return
    known, found = set[str](), False
    for trial in iterate_gaze(path):
        known.add(trial.split)
        if split in (None, trial.split):
            found = True
            yield trial
    if not found and split is not None:
        raise _no_such_split(path, split, known)


def _is_folder(path: Path) -> bool:
    return is_store(path) or path.is_dir() or Path(f"{path}.partial").is_dir()


def _no_such_split(path: Path, split: str, known: set[str]) -> InputError:
    return InputError(
        f"{path} has no trial of the split {split!r}: it has {', '.join(sorted(one or '(none)' for one in known))}"
    )
