"""Batches for training, as plain arrays. A batch is a pure function of (seed, step), so that a run can go on anywhere.

Trials are grouped by stimulus, because all viewers of a picture share the work done on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stdiffeye.data.store import Store
from stdiffeye.errors import InputError

Floats32 = NDArray[np.float32]

TYPICAL_GAP_MS = 40.0
"""From one fixation to the next where the data do not say; the median of DOVES."""
SHORTEST_VIEWING_S = 1.0
CROWDED = 8
"""Below so many stimuli for each one of a step, sampling distinct ones again and again would take long."""
COLOUR_JITTERS = 2
"""Other colours that a picture is kept in."""


@dataclass(frozen=True)
class Stimulus:
    """A picture and task with its trials."""

    store: int
    name: str
    task: str
    dataset: str
    picture: Path | None
    trials: NDArray[np.int64]


@dataclass(frozen=True)
class Choice:
    """A stimulus of a batch, the trials that were sampled of it, and the source of all else that is random."""

    stimulus: Stimulus
    flip: bool
    colour_jitter: int
    trials: NDArray[np.int64]
    rng: np.random.Generator


@dataclass(frozen=True)
class ScanpathBatch:
    """P stimuli with V viewers each; B = P·V scanpaths of at most M fixations, those of a stimulus side by side."""

    stimuli: list[Stimulus]  # P
    flip: NDArray[np.bool_]  # (P,) the picture is to be mirrored; the gaze already is
    colour_jitter: NDArray[np.int64]  # (P,) number of the change of its colours; 0 as it is
    xy: Floats32  # (B, M, 2) in [0, 1] of the picture
    duration_ms: Floats32  # (B, M) NaN where unknown
    gap_ms: Floats32  # (B, M) to the next fixation, NaN where unknown or last
    length: NDArray[np.int64]  # (B,)
    seconds: Floats32  # (B,) viewing time, NaN where unknown
    start_s: Floats32  # (B,) viewing time before the first of these fixations; 0 at the picture's onset
    positions: list[Floats32]  # P × (n, 2) fixations of every viewer, for the density
    numbers: list[NDArray[np.int64]]  # P × (n,) which fixation of its trial each of them is, from 0
    trial: NDArray[np.int64]  # (B, 2) number of the store, and of the trial in it
    first: NDArray[np.int64]  # (B,) number of the trial's fixation that comes first here
    cut: NDArray[np.bool_]  # (B,) whether the last of these fixations is shorter than it was


@dataclass(frozen=True)
class Augment:
    """Chances of each change to a trial; all are things that a viewer might have done."""

    flip: float = 0.5
    """Picture and gaze mirrored left to right."""
    cut: float = 0.25
    """The trial ended earlier: a shorter viewing time."""
    later: float = 0.15
    """Only what came after some fixation, with the time already passed: how viewing goes on."""
    colour_jitter: float = 0.0
    """The picture in one of `COLOUR_JITTERS` other colours."""


NO_CHANGE = Augment(0.0, 0.0, 0.0)


class ScanpathBatches:
    """Samples stimuli of several stores, and viewers of each.

    Parameters
    ----------
    dataset_exponent
        A store is sampled in proportion to (its number of stimuli) to this power: 1 mixes by picture, 0 by store.
    usable
        Which trials of a store can be used, (n,) bool; all of them by default.
    """

    def __init__(
        self,
        stores: Sequence[Store],
        split: str | None,
        stimuli: int,
        viewers: int,
        max_fixations: int = 16,
        seed: int = 0,
        dataset_exponent: float = 0.5,
        augment: Augment = NO_CHANGE,
        pictures_needed: bool = True,
        usable: Callable[[Store], NDArray[np.bool_]] | None = None,
    ) -> None:
        self.stores, self.viewers, self.count = list(stores), viewers, stimuli
        self.max_fixations, self.seed, self.augment = max_fixations, seed, augment
        self.stimuli = [
            stimulus
            for number, store in enumerate(self.stores)
            for stimulus in stimuli_of(store, split, number, None if usable is None else usable(store))
            if stimulus.picture is not None or not pictures_needed
        ]
        if not self.stimuli:
            raise InputError(f"no stimulus with a picture in split {split!r} of {[str(s.path) for s in self.stores]}")
        self._per_store = np.bincount([stimulus.store for stimulus in self.stimuli], minlength=len(self.stores))
        shares = np.where(self._per_store > 0, self._per_store.astype(float) ** dataset_exponent, 0.0)
        self.store_share = shares / shares.sum()

    def choose(self, step: int, rank_slice: Callable[[int], slice] = slice) -> list[Choice]:
        """The stimuli and viewers of this step, or those that `rank_slice(count)` says, whatever else is sampled."""
        rng = np.random.default_rng([self.seed, step])
        stimuli = [self.stimuli[i] for i in self._distinct(rng)]
        flip = rng.random(self.count) < self.augment.flip
        mine = rank_slice(self.count)
        seeds = rng.integers(2**63, size=self.count)
        colour_jitter = np.where(
            rng.random(self.count) < self.augment.colour_jitter, rng.integers(COLOUR_JITTERS, size=self.count) + 1, 0
        )
        choices = []
        for stimulus, mirrored, jittered, seed in zip(
            stimuli[mine], flip[mine], colour_jitter[mine], seeds[mine], strict=True
        ):
            own = np.random.default_rng(seed)
            picked = own.choice(stimulus.trials, self.viewers, replace=len(stimulus.trials) < self.viewers)
            choices.append(Choice(stimulus, bool(mirrored), int(jittered), picked, own))
        return choices

    def _distinct(self, rng: np.random.Generator) -> list[int]:
        """Numbers of the stimuli of a step, each once where there are enough; the time does not grow with the set."""
        if len(self.stimuli) < CROWDED * self.count:
            each = np.repeat(self.store_share / np.maximum(self._per_store, 1), self._per_store)
            replace = len(self.stimuli) < self.count
            return rng.choice(len(self.stimuli), self.count, replace=replace, p=each).tolist()
        before = np.concatenate([[0], np.cumsum(self._per_store)])
        chosen: dict[int, None] = {}
        while len(chosen) < self.count:
            store = int(rng.choice(len(self.stores), p=self.store_share))
            chosen[int(before[store] + rng.integers(self._per_store[store]))] = None
        return list(chosen)

    def batch(self, step: int, rank_slice: Callable[[int], slice] = slice) -> ScanpathBatch:
        """The batch of this step, or the share of it that `rank_slice(count)` says."""
        chosen = self.choose(step, rank_slice)
        rows = [self._row(c.stimulus.store, int(trial), c.flip, c.rng) for c in chosen for trial in c.trials]
        xy, duration, gap, length, seconds, start, first, cut = (np.stack(column) for column in zip(*rows, strict=True))
        trial = np.array([(c.stimulus.store, int(trial)) for c in chosen for trial in c.trials])
        positions = [self.positions(c.stimulus, c.flip) for c in chosen]
        flip, colour_jitter = np.array([c.flip for c in chosen]), np.array([c.colour_jitter for c in chosen])
        numbers = (xy, duration, gap, length, seconds, start)
        stimuli, of_all = [c.stimulus for c in chosen], [self.fixation_numbers(c.stimulus) for c in chosen]
        return ScanpathBatch(stimuli, flip, colour_jitter, *numbers, positions, of_all, trial, first, cut)

    def _row(self, store: int, trial: int, mirrored: bool, rng: np.random.Generator) -> tuple[NDArray[np.generic], ...]:
        xy, duration, onset, seconds = self._read(store, trial)
        start, first = np.zeros((), dtype=np.float32), 0
        cut, later = rng.random(2) < (self.augment.cut, self.augment.later)
        cut = cut and np.isfinite(onset).all()
        if cut:
            xy, duration, onset, seconds = _cut(xy, duration, onset, seconds, rng)
        if later and len(xy) >= 4 and np.isfinite(onset).all():
            first = int(rng.integers(1, len(xy) - 2))
            xy, duration, onset = xy[first:], duration[first:], onset[first:]
            start = np.asarray(onset[0] / 1000, dtype=np.float32)
        if mirrored:
            xy = np.stack([1 - xy[:, 0], xy[:, 1]], axis=1)
        n = min(len(xy), self.max_fixations)
        gap = np.full(n, np.nan)
        if self._has_gaps(store, trial):
            gap[: n - 1] = onset[1:n] - onset[: n - 1] - duration[: n - 1]
        pad = self.max_fixations - n
        return (
            np.pad(xy[:n], ((0, pad), (0, 0))).astype(np.float32),
            np.pad(duration[:n], (0, pad), constant_values=np.nan).astype(np.float32),
            np.pad(gap, (0, pad), constant_values=np.nan).astype(np.float32),
            np.asarray(n),
            np.asarray(seconds, dtype=np.float32),
            start,
            np.asarray(first),
            np.asarray(cut),
        )

    def _has_gaps(self, store: int, trial: int) -> bool:
        columns = self.stores[store].columns
        return bool(columns["has_onsets"][trial] and columns["has_durations"][trial])

    def _read(self, store: int, trial: int) -> tuple[NDArray[np.float64], ...]:
        """xy in [0, 1], durations, onsets (filled in from the durations where unknown) and viewing time in s."""
        source = self.stores[store]
        arrays, columns = source.scanpath_arrays(), source.columns
        span = slice(int(arrays.offsets[trial]), int(arrays.offsets[trial + 1]))
        xy = np.asarray(arrays.xy_px[span]) / [columns["width"][trial], columns["height"][trial]]
        duration = np.array(arrays.duration_ms[span])
        onset = np.array(arrays.onset_ms[span])
        if not columns["has_onsets"][trial]:
            onset = np.concatenate([[0.0], np.cumsum(duration + TYPICAL_GAP_MS)[:-1]])
        return xy, duration, onset, np.asarray(columns["viewing_ms"][trial] / 1000)

    def positions(self, stimulus: Stimulus, mirrored: bool) -> Floats32:
        """(n, 2) fixations of every viewer in [0, 1]."""
        xy = np.concatenate([self._read(stimulus.store, int(trial))[0] for trial in stimulus.trials]).astype(np.float32)
        return np.stack([1 - xy[:, 0], xy[:, 1]], axis=1) if mirrored else xy

    def fixation_numbers(self, stimulus: Stimulus) -> NDArray[np.int64]:
        """(n,) number in its trial, from 0, of each of `positions`."""
        offsets = self.stores[stimulus.store].scanpath_arrays().offsets
        counts = (offsets[stimulus.trials + 1] - offsets[stimulus.trials]).tolist()
        return np.concatenate([np.arange(count) for count in counts])


def stimuli_of(
    store: Store, split: str | None, number: int = 0, usable: NDArray[np.bool_] | None = None
) -> list[Stimulus]:
    """The stimuli of a store's split that have scanpaths (of `usable` trials), in the store's order."""
    trials = store.where(split)
    columns = store.columns
    trials = trials[np.asarray(columns["n_fixations"])[trials] > 0]
    if usable is not None:
        trials = trials[usable[trials]]
    keys = np.stack([np.asarray(columns["name_id"])[trials], np.asarray(columns["task_id"])[trials]], axis=1)
    if len(keys) == 0:
        return []
    unique, where = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(where, kind="stable")
    groups = np.split(trials[order], np.cumsum(np.bincount(where.ravel()))[:-1])
    pictures = store.pictures
    return [
        Stimulus(
            store=number,
            name=(name := store.words["name"][name_id]),
            task=store.words["task"][task_id],
            dataset=store.dataset,
            picture=pictures.get(name),
            trials=group,
        )
        for (name_id, task_id), group in zip(unique.tolist(), groups, strict=True)
    ]


def _cut(
    xy: NDArray[np.float64],
    duration: NDArray[np.float64],
    onset: NDArray[np.float64],
    seconds: NDArray[np.float64],
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], ...]:
    """The same trial, ended earlier: the fixation at the end is cut short, as at the end of any trial."""
    whole_s = float(seconds) if np.isfinite(seconds) else float(onset[-1] + duration[-1]) / 1000
    if whole_s <= SHORTEST_VIEWING_S:
        return xy, duration, onset, seconds
    end_s = rng.uniform(SHORTEST_VIEWING_S, whole_s)
    kept = max(1, int(np.searchsorted(onset, end_s * 1000)))
    duration = duration[:kept].copy()
    duration[-1] = max(1.0, min(duration[-1], end_s * 1000 - onset[kept - 1]))
    return xy[:kept], duration, onset[:kept], np.asarray(end_s)
