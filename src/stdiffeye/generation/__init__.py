"""Gaze for a picture: `load(name_or_path).generate(picture)`, and files of it.

Names are imported on first use, since most of them load torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stdiffeye.generation.animation import animate
    from stdiffeye.generation.output import generate, generate_files
    from stdiffeye.generation.request import AnimationOptions, OutputOptions, Request
    from stdiffeye.generation.trained import Generated, Model, load
    from stdiffeye.training.shipped import ShippedModel, models

__all__ = [
    "AnimationOptions",
    "Generated",
    "Model",
    "OutputOptions",
    "Request",
    "ShippedModel",
    "animate",
    "generate",
    "generate_files",
    "load",
    "models",
]


def __getattr__(name: str) -> Any:
    match name:
        case "animate":
            from stdiffeye.generation.animation import animate

            return animate
        case "generate" | "generate_files":
            from stdiffeye.generation import output

            return getattr(output, name)
        case "AnimationOptions" | "OutputOptions" | "Request":
            from stdiffeye.generation import request

            return getattr(request, name)
        case "ShippedModel" | "models":
            from stdiffeye.training import shipped

            return getattr(shipped, name)
        case "Generated" | "Model" | "load":
            from stdiffeye.generation import trained

            return getattr(trained, name)
    raise AttributeError(f"module 'stdiffeye.generation' has no attribute {name!r}")
