"""The trajectory stage: a trajectory at the tracker's rate, given the scanpath. It needs no picture.

Velocity relative to the scanpath's skeleton is diffused (see `gaze.residual`), in tokens of a few samples each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from stdiffeye.data.store import Store
from stdiffeye.diffusion import (
    NoiseSource,
    SamplerName,
    add_noise,
    estimate_z0,
    karras_grid,
    network_input,
    sample,
    target,
)
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trajectory, fixation_intervals
from stdiffeye.gaze.judd import MIN_FIXATION_MS
from stdiffeye.gaze.lifting import extend_fixations
from stdiffeye.gaze.residual import SHARE, TrajectoryCondition, residual, trajectory_condition, trajectory_of
from stdiffeye.model.denoiser import Denoiser, DenoiserConfig
from stdiffeye.model.tokens import to_patches
from stdiffeye.systems.base import AS_CONFIGURED, BatchPlan, SamplingOptions, Sources, TrainableSystem
from stdiffeye.systems.step_random import StepRandom

CONDITION_CHANNELS = 7  # skeleton's velocity x, y; log scale; log noise; in fixation; phase; vigour
# Over the trials of DOVES' train split, at these shares of them, the tails cut: ν; the median vigour of a trial's
# saccades, which is the viewer's; and how much that of a saccade is above or below it.
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
NOISE_DEG_S = (0.8, 0.918, 0.99, 1.048, 1.102, 1.188, 1.252, 1.326, 1.487, 1.735, 2.084, 2.381, 2.8)
VIEWER_VIGOUR = (-0.55, -0.393, -0.299, -0.192, -0.12, -0.05, -0.005, 0.046, 0.107, 0.184, 0.29, 0.381, 0.5)
SACCADE_VIGOUR = (-0.75, -0.421, -0.309, -0.187, -0.108, -0.042, 0.0, 0.042, 0.11, 0.195, 0.306, 0.4, 0.7)
# In DOVES one in a thousand samples between fixations is further from the skeleton's velocity.
FURTHEST_DEG_S = 425.0
# For steps that are normal on both axes the median speed is √(ln 4 / 2) times their root mean square.
MEDIAN_PER_RMS = float(np.sqrt(np.log(4) / 2))
ATTEMPTS = 4


@dataclass(frozen=True)
class TrajectoryStageConfig:
    """Configuration of the trajectory stage: network and training."""

    patch: int = 8
    """Samples per token."""
    rate_hz: float = 240.0
    denoiser: DenoiserConfig = field(
        default_factory=lambda: DenoiserConfig(
            channels=16,
            condition_channels=56,
            width=128,
            depth=4,
            heads=4,
            feedforward=512,
            dropout=0.0,
            norm="pre",
            cross_query="stream",
            time="adaln",
            positions="relative",
            cross_every=0,
            convolution=5,
            hidden=0,
        )
    )
    crop_s: float = 2.0
    """Length of the pieces it is trained on."""
    log_sigma: tuple[float, float] = (-0.8, 1.3)
    """Mean and std of ln σ in training."""
    sigma_range: tuple[float, float] = (0.02, 10.0)
    sampler: SamplerName = "dpm++"
    sampling_steps: int = 6

    def __post_init__(self) -> None:
        channels, given = 2 * self.patch, CONDITION_CHANNELS * self.patch
        if (self.denoiser.channels, self.denoiser.condition_channels) != (channels, given):
            raise InputError(
                f"patches of {self.patch} samples need denoiser.channels {channels} and .condition_channels {given}"
            )


@dataclass
class ResidualTensors:
    """B pieces of recordings in N patches."""

    y: Tensor  # (B, N, 2p)
    seen: Tensor  # (B, N, 2p) False where lost
    condition: Tensor  # (B, N, 7p)
    valid: Tensor  # (B, N) False after the end of a recording that is shorter than the piece


class TrajectoryStage(TrainableSystem):
    """p(trajectory | scanpath)."""

    needs_pictures = False

    def __init__(self, config: TrajectoryStageConfig) -> None:
        super().__init__()
        self.config = config
        self.denoiser = Denoiser(config.denoiser)

    # ---------------------------------------------------------------- training

    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> ResidualBatches:
        return ResidualBatches(sources.stores, split, self.config, plan, augment)

    def loss(self, batch: ResidualTensors, random: StepRandom) -> dict[str, Tensor]:
        mean, std = self.config.log_sigma
        y = batch.y
        sigma = (mean + std * random.normal(len(y))).exp()
        alpha = torch.ones_like(sigma)
        noise = random.normal(*y.shape)
        output = self._predict(add_noise(y, noise, alpha, sigma), sigma, batch.condition, batch.valid)
        error = (output - target(y, noise, alpha, sigma, "edm")) ** 2
        denoise = random.mean(error, batch.seen)
        return {"denoise": denoise, "total": denoise}

    def _predict(self, z: Tensor, sigma: Tensor, condition: Tensor, valid: Tensor | None = None) -> Tensor:
        time = (sigma.log() + 5) * 100  # ln σ between −4 and 3, on the time embedding's scale of 0 … 1000
        return self.denoiser(network_input(z, torch.ones_like(sigma), sigma), time, condition=condition, valid=valid)

    # ---------------------------------------------------------------- generation

    @torch.inference_mode()
    def animate(
        self,
        scanpaths: Sequence[Scanpath],
        seeds: Sequence[int],
        precision_deg: float | None = None,
        options: SamplingOptions = AS_CONFIGURED,
        px_per_degree: float | None = None,
        holes: bool = False,
    ) -> list[Trajectory]:
        """One trajectory per scanpath.

        Parameters
        ----------
        precision_deg
            The tracker's precision, root mean square of sample-to-sample steps in degrees; None samples one as varied
            as viewers and calibrations are.
        holes
            Whether there may be more time between fixations than saccades take, which eyes spend resting.
        """
        # One at a time: no padding, and what a trajectory is does not depend on those beside it.
        return [
            self._animate(
                extend_fixations(path, px_per_degree) if holes else path, seed, precision_deg, options, px_per_degree
            )
            for path, seed in zip(scanpaths, seeds, strict=True)
        ]

    def _animate(
        self,
        path: Scanpath,
        seed: int,
        precision_deg: float | None,
        options: SamplingOptions,
        px_per_degree: float | None,
    ) -> Trajectory:
        noise = NoiseSource([~seed])  # another stream than the scanpath's
        noise_deg_s = self._noise_deg_s(precision_deg, float(noise.uniform()))

        def attempt() -> Trajectory:
            vigour = sample_vigour(len(path) - 1, noise)
            guided = trajectory_condition(path, self.config.rate_hz, noise_deg_s, px_per_degree, vigour)
            y = plausible(self._residual(guided, noise, options), guided)
            return trajectory_of(y, guided, path, px_per_degree)

        return faithful((attempt() for _ in range(ATTEMPTS)), path, px_per_degree)

    def _residual(self, guided: TrajectoryCondition, noise: NoiseSource, options: SamplingOptions) -> np.ndarray:
        """(T, 2) y, sampled."""
        device = next(self.parameters()).device
        condition = self._condition(guided)[None].to(device)  # (1, N, 7p)
        low, high = self.config.sigma_range
        grid = karras_grid(options.steps or self.config.sampling_steps, sigma_max=high, sigma_min=low)

        def denoise(z: Tensor, level: int) -> Tensor:
            z, sigma = z.to(device), torch.full((len(z),), float(grid.sigma[level]), device=device)
            return estimate_z0(self._predict(z, sigma, condition), z, torch.ones_like(sigma), sigma, "edm").cpu()

        shape = (condition.shape[1], 2 * self.config.patch)
        y = sample(options.sampler or self.config.sampler, denoise, grid, noise, shape)[0].double().numpy()
        return y.reshape(-1, 2)[: len(guided)]

    def _noise_deg_s(self, precision_deg: float | None, uniform: float) -> float:
        if precision_deg is None:
            return float(np.interp(uniform, SHARES, NOISE_DEG_S))
        return MEDIAN_PER_RMS * precision_deg * self.config.rate_hz

    def _condition(self, guided: TrajectoryCondition) -> Tensor:
        return whole_patches(scaled(condition_rows(guided)), self.config.patch)


class ResidualBatches:
    """Pieces of the recordings of several stores, turned and mirrored at random; a pure function of (seed, step)."""

    def __init__(
        self, stores: Sequence[Store], split: str, config: TrajectoryStageConfig, plan: BatchPlan, augment: bool = True
    ) -> None:
        self.stores, self.config, self.plan, self.augment = list(stores), config, plan, augment
        self.trials = [(n, int(i)) for n, store in enumerate(self.stores) for i in _usable(store, split, config)]
        if not self.trials:
            raise InputError(f"no recording with at least two fixations in split {split!r} of the stores given")
        self._cache: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}

    def batch(self, step: int) -> ResidualTensors:
        rng = np.random.default_rng([self.plan.seed, step])
        size = self.plan.stimuli * self.plan.viewers
        chosen, seeds = rng.integers(len(self.trials), size=size), rng.integers(2**63, size=size)
        mine = self.plan.ranks.mine(size)
        pieces = [
            self._piece(self.trials[i], np.random.default_rng(seed))
            for i, seed in zip(chosen[mine], seeds[mine], strict=True)
        ]
        y, condition, tokens = (torch.stack(column).to(self.plan.device) for column in zip(*pieces, strict=True))
        valid = torch.arange(y.shape[1], device=y.device) < tokens[:, None]
        return ResidualTensors(torch.nan_to_num(y), ~torch.isnan(y), condition, valid)

    def _piece(self, key: tuple[int, int], rng: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
        y, rows = self._read(key)
        p, length = self.config.patch, round(self.config.crop_s * self.config.rate_hz)
        first = int(rng.integers(0, max(1, len(y) - length + 1)))
        y, rows = y[first : first + length], rows[first : first + length].copy()
        angle, mirror = (rng.uniform(0, 2 * np.pi), rng.choice([-1.0, 1.0])) if self.augment else (0.0, 1.0)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) * [mirror, 1.0]
        rows[:, :2] = rows[:, :2] @ turn.T
        # asinh works per axis, so y is turned before it.
        turned = np.arcsinh(np.sinh(y) @ turn.T)
        tokens = -(-length // p)
        lost = np.full((tokens * p - len(y), 2), np.nan)
        condition = pad_tokens(whole_patches(scaled(rows), p), tokens)
        return whole_patches(np.concatenate([turned, lost]), p), condition, torch.tensor(-(-len(y) // p))

    def _read(self, key: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        if key not in self._cache:
            trial = self.stores[key[0]][key[1]]
            assert trial.trajectory is not None
            assert trial.scanpath is not None
            y, guided = residual(trial.trajectory, trial.scanpath)
            self._cache[key] = y.astype(np.float32), condition_rows(guided).astype(np.float32)
        return self._cache[key]


def _usable(store: Store, split: str | None, config: TrajectoryStageConfig) -> np.ndarray:
    if store.rate_hz != config.rate_hz:
        raise InputError(
            f"{store.path} is at {store.rate_hz:g} Hz, the preset at {config.rate_hz:g}: prepare it with --rate"
        )
    columns, trials = store.columns, store.where(split)
    fits = columns["has_trajectory"] & columns["has_onsets"] & (columns["n_fixations"] >= 2) & ~columns["synthesised"]
    return trials[np.asarray(fits)[trials]]


def faithful(attempts: Iterable[Trajectory], path: Scanpath, px_per_degree: float | None = None) -> Trajectory:
    """The first trajectory that has as many fixations as the scanpath by Judd's rule and keeps to the picture.

    A recording has the fixations of its own scanpath, so one that has others was not made of that scanpath; and
    viewers of a picture do not leave it on the way (nobody in DOVES does). Where none is such, the nearest to it:
    samples off the picture weigh as much as fixations made of them would, and are held at its last pixels.
    """
    rests_inside = bool(path.frame.contains(path.xy_px).all())

    def amiss(trajectory: Trajectory) -> float:
        fixations = len(fixation_intervals(trajectory, px_per_degree=px_per_degree))
        strayed = int((~path.frame.contains(trajectory.xy_px)).sum()) if rests_inside else 0
        return abs(fixations - len(path)) + 1000 * strayed / trajectory.rate_hz / MIN_FIXATION_MS

    nearest, least = None, np.inf
    for trajectory in attempts:
        if (found := amiss(trajectory)) < least:
            nearest, least = trajectory, found
        if not least:
            break
    assert nearest is not None
    return replace(nearest, xy_px=np.clip(nearest.xy_px, 0, path.frame.size_px - 1)) if rests_inside else nearest


def sample_vigour(count: int, noise: NoiseSource) -> np.ndarray:
    """(count,) vigour: the viewer's own, and what each saccade adds to it."""
    own = np.interp(float(noise.uniform()), SHARES, VIEWER_VIGOUR)
    share = torch.special.ndtr(noise.fresh(count)[0])
    return own + np.interp(share.double().numpy(), SHARES, SACCADE_VIGOUR)


def plausible(y: np.ndarray, guided: TrajectoryCondition) -> np.ndarray:
    """y (T, 2) within what eyes do, since sinh would turn a small mistake into a leap across the screen."""
    most = np.arcsinh(FURTHEST_DEG_S / (SHARE * guided.scale_deg_s))[:, None]
    return np.clip(y, -most, most)


def condition_rows(guided: TrajectoryCondition) -> np.ndarray:
    """(T, 7) the condition of each sample: skeleton's velocity, scale, noise, in fixation, phase, vigour."""
    noise = np.full(len(guided), guided.noise_deg_s)
    now = (guided.skeleton.in_fixation, guided.phase, guided.vigour)
    return np.column_stack([guided.velocity_deg_s, guided.scale_deg_s, noise, *now])


def scaled(rows: np.ndarray) -> np.ndarray:
    """Condition rows with every number of about unit size."""
    scale, noise, vigour = np.log(rows[:, 2:3]) / 2, np.log(rows[:, 3:4]), 3 * rows[:, 6:]
    return np.concatenate([np.arcsinh(rows[:, :2] / 10), scale, noise, rows[:, 4:6], vigour], axis=1)


def whole_patches(rows: np.ndarray, patch: int) -> Tensor:
    """(T, C) → (⌈T/p⌉, p·C), the end padded by its last row."""
    short = -len(rows) % patch
    rows = np.concatenate([rows, np.repeat(rows[-1:], short, axis=0)]) if short else rows
    return to_patches(torch.from_numpy(rows.astype(np.float32)), patch)


def pad_tokens(tokens: Tensor, length: int) -> Tensor:
    """(N, C) → (length, C) with zeros."""
    return torch.nn.functional.pad(tokens, (0, 0, 0, length - len(tokens)))
