"""Many trials: prepare a data set, keep it in a store, hand out batches.

Names are imported on first use, so that the flags of a command are read without numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stdiffeye.data.read import read_trials
    from stdiffeye.data.store import Store

__all__ = ["Store", "read_trials"]


def __getattr__(name: str) -> Any:
    match name:
        case "Store":
            from stdiffeye.data.store import Store

            return Store
        case "read_trials":
            from stdiffeye.data.read import read_trials

            return read_trials
    raise AttributeError(f"module 'stdiffeye.data' has no attribute {name!r}")
