"""Trials from wherever they are: a store, or any gaze file."""

from __future__ import annotations

from pathlib import Path

from stdiffeye.data.store import Store
from stdiffeye.data.store_manifest import is_store
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, GazeList, Trial
from stdiffeye.io.gaze_files import read_gaze


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
    if is_store(path) or path.is_dir() or Path(f"{path}.partial").is_dir():
        return GazeList(Store.open(path).trials(split))
    trials = read_gaze(path, frame)
    if split is None:
        return trials
    chosen = GazeList(trial for trial in trials if trial.split == split)
    if not chosen:
        known = ", ".join(sorted({trial.split or "(none)" for trial in trials}))
        raise InputError(f"{path} has no trial of the split {split!r}: it has {known}")
    return chosen
