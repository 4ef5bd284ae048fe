"""Maps of where people fixate, as positions without an order."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.io.descriptions import Description

POOLED = "pooled"
"""Stands for the viewer: such maps do not tell one from another."""
SAMPLES = 500
"""Positions that stand for a smooth map; SALICON has about as many fixations a picture."""


def fixated_pixels(pixels: ArrayLike) -> NDArray[np.float64]:
    """(n, 2) px, the centre of every non-zero pixel of a map (H, W)."""
    y, x = np.nonzero(np.asarray(pixels))
    return np.column_stack([x, y]).astype(np.float64) + 0.5


def sample_map(density: ArrayLike, samples: int = SAMPLES) -> NDArray[np.float64]:
    """(samples, 2) px, sampled in proportion to a map (H, W), always the same ones; (0, 2) where all of it is 0.

    One sample is taken from each of as many strata of equal mass, row by row, so that little is left to chance.
    """
    weights = np.asarray(density, np.float64)
    mass = np.cumsum(weights.ravel())
    if not mass[-1] > 0:
        return np.empty((0, 2))
    levels = (np.arange(samples) + np.random.default_rng(0).random(samples)) / samples
    row, column = np.divmod(np.searchsorted(mass, levels * mass[-1], side="right"), weights.shape[1])
    return np.column_stack([column, row]) + 0.5


def pooled_trial(description: Description, name: str, xy_px: NDArray[np.float64], frame: Frame, split: str) -> Trial:
    """The positions on one picture as a trial of all its viewers together."""
    return Trial(
        name,
        POOLED,
        Scanpath(xy_px, frame),
        dataset=description.name,
        split=split,
        viewing_ms=description.viewing_ms,
    )
