"""How much one server takes on: what a form may ask for, and how much waits and is kept."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1_000_000

# What a form may ask for; fixed, since the interface's description (/openapi.json) states it.
MOST_VIEWERS = 100
SHORTEST_S, LONGEST_S = 0.2, 20.0
FINEST_DEG, COARSEST_DEG = 0.001, 1.0
LARGEST_SEED = 2**53 - 1  # beyond it JavaScript's numbers have gaps
LONGEST_TASK = 100
LONGEST_NAME = 200


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
    keep_s: float = 3600.0
    """How long."""
    trials: int = 200
    """Recorded viewers that one comparison takes."""
