"""The whole way from a tracker's files to scanpaths: read, cut into trials, resample, judge, extract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.gaze.fixations import EXTRACTORS, extract
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.nouns import Trial
from stdiffeye.gaze.quality import Quality, QualityReport, QualityThresholds
from stdiffeye.gaze.recording import TRAJECTORY_RATE_HZ, Eye, Recording
from stdiffeye.gaze.trial_messages import split_trials
from stdiffeye.io.recordings import read_recording
from stdiffeye.io.table import Columns
from stdiffeye.progress import track

ALL_LOST, NO_FIXATION = "every sample lost", "no fixation found"


@dataclass(frozen=True)
class Fixations:
    """The trials that were kept, each with scanpath and trajectory, and the account of all of them."""

    trials: list[Trial]
    report: QualityReport


def fixations(
    paths: str | Path | Sequence[str | Path],
    *,
    method: str = "judd",
    eye: Eye = "best",
    start: str | None = None,
    end: str | None = None,
    columns: Columns | None = None,
    frame: Frame | None = None,
    rate_hz: float = TRAJECTORY_RATE_HZ,
    thresholds: QualityThresholds | None = None,
    quiet: bool = True,
) -> Fixations:
    """Scanpaths of all trials in one or more recordings.

    Parameters
    ----------
    paths : tracker files or BIDS folders, see `stdiffeye.io.recordings`.
    method : "judd", "ivt" or "idt", see `stdiffeye.gaze.fixations`.
    eye : "best" (per trial, the one less often lost), "left", "right" or "mean".
    start, end : regular expressions for the messages that begin and end a trial, see `stdiffeye.gaze.trial_messages`.
    columns, frame : for tables, and for files that do not give the screen's size.
    rate_hz : what trajectories are resampled to.
    thresholds : when a trial is dropped.

    Raises
    ------
    InputError : when a file cannot be read, or when no trial at all is good enough.
    """
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    if not files:
        raise InputError("no recording given")
    if method not in EXTRACTORS:
        raise InputError(f"there is no fixation extractor {method!r}; choose one of {', '.join(EXTRACTORS)}")
    report = QualityReport(thresholds or QualityThresholds())
    trials: list[Trial] = []
    for file in track(files, "reading recordings", quiet=quiet):
        blocks = read_recording(file, frame=frame, columns=columns)
        for viewer in dict.fromkeys(block.subject for block in blocks):
            own = [block.without_blink_edges() for block in blocks if block.subject == viewer]
            for recording in split_trials(own, start, end):
                trial = _trial(recording, method, eye, rate_hz, report)
                if trial is not None:
                    trials.append(trial)
    if not trials:
        reasons = ", ".join(f"{count} {reason}" for reason, count in report.dropped.most_common())
        raise InputError(f"no trial is good enough: of {report.total}, {reasons}")
    return Fixations(trials, report)


def _trial(recording: Recording, method: str, eye: Eye, rate_hz: float, report: QualityReport) -> Trial | None:
    if np.isnan(recording.xy_px(eye)).any(axis=1).all():
        report.drop(ALL_LOST)
        return None
    trajectory = recording.trajectory(eye, rate_hz)
    quality = Quality.of(trajectory, report.thresholds)
    if quality.fault(report.thresholds) is not None:
        report.add(quality)
        return None
    try:
        scanpath = extract(trajectory, method)
    except InputError:
        report.drop(NO_FIXATION)
        return None
    report.add(quality)
    return Trial(
        recording.name,
        recording.subject,
        scanpath=scanpath,
        trajectory=trajectory,
        viewing_ms=recording.duration_ms,
        details=recording.details,
    )
