"""store.json of a store, and what is checked of a store before anything of it is used."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path, PureWindowsPath
from typing import Any

from stdiffeye.checksums import require_sha256
from stdiffeye.data.shards import WORDS
from stdiffeye.data.tensor_file import Array
from stdiffeye.errors import InputError
from stdiffeye.files import read_json
from stdiffeye.io.pictures import LONGEST_SHOWN

FORMAT = "stdiffeye-store"
VERSION = 1
MANIFEST = "store.json"
INDEX_FILES = ("trials.jsonl", "columns.safetensors")
DATA_FILES = ("scanpaths.safetensors", "trajectories.safetensors")


def is_store(path: str | Path) -> bool:
    """Whether a folder is a finished store."""
    return (Path(path) / MANIFEST).is_file()


def check_file(path: Path, info: dict[str, Any], name: str) -> None:
    """Refuse a file of a store that is not what it was; stores of earlier versions hold no checksum of gaze."""
    if name in info.get("sha256", {}):
        require_sha256(path / name, info["sha256"][name], "prepare it again")


def manifest_checksum(info: dict[str, Any]) -> str:
    """SHA-256 of what store.json says, this checksum aside."""
    rest = {key: value for key, value in info.items() if key != "manifest_sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def index_checksum(path: Path) -> str:
    """SHA-256 of the index: every line of trials.jsonl and every column."""
    digest = hashlib.sha256()
    for name in INDEX_FILES:
        with open(path / name, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def read_manifest(path: Path) -> dict[str, Any]:
    """What store.json says, under the right format, version and checksum."""
    if not is_store(path):
        if Path(f"{path}.partial").is_dir():
            raise InputError(f"{path} is not finished: run the same `stdiffeye prepare` again, it goes on where it was")
        raise InputError(f"{path} is no store: it has no {MANIFEST}; `stdiffeye prepare` makes one")
    info = read_json(path / MANIFEST)
    if not isinstance(info, dict) or info.get("format") != FORMAT:
        raise InputError(f"{path / MANIFEST} is not that of a store: its format is not {FORMAT!r}")
    if info.get("version") != VERSION:
        found = info.get("version")
        raise InputError(f"{path} is a store of version {found!r}, expected version {VERSION}: prepare it again")
    if "manifest_sha256" in info and info["manifest_sha256"] != manifest_checksum(info):
        raise InputError(f"{path / MANIFEST} is damaged: its checksum is wrong; prepare it again")
    return info


def check_files(path: Path, info: dict[str, Any]) -> None:
    """Refuse a store whose files are missing or of another size, or whose index is not what it was."""
    for name, size in info["bytes"].items():
        file = path / name
        if not file.is_file():
            raise InputError(f"{path} is damaged: {name} is missing; prepare it again")
        if file.stat().st_size != size:
            raise InputError(
                f"{path} is damaged: {name} has {file.stat().st_size} bytes, expected {size}; prepare it again"
            )
    if index_checksum(path) != info["index_sha256"]:
        raise InputError(f"{path} is damaged: the checksum of its index is wrong; prepare it again")


def check_manifest(path: Path, info: dict[str, Any]) -> None:
    """What is relied on later: kinds of values, and pictures named from their folder downwards, never out of it."""
    trials, rate_hz = info["trials"], info["settings"]["rate_hz"]
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 0:
        raise InputError(f"{path / MANIFEST}: 'trials' is {trials!r}, expected their number")
    if isinstance(rate_hz, bool) or not isinstance(rate_hz, int | float) or not 0 < rate_hz < math.inf:
        raise InputError(f"{path / MANIFEST}: 'rate_hz' is {rate_hz!r}, expected a positive number of Hz")
    if not isinstance(info["dataset"], str) or not isinstance(info["description"], dict):
        raise InputError(f"{path / MANIFEST}: 'dataset' must be a name, 'description' an object")
    words = [word for kind in WORDS for word in info["words"][kind]]
    if not all(isinstance(word, str) for word in words):
        raise InputError(f"{path / MANIFEST}: 'words' must be lists of words")
    for word in info["words"]["picture"]:
        named = PureWindowsPath(word)  # knows both kinds of slash
        if named.drive or named.root or ".." in named.parts:
            raise InputError(f"{path} names a picture outside its pictures' folder: {word[:LONGEST_SHOWN]}")


def check_columns(path: Path, info: dict[str, Any], columns: dict[str, Array]) -> None:
    """One value per trial, and ids that point to words."""
    for name, column in columns.items():
        if len(column) != info["trials"]:
            raise InputError(f"{path} is damaged: {name} has {len(column)} values for {info['trials']} trials")
    for kind in WORDS:
        ids, lowest = columns[f"{kind}_id"], -1 if kind == "picture" else 0
        if len(ids) and not (lowest <= ids.min() and ids.max() < len(info["words"][kind])):
            raise InputError(f"{path} is damaged: {kind}_id points to words that are not there")
