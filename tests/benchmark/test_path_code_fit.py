"""The fit of the path code's constants, on gaze that was decoded from known ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stdiffeye.benchmark.path_code_fit import fit
from stdiffeye.gaze import Frame, Scanpath, Trial, path_code
from stdiffeye.gaze.path_code import CONSTANTS

FRAME = Frame(1024, 768, 60)


def trial(number: int) -> Trial:
    rng = np.random.default_rng(number)
    duration = rng.uniform(250, 500, 8)
    onset = np.concatenate([[0], np.cumsum(duration + 60)[:-1]])
    path = Scanpath(rng.uniform([100, 100], [900, 650], (8, 2)), FRAME, duration, onset)
    code = rng.normal(size=(8, path_code.WIDTH))
    louder = replace(CONSTANTS, centre=(CONSTANTS.centre[0] + 0.5, *CONSTANTS.centre[1:]))
    return Trial("a.jpg", str(number), path, path_code.decode(code, path, 240.0, rng, constants=louder))


def test_the_fit_finds_a_louder_tracker_and_the_size_of_drift() -> None:
    fitted = fit([trial(number) for number in range(24)], quiet=True)
    assert fitted.centre[0] == pytest.approx(CONSTANTS.centre[0] + 0.5, abs=0.15)
    drift = path_code.DRIFT
    assert fitted.scale[drift] == pytest.approx(CONSTANTS.scale[drift], rel=0.5)
    assert min(fitted.noise_s) > 0
