"""How much one server takes on: what a form may ask for, and how much waits and is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stdiffeye.generation.request import SECONDS
from stdiffeye.io.pictures import MAX_MEGAPIXELS

MEGABYTE = 1_000_000

LARGEST_SEED = 2**53 - 1  # beyond it JavaScript's numbers have gaps
LONGEST_NAME, LONGEST_TASK = 200, 100
MOST_AREAS = 50  # of a picture

# What a form may ask for, field by field; fixed, since the interface's description (/openapi.json) states it.
FORM_LIMITS: dict[str, dict[str, Any]] = {
    "task": {"max_length": LONGEST_TASK},
    "samples": {"ge": 1, "le": 100},
    "seconds": {"ge": SECONDS[0], "le": SECONDS[1]},
    "seed": {"ge": 0, "le": LARGEST_SEED},
    "style": {"max_length": LONGEST_NAME},
    "precision_deg": {"ge": 0.001, "le": 1.0},
    "px_per_degree": {"ge": 1.0, "le": 1000.0},
    "steps": {"ge": 1, "le": 100},
    "guidance": {"ge": 0.0, "le": 10.0},
}


@dataclass(frozen=True)
class Limits:
    """What protects the machine that serves."""

    upload_bytes: int = 20 * MEGABYTE
    """Largest request."""
    megapixels: float = MAX_MEGAPIXELS
    """Largest picture that is decoded; a larger JPEG is decoded at a smaller size."""
    smallest_side_px: int = 16
    queue: int = 4
    """Jobs that may wait behind the one that runs; more are answered with "busy"."""
    results: int = 12
    """Results that are kept for downloads and comparisons."""
    kept_bytes: int = 256 * MEGABYTE
    """How much memory they may take; the oldest go first."""
    keep_s: float = 3600.0
    """How long."""
    trials: int = 200
    """Recorded viewers that one comparison takes."""
