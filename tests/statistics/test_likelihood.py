"""The likelihood of each next fixation: laws, values written out, references."""

from __future__ import annotations

import numpy as np
import pytest

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.statistics.likelihood import CENTRE, GOLD, LikelihoodSettings, likelihood

FRAME = Frame(640, 480, px_per_degree=20)
SHAPE = (96, 128)
FEW = LikelihoodSettings(replicates=50)


def made(pictures: int = 4, viewers: int = 3, fixations: int = 5, seed: int = 0) -> list[Trial]:
    """Viewers who look around one place of each picture."""
    rng, trials = np.random.default_rng(seed), []
    for picture in range(pictures):
        centre = rng.uniform([100, 100], [540, 380])
        for viewer in range(viewers):
            xy_px = np.clip(rng.normal(centre, 25, (fixations, 2)), 1, [638, 478])
            trials.append(Trial(f"{picture}.jpg", str(viewer), Scanpath(xy_px, FRAME)))
    return trials


def uniform(trial, histories, shape):
    return np.full((len(histories), *shape), -np.log(shape[0] * shape[1]))


def seer(human):
    """A model that knows the next fixation with probability ½, and that remembers what it was asked."""
    asked = []

    def log_densities(trial, histories, shape):
        densities = []
        for history in histories:
            asked.append((trial.name, trial.subject, 0 if history is None else len(history)))
            step = 0 if history is None else len(history)
            x, y = trial.scanpath.xy_px[step] / FRAME.size_px
            density = np.full(shape, 0.5 / (shape[0] * shape[1] - 1))
            density[int(y * shape[0]), int(x * shape[1])] = 0.5
            densities.append(np.log(density))
        return np.stack(densities)

    return log_densities, asked


def test_a_uniform_model_has_no_bits_and_is_at_chance():
    row = likelihood(made(), {"even": uniform}, FEW)["even"]
    assert row["ll"].value == pytest.approx(0)
    assert row["auc"].value == pytest.approx(0.5)
    assert row["nss"].value == pytest.approx(0)


def test_a_model_that_knows_half_of_what_comes_next_has_the_bits_of_that():
    human = made(viewers=1)
    model, asked = seer(human)
    table = likelihood(human, {"seer": model}, FEW)
    assert table["seer"]["ll"].value == pytest.approx(np.log2(0.5 * 96 * 128))
    assert table["seer"]["auc"].value == pytest.approx(1)
    assert table["seer"]["nss"].value == pytest.approx(np.sqrt(96 * 128 - 1), rel=1e-3)
    assert table["seer"]["ig"].value == pytest.approx(table["seer"]["ll"].value - table[CENTRE]["ll"].value)
    assert sorted({steps for _, _, steps in asked}) == [0, 1, 2, 3, 4]
    assert GOLD not in table.rows
    assert table.fixations == 20


def test_people_tell_more_of_each_other_than_the_centre_bias_which_has_no_gain():
    table = likelihood(made(pictures=6, viewers=5), {"even": uniform}, FEW)
    assert table[CENTRE]["ig"].value == pytest.approx(0, abs=1e-12)
    assert table[GOLD]["ig"].low > 0
    assert table[GOLD]["ll"].value > table[CENTRE]["ll"].value
    assert 0 < table.references["gold_standard_share"] < 1


def test_the_gold_standard_of_a_viewer_does_not_know_that_viewer():
    trials = made(pictures=3, viewers=2)
    alone = Trial("0.jpg", "odd", Scanpath([[20.0, 20.0], [22.0, 22.0]], FRAME))
    gold = likelihood([*trials, alone], {}, LikelihoodSettings(replicates=10))[GOLD]["ll"].per_stimulus
    without = likelihood(trials, {}, LikelihoodSettings(replicates=10))[GOLD]["ll"].per_stimulus
    assert gold[0] < without[0] - 0.5


def test_only_so_many_viewers_and_fixations_are_scored_but_all_viewers_are_references():
    human = made(viewers=5)
    model, asked = seer(human)
    table = likelihood(human, {"seer": model}, LikelihoodSettings(max_fixations=2, viewers=2, replicates=5))
    assert table.fixations == 4 * 2 * 2
    assert {who for _, who, _ in asked} == {"0", "4"}
    assert table.viewers == 2


def test_fixations_outside_of_the_picture_are_history_but_not_scored():
    human = [Trial(name, "1", Scanpath([[50, 50], [-5, 50], [90, 80]], FRAME)) for name in "ab"]
    asked = []

    def model(trial, histories, shape):
        asked.extend(histories)
        return uniform(trial, histories, shape)

    assert likelihood(human, {"model": model}, FEW).fixations == 4
    assert [0 if history is None else len(history) for history in asked] == [0, 2, 0, 2]


def test_the_same_seed_gives_the_same_intervals_and_a_table_says_what_it_is_of():
    one, two = (likelihood(made(), {"even": uniform}, FEW) for _ in range(2))
    assert one.to_dict() == two.to_dict()
    assert "4 stimuli, 3.0 viewers of each, 60 fixations" in one.to_markdown()
    assert set(one.to_dict(per_stimulus=True)["systems"]["even"]["ll"]["per_stimulus"]) == {
        f"{n}.jpg|" for n in range(4)
    }


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda trial, past, shape: np.zeros((len(past), *shape)), "a density must sum to 1"),
        (lambda trial, past, shape: np.full((len(past), 2, 2), np.log(0.25)), "expected densities of 96×128 cells"),
    ],
)
def test_what_is_no_density_is_refused(model, words):
    with pytest.raises(InputError, match=words):
        likelihood(made(), {"wrong": model}, FEW)


def test_names_of_reference_rows_and_single_stimuli_are_refused():
    with pytest.raises(InputError, match="a system cannot be called 'centre bias'"):
        likelihood(made(), {CENTRE: uniform})
    with pytest.raises(InputError, match="two stimuli or more"):
        likelihood(made(pictures=1), {"even": uniform})
    with pytest.raises(InputError, match="viewers must be 1 or more"):
        LikelihoodSettings(viewers=0)
