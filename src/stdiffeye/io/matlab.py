"""MATLAB files as plain objects."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.io.native import parse_apart


def read_mat(path: Path) -> dict[str, Any]:
    """The variables of a .mat file; structs have attributes, lone values come without arrays around them."""
    if not path.is_file():
        raise InputError(f"{path} does not exist")
    return {name: _restored(value) for name, value in parse_apart("mat", path, "a MATLAB file").items()}


def _restored(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "struct" in value:
        return SimpleNamespace(**{name: _restored(one) for name, one in value["struct"].items()})
    cell = np.empty(len(value["cell"]), dtype=object)
    cell[:] = [_restored(one) for one in value["cell"]]
    return cell.reshape(value["shape"])
