"""Gaze files by their suffix: JSON, CSV, TSV, Parquet, HDF5; .gz where text allows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from stdiffeye.border import reading, refuse_pipe
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, GazeList, Trial
from stdiffeye.io.parquet import read_parquet, write_parquet
from stdiffeye.io.pysaliency_hdf5 import read_pysaliency, write_pysaliency
from stdiffeye.io.scanpath_csv import read_scanpath_csv, write_scanpath_csv
from stdiffeye.io.scanpath_json import iterate_scanpaths, read_scanpaths, write_scanpaths

READERS = {
    ".json": read_scanpaths,
    ".csv": read_scanpath_csv,
    ".tsv": read_scanpath_csv,
    ".parquet": read_parquet,
    ".h5": read_pysaliency,
    ".hdf5": read_pysaliency,
}
# What `generate`, `fixations` and `prepare` write beside gaze, and what it is.
REPORTS = {"quality.json": "a report of data quality", "generation.json": "a report of what was generated"}
LOOKED_AT = 64
WRITERS = {
    ".json": write_scanpaths,
    ".csv": write_scanpath_csv,
    ".tsv": write_scanpath_csv,
    ".parquet": write_parquet,
    ".h5": write_pysaliency,
    ".hdf5": write_pysaliency,
}


def read_gaze(path: str | Path, frame: Frame | None = None) -> GazeList[Trial]:
    """All trials of a gaze file.

    Parameters
    ----------
    path : str or Path
        JSON, CSV, TSV (each may be gzipped), Parquet or HDF5, by its suffix.
    frame : Frame, optional
        For files that do not say their own.

    Returns
    -------
    GazeList of Trial

    Raises
    ------
    InputError
        When there is no such file, when its format is not known, or when it holds no trial.

    Examples
    --------
    >>> read_gaze("human.json")[0].scanpath  # doctest: +SKIP
    Scanpath(9 fixations, 2.74 s, 800×600 px)
    """
    path = Path(path)
    reader = _reader(path)
    with reading(path):
        trials = GazeList(reader(path, frame))
    if not trials:
        raise InputError(f"{path} holds no trial")
    return trials


def iterate_gaze(path: str | Path) -> Iterator[Trial]:
    """The trials of `read_gaze` one after the other; JSON is never held as a whole. Pictures are not looked up."""
    path = Path(path)
    if _reader(path) is not read_scanpaths:
        yield from read_gaze(path)
        return
    count = 0
    with reading(path):
        for trial in iterate_scanpaths(path):
            count += 1
            yield trial
    if not count:
        raise InputError(f"{path} holds no trial")


def _reader(path: Path) -> Callable[[Path, Frame | None], Iterable[Trial]]:
    """What reads a gaze file, which must be there and be one."""
    refuse_pipe(path)
    if not path.is_file():
        raise InputError(f"{path} does not exist" if not path.exists() else f"{path} is a folder, expected a gaze file")
    reader = READERS.get(kind(path))
    if reader is None:
        raise InputError(f"{path}: {kind(path) or 'no suffix'} is no gaze file; known are {', '.join(READERS)}")
    report = report_in(path)
    if report is not None:
        raise InputError(f"{path} is {report}, not gaze: take scanpaths.json beside it")
    return reader


def write_gaze(path: str | Path, trials: Iterable[Trial]) -> None:
    """Write trials in the format that the suffix names; whole or not at all.

    Parameters
    ----------
    path : str or Path
        Ends in .json, .csv, .tsv (or these with .gz), .parquet, .h5 or .hdf5.
    trials : iterable of Trial

    Raises
    ------
    InputError
        When the suffix names no format.
    """
    writer = WRITERS.get(kind(path))
    if writer is None:
        raise InputError(f"{path}: {kind(path) or 'no suffix'} is no format for gaze; known are {', '.join(WRITERS)}")
    writer(path, trials)


def report_in(path: str | Path) -> str | None:
    """What a report is that lies beside gaze; None for any other file."""
    path = Path(path)
    if path.name not in REPORTS or not path.is_file():
        return None
    with path.open("rb") as file:
        return REPORTS[path.name] if file.read(LOOKED_AT).lstrip().startswith(b"{") else None


def kind(path: str | Path) -> str:
    """The suffix that tells the format, .gz aside."""
    return Path(Path(path).name.removesuffix(".gz")).suffix.lower()
