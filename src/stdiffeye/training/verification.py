"""Whether data files are what they were when they were written: the verb `verify`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from stdiffeye.data.store import Store
from stdiffeye.data.store_manifest import MANIFEST, check_file, is_store
from stdiffeye.encoders.cache import entry_state
from stdiffeye.errors import InputError
from stdiffeye.progress import track
from stdiffeye.training.shipped import find_model, models
from stdiffeye.weight_files import has_checksum, read_weights

State = Literal["whole", "unchecked", "damaged"]
NO_CHECKSUM = "written by an earlier version, without a checksum"


@dataclass(frozen=True)
class VerifiedFile:
    """One file and what is the matter with it."""

    path: Path
    state: State
    fault: str = ""


def verify(paths: str | Path | Sequence[str | Path] = (), quiet: bool = False) -> list[VerifiedFile]:
    """Check the checksums of data files.

    Parameters
    ----------
    paths : path or sequence of paths
        Stores, models by name, runs, folders of cached features, single files, or folders of these; by default the
        shipped models.
    quiet : bool
        Show no progress.

    Returns
    -------
    list of VerifiedFile
        Every file with its state: "whole", "damaged", or "unchecked" where it carries no checksum.

    Raises
    ------
    InputError
        Where there is nothing to check.

    Examples
    --------
    >>> {file.state for file in verify("freeview", quiet=True)}  # doctest: +SKIP
    {'whole'}
    """
    named = [paths] if isinstance(paths, str | Path) else list(paths) or [model.name for model in models()]
    units = [unit for path in named for unit in _units(path)]
    return [file for unit in track(units, "verifying", quiet=quiet) for file in _verified(unit)]


def _units(path: str | Path) -> list[Path]:
    """Stores and single files below a path."""
    found = Path(path) if Path(path).exists() else find_model(path)
    units = [found] if found.is_file() else list(_walk(found))
    if not units:
        raise InputError(f"{path} holds nothing that has a checksum: expected stores, weights or cached features")
    return units


def _walk(folder: Path) -> Iterator[Path]:
    for folder_name, folders, names in os.walk(folder):
        if MANIFEST in names:
            folders.clear()
            yield Path(folder_name)
            continue
        folders.sort()
        yield from (Path(folder_name) / name for name in sorted(names) if Path(name).suffix in (".safetensors", ".npy"))


def _verified(unit: Path) -> list[VerifiedFile]:
    if is_store(unit):
        return _of_store(unit)
    if unit.suffix == ".npy":
        return [_of_features(unit)]
    if unit.suffix == ".safetensors":
        return [_of_weights(unit)]
    raise InputError(f"{unit} has no checksum: expected a store, .safetensors or .npy of the cache")


def _of_store(folder: Path) -> list[VerifiedFile]:
    try:
        store = Store.open(folder)
    except InputError as error:
        return [VerifiedFile(folder, "damaged", str(error))]
    files = []
    for name in store.info["bytes"]:
        try:
            check_file(folder, store.info, name)
        except InputError as error:
            files.append(VerifiedFile(folder / name, "damaged", str(error)))
            continue
        known = name in store.info.get("sha256", {})
        files.append(VerifiedFile(folder / name, *(("whole",) if known else ("unchecked", NO_CHECKSUM))))
    return files


def _of_weights(path: Path) -> VerifiedFile:
    try:
        read_weights(path)
    except InputError as error:
        return VerifiedFile(path, "damaged", str(error))
    return VerifiedFile(path, "whole") if has_checksum(path) else VerifiedFile(path, "unchecked", NO_CHECKSUM)


def _of_features(path: Path) -> VerifiedFile:
    match entry_state(path):
        case "whole":
            return VerifiedFile(path, "whole")
        case "unchecked":
            return VerifiedFile(path, "unchecked", NO_CHECKSUM)
        case _:
            return VerifiedFile(path, "damaged", f"{path} is damaged: it is computed anew at the next use")
