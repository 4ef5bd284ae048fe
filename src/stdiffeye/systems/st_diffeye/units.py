"""The units of a token's channels: as they are for g, of about unit variance where noise is added to them directly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stdiffeye.model.fixation_tokens import (
    DURATION_LOG_STD,
    DURATION_MEDIAN_MS,
    LONGEST_MS,
    POSITION_MEAN,
    POSITION_STD,
    SHORTEST_MS,
)
from stdiffeye.systems.st_diffeye.config import STDiffEyeConfig

INDEX_MEAN, INDEX_STD = 0.5, 0.29  # of a number that grows evenly from 0 to 1
MILLISECONDS = 1000.0

Rows = NDArray[np.float64]


class Units:
    """Rows (T, C) of x, y in [0, 1], Δt in seconds and ρ̃, to and from what the network sees."""

    def __init__(self, config: STDiffEyeConfig) -> None:
        self.plain = config.space == "latent"
        self.fixations = config.modality == "scanpath"
        timed = config.modality == "scanpath" or config.time_channel
        self.time_at = 2 if timed else None
        self.index_at = 2 + timed if config.decodes_index else None
        self.step_s = 1 / config.rate_hz
        optional = {"step": timed, "index": config.decodes_index}
        self.channels = ["position", "position", *(name for name, is_there in optional.items() if is_there)]

    def scaled(self, rows: Rows) -> Rows:
        if self.plain:
            return rows
        scaled = (rows - POSITION_MEAN) / POSITION_STD
        if self.time_at is not None:
            scaled[:, self.time_at] = self._time(rows[:, self.time_at])
        if self.index_at is not None:
            scaled[:, self.index_at] = (rows[:, self.index_at] - INDEX_MEAN) / INDEX_STD
        return scaled

    def restored(self, scaled: Rows) -> Rows:
        if self.plain:
            return scaled
        rows = scaled * POSITION_STD + POSITION_MEAN
        if self.time_at is not None:
            time = scaled[:, self.time_at]
            log_std = time * DURATION_LOG_STD
            rows[:, self.time_at] = (
                DURATION_MEDIAN_MS / MILLISECONDS * np.exp(np.clip(log_std, -10, 10))
                if self.fixations
                else (time + 1) * self.step_s
            )
        if self.index_at is not None:
            rows[:, self.index_at] = scaled[:, self.index_at] * INDEX_STD + INDEX_MEAN
        return rows

    def _time(self, seconds: Rows) -> Rows:
        if not self.fixations:
            return seconds / self.step_s - 1
        shown_ms = np.clip(seconds * MILLISECONDS, SHORTEST_MS, LONGEST_MS)
        return np.log(shown_ms / DURATION_MEDIAN_MS) / DURATION_LOG_STD
