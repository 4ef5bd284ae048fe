"""Training: stores in, a run out. `train` is the command `stdiffeye train`, `export` makes a small model of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stdiffeye.training.release import export
    from stdiffeye.training.run import train

__all__ = ["export", "train"]


def __getattr__(name: str) -> Any:
    match name:
        case "train":
            from stdiffeye.training.run import train

            return train
        case "export":
            from stdiffeye.training.release import export

            return export
    raise AttributeError(f"module 'stdiffeye.training' has no attribute {name!r}")
