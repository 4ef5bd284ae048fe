"""Index-aligned tokens: trajectory, scanpath and fixation index from one denoiser, in one pass over sixteen tokens.

The fixation index cuts the trajectory: token m stands for the samples whose index is nearest to m. It holds the
fixation (x, y, log duration, log gap to the next) and a short code of the eye's path there and on to the next fixation
(`gaze.path_code`). Both are denoised together, so each is sampled given the other; samples, fixations and their index
follow from the tokens. The network is the scanpath stage's with more numbers per token, and may begin with its weights.
From sets without raw gaze it learns the fixations alone: the code of their tokens is masked, not synthesised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from stdiffeye.arrays import Floats
from stdiffeye.data.batches import Augment, ScanpathBatch
from stdiffeye.gaze import Scanpath, Trajectory, fixation_intervals, path_code
from stdiffeye.gaze.lifting import extend_fixations
from stdiffeye.gaze.timeline import end_s, timed
from stdiffeye.model.conditions import Conditions
from stdiffeye.model.denoiser import DenoiserConfig
from stdiffeye.model.fixation_tokens import CHANNELS
from stdiffeye.systems.base import BatchPlan, Generated, Query, SamplingOptions, Sources
from stdiffeye.systems.coarse_to_fine.scanpath_config import ScanpathStageConfig
from stdiffeye.systems.coarse_to_fine.scanpath_sampling import CodedScanpath, sample_scanpaths
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage
from stdiffeye.systems.coarse_to_fine.trajectory_stage import ATTEMPTS, MEDIAN_PER_RMS, faithful
from stdiffeye.systems.scanpath_data import ScanpathTensorBatches, ScanpathTensors
from stdiffeye.systems.step_random import StepRandom

# In a mirror image what is horizontal, or across a saccade, has the other sign.
MIRRORED = np.ones(path_code.WIDTH)
MIRRORED[path_code.SETTLING.stop - 1] = -1
MIRRORED[path_code.DRIFT][::2] = -1
MIRRORED[path_code.SACCADE][path_code.ALONG :] = -1


FURTHEST = 4.0  # of the numbers of people's code one in a thousand is further out, mostly where tracking was lost

ROUNDING_S = 1e-3


def _denoiser() -> DenoiserConfig:
    return replace(ScanpathStageConfig().denoiser, channels=CHANNELS + path_code.WIDTH)


@dataclass(frozen=True)
class AlignedConfig(ScanpathStageConfig):
    """The scanpath stage's configuration, with the path code beside each fixation."""

    denoiser: DenoiserConfig = field(default_factory=_denoiser)
    rate_hz: float = 240.0
    code_weight: float = 1.0
    """Weight of the path code's error, beside that of the fixations."""
    borrowed_style: float = 0.3
    """Share of recorded trials whose code is learned under another set's style: how eyes move is the same in all."""
    noise_scale: float = 1.0
    """Multiple of the tracker's noise in generated gaze, where no precision is asked for."""
    noise_level_std: float = 1.0
    """Multiple of the generated code of the noise's level, which varies less than people's."""
    saccade_code_std: float = 1.0
    """The same for the saccade's code. All three are chosen on the validation split."""

    early_end_s: tuple[float, ...] = ()
    """When some recordings of each of these sets end, before the usual `recorded_s`; 0 where none do."""
    early_end_share: tuple[float, ...] = ()
    """How many of them do."""

    @property
    def token_channels(self) -> int:
        return CHANNELS + path_code.WIDTH


class AlignedSTDiffEye(ScanpathStage):
    """p(trajectory, scanpath | picture, task, viewing time) by index-aligned tokens."""

    generates_trajectories = True
    generates_both = True
    begins_as = "scanpath"

    def __init__(self, config: AlignedConfig) -> None:
        super().__init__(config)
        self.config: AlignedConfig = config

    def grown_from(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Weights of a scanpath stage, whose denoiser neither reads nor changes the code."""
        read, written = weights["denoiser.input.0.weight"], weights["denoiser.head.0.weight"]
        if len(written) != CHANNELS:
            return weights
        fixation, given = read.split([CHANNELS, read.shape[1] - CHANNELS], dim=1)
        none = read.new_zeros(len(read), path_code.WIDTH)
        return weights | {
            "denoiser.input.0.weight": torch.cat([fixation, none, given], dim=1),
            "denoiser.head.0.weight": torch.cat([written, written.new_zeros(path_code.WIDTH, written.shape[1])]),
            "denoiser.head.0.bias": torch.cat([weights["denoiser.head.0.bias"], written.new_zeros(path_code.WIDTH)]),
        }

    # ---------------------------------------------------------------- training

    def _scanpath_batches(self, sources: Sources, split: str, plan: BatchPlan, change: Augment) -> AlignedBatches:
        return AlignedBatches(self, sources, split, plan, change)

    def _denoiser_conditions(self, x: ScanpathTensors, conditions: Conditions, random: StepRandom) -> Conditions:
        rows = len(x.tokens)
        recorded = x.mask[..., CHANNELS:].flatten(1).any(1)  # (B,)
        borrows = recorded & (random.uniform(rows) < self.config.borrowed_style)
        other = random.integers(max(1, len(self.config.sets)), rows) + 1
        return replace(conditions, style=torch.where(borrows, other, conditions.style))

    def _denoising_losses(
        self, error: Tensor, x: ScanpathTensors, conditions: Conditions, random: StepRandom
    ) -> dict[str, Tensor]:
        """Fixations count under their own style alone."""
        own = (conditions.style == x.conditions.style) | (conditions.style == 0)  # (B,)
        fixation, code = error.split([CHANNELS, path_code.WIDTH], dim=-1)
        of_fixation, of_code = x.mask.split([CHANNELS, path_code.WIDTH], dim=-1)
        return {
            "denoise": random.mean(fixation, of_fixation & own[:, None, None]),
            "code": self.config.code_weight * random.mean(code, of_code),
        }

    # ---------------------------------------------------------------- generation

    @torch.inference_mode()
    def trajectories(
        self, queries: Sequence[Query], seeds: Sequence[Sequence[int]], options: SamplingOptions
    ) -> list[list[Trajectory]]:
        """For each query one trajectory per seed, which knows its scanpath."""
        return [
            [
                self._decoded(one, seed, query, options)
                for one, seed in zip(sample_scanpaths(self, query, row, options), row, strict=True)
            ]
            for query, row in zip(queries, seeds, strict=True)
        ]

    def _decoded(self, sampled: CodedScanpath, seed: int, query: Query, options: SamplingOptions) -> Generated:
        rng = np.random.default_rng(seed)
        sampled = self._as_recorded(sampled, query, rng)
        path = extend_fixations(sampled.path) if query.fill else sampled.path
        code = self._calibrated(sampled.code, options.precision_deg)
        attempts = agreeing(code, path, self.config.rate_hz, rng)
        return Generated.of(faithful(attempts, path), path)

    def _as_recorded(self, sampled: CodedScanpath, query: Query, rng: np.random.Generator) -> CodedScanpath:
        """The same, cut as early as some recordings of this style are."""
        early_s = self.of_style(self.config.early_end_s, query.style, 0.0)
        usual_s = self.of_style(self.config.recorded_s, query.style, 0.0)
        whole = early_s and not query.fill and end_s(sampled.path) <= usual_s + ROUNDING_S
        if whole and rng.random() < self.of_style(self.config.early_end_share, query.style, 0.0):
            return sampled.clip_to(early_s, fill=False)
        return sampled

    def _calibrated(self, code: Floats, precision_deg: float | None) -> Floats:
        """As varied as people's code, and with the noise of a tracker of this precision, where one is given."""
        config, code = self.config, np.clip(code, -FURTHEST, FURTHEST)
        code[:, 0] *= config.noise_level_std
        code[:, path_code.SACCADE] *= config.saccade_code_std
        raw = path_code.expanded(code)
        if precision_deg is None:
            raw[:, 0] += np.log(config.noise_scale)
        else:
            raw[:, 0] = np.log(MEDIAN_PER_RMS * precision_deg * config.rate_hz)
        return path_code.compressed(raw)


def agreeing(code: Floats, path: Scanpath, rate_hz: float, rng: np.random.Generator) -> Iterator[Trajectory]:
    """Attempts at a trajectory in which Judd's rule sees every saccade of the scanpath.

    The recordings' fixations are those that Judd's rule found, so all of their saccades are seen by it. Of the smallest
    generated ones some are too smooth. After each attempt noise is sampled again, and so is the code of those saccades.
    """
    for _ in range(ATTEMPTS):
        trajectory = path_code.decode(code, path, rate_hz, rng)
        yield trajectory
        code = path_code.with_other_saccades(code, path, _unseen(trajectory, path), rng)


def _unseen(trajectory: Trajectory, path: Scanpath) -> NDArray[np.int64]:
    """Saccades between fixations whose middles are in one and the same fixation by Judd's rule."""
    onset_ms, duration_ms = timed(path)
    middle = (onset_ms - onset_ms[0] + duration_ms / 2) * trajectory.rate_hz / 1000
    fixation = np.searchsorted(fixation_intervals(trajectory)[:, 0], middle, side="right")
    return np.flatnonzero(np.diff(fixation) == 0)


class AlignedBatches(ScanpathTensorBatches):
    """Scanpath batches whose tokens also hold the path code, of trials that were recorded sample by sample."""

    def __init__(
        self, system: AlignedSTDiffEye, sources: Sources, split: str, plan: BatchPlan, augment: Augment
    ) -> None:
        super().__init__(system, sources, split, plan, augment)
        self.rate_hz = system.config.rate_hz
        self._codes: dict[tuple[int, int], np.ndarray] = {}

    def _tokens(self, x: ScanpathBatch) -> tuple[Tensor, Tensor]:
        tokens, mask = super()._tokens(x)
        code = torch.from_numpy(np.stack([self._row(x, row) for row in range(len(x.length))]))  # (B, M, K)
        return torch.cat([tokens, torch.nan_to_num(code)], -1), torch.cat([mask, ~torch.isnan(code)], -1)

    def _row(self, x: ScanpathBatch, row: int) -> np.ndarray:
        """(M, K) code of one trial of the batch; NaN where unknown."""
        whole, first, length = self._code(*x.trial[row].tolist()), int(x.first[row]), int(x.length[row])
        code = np.full((x.xy.shape[1], path_code.WIDTH), np.nan, dtype=np.float32)
        if len(whole):
            code[:length] = whole[first : first + length] * (MIRRORED if x.flip[row // self.plan.viewers] else 1.0)
            code[0, path_code.SETTLING] = np.nan  # the saccade that led here is not among these tokens
            code[length - 1, path_code.SACCADE] = np.nan
            if x.cut[row]:
                code[length - 1] = np.nan
        return code

    def _code(self, store: int, trial: int) -> np.ndarray:
        """(M, K) code of a whole trial; (0, K) where it was not recorded at this rate."""
        if (store, trial) not in self._codes:
            self._codes[store, trial] = self._encoded(store, trial)
        return self._codes[store, trial]

    def _encoded(self, store: int, trial: int) -> np.ndarray:
        source = self.source.stores[store]
        columns = source.columns
        recorded = (
            columns["has_trajectory"][trial] and columns["has_onsets"][trial] and not columns["synthesised"][trial]
        )
        if not recorded or source.rate_hz != self.rate_hz:
            return np.empty((0, path_code.WIDTH), dtype=np.float32)
        one = source[trial]
        assert one.trajectory is not None
        assert one.scanpath is not None
        return path_code.encode(one.trajectory, one.scanpath).astype(np.float32)
