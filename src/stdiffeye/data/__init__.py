"""Many trials: prepare a data set, keep it in a store, hand out batches."""

from stdiffeye.data.read import read_trials
from stdiffeye.data.store import Store

__all__ = ["Store", "read_trials"]
