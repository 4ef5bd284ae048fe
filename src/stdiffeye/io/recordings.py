"""Any tracker's file as recordings: the format is told by the suffix and the content.

`.asc`, `.asc.gz` EyeLink text · `.edf` EyeLink binary · `.tsv`, `.txt`, `.csv` (or gzipped) Tobii or any table ·
a BIDS folder or one of its `_physio.tsv.gz` files.
"""

from __future__ import annotations

from pathlib import Path

from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import Recording
from stdiffeye.io.bids import is_bids, read_bids
from stdiffeye.io.bytes_in import EDF_MAGIC
from stdiffeye.io.table import Columns, Table, read_table
from stdiffeye.io.tobii import is_tobii, read_tobii

TABLES = (".csv", ".tsv", ".txt", ".tab", ".dat")
KNOWN = "an EyeLink .asc, .asc.gz or .edf, a Tobii .tsv, a .csv or .tsv table, or a BIDS folder"


def read_recording(path: str | Path, *, frame: Frame | None = None, columns: Columns | None = None) -> list[Recording]:
    """The recordings in a file or BIDS folder.

    Parameters
    ----------
    frame : the screen, where the file does not give its size (and instead of it where it does; not for BIDS).
    columns : which column of a table is what.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path} does not exist")
    if is_bids(path):
        return read_bids(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder but not a BIDS data set (no dataset_description.json); expected {KNOWN}")
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix == ".edf" or (suffix not in TABLES and _begins_like_edf(path)):
        from stdiffeye.io.eyelink_edf import read_edf

        return read_edf(path, frame)
    if suffix == ".asc":
        from stdiffeye.io.eyelink_asc import read_asc

        return read_asc(path, frame)
    if suffix not in TABLES:
        raise InputError(f"{path} is of no kind that is known here: expected {KNOWN}")
    if columns is None and is_tobii(Table.read(path).header):
        return read_tobii(path, frame)
    return read_table(path, columns, frame)


def _begins_like_edf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(EDF_MAGIC)) == EDF_MAGIC
