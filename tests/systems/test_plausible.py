"""What the fine half draws stays within what people do."""

import numpy as np

from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.gaze.residual import SHARE, guide
from stdiffeye.systems.fine import FURTHEST_DEG_S, plausible

PATH = Scanpath([[100, 100], [400, 300]], Frame(640, 480), duration_ms=[300, 300], onset_ms=[0, 340])


def test_a_wild_sample_is_held_back_and_others_are_left_alone():
    guided = guide(PATH, 240.0, 1.2)
    y = np.full((len(guided), 2), 0.5)
    y[10] = [9.0, -9.0]
    held = plausible(y, guided)
    residual_deg_s = SHARE * guided.scale_deg_s[:, None] * np.sinh(held)
    assert np.allclose(np.abs(residual_deg_s[10]), FURTHEST_DEG_S)
    assert np.sign(residual_deg_s[10]).tolist() == [1.0, -1.0]
    others = np.arange(len(y)) != 10
    assert np.array_equal(held[others], y[others])
