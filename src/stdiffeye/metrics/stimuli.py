"""From trials to packed scanpaths: which stimuli both sides have, and what is compared on them.

Stimuli are matched by (name, task). Nothing is repaired silently: what is left out is counted and noted.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np

from stdiffeye.arrays import Ints
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trajectory, Trial, extract, resample
from stdiffeye.metrics.paths import PackedScanpaths, packed_on_disk

Mode = Literal["scanpath", "extracted", "pointwise"]
Key = tuple[str, str]
MOST_PAIRS = 20_000_000  # of one stimulus, whose scores are held in memory
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


@dataclass(frozen=True, eq=False)
class PackedTrials:
    """One side's trials, packed as they are read, so that memory does not grow with them.

    Attributes
    ----------
    who : str
        How errors call this side.
    numbers : dict of (str, str) to int
        (name, task) of every stimulus → its number, in the order read.
    paths : PackedScanpaths
        The scanpaths in the order read, in a temporary file.
    viewers : list of str
        Viewer or sample of each scanpath.
    refused : dict of int to InputError
        Number of a stimulus → why a trial of it lacks what is compared.
    """

    who: str
    numbers: dict[Key, int]
    paths: PackedScanpaths
    viewers: list[str]
    refused: dict[int, InputError]

    def counts(self) -> dict[Key, int]:
        """Return how many scanpaths each stimulus has.

        Returns
        -------
        dict of (str, str) to int
            Stimulus → number.
        """
        counts = np.bincount(self.paths.stimulus, minlength=len(self.numbers)).tolist()
        return dict(zip(self.numbers, counts, strict=True))


def packed_trials(
    trials: Iterable[Trial], reading: Reading, who: str, wanted: Collection[Key] | None = None
) -> PackedTrials:
    """Read trials one after the other and keep what is compared of them.

    Parameters
    ----------
    trials : iterable of Trial
        At least one.
    reading : Reading
        What of a trial is compared.
    who : str
        How errors call this side.
    wanted : collection of (str, str), optional
        The stimuli whose gaze is kept; by default all.

    Returns
    -------
    PackedTrials
        With all stimuli, and the gaze of those that are wanted.

    Raises
    ------
    InputError
        When there are no trials, or the same viewer (or sample) occurs twice on one stimulus.
    """
    numbers: dict[Key, int] = {}
    samples: list[str] = []
    refused: dict[int, InputError] = {}
    viewers: list[str] = []

    def scanpaths() -> Iterator[tuple[Scanpath, int]]:
        for trial in trials:
            number = numbers.setdefault(trial.key, len(numbers))
            if wanted is not None and trial.key not in wanted:
                continue
            try:
                scanpath = _read(trial, reading, who)
            except InputError as error:
                refused.setdefault(number, error)
                continue
            viewers.append(sys.intern(trial.subject))
            samples.append(sys.intern(str(trial.details.get("sample", ""))))
            yield scanpath, number

    paths = packed_on_disk(scanpaths(), reading.compat)
    if not numbers:
        raise InputError(f"{who} has no trials; is the file empty, or was everything filtered out?")
    _refuse_doubles(paths.stimulus, viewers, samples, list(numbers), who)
    return PackedTrials(who, numbers, paths, viewers, refused)


@dataclass(frozen=True, eq=False)
class Sides:
    """What is compared: the humans, and each system."""

    human: PackedTrials
    """Recorded gaze."""
    systems: dict[str, PackedTrials]
    """Name → generated gaze."""

    @property
    def pairs(self) -> int:
        """About how many pairs of scanpaths an evaluation scores: humans shuffled eight times are most of them."""
        viewers = self.human.counts()
        own = sum(14 * count**2 for count in viewers.values())
        samples = [(viewers.get(key, 0), n) for side in self.systems.values() for key, n in side.counts().items()]
        return own + sum(count * n + n**2 // 2 for count, n in samples)


def packed_sides(human: Iterable[Trial], generated: Mapping[str, Iterable[Trial]], reading: Reading) -> Sides:
    """Read both sides, one trial after the other; of the systems the gaze on stimuli that the humans have.

    Parameters
    ----------
    human : iterable of Trial
        Recorded gaze.
    generated : dict of str to iterable of Trial
        Gaze of each system.
    reading : Reading
        What of a trial is compared.

    Returns
    -------
    Sides
        Both, packed.
    """
    humans = packed_trials(human, reading, "the human file")
    return Sides(
        humans,
        {
            name: packed_trials(_independent(trials, name), reading, f"{name!r}", humans.numbers)
            for name, trials in generated.items()
        },
    )


def reading_of(settings: Mapping[str, Any]) -> Reading:
    """What of a trial is compared, by the settings of an evaluation.

    Parameters
    ----------
    settings : dict
        Fields of `EvaluationSettings`.

    Returns
    -------
    Reading
        What they say of it.
    """
    named = {field.name: settings[field.name] for field in fields(Reading) if field.name in settings}
    return Reading(**named | {"compat": settings.get("compat") is not None})


def _independent(trials: Iterable[Trial], name: str) -> Iterator[Trial]:
    """Refuse samples that say that they were chosen together: a score of them would be a score of the choice."""
    for trial in trials:
        if trial.details.get("sampling") == "representative":
            raise InputError(
                f"{name!r} holds representative samples, which were chosen to cover human gaze and are not scored: "
                "generate independent ones (leave out --representative)"
            )
        yield trial


def _refuse_doubles(stimulus: Ints, viewers: Sequence[str], samples: Sequence[str], keys: list[Key], who: str) -> None:
    seen: set[tuple[str, str]] = set()
    last = -1
    for at in np.argsort(stimulus, kind="stable").tolist():
        if stimulus[at] != last:
            last = int(stimulus[at])
            seen.clear()
        one = (viewers[at], samples[at])
        if one in seen and any(one):
            raise InputError(
                f"{who} has {_named(keys[last])} twice by viewer or sample {viewers[at]!r}; "
                "was a file read twice, or do samples lack their own number?"
            )
        seen.add(one)


def matched(human: PackedTrials, generated: Mapping[str, PackedTrials]) -> tuple[list[Key], list[str]]:
    """Find the stimuli that the humans and all systems have.

    Parameters
    ----------
    human : PackedTrials
        Human trials.
    generated : dict of str to PackedTrials
        The trials of each system.

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
    common = set(human.numbers)
    notes = []
    for name, side in generated.items():
        shared = human.numbers.keys() & side.numbers.keys()
        extra, missing = len(side.numbers) - len(shared), len(human.numbers) - len(shared)
        if not shared:
            theirs, ours = next(iter(side.numbers)), next(iter(human.numbers))
            raise InputError(
                f"{name!r} shares no stimulus with the humans: it has {_named(theirs)}, they have {_named(ours)}; "
                "stimuli are matched by name and task"
            )
        if extra:
            notes.append(f"{name}: {extra} stimuli without humans were left out")
        if missing:
            notes.append(
                f"{name}: {missing} of {len(human.numbers)} human stimuli are missing; all rows are on the common ones"
            )
        common &= shared
    if not common:
        raise InputError("no stimulus is common to all systems; evaluate them one by one")
    return sorted(common), notes


def to_paths(side: PackedTrials, keys: Sequence[Key]) -> PackedScanpaths:
    """Order the scanpaths of some stimuli by stimulus and viewer, so that the file's order does not matter.

    Parameters
    ----------
    side : PackedTrials
        All trials of one side.
    keys : sequence of (str, str)
        Which stimuli, numbered in this order.

    Returns
    -------
    PackedScanpaths
        One scanpath per trial, in a temporary file.

    Raises
    ------
    InputError
        When a trial of them lacks what the mode compares.
    """
    new_number = np.full(len(side.numbers), -1)
    old_numbers = [side.numbers[key] for key in keys]
    refused = next((side.refused[number] for number in old_numbers if number in side.refused), None)
    if refused is not None:
        raise refused
    new_number[old_numbers] = np.arange(len(keys))
    stimulus = new_number[side.paths.stimulus]
    viewers = sorted(set(side.viewers), key=lambda one: (len(one), one))
    rank_of = {viewer: rank for rank, viewer in enumerate(viewers)}
    rank = np.array([rank_of[viewer] for viewer in side.viewers])
    order = np.lexsort((rank, stimulus))
    order = order[stimulus[order] >= 0]
    return side.paths.subset_on_disk(order, stimulus[order])


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
        When there are too many pairs of one stimulus, or too long paths.
    """
    viewers, samples = (np.bincount(side.stimulus, minlength=stimuli).astype(float) for side in (human, generated))
    points, others = (np.bincount(side.stimulus, side.lengths, minlength=stimuli) for side in (human, generated))
    cells = float((points * others + others**2 + points**2).sum())
    if cells > MOST_CELLS:
        raise InputError(
            f"{name!r} would need {cells:.2g} steps: paths of up to {max(human.lengths.max(), generated.lengths.max())}"
            " points are too long to align; set --max-fixations, or --rate-hz for samples"
        )
    pairs = viewers * samples + samples**2 + viewers**2
    most = int(pairs.argmax())
    if pairs[most] > MOST_PAIRS:
        raise InputError(
            f"{name!r} would need {pairs[most]:.3g} comparisons on one stimulus ({samples[most]:.0f} samples and "
            f"{viewers[most]:.0f} viewers), more than {MOST_PAIRS:.0e}; give fewer samples"
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
