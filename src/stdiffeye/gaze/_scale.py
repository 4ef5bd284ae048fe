"""Small tools that the extractors share: pixels of a degree, samples of a time, runs of a condition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame

JUDD_PX_PER_DEGREE = 34.0
JUDD_WIDTH_PX = 1024.0  # the pictures of Judd et al. (2009) were shown at up to 1024 px


def px_per_degree_of(frame: Frame, px_per_degree: float | None = None) -> float:
    """Pixels per degree: as given, else the frame's own, else Judd's 34 px/deg for a picture 1024 px wide.

    The last resort says that a picture of unknown size was seen about 30 degrees wide.

    Examples
    --------
    >>> px_per_degree_of(Frame(512, 384))
    17.0
    """
    if px_per_degree is not None:
        if not px_per_degree > 0:
            raise InputError(f"px_per_degree must be positive, got {px_per_degree!r}")
        return float(px_per_degree)
    if frame.px_per_degree is not None:
        return float(frame.px_per_degree)
    return frame.width_px * JUDD_PX_PER_DEGREE / JUDD_WIDTH_PX


def samples_of(time_ms: float, rate_hz: float, at_least: int = 1) -> int:
    """The nearest whole number of samples that a time lasts."""
    return max(at_least, round(time_ms * rate_hz / 1000))


def runs(flag: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(R, 2) [start, stop) of each stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flag, [False]]).astype(np.int8)))
    return edges.reshape(-1, 2)
