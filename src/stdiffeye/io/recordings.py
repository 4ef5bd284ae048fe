"""Any tracker's file as recordings: the format is told by the suffix and the content.

`.asc`, `.asc.gz` EyeLink text · `.edf` EyeLink binary · `.tsv`, `.txt`, `.csv` (or gzipped) Tobii, SMI, Gazepoint,
GazeBase or any table · an export folder of Pupil Core, Neon or Invisible · a BIDS folder or one of its
`_physio.tsv.gz` files.
"""

from __future__ import annotations

from pathlib import Path

from stdiffeye.border import reading
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import Recording
from stdiffeye.io.bids import is_bids, read_bids
from stdiffeye.io.bytes_in import EDF_MAGIC
from stdiffeye.io.gazebase import is_gazebase, read_gazebase
from stdiffeye.io.gazepoint import is_gazepoint, read_gazepoint
from stdiffeye.io.pupil import is_pupil, read_pupil
from stdiffeye.io.smi import is_smi, read_smi
from stdiffeye.io.table import Columns, Table, read_table
from stdiffeye.io.tobii import is_tobii, read_tobii

TABLES = (".csv", ".tsv", ".txt", ".tab", ".dat")
KNOWN = (
    "an EyeLink .asc, .asc.gz or .edf, a Tobii .tsv, an SMI .txt, a Gazepoint, GazeBase or other .csv or .tsv table, "
    "an export folder of Pupil Core or Neon, or a BIDS folder"
)


def read_recording(path: str | Path, *, frame: Frame | None = None, columns: Columns | None = None) -> list[Recording]:
    """The recordings in a tracker's file, in a BIDS data set, or in one viewer's folder of it.

    Parameters
    ----------
    path : str or Path
        An EyeLink `.asc`, `.asc.gz` or `.edf`, a Tobii `.tsv`, an SMI `.txt`, a Gazepoint or GazeBase `.csv`, a
        table, a Pupil export folder, a BIDS folder or `_physio.tsv.gz` file.
    frame : Frame, optional
        The screen, where the file does not give its size (and instead of it where it does; not for BIDS).
    columns : Columns, optional
        Which column of a table is what; by default the usual names are looked for.

    Returns
    -------
    list of Recording
        One per block of recording, viewer and, in tables, trial.

    Raises
    ------
    InputError
        When there is no such file, or when it holds no gaze that is understood.

    Examples
    --------
    >>> for recording in read_recording("sub01.asc"):  # doctest: +SKIP
    ...     print(recording)
    Recording('sub01' of 'sub01': 95,321 samples, 190.64 s at 500 Hz, left, 3% lost, 1280×1024 px, 212 messages)
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path} does not exist")
    with reading(path):
        return _read(path, frame, columns)


def _read(path: Path, frame: Frame | None, columns: Columns | None) -> list[Recording]:
    if is_bids(path):
        return read_bids(path)
    if is_pupil(path):
        return read_pupil(path, frame)
    if path.is_dir():
        raise InputError(f"{path} is a folder but not a BIDS data set (no dataset_description.json); expected {KNOWN}")
    suffix = file_kind(path)
    if suffix == ".edf" or (suffix not in TABLES and _begins_like_edf(path)):
        from stdiffeye.io.eyelink_edf import read_edf

        return read_edf(path, frame)
    if suffix == ".asc":
        from stdiffeye.io.eyelink_asc import read_asc

        return read_asc(path, frame)
    if suffix not in TABLES:
        raise InputError(f"{path} is of no kind that is known here: expected {KNOWN}")
    return read_table(path, columns, frame) if columns is not None else _read_known_table(path, frame)


def _read_known_table(path: Path, frame: Frame | None) -> list[Recording]:
    """A table of a tracker whose layout is known, or one with the usual names of columns."""
    if is_smi(path):
        return read_smi(path, frame)
    header = Table.header_of(path)
    if is_gazebase(header):
        return read_gazebase(path)
    if is_gazepoint(header):
        return read_gazepoint(path, frame)
    return read_tobii(path, frame) if is_tobii(header) else read_table(path, None, frame)


def file_kind(path: Path) -> str:
    """The suffix that tells the format, .gz aside."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def is_gaze_table(path: Path) -> bool:
    """Whether a table's header names gaze: one of Tobii's, or columns of the usual names for time, x and y."""
    try:
        with reading(path):
            if is_smi(path):
                return True
            header = Table.header_of(path)
        known = is_tobii(header) or is_gazebase(header) or is_gazepoint(header)
        return known or bool(Columns.guess(header, path))
    except InputError:
        return False


def _begins_like_edf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(EDF_MAGIC)) == EDF_MAGIC
