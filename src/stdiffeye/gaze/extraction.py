"""From a trajectory to its scanpath: `extract(trajectory, method)`.

Three extractors share one form, `fixation_intervals(trajectory, …) -> (M, 2)` sample numbers, one file each: `judd`
(the default, what the paper uses), `ivt` and `idt`; docs/fixation-extractors.md tells how they agree with experts.
A fixation's position is the median of its samples, its duration the number of its samples over the rate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze import idt, ivt, judd
from stdiffeye.gaze.types import Scanpath, Trajectory

MILLISECONDS = np.float64(1000)
EXTRACTORS: dict[str, Callable[..., NDArray[np.int64]]] = {
    "judd": judd.fixation_intervals,
    "ivt": ivt.fixation_intervals,
    "idt": idt.fixation_intervals,
}


def fixation_intervals(trajectory: Trajectory, method: str = "judd", **options: Any) -> NDArray[np.int64]:
    """Where the fixations of a trajectory begin and end; those without any sample are left out.

    Parameters
    ----------
    trajectory : Trajectory
    method : {"judd", "ivt", "idt"}
    **options
        Those of the method's own `fixation_intervals`.

    Returns
    -------
    array, shape (M, 2)
        First sample of each fixation, and the one after its last.

    Raises
    ------
    InputError
        When there is no such method.

    Examples
    --------
    >>> from stdiffeye.gaze import Frame
    >>> gaze = Trajectory([[50, 50]] * 100 + [[400, 400]] * 100, 240, Frame(1024, 768, 34))
    >>> fixation_intervals(gaze, "idt").tolist()
    [[0, 100], [100, 200]]
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
    trajectory : Trajectory
    method : {"judd", "ivt", "idt"}
    **options
        `px_per_degree` for a frame that does not know it (default: the picture was 30 degrees wide, as Judd's at
        34 px per degree), and the thresholds of the method.

    Returns
    -------
    Scanpath
        With durations and onsets in ms.

    Raises
    ------
    InputError
        When no fixation is found, or when there is no such method.

    Examples
    --------
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
    """Make the scanpath whose fixations are given stretches of a trajectory.

    Parameters
    ----------
    trajectory : Trajectory
        The samples.
    intervals : array, shape (M, 2)
        Samples [start, stop) of each fixation.

    Returns
    -------
    Scanpath
        Median positions, durations and onsets of the stretches.
    """
    from stdiffeye.gaze import _kernels

    return Scanpath(
        _kernels.median_positions(trajectory.xy_px, trajectory.lost, intervals),
        trajectory.frame,
        duration_ms=(intervals[:, 1] - intervals[:, 0]) * MILLISECONDS / trajectory.rate_hz,
        onset_ms=intervals[:, 0] * MILLISECONDS / trajectory.rate_hz,
    )
