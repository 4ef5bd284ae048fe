"""From trials to packed scanpaths: which stimuli both sides have, and what is compared on them.

Stimuli are matched by (name, task). Nothing is repaired silently: what is left out is counted and noted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trajectory, Trial, extract, resample
from stdiffeye.metrics.paths import PackedScanpaths, pack

Mode = Literal["scanpath", "extracted", "pointwise"]
Key = tuple[str, str]
MOST_PAIRS = 20_000_000
MOST_CELLS = 2e12  # of the tables that dynamic programmes fill: about an hour
MOST_LOST = 0.5  # a trial that lost more of its samples than this is not compared point by point


@dataclass(frozen=True)
class Reading:
    """What of a trial is compared.

    Attributes
    ----------
    mode : {"scanpath", "extracted", "pointwise"}
        The fixations as given, fixations extracted from the trajectory in the same way on both sides, or raw samples.
    max_fixations : int or None
        Later fixations are cut off; samples are not cut.
    rate_hz : float or None
        Rate that samples are resampled to for "pointwise"; None keeps theirs.
    compat : bool
        Pad short scanpaths and set missing durations as ScanDiff does.
    """

    mode: Mode = "scanpath"
    max_fixations: int | None = 16
    rate_hz: float | None = None
    compat: bool = False

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise InputError(f"there is no mode {self.mode!r}: there are {', '.join(get_args(Mode))}")
        if self.max_fixations is not None and self.max_fixations < 1:
            raise InputError(f"max_fixations must be at least 1, got {self.max_fixations}")


def grouped(trials: Iterable[Trial], who: str) -> dict[Key, list[Trial]]:
    """Group trials by stimulus.

    Parameters
    ----------
    trials : iterable of Trial
        At least one.
    who : str
        How errors call this side.

    Returns
    -------
    dict of (str, str) to list of Trial
        (name, task) → trials.

    Raises
    ------
    InputError
        When there are no trials, or the same viewer (or sample) occurs twice on one stimulus.
    """
    groups: dict[Key, list[Trial]] = {}
    seen: set[tuple[str, str, str, str]] = set()
    for trial in trials:
        one = (*trial.key, trial.subject, str(trial.details.get("sample", "")))
        if one in seen and any(one[2:]):
            raise InputError(
                f"{who} has {_named(trial.key)} twice by viewer or sample {trial.subject!r}; "
                "was a file read twice, or do samples lack their own number?"
            )
        seen.add(one)
        groups.setdefault(trial.key, []).append(trial)
    if not groups:
        raise InputError(f"{who} has no trials; is the file empty, or was everything filtered out?")
    return groups


def matched(
    human: dict[Key, list[Trial]], generated: Mapping[str, dict[Key, list[Trial]]]
) -> tuple[list[Key], list[str]]:
    """Find the stimuli that the humans and all systems have.

    Parameters
    ----------
    human : dict of (str, str) to list of Trial
        Human trials by stimulus.
    generated : dict of str to dict
        The same for each system.

    Returns
    -------
    keys : list of (str, str)
        The shared stimuli, sorted.
    notes : list of str
        A sentence for everything that is left out.

    Raises
    ------
    InputError
        When no stimulus is shared.
    """
    common = set(human)
    notes = []
    for name, groups in generated.items():
        extra, missing = len(set(groups) - set(human)), len(set(human) - set(groups))
        if len(set(groups) & set(human)) == 0:
            theirs, ours = next(iter(groups)), next(iter(human))
            raise InputError(
                f"{name!r} shares no stimulus with the humans: it has {_named(theirs)}, they have {_named(ours)}; "
                "stimuli are matched by name and task"
            )
        if extra:
            notes.append(f"{name}: {extra} stimuli without humans were left out")
        if missing:
            notes.append(
                f"{name}: {missing} of {len(human)} human stimuli are missing; all rows are on the common ones"
            )
        common &= set(groups)
    if not common:
        raise InputError("no stimulus is common to all systems; evaluate them one by one")
    return sorted(common), notes


def to_paths(groups: Mapping[Key, Sequence[Trial]], keys: Sequence[Key], reading: Reading, who: str) -> PackedScanpaths:
    """Pack the trials of some stimuli, sorted by stimulus and viewer, so that the file's order does not matter.

    Parameters
    ----------
    groups : dict of (str, str) to sequence of Trial
        Trials by stimulus.
    keys : sequence of (str, str)
        Which stimuli, numbered in this order.
    reading : Reading
        What of a trial is compared.
    who : str
        How errors call this side.

    Returns
    -------
    PackedScanpaths
        One scanpath per trial.

    Raises
    ------
    InputError
        When a trial lacks what the mode compares.
    """
    scanpaths: list[Scanpath] = []
    owner: list[int] = []
    for number, key in enumerate(keys):
        for trial in sorted(groups[key], key=lambda one: (len(one.subject), one.subject)):
            scanpaths.append(_read(trial, reading, who))
            owner.append(number)
    return pack(scanpaths, owner, reading.compat)


def check_size(human: PackedScanpaths, generated: PackedScanpaths, stimuli: int, name: str) -> None:
    """Refuse, before anything is computed, what would not fit in memory or take hours.

    Parameters
    ----------
    human, generated : PackedScanpaths
        The gaze to compare.
    stimuli : int
        Number of stimuli.
    name : str
        The system's name, for the message.

    Raises
    ------
    InputError
        When there are too many pairs, or too long paths.
    """
    viewers, samples = (np.bincount(side.stimulus, minlength=stimuli).astype(float) for side in (human, generated))
    points, others = (np.bincount(side.stimulus, side.lengths, minlength=stimuli) for side in (human, generated))
    cells = float((points * others + others**2 + points**2).sum())
    if cells > MOST_CELLS:
        raise InputError(
            f"{name!r} would need {cells:.2g} steps: paths of up to {max(human.lengths.max(), generated.lengths.max())}"
            " points are too long to align; set --max-fixations, or --rate-hz for samples"
        )
    pairs = float((viewers * samples + samples**2 + viewers**2).sum())
    if pairs > MOST_PAIRS:
        raise InputError(
            f"{name!r} would need {pairs:.3g} comparisons (up to {samples.max():.0f} samples and {viewers.max():.0f} "
            f"viewers on one stimulus), more than {MOST_PAIRS:.0e}; give fewer samples or fewer stimuli at a time"
        )


def _read(trial: Trial, reading: Reading, who: str) -> Scanpath:
    if reading.mode == "scanpath":
        if trial.scanpath is None:
            raise InputError(
                f"{who}: {_named(trial.key)} by {trial.subject!r} has a trajectory but no scanpath; "
                "use --trajectories extracted"
            )
        return _cut(trial.scanpath, reading)
    if trial.trajectory is None:
        raise InputError(f"{who}: {_named(trial.key)} by {trial.subject!r} has no trajectory; leave --trajectories out")
    if reading.mode == "extracted":
        return _cut(extract(trial.trajectory), reading)
    return _samples(trial.trajectory, reading.rate_hz, f"{who}: {_named(trial.key)} by {trial.subject!r}")


def _cut(scanpath: Scanpath, reading: Reading) -> Scanpath:
    if reading.max_fixations is None or len(scanpath) <= reading.max_fixations:
        return scanpath
    return scanpath[: reading.max_fixations]


def _samples(trajectory: Trajectory, rate_hz: float | None, what: str) -> Scanpath:
    """The samples that were not lost, as positions without durations."""
    if trajectory.missing_share > MOST_LOST:
        raise InputError(f"{what} lost {trajectory.missing_share:.0%} of its samples; leave such trials out")
    if rate_hz is not None and rate_hz != trajectory.rate_hz:
        trajectory = resample(trajectory.time_ms, trajectory.xy_px, rate_hz, trajectory.frame)
    return Scanpath(trajectory.xy_px[~trajectory.lost], trajectory.frame)


def _named(key: Key) -> str:
    return f"{key[0]!r}" + (f" (task {key[1]!r})" if key[1] else "")
