"""Traces, small multiples, statistics panels, and the figure of the four protocols."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from stdiffeye import Frame, Scanpath, Trial, plotting, statistics
from stdiffeye.benchmark.figure3 import GENERATORS, MAIN_ROWS, Figure3, figure3
from stdiffeye.errors import InputError
from stdiffeye.gaze.lifting import lift
from stdiffeye.plotting.distributions import smooth_density

FRAME = Frame(400, 300, px_per_degree=15)


def trial(seed: int = 0, name: str = "p", raw: bool = True, task: str = "") -> Trial:
    rng = np.random.default_rng(seed)
    path = Scanpath(rng.uniform((40, 40), (360, 260), (6, 2)), FRAME, rng.uniform(150, 400, 6))
    gaze = lift(path, 240.0, rng) if raw else None
    return Trial(name, str(seed), path, gaze, task=task)


def test_a_trace_shades_every_fixation_and_shows_the_index_below() -> None:
    figure = plotting.trace(trial())
    gaze, index = figure.axes
    assert len(gaze.patches) == 6
    assert gaze.get_ylim()[0] > gaze.get_ylim()[1]  # downwards, as on the screen
    rho = index.lines[0].get_ydata()
    assert rho[0] == 0
    assert rho[-1] == 1
    assert (np.diff(rho) >= 0).all()


def test_a_trace_of_a_scanpath_is_made_of_steps_and_needs_durations() -> None:
    path = trial().scanpath
    assert path is not None
    (ax,) = plotting.trace(path).axes
    assert np.unique(ax.lines[0].get_ydata()).size == 6
    with pytest.raises(InputError, match="a trace needs time"):
        plotting.trace(replace(path, duration_ms=None, onset_ms=None))


def test_several_traces_share_one_scale() -> None:
    figure = plotting.traces([trial(0), trial(1), trial(2)], columns=2, titles=["a", "b", "c"])
    shown = [ax for ax in figure.axes if ax.lines]
    assert len(shown) == 3
    assert len({ax.get_ylim() for ax in shown}) == 1
    with pytest.raises(InputError, match="nothing to draw"):
        plotting.traces([])


def test_several_traces_are_shown_to_the_end_of_the_longest() -> None:
    path = trial(0).scanpath
    assert path is not None
    (longer, _) = plotting.traces([path, path[:1]]).axes
    (alone,) = plotting.traces([path]).axes
    assert longer.get_xlim() == alone.get_xlim()
    assert max(line.get_xdata().max() for line in longer.lines) <= longer.get_xlim()[1]


def test_multiples_have_a_row_per_picture_and_a_column_per_system(tmp_path: Path) -> None:
    for name in ("a", "b"):
        Image.new("RGB", (400, 300), "teal").save(tmp_path / f"{name}.png")
    human = [trial(0, "a", task="cup"), trial(1, "b"), trial(2, "only human")]
    ours = [trial(3, "b"), trial(4, "a", task="cup")]
    figure = plotting.multiples({"human": human, "ours": ours}, tmp_path, kind="scanpath")
    assert len(figure.axes) == 4
    assert [text.get_text() for text in figure.texts][:3] == ["human", "ours", "cup "]
    top_left, top_right = figure.axes[:2]
    assert top_left.get_xlim() == top_right.get_xlim()
    with pytest.raises(InputError, match="holds no picture called 'only human'"):
        plotting.multiples({"human": human}, tmp_path)
    with pytest.raises(InputError, match=r"no stimulus \(name, task\) is shared by all of human, ours"):
        plotting.multiples({"human": human, "ours": [trial(0, "elsewhere")]})


def test_statistics_panels_show_every_side() -> None:
    human = [trial(seed) for seed in range(8)]
    ours = [trial(seed) for seed in range(8, 16)]
    panels = plotting.distributions(statistics.compare(human, {"ours": ours})).axes
    assert [ax.get_xlabel() for ax in panels][:2] == ["saccade amplitude (deg)", "saccade direction (°)"]
    assert all([line.get_label() for line in ax.lines] == ["human", "ours"] for ax in panels[:5])
    motion = plotting.motion({"human": statistics.kinematics(human), "ours": statistics.kinematics(ours)})
    assert motion.axes[0].get_xscale() == "log"


def test_a_smooth_density_keeps_its_mass_and_wraps_angles() -> None:
    rng = np.random.default_rng(0)
    sample = rng.exponential(2.0, 4000)
    height = smooth_density(sample, 0, 20)
    assert height.sum() * 20 / len(height) == pytest.approx((sample < 20).mean(), rel=1e-6)
    angles = rng.normal(180, 20, 4000)
    wrapped = smooth_density((angles + 180) % 360 - 180, -180, 180, circular=True)
    assert wrapped[0] == pytest.approx(wrapped[-1], rel=0.05)


def test_search_curves_are_drawn_for_every_side() -> None:
    box = (10.0, 10.0, 100.0, 100.0)
    found = statistics.search.compare(
        [Trial("p", "1", Scanpath([[200, 150], [50, 50]], FRAME), task="cup", target_box_px=box)],
        {"ours": [Trial("p", "1", Scanpath([[200, 150], [300, 50]], FRAME), task="cup")]},
    )
    (ax,) = plotting.search_curves(found).axes
    assert [line.get_ydata()[-1] for line in ax.lines] == [1, 0]


@pytest.fixture(scope="module")
def protocols() -> Figure3:
    return figure3(seed=0)


@pytest.mark.parametrize(("row", "winner"), list(zip(MAIN_ROWS, GENERATORS, strict=True)))
def test_each_protocol_is_won_by_its_degenerate_generator_and_crps_by_the_realistic_one(
    protocols: Figure3, row: str, winner: str
) -> None:
    assert protocols.winner(row) == winner


def test_with_few_samples_only_the_fair_form_of_crps_finds_the_realistic_generator(protocols: Figure3) -> None:
    assert protocols.winner("CRPS as printed, 5 samples") == "low variance"
    assert protocols.winner("CRPS fair, 5 samples") == "realistic"


def test_a_generator_without_variance_has_the_same_mean_best_and_crps(protocols: Figure3) -> None:
    scores = {row: protocols.scores[row]["zero variance"] for row in ("mean", "best of 5", "CRPS")}
    assert len({round(score, 9) for score in scores.values()}) == 1
    assert scores["mean"] == pytest.approx(30 * np.sqrt(np.pi / 2), rel=0.05)  # of a Rayleigh variable


def test_scores_of_the_plane_agree_with_distances_computed_plainly(protocols: Figure3) -> None:
    truth = protocols.truth.reshape(100, 20, 2)
    ours = protocols.points["realistic"].reshape(100, 60, 2)
    between = np.hypot(*np.moveaxis(truth[:, :, None] - ours[:, None], -1, 0))
    within = np.hypot(*np.moveaxis(ours[:, :, None] - ours[:, None], -1, 0))
    assert protocols.scores["mean"]["realistic"] == pytest.approx(30 * between.mean())
    assert protocols.scores["CRPS"]["realistic"] == pytest.approx(30 * (between.mean() - within.mean() / 2))
    assert protocols.scores["best of 5"]["realistic"] == pytest.approx(30 * between[:, :, :5].min(axis=2).mean())
