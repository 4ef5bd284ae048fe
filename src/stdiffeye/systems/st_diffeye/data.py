"""Trials as the paper's tokens: rows [x, y, Δt, ρ̃] of samples, or [x, y, duration] of fixations, padded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from stdiffeye.data.batches import Augment, Choice, ScanpathBatches
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.gaze import Trajectory, Trial
from stdiffeye.gaze.index import fixation_index
from stdiffeye.gaze.lifting import lift
from stdiffeye.model.conditions import Conditions
from stdiffeye.model.fixation_tokens import DURATION_MEDIAN_MS
from stdiffeye.model.image import cell_shares
from stdiffeye.model.tokens import PAD, token_mask
from stdiffeye.systems.base import BatchPlan, Sources
from stdiffeye.systems.scanpath_data import StimulusTensors
from stdiffeye.systems.st_diffeye.config import STDiffEyeConfig
from stdiffeye.systems.st_diffeye.units import MILLISECONDS, Units

if TYPE_CHECKING:
    from stdiffeye.systems.st_diffeye.model import STDiffEye

Rows = NDArray[np.float64]
KEPT_SEQUENCES = 1024  # of 48 kB at most: a small set is read once, a large one does not fill the memory


@dataclass
class TokenTensors(StimulusTensors):
    """P pictures and B = P·V sequences of T samples (or fixations), ready for the network."""

    gaze: Tensor  # (B, T, C) in the network's units
    mask: Tensor  # (B, T, C) False on padding, on lost samples and where there is no duration
    rho: Tensor  # (B, T) fixation index
    fixations: Tensor  # (B,)
    points: Tensor  # (B,) samples (or fixations) before the padding
    conditions: Conditions  # `length` in tokens

    @property
    def is_gaze(self) -> Tensor:
        """(B, T) False on padding."""
        return token_mask(self.points, self.gaze.shape[1])


@dataclass(frozen=True)
class Sequence:
    """One trial before it is padded."""

    rows: Rows  # (T, 3 or 4) x, y in [0, 1]; Δt or duration in s; ρ̃ for samples. NaN where unknown
    fixations: int
    seconds: float


class TokenBatches:
    """Batches of token sequences, a pure function of (seed, step).

    Attributes
    ----------
    notes
        What a run must say of its data, such as that they were synthesised.
    """

    def __init__(self, system: STDiffEye, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> None:
        if sources.features is None:
            raise InputError("this system needs pictures: give it a feature cache")
        self.system, self.config, self.plan = system, system.config, plan
        self.sources, self.features, self.units = sources, sources.features, Units(system.config)
        for store in sources.stores:
            _check_rate(store, system.config)
        if not any(usable(store, system.config).any() for store in sources.stores):
            names = ", ".join(store.dataset for store in sources.stores)
            raise InputError(
                f"modality {system.config.modality} needs recorded samples, and {names} has none: "
                "set lift: true to synthesise them from the fixations, or choose modality: scanpath"
            )
        self.source = ScanpathBatches(
            sources.stores,
            split,
            plan.stimuli,
            plan.viewers,
            system.config.max_fixations,
            plan.seed,
            plan.dataset_exponent,
            augment=Augment(system.config.flip if augment else 0.0, 0.0, 0.0),
            usable=lambda store: usable(store, system.config),
        )
        self.notes = self._notes()
        self._sequence = lru_cache(KEPT_SEQUENCES)(self._read)

    def batch(self, step: int) -> TokenTensors:
        chosen = self.source.choose(step, self.plan.ranks.mine)
        stimuli, flips = [c.stimulus for c in chosen], [c.flip for c in chosen]
        image = torch.from_numpy(self.features.get([s.picture for s in stimuli if s.picture], flips)).float()
        text_embedding = torch.stack([self.sources.text_embedding(s.task) for s in stimuli])
        style = torch.tensor([self.system.style_number(s.dataset) for s in stimuli])
        cells = self.config.image.rows, self.config.image.columns
        density = torch.stack([torch.from_numpy(cell_shares(self._positions(c), *cells)) for c in chosen])
        sequences = [self._sequence(c.stimulus.store, int(trial)) for c in chosen for trial in c.trials]
        mirrored = [c.flip for c in chosen for _ in c.trials]
        rows = [self._padded(x, flip) for x, flip in zip(sequences, mirrored, strict=True)]
        gaze, mask, rho = (torch.from_numpy(np.stack(column)) for column in zip(*rows, strict=True))
        points = torch.tensor([min(len(x.rows), gaze.shape[1]) for x in sequences])
        length = (points / self.config.patch).round().long().clamp(min=1)  # whole tokens, unbiased
        if self.config.length == "first":  # what no sequence reaches is masked: leave it out
            gaze, mask, rho = (one[:, : int(length.max()) * self.config.patch] for one in (gaze, mask, rho))
        seconds = torch.tensor([x.seconds for x in sequences], dtype=torch.float32)
        viewed = style.repeat_interleave(self.plan.viewers)
        conditions = Conditions(viewed, seconds, torch.zeros_like(seconds), length, torch.tensor(mirrored))
        fixations = torch.tensor([x.fixations for x in sequences])
        tensors = TokenTensors(image, text_embedding, style, density, gaze, mask, rho, fixations, points, conditions)
        return tensors.to(self.plan.device)

    def _positions(self, choice: Choice) -> NDArray[np.float32]:
        return self.source.positions(choice.stimulus, choice.flip)

    def _padded(self, sequence: Sequence, flip: bool) -> tuple[NDArray[np.float32], NDArray[np.bool_], Rows]:
        """Rows in the network's units, the mask of those that are given, and the fixation index, at full length."""
        config, full = self.config, self.config.max_samples
        rows = sequence.rows[:full].copy()
        if flip:
            rows[:, 0] = 1 - rows[:, 0]
        rho = rows[:, 3] if rows.shape[1] > 3 else np.zeros(len(rows))
        mask = ~np.isnan(rows[:, columns_of(config, self.units)])
        scaled = in_units(filled(rows), config, self.units)
        short = full - len(rows)
        # Where nothing reads the length from padding, gaze rests at its last position; elsewhere padding has its value.
        rests = config.length != "validity"
        padding = np.repeat(scaled[-1:], short, axis=0) if rests else np.full((short, 1), PAD)
        padding = np.broadcast_to(padding, (short, scaled.shape[1]))
        return (
            np.concatenate([scaled, padding]).astype(np.float32),
            np.pad(mask, ((0, short), (0, 0))),
            np.pad(np.nan_to_num(rho), (0, short)).astype(np.float32),
        )

    def _read(self, store: int, trial: int) -> Sequence:
        # The noise of a synthesised trajectory belongs to the trial, whatever else is sampled.
        rng = np.random.default_rng([self.plan.seed, store, trial])
        source = self.source.stores[store]
        stored = source.rho(trial) if source.columns["has_trajectory"][trial] else None
        return sequence_of(source[trial], self.config, rng, stored)

    def _notes(self) -> list[str]:
        if self.config.modality == "scanpath":
            return []
        notes = []
        for number, store in enumerate(self.source.stores):
            trials = np.concatenate([s.trials for s in self.source.stimuli if s.store == number] or [np.arange(0)])
            if len(trials) == 0:
                notes.append(
                    f"{store.dataset}: no trial has samples, so none is used; lift: true would synthesise them"
                )
                continue
            made = ~store.columns["has_trajectory"][trials] | store.columns["synthesised"][trials]
            if made.any():
                notes.append(
                    f"{store.dataset}: {int(made.sum()):,} of {len(trials):,} trajectories are synthesised, "
                    "lifted from scanpaths; they are no recordings"
                )
        return notes


def usable(store: Store, config: STDiffEyeConfig) -> NDArray[np.bool_]:
    """(n,) which trials have what the modality needs."""
    columns = store.columns
    if config.modality == "scanpath":
        return np.ones(len(store), dtype=bool)
    fits = np.array(columns["has_trajectory"])
    return fits | np.array(columns["has_durations"]) if config.lift else fits


def sequence_of(
    trial: Trial,
    config: STDiffEyeConfig,
    rng: np.random.Generator | None,
    stored_rho: NDArray[np.float32] | None = None,
) -> Sequence:
    """A trial as rows of numbers; `stored_rho` is its uniform fixation index, where the store has it.

    Where samples are lifted from fixations, `rng` is their noise; None for none.
    """
    path = trial.scanpath
    assert path is not None
    viewing_s = float("nan") if trial.viewing_ms is None else trial.viewing_ms / MILLISECONDS
    if config.modality == "scanpath":
        seconds = np.full(len(path), np.nan) if path.duration_ms is None else path.duration_ms / MILLISECONDS
        rows = np.column_stack([path.xy_px / path.frame.size_px, seconds])
        return Sequence(rows, len(path), viewing_s)
    trajectory: Trajectory | None = trial.trajectory
    if trajectory is None:
        trajectory = lift(path, config.rate_hz, rng)
    rho = stored_rho
    if rho is None or config.interpolation != "uniform":
        rho = fixation_index(trajectory, path, config.interpolation).astype(np.float32)
    xy = trajectory.xy_px / trajectory.frame.size_px
    rows = np.column_stack([xy, np.full(len(xy), 1 / config.rate_hz), rho])
    return Sequence(rows, len(path), viewing_s)


def columns_of(config: STDiffEyeConfig, units: Units) -> list[int]:
    """Which columns of the rows the network sees."""
    return [0, 1] + ([2] if units.time_at else []) + ([3] if config.decodes_index else [])


def in_units(rows: Rows, config: STDiffEyeConfig, units: Units) -> Rows:
    """(T, C) the columns that the network sees, in its units."""
    return units.scaled(rows[:, columns_of(config, units)])


def filled(rows: Rows) -> Rows:
    """Unknown numbers filled in, so that the network sees nothing absurd: samples by time, durations by the median."""
    rows = rows.copy()
    at = np.arange(len(rows))
    for column in range(rows.shape[1]):
        lost = np.isnan(rows[:, column])
        if lost.all():
            rows[:, column] = DURATION_MEDIAN_MS / MILLISECONDS if column == 2 else 0.5
        elif lost.any():
            rows[lost, column] = np.interp(at[lost], at[~lost], rows[~lost, column])
    return rows


def _check_rate(store: Store, config: STDiffEyeConfig) -> None:
    recorded = bool(np.any(store.columns["has_trajectory"]))
    if config.modality != "scanpath" and recorded and store.rate_hz != config.rate_hz:
        raise InputError(
            f"{store.path} is at {store.rate_hz:g} Hz, the preset at {config.rate_hz:g}: prepare it with --rate"
        )
