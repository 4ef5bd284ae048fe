"""Gaze for a picture: `load(name_or_path).generate(picture)`, and files of it."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Generated": "stdiffeye.generate.model",
    "Model": "stdiffeye.generate.model",
    "animate": "stdiffeye.generate.animation",
    "generate": "stdiffeye.generate.files",
    "load": "stdiffeye.generate.model",
    "models": "stdiffeye.generate.shipped",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'stdiffeye.generate' has no attribute {name!r}")
