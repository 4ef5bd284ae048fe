"""ST-DiffEye: how people look at a picture, generated and judged.

Names are imported on first use, so that `import stdiffeye` stays fast and free of torch.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "load": "stdiffeye.generate",
    "animate": "stdiffeye.generate",
    "models": "stdiffeye.generate",
    "Frame": "stdiffeye.gaze",
    "Scanpath": "stdiffeye.gaze",
    "Trajectory": "stdiffeye.gaze",
    "Trial": "stdiffeye.gaze",
    "Recording": "stdiffeye.gaze.recording",
    "read_recording": "stdiffeye.io.recordings",
    "fixations": "stdiffeye.io.recording_fixations",
    "features": "stdiffeye.encoders.precompute",
    "read_gaze": "stdiffeye.io.gaze_files",
    "write_gaze": "stdiffeye.io.gaze_files",
    "prepare": "stdiffeye.data.prepare",
    "Store": "stdiffeye.data.store",
    "read_trials": "stdiffeye.data.read",
    "info": "stdiffeye.data.info",
    "replay": "stdiffeye.plot",
    "evaluate": "stdiffeye.metrics",
    "doctor": "stdiffeye.cli.doctor",
    "InputError": "stdiffeye.errors",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'stdiffeye' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
