"""When a scanpath's fixations are: join two scanpaths in time, or cut one."""

from __future__ import annotations

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.types import Scanpath

USUAL_DURATION_MS, USUAL_GAP_MS = 250.0, 40.0


def timed(path: Scanpath) -> tuple[Floats, Floats]:
    """Onsets and durations, which must be known.

    Parameters
    ----------
    path : Scanpath
        M fixations.

    Returns
    -------
    tuple of array, shape (M,)
        Onsets and durations in ms.

    Raises
    ------
    InputError
        When either is unknown.
    """
    if path.onset_ms is None or path.duration_ms is None:
        raise InputError(f"{path} does not say when its fixations are: it needs durations and onsets")
    return path.onset_ms, path.duration_ms


def onset_s(path: Scanpath) -> float:
    """When the last fixation began.

    Parameters
    ----------
    path : Scanpath
        Fixations with onsets.

    Returns
    -------
    float
        Seconds.
    """
    return float(timed(path)[0][-1]) / 1000


def begun_s(path: Scanpath, number: int) -> float:
    """When a fixation began; usual times stand for what the scanpath does not say.

    Parameters
    ----------
    path : Scanpath
        The fixations.
    number : int
        Which of them, from 0.

    Returns
    -------
    float
        Seconds.
    """
    if path.onset_ms is not None:
        return float(path.onset_ms[number]) / 1000
    before_ms = USUAL_DURATION_MS * number if path.duration_ms is None else float(path.duration_ms[:number].sum())
    return (before_ms + USUAL_GAP_MS * number) / 1000


def end_s(path: Scanpath) -> float:
    """When the last fixation ended.

    Parameters
    ----------
    path : Scanpath
        Fixations with durations and onsets.

    Returns
    -------
    float
        Seconds.
    """
    onset, duration = timed(path)
    return float(onset[-1] + duration[-1]) / 1000


def joined(path: Scanpath, more: Scanpath) -> Scanpath:
    """Append a scanpath whose first fixation is the last of the one before.

    Parameters
    ----------
    path : Scanpath
        The beginning, with durations and onsets.
    more : Scanpath
        The continuation, timed from its own first fixation.

    Returns
    -------
    Scanpath
        Both, on the clock of `path`.
    """
    onset, duration = timed(path)
    onset_more, duration_more = timed(more)
    if len(more) == 1:
        return path
    later = onset_more[1:] - duration_more[0] + onset[-1] + duration[-1]
    return Scanpath(
        np.concatenate([path.xy_px, more.xy_px[1:]]),
        path.frame,
        np.concatenate([duration, duration_more[1:]]),
        np.concatenate([onset, later]),
    )


def stretch_gaps(path: Scanpath, seconds: float) -> Scanpath:
    """Stretch the time between fixations so that the last ends at `seconds`; durations stay.

    Parameters
    ----------
    path : Scanpath
        Fixations with durations and onsets.
    seconds : float
        When the last fixation shall end.

    Returns
    -------
    Scanpath
        The same fixations at other onsets.
    """
    onset, duration = timed(path)
    if len(path) == 1 or onset[-1] <= 0:
        return path
    return Scanpath(path.xy_px, path.frame, duration, onset * ((seconds * 1000 - duration[-1]) / onset[-1]))


def rescale_time(path: Scanpath, seconds: float) -> Scanpath:
    """Speed up or slow down the whole scanpath so that the last fixation ends at `seconds`.

    Parameters
    ----------
    path : Scanpath
        Fixations with durations and onsets.
    seconds : float
        When the last fixation shall end.

    Returns
    -------
    Scanpath
        The same positions with other durations and onsets.
    """
    onset, duration = timed(path)
    pace = seconds / end_s(path)
    return Scanpath(path.xy_px, path.frame, duration * pace, onset * pace)


def clip_to(path: Scanpath, seconds: float, fill: bool = False) -> Scanpath:
    """Cut at the end of the viewing time, as a trial is.

    Parameters
    ----------
    path : Scanpath
        Fixations with durations and onsets.
    seconds : float
        Viewing time.
    fill : bool
        Let the last fixation last until the end.

    Returns
    -------
    Scanpath
        At least one fixation.
    """
    onset, duration = timed(path)
    kept = max(1, int(np.searchsorted(onset, seconds * 1000)))
    duration = duration[:kept].copy()
    rest = seconds * 1000 - onset[kept - 1]
    duration[-1] = rest if fill else min(duration[-1], rest)
    return Scanpath(path.xy_px[:kept], path.frame, duration, onset[:kept])
