"""Training: stores in, a run out. `train(preset, stores, out)` is the command `stdiffeye train`."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name == "train":
        return importlib.import_module("stdiffeye.train.run").train
    raise AttributeError(f"module 'stdiffeye.train' has no attribute {name!r}")
