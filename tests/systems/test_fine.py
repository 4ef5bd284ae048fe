"""What the fine half draws stays within what people do, and has the fixations of its scanpath."""

import numpy as np

from stdiffeye.gaze import Frame, Scanpath, extract, lift
from stdiffeye.gaze.residual import SHARE, guide
from stdiffeye.generate import load
from stdiffeye.systems.fine import FURTHEST_DEG_S, faithful, plausible

PATH = Scanpath([[100, 100], [400, 300]], Frame(640, 480), duration_ms=[300, 300], onset_ms=[0, 340])


def walk(fixations: int, seed: int = 0) -> Scanpath:
    """Fixations a few degrees from one another."""
    rng = np.random.default_rng(seed)
    xy = [512, 384] + np.cumsum(rng.normal(0, 100, (fixations, 2)), axis=0)
    duration = rng.uniform(150, 450, fixations)
    onset = np.concatenate([[0], np.cumsum(duration + 50)[:-1]])
    return Scanpath(xy, Frame(1024, 768, 60), duration_ms=duration, onset_ms=onset)


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


def test_the_first_trajectory_with_as_many_fixations_is_taken_and_no_more_are_drawn():
    one, two, three = (lift(walk(count)) for count in (1, 2, 3))
    drawn = iter([one, three, two, one])
    assert faithful(drawn, fixations=2) is two
    assert next(drawn) is one


def test_of_trajectories_that_all_have_other_fixations_the_nearest_is_taken():
    one, three = (lift(walk(count)) for count in (1, 3))
    assert faithful([one, three], fixations=4) is three


def test_the_shipped_fine_half_gives_scanpaths_back_their_fixations():
    paths = [walk(fixations=14, seed=seed) for seed in range(20)]
    moved = load("freeview").fine.animate(paths, range(20))
    assert sum(len(extract(one)) == 14 for one in moved) >= 18
