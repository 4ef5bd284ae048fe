"""Judge any gaze model: metrics, protocols, tables. Never imports torch.

Names are imported on first use: the compiled kernels are only loaded when something is scored.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    **dict.fromkeys(
        ("dfd", "dtw", "ld", "mm", "mm_dimensions", "pairwise", "sed", "sm", "sm_dur", "ss", "sss", "tde"), "functions"
    ),
    **dict.fromkeys(("Settings", "evaluate"), "evaluation"),
    **dict.fromkeys(("Referee", "gap_closed"), "gap"),
    **dict.fromkeys(("METRICS", "MAIN_METRICS", "MetricSpec"), "spec"),
    **dict.fromkeys(("Difference", "Estimate", "Result"), "result"),
    **dict.fromkeys(("read_clusters", "write_clusters"), "clusters"),
    "PROTOCOLS": "protocols",
    "REFERENCES": "references",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"stdiffeye.metrics.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'stdiffeye.metrics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
