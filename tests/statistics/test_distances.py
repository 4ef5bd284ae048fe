"""Distances between samples: against scipy, against brute force, and their laws."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from stdiffeye.errors import InputError
from stdiffeye.statistics.distances import circular_wasserstein, ks, kuiper, wasserstein

samples = st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=30)
modest = settings(max_examples=60, deadline=None)


@pytest.mark.filterwarnings("ignore:divide by zero")  # in scipy's p value, which is not used
@given(samples, samples)
@modest
def test_ks_and_wasserstein_are_those_of_scipy(one: list[float], other: list[float]) -> None:
    assert ks(one, other) == pytest.approx(scipy.stats.ks_2samp(one, other, method="asymp").statistic)
    assert wasserstein(one, other) == pytest.approx(scipy.stats.wasserstein_distance(one, other))


@given(samples, samples, st.integers(0, 359))
@modest
def test_circular_distances_do_not_depend_on_where_the_circle_is_cut(
    one: list[float], other: list[float], turn: int
) -> None:
    turned = np.array(one) + turn, np.array(other) + turn
    assert kuiper(*turned) == pytest.approx(kuiper(one, other))
    assert circular_wasserstein(*turned) == pytest.approx(circular_wasserstein(one, other), abs=1e-9)


@given(samples, samples)
@modest
def test_distances_are_symmetric_and_vanish_for_the_same_sample(one: list[float], other: list[float]) -> None:
    for distance in (ks, kuiper, wasserstein, circular_wasserstein):
        assert distance(one, other) == pytest.approx(distance(other, one))
        assert distance(one, one[::-1]) == pytest.approx(0, abs=1e-9)


def test_circular_wasserstein_is_the_cheapest_cyclic_assignment() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.uniform(0, 360, 12), rng.uniform(0, 360, 12)

    def arc(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        gap = np.abs(a - b) % 360
        return np.minimum(gap, 360 - gap)

    costs = arc(one[:, None], other[None])
    rows, columns = scipy.optimize.linear_sum_assignment(costs)
    assert circular_wasserstein(one, other) == pytest.approx(costs[rows, columns].mean())


def test_nan_in_a_sample_is_an_error_and_an_empty_sample_has_no_distance() -> None:
    with pytest.raises(InputError, match="1 NaN or infinite values of 2"):
        ks([1.0, float("nan")], [1.0])
    assert np.isnan([ks([], [1.0]), kuiper([], [1.0]), wasserstein([1.0], []), circular_wasserstein([], [])]).all()
