"""Viewers that are spread: each as random as alone, together evenly over the distribution."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from scipy.stats import kstest

from stdiffeye.diffusion import NoiseSource, noise_of, viewer_seeds
from stdiffeye.diffusion.noise import ARRAY, TOGETHER, StratifiedNoise, Trimmed

SHAPE = (16, 4)


def sixteenths(noise: torch.Tensor) -> np.ndarray:
    """(viewers, numbers) which sixteenth of the normal distribution each number is in."""
    return (torch.special.ndtr(noise.double()) * TOGETHER).floor().long().flatten(1).numpy()


def test_every_two_columns_of_the_array_hold_every_pair_equally_often():
    for one, other in itertools.combinations(ARRAY.T, 2):
        assert torch.bincount(2 * one + other).tolist() == [4, 4, 4, 4]


def test_sixteen_viewers_are_one_in_each_sixteenth_of_every_number():
    where = sixteenths(StratifiedNoise(viewer_seeds(7, 48)).normal(*SHAPE))
    for block in np.split(where, 3):
        assert (np.sort(block, axis=0) == np.arange(TOGETHER)[:, None]).all()


def test_sixteen_viewers_are_four_in_each_quarter_of_two_numbers_of_an_array():
    upper = sixteenths(StratifiedNoise(viewer_seeds(7, 16)).normal(*SHAPE)) >= TOGETHER // 2
    for array in (upper[:, :15], upper[:, 15:30]):
        for one, other in itertools.combinations(array.T, 2):
            assert np.bincount(2 * one + other).tolist() == [4, 4, 4, 4]


@pytest.mark.parametrize("number", [0, 9, 20])
def test_a_viewer_alone_is_standard_normal_and_its_numbers_are_independent(number):
    drawn = torch.cat([StratifiedNoise(viewer_seeds(k, 21)[number:]).normal(4, 2)[:1] for k in range(4000)]).flatten(1)
    for column in drawn.T.numpy():
        assert kstest(column, "norm").pvalue > 1e-4
    correlation = np.corrcoef(drawn.T.numpy()) - np.eye(8)
    assert np.abs(correlation).max() < 0.07


def test_uniform_numbers_are_spread_too_and_below_one():
    drawn = StratifiedNoise(viewer_seeds(3, 16)).uniform()
    assert sorted((drawn * TOGETHER).long().tolist()) == list(range(TOGETHER))
    assert drawn.dtype == torch.float32
    assert float(drawn.max()) < 1


def test_a_viewer_is_the_same_whoever_is_drawn_with_it_and_whoever_goes_on():
    seeds = viewer_seeds(11, 20)
    whole, alone = StratifiedNoise(seeds), StratifiedNoise(seeds[13:14])
    first, second = whole.normal(*SHAPE), whole.of([2, 13]).normal(*SHAPE)
    assert torch.equal(first[13], alone.normal(*SHAPE)[0])
    assert torch.equal(second[1], alone.normal(*SHAPE)[0])
    assert not torch.equal(first[13], second[1])


def test_sets_of_viewers_and_draws_differ():
    one, other = (StratifiedNoise(viewer_seeds(k, 16)) for k in (1, 2))
    first = sixteenths(one.normal(*SHAPE))
    assert (first != sixteenths(one.normal(*SHAPE))).mean() > 0.8
    assert (first != sixteenths(other.normal(*SHAPE))).mean() > 0.8


def test_noise_on_the_way_is_not_spread():
    fresh = sixteenths(StratifiedNoise(viewer_seeds(7, 16)).fresh(*SHAPE))
    assert (np.sort(fresh, axis=0) != np.arange(TOGETHER)[:, None]).any()


def test_viewers_are_spread_or_drawn_one_by_one_as_asked():
    seeds = viewer_seeds(1, 16)
    assert isinstance(noise_of(seeds, stratified=True), StratifiedNoise)
    assert torch.equal(noise_of(seeds, stratified=False).normal(3), NoiseSource(seeds).fresh(3))


def test_trimmed_noise_is_the_beginning_of_the_whole():
    for name in ("normal", "fresh"):
        whole, source = (StratifiedNoise(viewer_seeds(5, 3)) for _ in range(2))
        cut = getattr(Trimmed(source, SHAPE[0], 5), name)(5, 4)
        assert torch.equal(cut, getattr(whole, name)(*SHAPE)[:, :5])


def test_means_of_spread_viewers_vary_less():
    """What it is for: sixteen viewers tell a mean as well as many more that are drawn one by one."""

    def spread_of_means(source) -> float:
        means = [source(viewer_seeds(k, 16)).normal(1).tanh().mean() for k in range(200)]
        return float(torch.stack(means).std())

    assert spread_of_means(StratifiedNoise) < spread_of_means(NoiseSource) / 5
