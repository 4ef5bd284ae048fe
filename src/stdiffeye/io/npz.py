"""NumPy archives (.npz) of plain arrays, unpacked within limits."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.io.bytes_in import LARGEST_BYTES, UNPACKED_BYTES, UNPACKED_RATIO

LARGEST_HEADER = 1 << 12
READ_AT_ONCE = 1 << 22


def read_npz(path: Path, keys: Sequence[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of an archive, all or those named; pickles are refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name.removesuffix(".npy"): name for name in archive.namelist()}
            missing = [key for key in keys or () if key not in members]
            if missing:
                raise InputError(f"{path} has no array {', '.join(missing)}; it has {', '.join(list(members)[:8])}")
            most = min(LARGEST_BYTES, UNPACKED_BYTES + UNPACKED_RATIO * path.stat().st_size)
            wanted = list(members) if keys is None else keys
            if sum(archive.getinfo(members[key]).file_size for key in wanted) > most:
                raise InputError(f"{path} unpacks to more than {most >> 20} MB: it is no archive of gaze")
            return {key: _array(archive, members[key], most) for key in wanted}
    except InputError:
        raise
    except Exception as error:  # whatever a damaged archive makes zipfile, zlib and NumPy raise
        raise InputError(f"{path} is not a plain .npz: {error}; save one (V, L, 3) array per picture") from None


def _array(archive: zipfile.ZipFile, member: str, most: int) -> NDArray[Any]:
    """One array; its header is believed only as far as there are bytes behind it."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read_header(file, max_header_size=LARGEST_HEADER)
        if dtype.hasobject:
            raise InputError(f"{member} may be a pickle, which can run any code and is not read")
        size = dtype.itemsize * int(np.prod([int(n) for n in shape], dtype=object))
        if size > most:
            raise ValueError(f"{member} says that it has {size} bytes")
        data = bytearray()
        while len(data) < size and (piece := file.read(min(READ_AT_ONCE, size - len(data)))):
            data += piece
        if len(data) < size:
            raise ValueError(f"{member} is cut short")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
