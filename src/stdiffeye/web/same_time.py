"""The same viewing time for both sides of a comparison: whoever looks longer has more fixations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stdiffeye.gaze import Scanpath, Trajectory, Trial
from stdiffeye.gaze.lifting import skeleton_of
from stdiffeye.gaze.timeline import clip_to, end_s

RATE_HZ = 240.0
SAME = 1.1  # times that differ by less are left alone: people end their last fixation as they like
UNKNOWN = (
    "The recording has no durations, so its viewing time is unknown: numbers of fixations may differ for that reason."
)


def same_viewing_time(human: Sequence[Trial], generated: Sequence[Trial]) -> tuple[list[Trial], list[Trial], list[str]]:
    """Both sides cut to the shorter viewing time, and what is to be said of it."""
    human_s, generated_s = _seconds(human), _seconds(generated)
    if human_s is None or generated_s is None:
        return list(human), list(generated), [UNKNOWN]
    shorter_s, longer_s = sorted((human_s, generated_s))
    if longer_s <= SAME * shorter_s:
        return list(human), list(generated), []
    longer = "your recording" if human_s > generated_s else "the generated gaze"
    note = (
        f"Your recording lasts {human_s:.1f} s and the generated gaze {generated_s:.1f} s: "
        f"{longer} is cut to {shorter_s:.1f} s, since who looks longer has more fixations."
    )
    return cut(human, shorter_s), cut(generated, shorter_s), [note]


def cut(trials: Sequence[Trial], seconds: float) -> list[Trial]:
    """What was seen before; viewers whose first fixation comes later are left out."""
    found = []
    for trial in trials:
        path, gaze = trial.scanpath, trial.trajectory
        if path is not None and path.duration_ms is not None:
            timed = _with_onsets(path)
            if timed.onset_ms is not None and timed.onset_ms[0] >= 1000 * seconds:
                continue
            clipped = clip_to(timed, seconds)
            path = clipped if path.onset_ms is not None else replace(clipped, onset_ms=None)
        if gaze is not None:
            samples = max(1, round(seconds * gaze.rate_hz))
            gaze = Trajectory(gaze.xy_px[:samples], gaze.rate_hz, gaze.frame)
        found.append(replace(trial, scanpath=path, trajectory=gaze))
    return found


def _seconds(trials: Sequence[Trial]) -> float | None:
    """The viewing time: as recorded, else the end of the viewer who looked longest; None where nobody knows."""
    ends = []
    for trial in trials:
        if trial.viewing_ms is not None:
            ends.append(trial.viewing_ms / 1000)
        elif trial.trajectory is not None:
            ends.append(trial.trajectory.duration_ms / 1000)
        elif trial.scanpath is not None and trial.scanpath.duration_ms is not None:
            ends.append(end_s(_with_onsets(trial.scanpath)))
    return max(ends, default=None)


def _with_onsets(path: Scanpath) -> Scanpath:
    """The path with onsets: where it has none, saccades of ordinary speed lie between its fixations."""
    if path.onset_ms is not None:
        return path
    first = np.asarray(skeleton_of(path, RATE_HZ).fixations[:, 0], dtype=np.float64)
    return replace(path, onset_ms=first * (1000 / RATE_HZ))
