"""The fixation index: a number ρ̃ in [0, 1] on every sample that says how far along its scanpath it lies.

Source: Eq. 2–5 of the ST-DiffEye paper. Conventions: fixations count from 1, the start is 0 and the end M + 1, all
divided by M + 1; samples count from 0 here. Anchors are exact (dynamic programming, O(T·M)), the earliest on a tie;
an anchor on the first or last sample wins over the boundary. Compute it on the true length, before padding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze.types import Scanpath, Trajectory

INTERPOLATIONS = ("uniform", "distance")


def anchors(trajectory: Trajectory, scanpath: Scanpath) -> NDArray[np.int64]:
    """The sample that stands for each fixation, strictly rising, with the least summed distance.

    t_1 < … < t_M minimise Σ_m ‖(x, y)_{t_m} − (x, y)_m‖. A lost sample stands for nothing. Of several best choices
    this is the one whose every anchor is earliest (it exists: the earlier of two best choices, anchor by anchor, is
    a best choice).

    Parameters
    ----------
    trajectory : Trajectory
    scanpath : Scanpath
        In the same frame.

    Returns
    -------
    array of int, shape (M,)

    Raises
    ------
    InputError
        When frames differ, or when fewer samples are there than fixations.

    Examples
    --------
    >>> from stdiffeye.gaze import Frame
    >>> frame = Frame(10, 10)
    >>> gaze = Trajectory([[0, 0], [2, 0], [4, 0], [6, 0]], 240, frame)
    >>> anchors(gaze, Scanpath([[2, 0], [6, 0]], frame)).tolist()
    [1, 3]
    """
    from stdiffeye.gaze import _kernels

    _check(trajectory, scanpath)
    found = _kernels.anchors(trajectory.xy_px, scanpath.xy_px)
    if found[0] < 0:
        there = int((~trajectory.lost).sum())
        raise InputError(
            f"{len(scanpath)} fixations need as many samples to stand for them, the trajectory has {there} "
            f"that are not lost; are scanpath and trajectory of the same trial?"
        )
    return found


def fixation_index(trajectory: Trajectory, scanpath: Scanpath, interpolation: str = "uniform") -> NDArray[np.float64]:
    """How far along its scanpath every sample lies, ρ̃.

    Parameters
    ----------
    trajectory : Trajectory
    scanpath : Scanpath
        In the same frame.
    interpolation : {"uniform", "distance"}
        Linear in time between anchors; or the mean of the numbers of the two nearest fixations weighted by inverse
        distance (an ablation without temporal order; NaN where the eye was lost).

    Returns
    -------
    array, shape (T,)
        0 at the first sample, 1 at the last.

    Raises
    ------
    InputError
        When frames differ, when fewer samples are there than fixations, or when there is no such interpolation.

    Examples
    --------
    >>> from stdiffeye.gaze import Frame
    >>> frame = Frame(10, 10)
    >>> path = Trajectory([[0, 0], [2, 0], [4, 0], [6, 0], [8, 0]], 240, frame)
    >>> (4 * fixation_index(path, Scanpath([[2, 0], [4, 0], [6, 0]], frame))).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    from stdiffeye.gaze import _kernels

    if interpolation not in INTERPOLATIONS:
        raise InputError(f"there is no interpolation {interpolation!r}; choose one of {', '.join(INTERPOLATIONS)}")
    if interpolation == "distance":
        _check(trajectory, scanpath)
        return _kernels.two_nearest(trajectory.xy_px, scanpath.xy_px)
    return _kernels.ramp(anchors(trajectory, scanpath), len(trajectory))


def _check(trajectory: Trajectory, scanpath: Scanpath) -> None:
    if trajectory.frame != scanpath.frame:
        raise InputError(
            f"trajectory and scanpath must share a frame, got {trajectory.frame} and {scanpath.frame}; "
            "convert one with .rescaled(to=…)"
        )
    if len(trajectory) < len(scanpath):
        raise InputError(
            f"{len(scanpath)} fixations need as many samples to stand for them, the trajectory has {len(trajectory)}; "
            "are scanpath and trajectory of the same trial?"
        )
