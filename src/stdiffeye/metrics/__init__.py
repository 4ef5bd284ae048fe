"""Judge any gaze model: metrics, protocols, tables. Never imports torch.

Names are imported on first use: the compiled kernels are only loaded when something is scored.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "MAIN_METRICS",
    "METRICS",
    "PROPER_METRICS",
    "PROTOCOLS",
    "REFERENCES",
    "Difference",
    "Estimate",
    "EvaluationSettings",
    "Evaluator",
    "MetricSpec",
    "Result",
    "dfd",
    "dtw",
    "evaluate",
    "gap_closed",
    "ld",
    "mm",
    "mm_dimensions",
    "pairwise",
    "read_clusters",
    "sed",
    "sm",
    "sm_dur",
    "ss",
    "sss",
    "tde",
    "write_clusters",
]


def __getattr__(name: str) -> Any:
    home: Any
    match name:
        case (
            "dfd" | "dtw" | "ld" | "mm" | "mm_dimensions" | "pairwise" | "sed" | "sm" | "sm_dur" | "ss" | "sss" | "tde"
        ):
            from stdiffeye.metrics import functions as home
        case "evaluate":
            from stdiffeye.metrics import evaluation as home
        case "EvaluationSettings":
            from stdiffeye.metrics import settings as home
        case "Evaluator" | "gap_closed":
            from stdiffeye.metrics import gap as home
        case "METRICS" | "MAIN_METRICS" | "PROPER_METRICS" | "MetricSpec":
            from stdiffeye.metrics import spec as home
        case "Difference" | "Estimate" | "Result":
            from stdiffeye.metrics import result as home
        case "read_clusters" | "write_clusters":
            from stdiffeye.metrics import clusters as home
        case "PROTOCOLS":
            from stdiffeye.metrics import protocols as home
        case "REFERENCES":
            from stdiffeye.metrics import references as home
        case _:
            raise AttributeError(f"module 'stdiffeye.metrics' has no attribute {name!r}")
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted(__all__)
