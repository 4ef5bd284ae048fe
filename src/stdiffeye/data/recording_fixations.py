"""The whole way from a tracker's files to scanpaths: read, cut into trials, clean, extract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stdiffeye.data.clean import CleaningSettings, clean
from stdiffeye.errors import InputError
from stdiffeye.gaze import GazeList, Trial
from stdiffeye.gaze.quality import QualityReport
from stdiffeye.io.trial_files import ReadingOptions, find_recordings, read_raw_trials
from stdiffeye.progress import track


@dataclass(frozen=True)
class Fixations:
    """The trials that were kept, each with scanpath and trajectory, and the account of all of them."""

    trials: GazeList[Trial]
    report: QualityReport


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
        `trials`, a GazeList that shows itself in a notebook, and `report`, what was dropped and why.

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
    trials: list[Trial] = []
    for file in track(files, "reading recordings", quiet=quiet):
        cleaned = (clean(raw, settings, report) for raw in read_raw_trials(file, reading))
        trials += [trial for trial in cleaned if trial is not None]
    if not trials:
        reasons = ", ".join(f"{count} {reason}" for reason, count in report.dropped.most_common())
        raise InputError(f"no trial is good enough: of {report.total}, {reasons}")
    return Fixations(GazeList(trials), report)
