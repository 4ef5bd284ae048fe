"""The user's own recording of the picture: read, placed over it, and the model scored against it.

Every recorded viewer is a truth of its own. A row of scores holds, for each metric, the mean over these viewers of
fair CRPS, mean and best of a whole set of gaze against the one viewer:

* `model`: the generated viewers.
* `human`: the other recorded viewers (where there are at least two).
* `centre`: the generated viewers' numbers and durations of fixations, but places drawn from a Gaussian with the mean
  and the standard deviation of all recorded fixations: what can be had without seeing the picture.

Beside CRPS stands model − human with a paired 95 % interval over the recorded viewers. Representative samples are shown
but not scored. Where a row has a single scanpath, CRPS is the one as printed, since the fair one is undefined.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, Protocol

import numpy as np

from stdiffeye.data.recording_fixations import fixations
from stdiffeye.errors import InputError
from stdiffeye.files import temporary_folder
from stdiffeye.gaze import Frame, Placement, Scanpath, Trajectory, Trial
from stdiffeye.generation.request import Request
from stdiffeye.io.gaze_files import kind, read_gaze
from stdiffeye.io.trial_files import ReadingOptions
from stdiffeye.metrics import evaluate
from stdiffeye.metrics.gap import GAP_METRICS
from stdiffeye.metrics.result import Result
from stdiffeye.metrics.spec import METRICS
from stdiffeye.web.same_time import same_viewing_time
from stdiffeye.web.views import statistics, viewers_as_json

SCANPATHS = (".json", ".csv", ".tsv")
RECORDINGS = (".asc", ".txt")
EDF, EDF_LIBRARY = ".edf", "eyelinkio"
PROTOCOLS = ("crps", "mean", "best")
NAMES_SHOWN = 5
CENTRE_SEED = 0
NOT_SCORED = "Representative viewers are not independent: they are shown but not scored. Generate without that option."


@dataclass(frozen=True)
class Upload:
    """A recording as it came: its bytes, and what the browser says it is called."""

    data: bytes
    filename: str
    stimulus: str = ""
    """Which of the file's pictures this is; "" to go by the picture's name."""


class Compared(Protocol):
    """What a comparison needs to know of a job's result."""

    @property
    def name(self) -> str: ...
    @property
    def request(self) -> Request: ...
    @property
    def trials(self) -> list[Trial]: ...


def compare(result: Compared, upload: Upload, most_trials: int) -> dict[str, Any]:
    """The recorded viewers, their statistics beside the model's, and scores."""
    frame = result.trials[0].frame
    found = _of_picture(_read(upload, frame), result.name, upload)
    if len(found) > most_trials:
        raise InputError(f"the file holds {len(found)} viewers of this picture; at most {most_trials} are compared")
    human = [_onto(trial, frame) for trial in found]
    human = [replace(one, name=result.name, task=result.request.task, details={}) for one in human]
    human, generated, notes = same_viewing_time(human, result.trials)
    shown = {
        "viewers": viewers_as_json(human),
        "statistics": statistics({"model": generated, "human": human}),
        "sampling": result.request.sampling,
        "counts": {"human": len(human), "model": len(generated)},
    }
    if result.request.sampling == "representative":
        return shown | {"scores": [], "notes": [NOT_SCORED, *notes]}
    scored = scores(human, generated)
    # Every viewer is a stimulus here, which says nothing about the recording; KLD is not asked for.
    notes += [note for note in scored.notes if "KLD" not in note]
    return shown | {"scores": _table(scored), "estimator": scored.settings["estimator"], "notes": notes}


def suffixes() -> tuple[str, ...]:
    """Endings of the recordings that are taken: EyeLink's .edf where its library is installed."""
    edf = (EDF,) if importlib.util.find_spec(EDF_LIBRARY) is not None else ()
    return (*SCANPATHS, *RECORDINGS, *edf)


def scores(human: Sequence[Trial], generated: Sequence[Trial]) -> Result:
    """Rows `model`, `human` and `centre` as at the head of this file; a stimulus per recorded viewer."""
    names = [f"viewer {number}" for number in range(len(human))]
    timed = any(one.scanpath is not None and one.scanpath.duration_ms is not None for one in human)
    human = [replace(one, name=name) for one, name in zip(human, names, strict=True)]
    systems: dict[str, list[Trial]] = {"model": _for_each(generated, names)}
    if len(human) > 1:
        systems["human"] = [
            _numbered(other, name, k) for own, name in enumerate(names) for k, other in enumerate(human) if k != own
        ]
    systems["centre"] = _for_each(_centred(human, generated), names)
    wanted = [name for name in GAP_METRICS if timed or not METRICS[name].needs_duration]
    fair = len(generated) > 1 and len(human) != 2  # with two viewers the row human is of one scanpath
    return evaluate(
        human,
        systems,
        compare=True,
        metrics=wanted,
        protocols=PROTOCOLS,
        estimator="fair" if fair else "printed",
        references=False,
    )


def _read(upload: Upload, frame: Frame) -> Sequence[Trial]:
    """Read through a temporary file with a name of our own; only the kind comes from the user's name."""
    suffix = kind(PurePath(upload.filename).name)
    if suffix not in suffixes():
        more = "; .edf needs the extra 'edf' on the server" if suffix == EDF else ""
        raise InputError(
            f"a recording ends in {', '.join(suffixes())}, got {suffix or 'a name without ending'!r}{more}"
        )
    if not upload.data:
        raise InputError("the recording is empty: choose a file")
    with temporary_folder() as folder:
        path = folder / f"recording{suffix}"
        path.write_bytes(upload.data)
        try:
            if suffix in SCANPATHS and not _has_raw_samples(path):
                return read_gaze(path, frame)
            reading = ReadingOptions(frame=None if suffix in (".asc", EDF) else frame, keep_ids=True)
            return fixations(path, reading=reading).trials
        except InputError as error:
            raise InputError(str(error).replace(str(path), "the recording")) from None


def _has_raw_samples(path: Path) -> bool:
    """Whether a table has a clock and no durations: raw samples, whose fixations are still to be found."""
    if path.suffix == ".json":
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        header = file.readline().lower()
    return "time" in header and "duration" not in header


def _of_picture(trials: Sequence[Trial], name: str, upload: Upload) -> list[Trial]:
    names = list(dict.fromkeys(trial.name for trial in trials))
    wanted = upload.stimulus or name
    chosen = next((one for one in names if one == wanted), None)
    chosen = chosen or next((one for one in names if _stem(one) == _stem(wanted)), None)
    if chosen is None and (upload.stimulus or len(names) > 1):
        some = ", ".join(names[:NAMES_SHOWN]) + (" …" if len(names) > NAMES_SHOWN else "")
        raise InputError(
            f"the recording holds {len(names)} picture{'s' * (len(names) > 1)} ({some}), none called {wanted!r}: "
            "type which of them this is"
        )
    return [trial for trial in trials if trial.name == (chosen or names[0])]


def _stem(name: str) -> str:
    return PurePath(name).stem.lower()


def _onto(trial: Trial, frame: Frame) -> Trial:
    """The trial in px of the picture: stretched where shapes agree, else as if shown as large as the screen allows."""
    trial = replace(trial, target_box_px=None, picture=None)
    if trial.frame.same_shape(frame):
        return trial.rescaled(frame)
    shown = Placement.letterbox(frame, trial.frame)
    path, gaze = trial.scanpath, trial.trajectory
    return replace(
        trial,
        scanpath=None if path is None else replace(path, xy_px=shown.to_image(path.xy_px), frame=frame),
        trajectory=None if gaze is None else Trajectory(shown.to_image(gaze.xy_px), gaze.rate_hz, frame),
    )


def _for_each(trials: Sequence[Trial], names: Sequence[str]) -> list[Trial]:
    return [_numbered(trial, name, k) for name in names for k, trial in enumerate(trials)]


def _numbered(trial: Trial, name: str, number: int) -> Trial:
    return replace(trial, name=name, subject=str(number), details={})


def _centred(human: Sequence[Trial], generated: Sequence[Trial]) -> list[Trial]:
    rng = np.random.default_rng(CENTRE_SEED)
    seen = np.concatenate([one.scanpath.xy_px for one in human if one.scanpath is not None])
    made = []
    for trial in generated:
        assert trial.scanpath is not None
        frame, length = trial.scanpath.frame, len(trial.scanpath)
        xy_px = np.clip(rng.normal(seen.mean(axis=0), seen.std(axis=0), (length, 2)), 0, frame.size_px - 1)
        made.append(replace(trial, scanpath=Scanpath(xy_px, frame, trial.scanpath.duration_ms), trajectory=None))
    return made


def _table(result: Result) -> list[dict[str, Any]]:
    """A row per metric: its title, which way is better, and protocol → row → value."""
    names = list(next(iter(result.systems.values()))["crps"])
    return [
        {
            "name": name,
            "title": METRICS[name].title,
            "better": METRICS[name].direction,
            "values": {protocol: _values(result, protocol, name) for protocol in PROTOCOLS},
            "model_minus_human": {protocol: _difference(result, protocol, name) for protocol in PROTOCOLS},
        }
        for name in names
    ]


def _values(result: Result, protocol: str, metric: str) -> Mapping[str, float | None]:
    found = {side: result.value(side, protocol, metric) for side in result.systems}
    return {side: value if np.isfinite(value) else None for side, value in found.items()}


def _difference(result: Result, protocol: str, metric: str) -> Mapping[str, float | None] | None:
    """Model − human with its paired interval; None where one viewer was recorded."""
    for one in result.comparisons:
        if (one.first, one.second, one.protocol, one.metric) == ("model", "human", protocol, metric):
            return {key: value for key, value in one.to_dict().items() if key in ("value", "low", "high")}
    return None
