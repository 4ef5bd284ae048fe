"""The whole way from a tracker's files to scanpaths: read, cut into trials, clean, extract."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stdiffeye.data.clean import CleaningSettings, clean
from stdiffeye.data.recording_quality import RecordingQuality
from stdiffeye.errors import InputError
from stdiffeye.gaze import GazeList, Trial
from stdiffeye.gaze.eye_movements import eye_movements
from stdiffeye.gaze.quality import QualityReport
from stdiffeye.gaze.samples import RawTrial
from stdiffeye.io.trial_files import ReadingOptions, find_recordings, read_raw_trials
from stdiffeye.progress import track
from stdiffeye.pseudonyms import pseudonym

HINT = "every rule is a flag, such as --max-missing 0.5"


@dataclass(frozen=True)
class Fixations:
    """What recordings hold.

    Attributes
    ----------
    trials : GazeList of Trial
        Those that were kept, each with scanpath and trajectory.
    report : QualityReport
        How many were kept, and why others were not.
    quality : RecordingQuality
        Data quality per trial, viewer and file.
    events : list of dict
        A row per fixation, saccade, microsaccade, oscillation and blink of the kept trials; see `gaze.eye_movements`.
    """

    trials: GazeList[Trial]
    report: QualityReport
    quality: RecordingQuality = field(default_factory=RecordingQuality)
    events: list[dict[str, Any]] = field(default_factory=list)


def fixations(
    recordings: str | Path | Sequence[str | Path],
    *,
    reading: ReadingOptions | None = None,
    settings: CleaningSettings | None = None,
    quiet: bool = True,
) -> Fixations:
    """Scanpaths of all trials in one or more recordings.

    Parameters
    ----------
    recordings : path or list of paths
        Tracker files, BIDS folders, or folders of either; see `stdiffeye.io.recordings`.
    reading : ReadingOptions, optional
        Messages that begin and end trials, columns of tables, screen.
    settings : CleaningSettings, optional
        Extractor, eye, rate, quality thresholds.
    quiet : bool
        No progress on standard error.

    Returns
    -------
    Fixations
        `trials`, a GazeList that shows itself in a notebook; `report`, what was dropped and why; `quality`; `events`.

    Raises
    ------
    InputError
        When a file cannot be read, or when no trial at all is good enough.

    Examples
    --------
    >>> found = fixations("sub01.asc", settings=CleaningSettings(extractor="ivt"))  # doctest: +SKIP
    >>> found.trials[0].scanpath                                                    # doctest: +SKIP
    Scanpath(11 fixations, 2.71 s, 1280×1024 px)
    """
    given = [recordings] if isinstance(recordings, str | Path) else list(recordings)
    files = [file for path in given for file in find_recordings(path)]
    if not files:
        raise InputError("no recording given")
    settings = settings or CleaningSettings()
    report = QualityReport(settings.thresholds)
    found = Fixations(GazeList(), report, RecordingQuality([], report, settings.rate_hz))
    trials: list[Trial] = []
    for file in track(files, "reading recordings", quiet=quiet):
        shown = file.name if reading is not None and reading.keep_ids else _without_name(file)
        for raw in read_raw_trials(file, reading):
            trial = _taken(raw, shown, settings, found)
            trials += [] if trial is None else [trial]
    if not trials:
        reasons = ", ".join(f"{count} {reason}" for reason, count in report.dropped.most_common())
        raise InputError(f"no trial is good enough: of {report.total}, {reasons}; {HINT}")
    return replace(found, trials=GazeList(trials))


def _without_name(file: Path) -> str:
    """A file's name with a pseudonym for its stem, which is often the viewer's."""
    stem, dot, suffixes = file.name.partition(".")
    return f"{pseudonym(stem)}{dot}{suffixes}"


def _taken(raw: RawTrial, file: str, settings: CleaningSettings, found: Fixations) -> Trial | None:
    """Clean one trial, and add its quality and its events to what was found."""
    before = Counter(found.report.dropped)
    trial = clean(raw, settings, found.report)
    dropped = next(iter(found.report.dropped - before), None)
    found.quality.add(raw, trial, file, dropped, settings)
    if trial is not None:
        words = {"name": trial.name, "task": trial.task, "subject": trial.subject}
        events = eye_movements(raw.recording, trial.scanpath, settings.eye)
        found.events.extend(words | event.as_row() for event in events)
    return trial
