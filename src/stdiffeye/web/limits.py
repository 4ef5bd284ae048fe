"""How much one server takes on: what a form may ask for, and how much waits and is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MEGABYTE = 1_000_000

LARGEST_SEED = 2**53 - 1  # beyond it JavaScript's numbers have gaps
LONGEST_NAME = 200

# What a form may ask for, field by field; fixed, since the interface's description (/openapi.json) states it.
FORM_LIMITS: dict[str, dict[str, Any]] = {
    "task": {"max_length": 100},
    "samples": {"ge": 1, "le": 100},
    "seconds": {"ge": 0.2, "le": 20.0},
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
    megapixels: float = 40.0
    """Largest picture."""
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
