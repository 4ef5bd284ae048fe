"""From samples of the next fixation to its density, for systems that can only be sampled from.

The next fixation is sampled many times, given the picture and the fixations so far. A kernel density estimate of these
positions is pooled with the density of all fixations that the system has learned for the picture, where it has one: a
product of powers of both. In a calibrated system a function of the fixations so far is a third factor
(`history_factors`). A little that is even is mixed in. All this belongs to the system's configuration, and
`stdiffeye calibrate` chooses it on validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from stdiffeye.arrays import Floats
from stdiffeye.diffusion import VIEWERS, SamplerName, viewer_seeds
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath
from stdiffeye.systems.history_factors import FAINTEST, HistoryFactors, Situation, log_weighted

UNSAMPLED = 0.1  # of an even density, which every position has beside the samples

Shape = tuple[int, int]
Histories = Sequence[Scanpath | None]


@dataclass(frozen=True)
class NextFixationConfig:
    """How the density of the next fixation is estimated from samples."""

    samples: int = 24
    """Samples of the next fixation; stratified ones, which cover its distribution with fewer."""
    steps: int = 10
    """Denoising steps."""
    sampler: SamplerName = "ddpm"
    """Fresh noise at every step lets the next fixation follow the clamped ones; without it they matter less."""
    bandwidth: float = 0.025
    """Standard deviation of the kernel, in widths of the picture."""
    samples_power: float = 0.5
    """Power of the kernel density before calibration; 1 where the picture has no density of its own."""
    picture_power: float = 0.4
    """Power of the picture's own density of fixations, before calibration."""
    even_share: float = 0.02
    """Share that is the same everywhere, so that no position is impossible."""
    history: HistoryFactors = field(default_factory=HistoryFactors)
    """Powers, and factors of the fixations so far, for each viewing style; made by `stdiffeye calibrate`."""

    def __post_init__(self) -> None:
        if not 1 <= self.samples <= VIEWERS:
            raise InputError(f"next_fixation.samples must be between 1 and {VIEWERS}, got {self.samples}")
        if self.bandwidth <= 0:
            raise InputError(f"next_fixation.bandwidth must be positive, got {self.bandwidth:g}")
        if not 0 < self.even_share <= 1:
            raise InputError(f"next_fixation.even_share must be above 0 and at most 1, got {self.even_share:g}")
        if min(self.samples_power, self.picture_power) < 0:
            raise InputError("next_fixation.samples_power and picture_power must not be negative")

    @property
    def seeds(self) -> list[int]:
        """Always the same: a density is not random."""
        return viewer_seeds(0, self.samples)


def sampled_log_density(
    xy: Floats | None,
    picture_density: Floats | None,
    shape: Shape,
    now: Situation,
    config: NextFixationConfig,
    style: str = "",
) -> Floats:
    """Log-probability of the cells of a grid.

    Parameters
    ----------
    xy
        (n, 2) samples of the next fixation, in [0, 1] of the picture; None where the configuration needs none.
    picture_density
        (rows, columns) of any grid, sum 1; None where the system has none.
    shape
        Rows and columns of the result.
    now
        The fixations so far.
    style
        Viewing style, "" for any.
    """
    samples, picture = log_densities_of(xy, picture_density, shape, now.aspect, config)
    if config.history:
        log_density = log_weighted(samples, picture, now, config.history.of_style(style))
    elif picture is not None:
        log_density = config.samples_power * samples + config.picture_power * picture
    else:
        assert xy is not None
        log_density = np.log(kernel_density(xy, shape, config.bandwidth, now.aspect) + FAINTEST)
    density = np.exp(log_density - log_density.max())
    return np.asarray(np.log((1 - config.even_share) * density / density.sum() + config.even_share / density.size))


def log_densities_of(
    xy: Floats | None, picture_density: Floats | None, shape: Shape, aspect: float, config: NextFixationConfig
) -> tuple[Floats, Floats | None]:
    """(rows, columns) of the samples and of the picture, up to constants."""
    # Where no sample is near, the other factors decide alone.
    even = 1 / (shape[0] * shape[1])
    sampled = np.zeros(shape) if xy is None else kernel_density(xy, shape, config.bandwidth, aspect)
    samples = np.log(sampled + UNSAMPLED * even)
    return np.asarray(samples), None if picture_density is None else interpolated_log(picture_density, shape)


def interpolated_log(density: Floats, shape: Shape) -> Floats:
    """The logarithm of a density on another grid, interpolated: it does not go in steps of the coarser one."""
    image = Image.fromarray(np.log(density + FAINTEST).astype(np.float32))
    return np.asarray(image.resize(shape[::-1], Image.Resampling.BILINEAR), dtype=np.float64)


def kernel_density(xy: Floats, shape: Shape, bandwidth: float, aspect: float) -> Floats:
    """(rows, columns) of Gaussians around points in [0, 1], each as much inside the picture as any other; sum 1."""
    rows, columns = (np.asarray((np.arange(size) + 0.5) / size) for size in shape)
    down = _kernels(rows, xy[:, 1], bandwidth * aspect)  # (rows, n)
    across = _kernels(columns, xy[:, 0], bandwidth)  # (columns, n)
    return np.asarray(down @ across.T / len(xy))


def resampled(density: Floats, shape: Shape) -> Floats:
    """The same piecewise constant density on another grid: every cell gives what overlaps; the sum stays."""
    down, across = (_overlap(new, old) for new, old in zip(shape, density.shape, strict=True))
    return np.asarray(down @ density @ across.T)


def resampled_log(log_density: Tensor, cells: Shape, shape: Shape) -> Floats:
    """(n, rows, columns) log-probabilities of a finer or coarser grid, of (n, N) on a system's own."""
    density = log_density.double().exp().cpu().numpy().reshape(-1, *cells)
    return np.stack([np.log(resampled(one / one.sum(), shape)) for one in density])


def normalised_log(log_density: Tensor, shape: Shape) -> Floats:
    """(n, rows, columns) log-probabilities of the cells, of a log-density (n, N) at their centres."""
    return log_density.double().log_softmax(-1).cpu().numpy().reshape(-1, *shape)


def _kernels(centres: Floats, at: Floats, bandwidth: float) -> Floats:
    """(cells, n) share of each point's Gaussian that falls on each cell."""
    log_weight = -0.5 * ((centres[:, None] - at) / bandwidth) ** 2
    weight = np.exp(log_weight - log_weight.max(axis=0))  # a narrow kernel may miss every centre
    return np.asarray(weight / weight.sum(axis=0))


def _overlap(new: int, old: int) -> NDArray[np.float64]:
    """(new, old) share of each old cell that lies in each new one."""
    low = np.maximum(np.arange(new)[:, None] / new, np.arange(old) / old)
    high = np.minimum((np.arange(new)[:, None] + 1) / new, (np.arange(old) + 1) / old)
    return np.asarray(np.clip(high - low, 0, None) * old)
