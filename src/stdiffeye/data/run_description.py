"""What a run or a model is, told from its folder: nothing is read but its run.yaml and the headers of weights."""

from __future__ import annotations

import importlib.resources
import json
from pathlib import Path
from typing import Any

from stdiffeye.errors import InputError
from stdiffeye.yaml_files import read_yaml

RUN_FILE, CARD_FILE = "run.yaml", "card.md"
WEIGHTS = ".safetensors"
MOST_BYTES_OF_HEADER = 1 << 24
BEST = "best"


def is_run(path: Path) -> bool:
    """Whether a folder is a run, or a model."""
    return (path / RUN_FILE).is_file()


def shipped_model(name: str) -> Path | None:
    """The folder of a model of the package."""
    folder = Path(str(importlib.resources.files("stdiffeye") / "models" / name))
    return folder if name == folder.name and is_run(folder) else None


def run_facts(folder: Path) -> dict[str, Any]:
    """System, encoder, stages, weights and data of a run or model.

    Raises
    ------
    InputError
        When its run.yaml cannot be read.
    """
    settings = read_yaml(folder / RUN_FILE)
    if not isinstance(settings, dict):
        raise InputError(f"{folder / RUN_FILE} is not the configuration of a run")
    weights = sorted(folder.rglob(f"*{WEIGHTS}"))
    stages = settings.get("stages")
    facts: dict[str, Any] = {
        "system": settings.get("system"),
        "about": settings.get("about"),
        "encoder": settings.get("encoder"),
        "text": settings.get("text"),
        "stages": ", ".join(stages) if isinstance(stages, dict) else None,
        "stores": _stores(settings),
        "size (MB)": round(sum(file.stat().st_size for file in weights) / 1e6, 1),
    }
    for file in weights:
        if file.stem == BEST or file.parent == folder:
            facts[f"weights {file.relative_to(folder)}"] = f"{_parameters(file):,} parameters"
    if not weights:
        facts["weights"] = "none yet: the training has not written any"
    facts["card"] = str(folder / CARD_FILE) if (folder / CARD_FILE).is_file() else None
    return facts


def _stores(settings: dict[str, Any]) -> str | None:
    stores = settings.get("stores")
    if isinstance(stores, dict):
        stores = list(stores)
    return ", ".join(map(str, stores)) if isinstance(stores, list) else None


def _parameters(file: Path) -> int:
    """Numbers in a safetensors file, from its header."""
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if not 0 < length <= MOST_BYTES_OF_HEADER:
            raise InputError(f"{file} is damaged: its header is said to have {length} bytes")
        try:
            header = json.loads(opened.read(length))
            shapes = [entry["shape"] for name, entry in header.items() if name != "__metadata__"]
            return sum(_product(shape) for shape in shapes)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(f"{file} is damaged: its header cannot be read") from None


def _product(shape: list[int]) -> int:
    count = 1
    for side in shape:
        count *= side
    return count
