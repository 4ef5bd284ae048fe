"""From a trajectory to its scanpath: `extract(trajectory, method)`.

Three extractors share one form, `fixation_intervals(trajectory, …) -> (M, 2)` sample numbers, one file each: `judd`
(the default, what the paper uses), `ivt` and `idt`; docs/fixation-extractors.md tells how they agree with experts.
A fixation's place is the median of its samples, its duration the number of its samples over the rate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze import idt, ivt, judd
from stdiffeye.gaze.nouns import Scanpath, Trajectory

MILLISECONDS = np.float64(1000)
EXTRACTORS: dict[str, Callable[..., NDArray[np.int64]]] = {
    "judd": judd.fixation_intervals,
    "ivt": ivt.fixation_intervals,
    "idt": idt.fixation_intervals,
}


def fixation_intervals(trajectory: Trajectory, method: str = "judd", **options: Any) -> NDArray[np.int64]:
    """(M, 2) first sample and the one after the last, of each fixation that has at least one sample.

    Parameters
    ----------
    method : "judd", "ivt" or "idt"; `options` are those of the method's own `fixation_intervals`.
    """
    if method not in EXTRACTORS:
        raise InputError(f"there is no fixation extractor {method!r}; choose one of {', '.join(EXTRACTORS)}")
    intervals = EXTRACTORS[method](trajectory, **options)
    seen = np.concatenate([[0], np.cumsum(~trajectory.lost)])
    return intervals[seen[intervals[:, 1]] > seen[intervals[:, 0]]]


def extract(trajectory: Trajectory, method: str = "judd", **options: Any) -> Scanpath:
    """The scanpath of a trajectory, with durations and with onsets counted from the first sample.

    Parameters
    ----------
    method : "judd", "ivt" or "idt".
    options : `px_per_degree` for a frame that does not know it (default: the picture was 30 degrees wide, as
        Judd's at 34 px per degree), and the thresholds of the method.

    >>> import numpy as np
    >>> from stdiffeye.gaze import Frame, Trajectory
    >>> still, moved = np.full((100, 2), 50.0), np.full((100, 2), 400.0)
    >>> extract(Trajectory(np.concatenate([still, moved]), 240, Frame(1024, 768, 34))).xy_px.tolist()
    [[50.0, 50.0], [400.0, 400.0]]
    """
    intervals = fixation_intervals(trajectory, method, **options)
    if len(intervals) == 0:
        lost = f"{trajectory.missing_share:.0%} of its {len(trajectory)} samples are lost"
        raise InputError(f"no fixation found by {method!r}: {lost}; check the recording or use another method")
    return scanpath_of(trajectory, intervals)


def scanpath_of(trajectory: Trajectory, intervals: NDArray[np.int64]) -> Scanpath:
    """The scanpath whose fixations are the given stretches [start, stop) of a trajectory."""
    from stdiffeye.gaze import _kernels

    return Scanpath(
        _kernels.median_places(trajectory.xy_px, trajectory.lost, intervals),
        trajectory.frame,
        duration_ms=(intervals[:, 1] - intervals[:, 0]) * MILLISECONDS / trajectory.rate_hz,
        onset_ms=intervals[:, 0] * MILLISECONDS / trajectory.rate_hz,
    )
