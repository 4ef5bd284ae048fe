"""Scanpaths and trials that the tests of the metrics share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.metrics.paths import EVALUATION_FRAME

Maker = Callable[..., list[Trial]]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def random_paths(rng: np.random.Generator) -> list[np.ndarray]:
    """Forty scanpaths of 1 to 16 fixations, x, y, ms, a few of them out of the frame."""
    return [
        np.column_stack([rng.normal([256, 192], [120, 90], (n, 2)), rng.gamma(5, 50, n)])
        for n in rng.integers(1, 17, size=40)
    ]


@pytest.fixture
def make_trials() -> Maker:
    """Trials around a few places per stimulus: make_trials(stimuli, per_stimulus, seed=…, noise_px=…)."""

    def make(
        stimuli: int = 4,
        count: int = 5,
        seed: int = 0,
        noise_px: float = 25.0,
        timed: bool = True,
        frame: Frame = EVALUATION_FRAME,
        task: str = "",
    ) -> list[Trial]:
        trials = []
        for stimulus in range(stimuli):
            places = np.random.default_rng(stimulus).uniform([60, 60], [450, 320], (4, 2))
            rng = np.random.default_rng([seed, stimulus])
            for number in range(count):
                n = int(rng.integers(4, 12))
                xy = places[rng.integers(4, size=n)] + rng.normal(0, noise_px, (n, 2))
                path = Scanpath(EVALUATION_FRAME.rescale(xy, frame), frame, rng.gamma(5, 50, n) if timed else None)
                trials.append(Trial(f"{stimulus}.jpg", str(number), path, task=task))
        return trials

    return make
