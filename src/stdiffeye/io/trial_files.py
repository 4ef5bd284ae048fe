"""Raw trials of tracker files: which files of a folder are recordings, and their trials cut out by messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from stdiffeye.errors import InputError
from stdiffeye.gaze.drift import DriftTarget, drift_corrected
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.samples import RawTrial
from stdiffeye.gaze.trial_messages import split_trials
from stdiffeye.gaze.validations import validations_in
from stdiffeye.io.bids import BIDS_NAME, is_bids
from stdiffeye.io.pupil import is_pupil
from stdiffeye.io.recordings import KNOWN, TABLES, file_kind, is_gaze_table, read_recording
from stdiffeye.io.table import Columns
from stdiffeye.pseudonyms import name_without, pseudonym

TRACKERS = (".asc", ".edf")


@dataclass(frozen=True)
class ReadingOptions:
    """How trials are found in a recording; all may be left out where files say enough themselves."""

    start: str | None = None
    """Regular expression of the message that begins a trial; a group `(?P<name>…)` names the trial or picture."""
    end: str | None = None
    """Regular expression of the message that ends a trial."""
    columns: Columns | None = None
    """Which column of a table is what."""
    frame: Frame | None = None
    """The screen, where the file does not give its size."""
    drift: DriftTarget | None = None
    """A target that the viewer fixated when a trial began, to correct drift by."""
    keep_ids: bool = False
    """Viewers keep the names that the recordings give them, instead of pseudonyms."""


def read_raw_trials(path: str | Path, options: ReadingOptions | None = None) -> list[RawTrial]:
    """All trials of a tracker's file or of a BIDS folder, in order, nothing cleaned but moving lids.

    Parameters
    ----------
    path : str or Path
        Any file that `read_recording` reads.
    options : ReadingOptions, optional
        Messages that begin and end trials, columns, screen.

    Returns
    -------
    list of RawTrial
        Without a message that begins a trial, every block of the recording is one.

    Raises
    ------
    InputError
        When the file cannot be read, or when a pattern that was given matches no message.
    """
    options = options or ReadingOptions()
    blocks = read_recording(path, frame=options.frame, columns=options.columns)
    trials = []
    for subject in dict.fromkeys(block.subject for block in blocks):
        own = [block for block in blocks if block.subject == subject]
        checks = tuple(validations_in(message for block in own for message in block.messages))
        for one in split_trials(own, options.start, options.end):
            shown = one if options.drift is None else drift_corrected(one, own, options.drift)
            raw = RawTrial(
                one.name, subject, shown, viewing_ms=one.duration_ms, details=shown.details, validations=checks
            )
            trials.append(raw if options.keep_ids else without_names(raw))
    return trials


def without_names(raw: RawTrial) -> RawTrial:
    """The trial by a pseudonym, also where the trial is called after the viewer's file."""
    hidden = pseudonym(raw.subject)
    name = name_without(raw.name, raw.subject, hidden)
    details = {key: value for key, value in raw.details.items() if key != BIDS_NAME}
    return replace(raw, name=name, subject=hidden, details=details)


def find_recordings(source: str | Path) -> list[Path]:
    """The recordings of a folder and its folders, sorted: files, and each viewer's folder of a BIDS data set.

    Tables that hold no gaze (a list of participants, notes) are passed over, and so is a file of the same name in
    another format, such as an EyeLink .edf beside its .asc.

    Parameters
    ----------
    source : str or Path
        A folder, or one recording.

    Returns
    -------
    list of Path

    Raises
    ------
    InputError
        When there is none.
    """
    source = Path(source)
    if not source.exists():
        raise InputError(f"{source} does not exist")
    found = [source] if source.is_file() else list(_walk(source))
    if not found:
        raise InputError(f"{source} holds no recording: expected {KNOWN}")
    return found


def _walk(folder: Path) -> Iterator[Path]:
    if is_bids(folder) and folder.name.startswith("sub-"):
        yield folder
        return
    if is_bids(folder):
        yield from sorted(path for path in folder.glob("sub-*") if any(path.rglob("*_physio.tsv.gz")))
        return
    if is_pupil(folder):
        yield folder
        return
    entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    names = {path.name.lower() for path in entries}
    for path in entries:
        if path.is_dir():
            yield from _walk(path)
        elif _is_recording(path) and not _has_twin(path.name.lower(), names):
            yield path


def _is_recording(path: Path) -> bool:
    suffix = file_kind(path)
    return suffix in TRACKERS or (suffix in TABLES and is_gaze_table(path))


def _has_twin(name: str, names: set[str]) -> bool:
    """Whether the same recording also lies there in a format that is taken first: .asc, .asc.gz, .edf."""
    stem = name.removesuffix(".gz").rsplit(".", 1)[0]
    order = [f"{stem}.asc", f"{stem}.asc.gz", f"{stem}.edf"]
    return name in order and any(other in names for other in order[: order.index(name)])
