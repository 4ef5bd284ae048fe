"""What the fine half draws stays within what people do, and has the fixations of its scanpath."""

from dataclasses import replace

import numpy as np
import pytest

from stdiffeye.data.preparation import prepare
from stdiffeye.diffusion import NoiseSource
from stdiffeye.gaze import Frame, Scanpath, Trajectory, extract, lift
from stdiffeye.gaze.residual import (
    AMPLITUDE_DEG,
    SHARE,
    USUAL_LOG_PEAK,
    amplitudes_deg,
    residual,
    saccade_vigour,
    trajectory_condition,
)
from stdiffeye.generation import load
from stdiffeye.systems.coarse_to_fine.trajectory_stage import (
    FURTHEST_DEG_S,
    NOISE_DEG_S,
    SACCADE_VIGOUR,
    SHARES,
    VIEWER_VIGOUR,
    faithful,
    plausible,
    sample_vigour,
)

PATH = Scanpath([[100, 100], [400, 300]], Frame(640, 480), duration_ms=[300, 300], onset_ms=[0, 340])


def walk(fixations: int, seed: int = 0) -> Scanpath:
    """Fixations a few degrees from one another."""
    rng = np.random.default_rng(seed)
    xy = [512, 384] + np.cumsum(rng.normal(0, 100, (fixations, 2)), axis=0)
    duration = rng.uniform(150, 450, fixations)
    onset = np.concatenate([[0], np.cumsum(duration + 50)[:-1]])
    return Scanpath(xy, Frame(1024, 768, 60), duration_ms=duration, onset_ms=onset)


def same(one: Trajectory, other: Trajectory) -> bool:
    return np.array_equal(one.xy_px, other.xy_px)


def test_a_wild_sample_is_held_back_and_others_are_left_alone():
    guided = trajectory_condition(PATH, 240.0, 1.2)
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
    assert same(faithful(drawn, walk(2)), two)
    assert next(drawn) is one


def test_of_trajectories_that_all_have_other_fixations_the_nearest_is_taken():
    one, three = (lift(walk(count)) for count in (1, 3))
    assert same(faithful([one, three], walk(4)), three)


def strayed(trajectory: Trajectory, samples: int) -> Trajectory:
    """The same but for so many samples at its end, which are off the picture."""
    xy_px = trajectory.xy_px.copy()
    xy_px[-samples:] = [5000, -300]
    return replace(trajectory, xy_px=xy_px)


def test_of_trajectories_with_as_many_fixations_the_first_that_keeps_to_the_picture_is_taken():
    two = lift(walk(2))
    drawn = iter([strayed(two, 2), two, strayed(two, 1)])
    assert same(faithful(drawn, walk(2)), two)
    assert len(list(drawn)) == 1


def test_where_all_stray_the_one_that_strays_least_is_held_at_the_last_pixels():
    two = lift(walk(2))
    taken = faithful([strayed(two, 3), strayed(two, 1), strayed(two, 2)], walk(2))
    assert taken.xy_px[-1].tolist() == [1023, 0]
    assert np.array_equal(taken.xy_px[:-1], two.xy_px[:-1])


def test_a_scanpath_that_rests_off_the_picture_may_be_followed_there():
    path = Scanpath([[100, 100], [700, 300]], Frame(640, 480), duration_ms=[300, 300], onset_ms=[0, 340])
    moved = lift(path)
    assert faithful([moved], path) is moved


def test_the_shipped_fine_half_never_leaves_the_picture():
    near = Scanpath(
        [[12, 12], [1010, 20], [1012, 755], [15, 750]],
        Frame(1024, 768, 60),
        duration_ms=[200] * 4,
        onset_ms=[0, 500, 1000, 1500],
    )
    moved = load("freeview").fine.animate([near] * 10, range(10))
    assert all(one.frame.contains(one.xy_px).all() for one in moved)


def test_the_shipped_fine_half_gives_scanpaths_back_their_fixations():
    paths = [walk(fixations=14, seed=seed) for seed in range(20)]
    moved = load("freeview").fine.animate(paths, range(20))
    assert sum(len(extract(one)) == 14 for one in moved) >= 18


def test_vigour_is_the_log_of_peak_velocity_over_what_is_usual():
    velocity = np.zeros((60, 2))
    velocity[10:20, 0], velocity[40:50, 1] = 2 * np.exp(USUAL_LOG_PEAK[0]), 0.5 * np.exp(USUAL_LOG_PEAK[-1])
    saccades, amplitude_deg = np.array([[8, 22], [38, 52]]), np.array([AMPLITUDE_DEG[0], AMPLITUDE_DEG[-1]])
    assert np.allclose(saccade_vigour(velocity, saccades, amplitude_deg), np.log([2.0, 0.5]))
    velocity[38:52] = np.nan
    assert saccade_vigour(velocity, saccades, amplitude_deg)[1] == 0


def test_the_guide_tells_the_vigour_of_clear_saccades_while_they_last():
    path = Scanpath([[100, 100], [110, 100], [500, 300]], Frame(640, 480, 40), duration_ms=[300, 300, 300])
    guided = trajectory_condition(path, 240.0, 1.2, vigour=np.array([0.3, -0.2]))
    (a, b), (c, d) = guided.skeleton.saccades
    assert (guided.vigour[c:d] == -0.2).all()
    assert (np.delete(guided.vigour, np.r_[c:d]) == 0).all(), f"a quarter of a degree at {a}:{b} is too small to tell"


def test_the_shipped_fine_half_makes_saccades_as_fast_as_they_are_told_and_as_varied_as_peoples(monkeypatch):
    monkeypatch.setattr("stdiffeye.systems.coarse_to_fine.trajectory_stage.ATTEMPTS", 1)  # each attempt is told anew
    paths = [walk(fixations=14, seed=seed) for seed in range(20)]
    moved = load("freeview").fine.animate(paths, range(20))
    told, made = [], []
    for seed, (path, one) in enumerate(zip(paths, moved, strict=True)):
        noise = NoiseSource([~seed])
        noise.uniform()  # the tracker's precision
        told.append(sample_vigour(len(path) - 1, noise))
        made.append(residual_vigour(one, path))
    told, made = np.concatenate(told), np.concatenate(made)
    clear = np.concatenate([amplitudes_deg(path) for path in paths]) >= 1
    assert np.corrcoef(told[clear], made[clear])[0, 1] > 0.8
    assert 0.25 < made[clear].std() < 0.42, "people's is .34"


def residual_vigour(trajectory: Trajectory, path: Scanpath) -> np.ndarray:
    skeleton = trajectory_condition(path, trajectory.rate_hz, 1.2).skeleton
    velocity_deg_s = np.diff(trajectory.xy_px, axis=0, prepend=trajectory.xy_px[:1]) * trajectory.rate_hz / 60
    return saccade_vigour(velocity_deg_s, skeleton.saccades, amplitudes_deg(path))


@pytest.mark.real_data
def test_the_tables_of_noise_and_vigour_are_those_of_doves(real_data, tmp_path):
    store = prepare("doves", real_data / "doves", tmp_path / "doves", quiet=True)
    noise, person, beyond = [], [], []
    for trial in [trial for trial in store.trials("train") if trial.trajectory is not None][::3]:
        guided = residual(trial.trajectory, trial.scanpath)[1]
        clear = amplitudes_deg(trial.scanpath) >= AMPLITUDE_DEG[0]
        vigour = guided.vigour[guided.skeleton.saccades[clear, 0]]
        noise.append(guided.noise_deg_s)
        if len(vigour) > 2:
            person.append(np.median(vigour))
            beyond += [*(vigour - person[-1])]
    for table, values, near in (
        (NOISE_DEG_S, noise, 0.1),
        (VIEWER_VIGOUR, person, 0.05),
        (SACCADE_VIGOUR, beyond, 0.02),
    ):
        assert np.allclose(np.quantile(values, SHARES[1:-1]), table[1:-1], atol=near)
