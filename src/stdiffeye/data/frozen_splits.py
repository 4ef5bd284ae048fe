"""Frozen splits: the stimuli and the human gaze that a published number is about, addressed by content.

A split is a JSON file in `splits/`: data set, split, and for every stimulus its (name, task), the number of viewers and
a digest of their gaze. Its id is `SET@hash`, the hash being that of the file's content, so that an id can mean one
thing only. The files hold no gaze: whoever evaluates has the data set, and the digests say whether it is the same.

A digest covers, of every viewer, the subject and the first 16 fixations: position in thousandths of the frame's width
and height, duration in whole ms. It does not depend on file format or on the px that gaze is stored in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.files import read_json, write_json
from stdiffeye.gaze import Trial
from stdiffeye.gaze.types import by_stimulus

FOLDER = Path(__file__).parent.parent / "splits"
SPLIT_ID = "split_id"
"""Key of a submission's rows, and of the settings of a result."""
DIGESTED_FIXATIONS = 16
Key = tuple[str, str]


@dataclass(frozen=True)
class FrozenStimulus:
    """What a split says of one stimulus."""

    name: str
    task: str
    viewers: int
    gaze: str
    """Digest of the viewers' gaze."""


@dataclass(frozen=True)
class FrozenSplit:
    """A split by content."""

    dataset: str
    split: str
    stimuli: tuple[FrozenStimulus, ...]

    @classmethod
    def of(cls, dataset: str, split: str, human: Iterable[Trial]) -> FrozenSplit:
        """The split that these human trials are, stimuli sorted by name and task."""
        groups = by_stimulus(trial for trial in human if trial.scanpath is not None)
        stimuli = [FrozenStimulus(*key, len(groups[key]), gaze_digest(groups[key])) for key in sorted(groups)]
        return cls(dataset, split, tuple(stimuli))

    @property
    def id(self) -> str:
        """`SET@hash`."""
        content = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return f"{self.dataset}@{hashlib.sha256(content.encode()).hexdigest()[:12]}"

    @property
    def viewers(self) -> int:
        """Human trials in all."""
        return sum(one.viewers for one in self.stimuli)

    def to_json(self) -> dict[str, Any]:
        stimuli = [[one.name, one.task, one.viewers, one.gaze] for one in self.stimuli]
        return {"dataset": self.dataset, "split": self.split, "stimuli": stimuli}

    def save(self, folder: Path = FOLDER) -> Path:
        """Write the file that the id names."""
        path = folder / f"{self.id}.json"
        write_json(path, self.to_json(), indent=None)
        return path

    def humans(self, trials: Sequence[Trial]) -> list[Trial]:
        """The split's own trials among the given ones; refused where any is missing, surplus or different."""
        groups = by_stimulus(trial for trial in trials if trial.scanpath is not None)
        chosen: list[Trial] = []
        for one in self.stimuli:
            found = groups.get((one.name, one.task), [])
            if len(found) != one.viewers:
                raise InputError(
                    f"{self.id} has {one.viewers} viewers of {_words(one)}, the human gaze has {len(found)}: "
                    "is it the whole data set, unfiltered?"
                )
            if gaze_digest(found) != one.gaze:
                raise InputError(
                    f"the human gaze of {_words(one)} is not that of {self.id}: "
                    "was it cleaned or rescaled otherwise, or is it another version of the data set?"
                )
            chosen += found
        return chosen

    def submission(self, trials: Sequence[Trial], name: str) -> list[Trial]:
        """A system's gaze for this split; refused where a stimulus has none, or where it says another split."""
        claimed = {str(trial.details[SPLIT_ID]) for trial in trials if SPLIT_ID in trial.details}
        if claimed - {self.id}:
            raise InputError(f"{name!r} is a submission to {', '.join(sorted(claimed))}, not to {self.id}")
        groups = by_stimulus(trials)
        missing = [one for one in self.stimuli if (one.name, one.task) not in groups]
        if missing:
            raise InputError(
                f"{name!r} lacks {len(missing)} of the {len(self.stimuli)} stimuli of {self.id}, "
                f"the first being {_words(missing[0])}"
            )
        return [trial for one in self.stimuli for trial in groups[one.name, one.task]]


def gaze_digest(trials: Iterable[Trial]) -> str:
    """Digest of the gaze of one stimulus' viewers, whatever their order."""
    lines = sorted(_line(trial) for trial in trials)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def _line(trial: Trial) -> str:
    path = trial.scanpath
    if path is None:
        return f"{trial.subject}|"
    xy = np.round(1000 * path.xy_px[:DIGESTED_FIXATIONS] / path.frame.size_px).astype(int)
    ms = "" if path.duration_ms is None else np.round(path.duration_ms[:DIGESTED_FIXATIONS]).astype(int).tolist()
    return f"{trial.subject}|{xy.tolist()}|{ms}"


def frozen_splits(folder: Path = FOLDER) -> dict[str, FrozenSplit]:
    """Id → split, of all that the package has; a file whose content is not what its name says is refused."""
    found: dict[str, FrozenSplit] = {}
    for path in sorted(folder.glob("*.json")):
        split = _read(path)
        if split.id != path.stem:
            raise InputError(f"{path} is damaged: its content is {split.id}")
        found[split.id] = split
    return found


def frozen_split(split_id: str, folder: Path = FOLDER) -> FrozenSplit:
    """One split by its id; anything but a known id is refused."""
    known = frozen_splits(folder)
    if split_id not in known:
        there = ", ".join(known) or "none"
        raise InputError(f"there is no split {split_id!r}: there are {there}")
    return known[split_id]


def _read(path: Path) -> FrozenSplit:
    values: Mapping[str, Any] = read_json(path)
    try:
        stimuli = tuple(FrozenStimulus(name, task, viewers, gaze) for name, task, viewers, gaze in values["stimuli"])
        return FrozenSplit(values["dataset"], values["split"], stimuli)
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path} is no frozen split: expected dataset, split and stimuli") from None


def _words(one: FrozenStimulus) -> str:
    return f"{one.name!r} ({one.task})" if one.task else repr(one.name)
