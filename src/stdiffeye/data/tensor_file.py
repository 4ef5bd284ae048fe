"""Arrays in one safetensors file, written as a stream and read as memory maps.

The format: 8 bytes with the header's length, a JSON header {name: {dtype, shape, data_offsets}}, then the arrays one
after the other. Writing takes the pieces of each array in turn, so that a file may be larger than memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write

Array = NDArray[Any]
_WORDS = {"<f8": "F64", "<f4": "F32", "<i8": "I64", "<i4": "I32", "|b1": "BOOL"}
_DTYPES = {word: np.dtype(dtype) for dtype, word in _WORDS.items()}
_LARGEST_HEADER = 100_000_000  # the format's own limit
_ALIGNMENT = 8


@dataclass(frozen=True)
class Pieces:
    """An array that comes in pieces along its first axis."""

    dtype: str
    """As NumPy writes it, "<f4"."""
    shape: tuple[int, ...]
    pieces: Iterable[Array]


def write_tensors(path: str | Path, tensors: Mapping[str, Array | Pieces]) -> None:
    """Write named arrays, whole or not at all."""
    arrays = {name: _as_pieces(value) for name, value in tensors.items()}
    header: dict[str, Any] = {}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + np.dtype(array.dtype).itemsize * math.prod(array.shape)
        header[name] = {"dtype": _WORDS[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with atomic_write(path) as temporary, open(temporary, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, array in arrays.items():
            written = 0
            for piece in array.pieces:
                written += file.write(np.ascontiguousarray(piece, dtype=array.dtype).data)
            begin, end = header[name]["data_offsets"]
            if written != end - begin:
                raise RuntimeError(f"{name}: {written} bytes came, {end - begin} were announced")


def map_tensors(path: str | Path) -> dict[str, Array]:
    """Memory maps of all arrays of a file, read-only; nothing is read until it is used."""
    path = Path(path)
    size = path.stat().st_size
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(_LARGEST_HEADER, size - 8):
            raise InputError(f"{path} is damaged: it is {size} bytes long and does not start as safetensors do")
        try:
            header = json.loads(file.read(length))
        except (ValueError, RecursionError):
            raise InputError(f"{path} is damaged: its header is not JSON") from None
    header.pop("__metadata__", None)
    start = 8 + length
    expected = start + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if size != expected:
        raise InputError(f"{path} is cut off: {size} bytes, expected {expected}; prepare it again")
    return {name: _map(path, start, entry) for name, entry in header.items()}


def _map(path: Path, start: int, entry: dict[str, Any]) -> Array:
    shape, dtype = tuple(entry["shape"]), _DTYPES[entry["dtype"]]
    if math.prod(shape) == 0:
        return np.empty(shape, dtype)  # an empty range cannot be mapped
    mapped = np.memmap(path, dtype, mode="r", offset=start + entry["data_offsets"][0], shape=shape)
    return mapped.view(np.ndarray)  # slicing a plain view is ten times faster, and it keeps the map alive


def _as_pieces(value: Array | Pieces) -> Pieces:
    return value if isinstance(value, Pieces) else Pieces(value.dtype.str, value.shape, [value])
