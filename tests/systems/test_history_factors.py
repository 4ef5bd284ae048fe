"""Factors of the fixations so far, and how their weights are chosen."""

from __future__ import annotations

import numpy as np
import pytest

from stdiffeye.errors import InputError
from stdiffeye.model.image import PHASES
from stdiffeye.systems.history_factors import KNOTS, NAMES, TERMS, HistoryFactors, Situation, log_weighted, terms
from stdiffeye.systems.history_fit import ScoredFixations, cross_validated, fit

SHAPE = (12, 16)
FIRST = 1 + len(PHASES)
NOTHING = np.zeros(SHAPE)


def weights_of(**functions: list[float]) -> np.ndarray:
    weights = np.zeros(TERMS)
    for name, values in functions.items():
        at = FIRST + NAMES.index(name) * len(KNOTS)
        weights[at : at + len(KNOTS)] = values
    return weights


def density(now: Situation, weights: np.ndarray) -> np.ndarray:
    density = np.exp(log_weighted(NOTHING, None, now, weights))
    return density / density.sum()


def test_the_sum_of_weighted_terms_is_that_of_every_term_by_itself():
    rng = np.random.default_rng(0)
    samples, picture, weights = rng.normal(size=SHAPE), rng.normal(size=SHAPE), rng.normal(size=TERMS)
    for fixations in range(4):
        now = Situation(rng.random((fixations, 2)), min(fixations, 2), 4 / 3)
        whole = log_weighted(samples, picture, now, weights)
        np.testing.assert_allclose(weights @ terms(samples, picture, now), whole.ravel(), atol=1e-12)


def test_before_the_first_fixation_there_is_no_factor():
    now = Situation(np.empty((0, 2)), 0, 4 / 3)
    np.testing.assert_array_equal(log_weighted(NOTHING, None, now, np.ones(TERMS)), 0)


def test_factors_say_how_far_in_which_direction_back_or_on():
    now = Situation(np.array([[0.3, 0.5], [0.5, 0.5]]), 2, 4 / 3)
    near = density(now, weights_of(last=[3.0] * 4 + [0.0] * 6))
    assert near[4:8, 6:10].sum() > 0.4
    back = density(now, weights_of(before_last=[3.0] * 4 + [0.0] * 6))
    assert back[4:8, 3:7].sum() > 0.4
    sideways = density(now, weights_of(horizontal=[2.0] * len(KNOTS)))
    assert sideways[6, :].sum() > 2 * sideways[:, 8].sum()
    onward = density(now, weights_of(forward=[2.0] * len(KNOTS)))
    assert onward[:, 8:].sum() > 0.85


def test_the_factors_of_people_who_make_short_saccades_are_found_again():
    rng, true = np.random.default_rng(0), weights_of(last=[2.0, 2.0, 2.0, 2.0, 1.0, 0.0, -1.0, -2.0, -2.0, -2.0])
    rows, at = [], []
    for _ in range(400):
        now = Situation(rng.random((1, 2)), 1, 4 / 3)
        rows.append(terms(NOTHING, NOTHING, now))
        at.append(rng.choice(NOTHING.size, p=density(now, true).ravel()))
    seen = ScoredFixations(np.stack(rows).astype(np.float32), np.array(at))
    found = fit([seen], np.zeros(TERMS))
    bits, best, groups = seen.bits(found).mean(), seen.bits(true).mean(), [number // 4 for number in range(400)]
    assert best > 0.5
    assert bits == pytest.approx(best, abs=0.1)
    assert 0.8 * best < cross_validated(seen, groups, np.zeros(TERMS)).mean() < bits
    there = found[FIRST : FIRST + len(KNOTS)]
    assert there[1:5].mean() - there[6:9].mean() > 2


def test_without_evidence_the_weights_stay_where_they_began():
    now, towards = Situation(np.array([[0.5, 0.5]]), 1, 4 / 3), weights_of(last=list(np.linspace(1, 0, len(KNOTS))))
    one = ScoredFixations(terms(NOTHING, NOTHING, now).astype(np.float32)[None], np.array([100]))
    np.testing.assert_allclose(fit([one], towards, ridge=1e6), towards, atol=1e-4)


def test_a_style_that_was_not_calibrated_has_the_weights_of_any():
    weights = np.round(np.random.default_rng(0).normal(size=(3, TERMS)), 3)
    factors = HistoryFactors.of_weights(("osie", "crowd"), weights)
    for style, row in {"": 0, "own": 0, "osie": 1, "crowd": 2}.items():
        np.testing.assert_array_equal(factors.of_style(style), weights[row])
    assert not HistoryFactors()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"samples_power": (1.0, 1.0)}, "2 rows for any style and 0 more"),
        ({"samples_power": (1.0,), "picture_power": ((1.0,),)}, "picture_power takes 1 rows of 5 numbers"),
    ],
)
def test_factors_that_do_not_fit_together_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        HistoryFactors(**given)
