"""Semantic maps for SSS: the class of each pixel of a stimulus.

A folder holds one file per stimulus, named after it with another suffix, or `<task>/<name>` when classes depend on the
task. Files are `.npy` or `.npy.gz` (whole numbers, (H, W)) or `.png` (grey level or palette index is the class). Maps
of another size than 320×512 are resized by the nearest pixel.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.metrics.symbols import SEMANTIC_SHAPE

SUFFIXES = (".npy", ".npy.gz", ".png")
Classes = NDArray[np.integer[Any]]


def find_maps(folder: str | Path, keys: Sequence[tuple[str, str]]) -> tuple[list[Path | None], int]:
    """Find the semantic map of each stimulus.

    Parameters
    ----------
    folder : path
        Folder of maps.
    keys : sequence of (str, str)
        (name, task) of the stimuli.

    Returns
    -------
    paths : list of Path or None
        None where the folder has no map.
    missing : int
        How many are None.

    Raises
    ------
    InputError
        When there is no such folder, or no map at all.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"--semantics needs a folder of .npy, .npy.gz or .png maps; {folder} is not one")
    paths = [_find(folder, name, task) for name, task in keys]
    missing = sum(path is None for path in paths)
    if missing == len(paths):
        raise InputError(
            f"{folder} has no semantic map for any stimulus; {keys[0][0]!r} would be {_stem(keys[0][0])}.npy"
        )
    return paths, missing


def read_map(path: str | Path) -> Classes:
    """Read one semantic map.

    Parameters
    ----------
    path : path
        A .npy, .npy.gz or .png file.

    Returns
    -------
    ndarray of int, (320, 512)
        Classes, in the smallest type that holds them.

    Raises
    ------
    InputError
        When the file does not hold whole numbers of shape (H, W).
    """
    path = Path(path)
    if path.suffix == ".png":
        from PIL import Image

        with Image.open(path, formats=("PNG",)) as picture:
            classes = np.asarray(picture if picture.mode in ("P", "L", "I", "I;16") else picture.convert("L"))
    else:
        try:
            content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            classes = np.load(io.BytesIO(content), allow_pickle=False)
        except (ValueError, EOFError, gzip.BadGzipFile) as error:
            raise InputError(f"{path} is not a numpy array: {error}") from None
    if classes.ndim != 2 or classes.size == 0 or not np.issubdtype(classes.dtype, np.integer) or classes.min() < 0:
        raise InputError(f"{path} must hold whole numbers ≥ 0 of shape (H, W), got {classes.dtype} {classes.shape}")
    smallest = np.min_scalar_type(classes.max())
    if classes.shape == SEMANTIC_SHAPE:
        return classes.astype(smallest)
    rows = np.arange(SEMANTIC_SHAPE[0]) * classes.shape[0] // SEMANTIC_SHAPE[0]
    columns = np.arange(SEMANTIC_SHAPE[1]) * classes.shape[1] // SEMANTIC_SHAPE[1]
    return classes[np.ix_(rows, columns)].astype(smallest)


def _find(folder: Path, name: str, task: str) -> Path | None:
    stem = _stem(name)
    for base in (folder / _inside(task) / stem, folder / stem) if task else (folder / stem,):
        for suffix in SUFFIXES:
            path = base.with_name(base.name + suffix)
            if path.is_file():
                return path
    return None


def _stem(name: str) -> str:
    """The stimulus' file name without its suffix."""
    return str(_inside(name).with_suffix(""))


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"the name {name!r} leads out of the folder of semantic maps")
    return path
