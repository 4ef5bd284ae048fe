"""The parsers written in C and C++, as a child process runs them: `python -m stdiffeye.io.native_parsers`.

Each returns plain values (dictionaries, lists, words, numbers, arrays). `stdiffeye.io.native` asks for them.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from stdiffeye.child_process import Handler, answer_requests
from stdiffeye.errors import InputError

HDF5_GROUP = "stdiffeye"
NEEDS_TABLES = "needs the extra 'tables': pip install 'stdiffeye[tables]'"


def mat(request: dict[str, Any]) -> dict[str, Any]:
    """The variables of a MATLAB file; structs and cells are marked as such."""
    from scipy.io import loadmat

    variables = loadmat(request["path"], struct_as_record=False, squeeze_me=True)
    return {name: _plain(value) for name, value in variables.items() if not name.startswith("__")}


def _plain(value: Any) -> Any:
    if hasattr(value, "_fieldnames"):
        return {"struct": {name: _plain(getattr(value, name)) for name in value._fieldnames}}
    if isinstance(value, np.ndarray) and value.dtype.kind in "OUS":
        return {"cell": [_plain(one) for one in value.ravel()], "shape": list(value.shape)}
    if isinstance(value, np.ndarray) and value.dtype.kind not in "biufc":
        return None
    return value if isinstance(value, np.ndarray | np.generic | int | float | complex | str) else str(value)


def edf(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks of an EyeLink EDF file."""
    from stdiffeye.io.edf_library import read_blocks

    return read_blocks(request["path"])


def hdf5(request: dict[str, Any]) -> dict[str, Any]:
    """The data sets named in `keys` that are there, and those of our own group."""
    try:
        import h5py
    except ImportError:
        raise InputError(f"HDF5 {NEEDS_TABLES}") from None
    with h5py.File(request["path"], "r") as file:
        found = {key: _words(file[key][...]) for key in request["keys"] if isinstance(file.get(key), h5py.Dataset)}
        ours = file.get(HDF5_GROUP)
        if ours is None:
            return {"data": found, "ours": None, "words": None}
        return {
            "data": found,
            "ours": {key: _words(ours[key][...]) for key in ours},
            "words": json.loads(ours.attrs["words"]),
        }


def _words(values: Any) -> Any:
    if values.dtype.kind == "O" and all(isinstance(one, np.ndarray) for one in values.ravel()):
        return [[int(number) for number in one] for one in values.ravel()]
    if values.dtype.kind == "O":
        return [one.decode("utf-8") if isinstance(one, bytes) else str(one) for one in values.ravel()]
    return values


def parquet(request: dict[str, Any]) -> dict[str, Any]:
    """The columns of a table: arrays of numbers (NaN where null), or lists of words."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(f"Parquet {NEEDS_TABLES}") from None
    try:
        table = pyarrow.parquet.read_table(request["path"], use_threads=False)
    except pyarrow.ArrowException as error:
        raise InputError(f"{request['path']} cannot be read as Parquet: {error}") from None
    columns = {}
    for name in table.column_names:
        values = table.column(name).to_numpy(zero_copy_only=False)
        columns[name] = values if values.dtype.kind in "biuf" else [_word(one) for one in values]
    return columns


def _word(value: Any) -> str | float | int | bool | None:
    return value if value is None or isinstance(value, str | float | int | bool) else str(value)


PARSERS: dict[str, Handler] = {"mat": mat, "edf": edf, "hdf5": hdf5, "parquet": parquet}

if __name__ == "__main__":
    answer_requests(PARSERS)
