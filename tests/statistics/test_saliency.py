"""The saliency view: each score against its definition written out, and what must hold for any map."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from stdiffeye import Frame, Scanpath, Trial
from stdiffeye.errors import InputError
from stdiffeye.statistics import saliency

SHAPE = (12, 16)
RNG = np.random.default_rng(5)
MAP = RNG.random(SHAPE) / 100
ROWS, COLUMNS = RNG.integers(0, 12, 20), RNG.integers(0, 16, 20)
FRAME = Frame(800, 600, px_per_degree=24)


def viewers(rng: np.random.Generator, centre_px: tuple[float, float], name: str, count: int = 6) -> list[Trial]:
    return [
        Trial(name, str(who), Scanpath(np.clip(rng.normal(centre_px, 40, (8, 2)), 0, (799, 599)), FRAME))
        for who in range(count)
    ]


def test_auc_judd_is_its_definition_written_out() -> None:
    fixated = {(int(r), int(c)) for r, c in zip(ROWS, COLUMNS, strict=True)}
    hits = sorted((MAP[position] for position in fixated), reverse=True)
    curve = [(0.0, 0.0)]
    for count, threshold in enumerate(hits, start=1):
        above = sum(MAP[r, c] >= threshold for r in range(12) for c in range(16))
        curve.append(((above - count) / (MAP.size - len(hits)), count / len(hits)))
    curve.append((1.0, 1.0))
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in itertools.pairwise(curve))
    assert saliency.auc_judd(MAP, ROWS, COLUMNS) == pytest.approx(area)


def test_nss_cc_kldiv_and_information_gain_are_their_definitions_written_out() -> None:
    other = RNG.random(SHAPE)
    p, q = MAP / MAP.sum(), other / other.sum()
    scores = [(p[r, c] - p.mean()) / p.std() for r, c in zip(ROWS, COLUMNS, strict=True)]
    assert saliency.nss(p, ROWS, COLUMNS) == pytest.approx(np.mean(scores))
    assert saliency.cc(p, q) == pytest.approx(np.corrcoef(p.ravel(), q.ravel())[0, 1])
    terms = [b * np.log(b / a) for a, b in zip(p.ravel(), q.ravel(), strict=True)]
    assert saliency.kldiv(p, q) == pytest.approx(sum(terms))
    gains = [np.log2(0.9 * p[r, c] + 0.1 * q[r, c]) - np.log2(q[r, c]) for r, c in zip(ROWS, COLUMNS, strict=True)]
    assert saliency.information_gain(p, q, ROWS, COLUMNS) == pytest.approx(np.mean(gains))


def test_shuffled_auc_and_sim_are_their_definitions_written_out() -> None:
    coarse = np.round(MAP * 1000)  # with equal values
    elsewhere = RNG.integers(0, 3, SHAPE).astype(float)
    negatives = [coarse[r, c] for r in range(12) for c in range(16) for _ in range(int(elsewhere[r, c]))]
    wins = [(coarse[r, c] > n) + (coarse[r, c] == n) / 2 for r, c in zip(ROWS, COLUMNS, strict=True) for n in negatives]
    assert saliency.shuffled_auc(coarse, ROWS, COLUMNS, elsewhere) == pytest.approx(np.mean(wins))
    assert np.isnan(saliency.shuffled_auc(coarse, ROWS, COLUMNS, np.zeros(SHAPE)))
    other = RNG.random(SHAPE)
    p, q = MAP / MAP.sum(), other / other.sum()
    assert saliency.sim(p, q) == pytest.approx(sum(min(a, b) for a, b in zip(p.ravel(), q.ravel(), strict=True)))
    assert saliency.sim(p, p) == pytest.approx(1)


def test_the_centre_bias_has_no_shuffled_auc_where_people_look_at_other_places() -> None:
    rng = np.random.default_rng(1)
    human = [trial for name, x_px in (("a", 200), ("b", 600)) for trial in viewers(rng, (x_px, 300), name)]
    rows = saliency.compare(human, {"good": [*viewers(rng, (200, 300), "a"), *viewers(rng, (600, 300), "b")]})
    assert rows["good"].mean("sauc") > 0.95
    assert rows["centre"].mean("sauc") < 0.1


def test_ordering_scores_do_not_change_when_the_map_is_stretched() -> None:
    assert saliency.auc_judd(MAP**3, ROWS, COLUMNS) == pytest.approx(saliency.auc_judd(MAP, ROWS, COLUMNS))
    assert saliency.nss(7 * MAP + 2, ROWS, COLUMNS) == pytest.approx(saliency.nss(MAP, ROWS, COLUMNS))


def test_a_constant_map_is_at_chance() -> None:
    flat = np.full(SHAPE, 1 / 192)
    assert saliency.auc_judd(flat, ROWS, COLUMNS) == pytest.approx(0.5)
    assert np.isnan(saliency.nss(flat, ROWS, COLUMNS))
    assert np.isnan(saliency.cc(flat, MAP))
    assert saliency.kldiv(MAP / MAP.sum(), MAP / MAP.sum()) == pytest.approx(0, abs=1e-9)


def test_a_fixation_map_is_a_density_with_its_peak_at_the_fixation() -> None:
    density = saliency.fixation_map(np.array([[0.25, 0.75]]), (60, 80), 3.0)
    assert density.sum() == pytest.approx(1)
    assert np.unravel_index(density.argmax(), density.shape) == (45, 20)


def test_humans_beat_the_centre_and_the_centre_beats_the_wrong_picture() -> None:
    rng = np.random.default_rng(1)
    positions = {"a": (300, 250), "b": (500, 250), "c": (300, 350), "d": (500, 350)}
    human = [trial for name, position in positions.items() for trial in viewers(rng, position, name)]
    good = [trial for name, position in positions.items() for trial in viewers(rng, position, name)]
    swapped = dict(zip(positions, list(positions.values())[::-1], strict=True))
    wrong = [trial for name, position in swapped.items() for trial in viewers(rng, position, name)]
    rows = saliency.compare(human, {"good": good, "wrong": wrong})
    for metric in ("nss", "cc", "auc_judd", "ig"):
        assert rows["good"].mean(metric) > rows["centre"].mean(metric) >= rows["wrong"].mean(metric)
        assert rows["good"].mean(metric) == pytest.approx(rows["human"].mean(metric), rel=0.25)
    assert rows["good"].mean("kldiv") < rows["centre"].mean("kldiv") < rows["wrong"].mean("kldiv")
    assert rows["centre"].mean("ig") == pytest.approx(0)


def test_one_stimulus_has_no_centre_bias_and_one_viewer_no_other_half() -> None:
    alone = viewers(np.random.default_rng(0), (300, 300), "only", count=1)
    rows = saliency.compare(alone, {"self": alone})
    assert rows["self"].to_json()["ig"] is None
    assert rows["human"].to_json()["nss"] is None
    assert rows["self"].to_json()["cc"] == pytest.approx(1)


def test_the_first_fixations_may_be_left_out_and_bad_input_is_refused() -> None:
    trials = viewers(np.random.default_rng(0), (300, 300), "p")
    with pytest.raises(InputError, match="no human fixation lies inside its frame"):
        saliency.compare(trials, {"x": trials}, skip_first=8)
    with pytest.raises(InputError, match="'x' shares no stimulus"):
        saliency.compare(trials, {"x": viewers(np.random.default_rng(0), (300, 300), "other")})
