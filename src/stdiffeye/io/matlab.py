"""MATLAB files as plain objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stdiffeye.errors import InputError


def read_mat(path: Path) -> dict[str, Any]:
    """The variables of a .mat file; structs have attributes, lone values come without arrays around them."""
    from scipy.io import loadmat

    if not path.is_file():
        raise InputError(f"{path} does not exist")
    try:
        variables = loadmat(path, struct_as_record=False, squeeze_me=True)
    except Exception as error:  # a damaged file raises whatever SciPy's parser stumbles over
        raise InputError(f"{path} cannot be read as a MATLAB file: {error}") from None
    return {name: value for name, value in variables.items() if not name.startswith("__")}
