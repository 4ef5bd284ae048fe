"""Gaze over time as a replay shows it, made from trajectories or, where there is none, from scanpaths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.gaze.extraction import extract
from stdiffeye.gaze.lifting import skeleton_of
from stdiffeye.plotting.colours import category

RATE_HZ = 120.0
# A scanpath without durations is shown with fixations of this length, about what free viewing has.
ASSUMED_FIXATION_MS = 250.0
ONE_VIEWER_COLOUR = "#FFB000"


@dataclass(frozen=True)
class Playback:
    """One viewer's gaze over time.

    Attributes
    ----------
    name, colour : str
        How the viewer is named and drawn.
    start_ms : float
        Time of the first sample.
    rate_hz : float
        Samples per second of `xy_px`.
    xy_px : ndarray, (T, 2)
        Samples, NaN where lost.
    fixations : ndarray, (M, 4)
        x, y in px, start and end in ms.
    """

    name: str
    colour: str
    start_ms: float
    rate_hz: float
    xy_px: Floats
    fixations: Floats

    @property
    def end_ms(self) -> float:
        """Time after the last sample."""
        return self.start_ms + len(self.xy_px) * 1000 / self.rate_hz


def playbacks(trials: Sequence[Trial]) -> tuple[list[Playback], Frame]:
    """Return every trial over the time since picture onset, and the frame that all share."""
    if not trials:
        raise InputError("nothing to replay: the list of trials is empty")
    frame = trials[0].frame
    other = next((trial for trial in trials if trial.frame != frame), None)
    if other is not None:
        raise InputError(f"gaze of different frames cannot share a picture: {frame} and {other.frame}")
    colours = [ONE_VIEWER_COLOUR] if len(trials) == 1 else [category(number) for number in range(len(trials))]
    return [_playback(trial, colour) for trial, colour in zip(trials, colours, strict=True)], frame


def _playback(trial: Trial, colour: str) -> Playback:
    if trial.trajectory is None:
        assert trial.scanpath is not None
        return _from_scanpath(trial.scanpath, trial.subject, colour)
    scanpath = trial.scanpath
    if scanpath is None or scanpath.onset_ms is None or scanpath.duration_ms is None:
        scanpath = _extracted(trial)
    trajectory = trial.trajectory
    return Playback(trial.subject, colour, 0.0, trajectory.rate_hz, trajectory.xy_px, _rows(scanpath))


def _from_scanpath(scanpath: Scanpath, name: str, colour: str) -> Playback:
    """Fixations held and joined by saccades of ordinary speed."""
    if scanpath.duration_ms is None:
        scanpath = replace(scanpath, duration_ms=np.full(len(scanpath), ASSUMED_FIXATION_MS), onset_ms=None)
    start_ms = 0.0 if scanpath.onset_ms is None else float(scanpath.onset_ms[0])
    skeleton = skeleton_of(scanpath, RATE_HZ)
    edges_ms = start_ms + skeleton.fixations * (1000 / RATE_HZ)
    rows = np.concatenate([scanpath.xy_px, edges_ms], axis=1)
    return Playback(name, colour, start_ms, RATE_HZ, skeleton.xy_px, rows)


def _extracted(trial: Trial) -> Scanpath | None:
    assert trial.trajectory is not None
    try:
        return extract(trial.trajectory)
    except InputError:
        return None


def _rows(scanpath: Scanpath | None) -> Floats:
    if scanpath is None or scanpath.onset_ms is None or scanpath.duration_ms is None:
        return np.empty((0, 4))
    end_ms = scanpath.onset_ms + scanpath.duration_ms
    return np.column_stack([scanpath.xy_px, scanpath.onset_ms, end_ms])
