"""CRPS, mean, best and KLD against their formulas written out, and the laws that they obey."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise as pairwise_of

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath
from stdiffeye.metrics import bootstrap
from stdiffeye.metrics.bootstrap import Replicates, SeriesSum, difference, gap_closed, resamples
from stdiffeye.metrics.divergence import DivergenceSum, PairScores, generated_pairs, human_pairs, joined_bounds
from stdiffeye.metrics.functions import pairwise
from stdiffeye.metrics.paths import EVALUATION_FRAME, PackedScanpaths, pack
from stdiffeye.metrics.protocols import (
    Ensemble,
    Series,
    best_of,
    compare,
    crps,
    leave_one_out,
    mean_pair,
)
from stdiffeye.metrics.references import ReferenceEnsembles, centred, fixation_gaussian, shuffled_order
from stdiffeye.metrics.spec import METRICS, Context

DTW, TDE, SM, MM = (METRICS[name] for name in ("DTW", "TDE", "SM", "MM"))


def _paths(sizes: list[int], seed: int, shortest: int = 3) -> tuple[PackedScanpaths, list[list[np.ndarray]]]:
    rng = np.random.default_rng(seed)
    groups = [
        [np.column_stack([rng.uniform(0, 380, (n, 2)), rng.gamma(5, 50, n)]) for n in rng.integers(shortest, 9, size)]
        for size in sizes
    ]
    flat = [Scanpath(path[:, :2], EVALUATION_FRAME, path[:, 2]) for group in groups for path in group]
    return pack(flat, np.repeat(np.arange(len(sizes)), sizes)), groups


@pytest.fixture
def unbalanced() -> tuple[Ensemble, list[list[np.ndarray]], list[list[np.ndarray]]]:
    human, viewers = _paths([4, 2, 3], 0)
    generated, samples = _paths([3, 5, 2], 1)
    return compare([DTW, TDE, SM, MM], human, generated, Context(), 3), viewers, samples


@pytest.mark.parametrize("spec", [DTW, TDE, SM, MM], ids=lambda spec: spec.name)
def test_protocols_are_their_formulas(spec, unbalanced) -> None:
    ensemble, viewers, samples = unbalanced
    for number in range(3):
        cross = pairwise(spec.name, viewers[number], samples[number])
        within = pairwise(spec.name, samples[number])
        size = len(samples[number])
        assert mean_pair(spec, ensemble).value[number] == pytest.approx(cross.mean())
        best = cross.min(axis=1) if spec.direction == "lower" else cross.max(axis=1)
        assert best_of(spec, ensemble).value[number] == pytest.approx(best.mean())
        printed = cross.mean() - within.sum() / (2 * size**2)
        fair = cross.mean() - (within.sum() - np.trace(within)) / (2 * size * (size - 1))
        assert crps(spec, ensemble, "printed").value[number] == pytest.approx(printed)
        assert crps(spec, ensemble, "fair").value[number] == pytest.approx(fair)


@pytest.mark.parametrize("estimator", ["printed", "fair"])
@pytest.mark.parametrize("spec", [DTW, TDE, SM], ids=lambda spec: spec.name)
def test_the_human_row_leaves_one_viewer_out(spec, estimator) -> None:
    human, viewers = _paths([4, 3], 2)
    rows = leave_one_out(spec, compare([spec], human, human, Context(), 2, within=False), estimator)
    for number, group in enumerate(viewers):
        wanted = {"crps": [], "mean": [], "best": []}
        for viewer in range(len(group)):
            others = group[:viewer] + group[viewer + 1 :]
            distance = pairwise(spec.name, [group[viewer]], others)[0]
            within = pairwise(spec.name, others)
            pairs = len(others) ** 2
            if estimator == "fair":
                within, pairs = within - np.diag(np.diag(within)), len(others) * (len(others) - 1)
            wanted["crps"].append(distance.mean() - within.sum() / (2 * pairs))
            wanted["mean"].append(distance.mean())
            wanted["best"].append(distance.min() if spec.direction == "lower" else distance.max())
        for protocol, values in wanted.items():
            assert rows[protocol].value[number] == pytest.approx(np.mean(values)), protocol


def _kld(humans: Ensemble, ensemble: Ensemble, weights: np.ndarray, cuts: tuple[int, ...] = ()) -> Replicates:
    """KLD of DTW; the stimuli are added in some steps, cut where `cuts` says."""
    own, other = human_pairs(humans, ["DTW"]), generated_pairs([ensemble], ["DTW"])
    total = DivergenceSum({"DTW": joined_bounds(own.bounds("DTW"), other.bounds("DTW"))}, len(weights))
    for start, stop in pairwise_of((0, *cuts, weights.shape[1])):
        some = [
            PairScores(side.stimulus[inside] - start, {"DTW": side.values["DTW"][inside]})
            for side in (own, other)
            for inside in [(side.stimulus >= start) & (side.stimulus < stop)]
        ]
        total.add(*some, weights[:, start:stop])
    assert total.stimuli == weights.shape[1]
    return total.result()


def test_kld_is_that_of_two_normalised_histograms(unbalanced) -> None:
    ensemble, viewers, samples = unbalanced
    human, _ = _paths([4, 2, 3], 0)
    humans = compare([DTW], human, human, Context(), 3, within=False)
    own = np.concatenate([pairwise("DTW", group)[np.triu_indices(len(group), 1)] for group in viewers])
    other = np.concatenate([pairwise("DTW", *both).ravel() for both in zip(viewers, samples, strict=True)])
    bins = np.linspace(min(own.min(), other.min()), max(own.max(), other.max()), 100)
    p, q = (np.histogram(values, bins)[0] / len(values) for values in (own, other))
    q = (q + 1e-10) / (q + 1e-10).sum()
    wanted = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
    assert _kld(humans, ensemble, np.ones((1, 3))).value == pytest.approx(wanted, rel=1e-9)


def test_a_model_that_is_the_humans_has_a_kld_of_zero_when_scores_are_all_alike() -> None:
    same = pack([Scanpath([[5.0, 5.0]] * 3, EVALUATION_FRAME)] * 6, np.repeat([0, 1], 3))
    humans = compare([DTW], same, same, Context(), 2, within=False)
    assert _kld(humans, humans, np.ones((1, 2))).value == pytest.approx(0, abs=1e-7)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 999))
def test_a_deterministic_generators_crps_is_its_mean_less_half_its_own_score(seed: int) -> None:
    human, _ = _paths([3, 4], seed)
    one, _ = _paths([1, 1], seed + 1)
    repeated = one.subset(np.array([0, 0, 0, 1, 1]))
    for spec in (DTW, TDE, SM, MM):
        ensemble = compare([spec], human, repeated, Context(), 2)
        own = 0.0 if spec.direction == "lower" else 1.0
        wanted = mean_pair(spec, ensemble).value - own / 2
        np.testing.assert_allclose(crps(spec, ensemble, "printed").value, wanted, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 999))
def test_crps_of_a_similarity_is_a_half_less_the_crps_of_its_distance(seed: int) -> None:
    human, _ = _paths([3, 4], seed)
    generated, _ = _paths([5, 2], seed + 1)
    ensemble = compare([SM], human, generated, Context(), 2)
    similar = crps(SM, ensemble, "printed").value
    ensemble.cross["SM"], ensemble.within["SM"] = 1 - ensemble.cross["SM"], 1 - ensemble.within["SM"]
    np.testing.assert_allclose(similar, 0.5 - crps(SM, ensemble, "printed").value, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 999))
def test_the_order_of_samples_does_not_matter(seed: int) -> None:
    human, _ = _paths([3, 4], seed)
    generated, _ = _paths([5, 3], seed + 1)
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(5), 5 + rng.permutation(3)])
    for spec in (DTW, TDE, SM, MM):
        one, other = (compare([spec], human, paths, Context(), 2) for paths in (generated, generated.subset(order)))
        for judge in (partial(crps, estimator="printed"), best_of, mean_pair):
            np.testing.assert_allclose(judge(spec, one).value, judge(spec, other).value, rtol=1e-9)


def test_undefined_scores_are_left_out_as_if_the_short_path_were_not_there() -> None:
    human, _ = _paths([3], 5)
    generated, samples = _paths([4], 6)
    short = pack(
        [Scanpath(path[:, :2], EVALUATION_FRAME, path[:, 2]) for path in [*samples[0], samples[0][0][:2]]], [0] * 5
    )
    for spec in (TDE, MM):
        whole, cut = (compare([spec], human, paths, Context(), 1) for paths in (generated, short))
        assert np.isnan(cut.cross[spec.name]).sum() == 3
        for judge in (partial(crps, estimator="printed"), partial(crps, estimator="fair"), best_of):
            assert judge(spec, cut).value[0] == pytest.approx(judge(spec, whole).value[0])
    nothing = compare([MM], human, short.subset(np.array([4])), Context(), 1)
    assert np.isnan(crps(MM, nothing, "printed").value).all()
    assert crps(MM, nothing, "printed").weight[0] == 0


def test_shuffled_humans_all_stand_on_other_pictures_and_keep_their_number() -> None:
    human, _ = _paths([4, 4, 4, 4, 4, 4], 0)
    order, target = shuffled_order(human.stimulus, 6, np.random.default_rng(1))
    assert np.bincount(target).tolist() == [4] * 6
    assert (np.diff(target) >= 0).all()
    assert sorted(order) == list(range(24))
    came_from = human.stimulus[order]
    assert (came_from != target).all()
    for stimulus in range(6):
        assert len(set(came_from[target == stimulus])) == 4
    with pytest.raises(InputError, match="at least two stimuli"):
        shuffled_order(human.stimulus, 1, np.random.default_rng(1))


def test_centre_noise_keeps_lengths_and_durations_and_stays_in_the_frame() -> None:
    human, _ = _paths([5, 5], 0)
    noise = centred(human, fixation_gaussian(human), np.random.default_rng(0))
    assert (noise.lengths == human.lengths).all()
    assert (noise.duration_ms == human.duration_ms).all()
    assert EVALUATION_FRAME.contains(noise.xy_px).all()
    assert not np.isclose(noise.xy_px, human.xy_px).any(axis=1).any()


@pytest.mark.parametrize("name", ["shuffled", "centre"])
@pytest.mark.parametrize("cuts", [(0, 2, 3, 5), (3, 5)], ids=["in some steps", "without the first stimuli"])
def test_reference_rows_are_the_same_whatever_stimuli_are_scored_at_a_time(name, cuts) -> None:
    human, _ = _paths([4, 2, 4, 3, 4], 0)
    steps = ReferenceEnsembles(human, 5, seed=3)
    for start, stop in pairwise_of(cuts):
        some = steps.of(name, range(start, stop))
        every = ReferenceEnsembles(human, 5, seed=3).of(name, range(5))
        assert len(some) == len(every)
        for one, all_of_it in zip(some, every, strict=True):
            wanted = all_of_it.span(range(start, stop))
            for field in ("xy_px", "duration_ms", "first", "stimulus"):
                np.testing.assert_array_equal(getattr(one, field), getattr(wanted, field))


def averaged(series: Series, pooled: bool, replicates: int, seed: int) -> Replicates:
    total = SeriesSum(series, pooled, replicates)
    for block, weights in resamples(len(series.value), replicates, seed):
        total.add(block, weights)
    return total.result()


def test_stimuli_that_are_resampled_in_blocks_are_a_sample_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "STIMULI_PER_BLOCK", 7)
    blocks = list(resamples(20, 4000, seed=1))
    assert [(block.start, block.stop) for block, _ in blocks] == [(0, 7), (7, 14), (14, 20)]
    weights = np.concatenate([some for _, some in blocks], axis=1)
    assert (weights.sum(axis=1) == 20).all()
    # Counts of a multinomial: mean 1, variance 1 − 1/20, covariance −1/20, within a block and between blocks.
    covariance = np.cov(weights.T)
    assert np.abs(weights.mean(axis=0) - 1).max() < 0.08
    assert np.abs(covariance - (np.eye(20) - 1 / 20)).max() < 0.12
    series = Series(np.random.default_rng(0).normal(5, 1, 20), np.ones(20))
    plain = weights @ series.value / 20
    np.testing.assert_allclose(averaged(series, False, 4000, seed=1).replicates, plain)


def test_kld_of_stimuli_added_in_some_steps_is_that_of_the_whole() -> None:
    human, _ = _paths([4, 3, 4, 5, 3], 0)
    generated, _ = _paths([3, 5, 2, 4, 4], 1)
    humans, ensemble = (compare([DTW], human, paths, Context(), 5) for paths in (human, generated))
    ((_, weights),) = resamples(5, 10, seed=1)
    one, other = _kld(humans, ensemble, weights), _kld(humans, ensemble, weights, cuts=(2, 3))
    assert one.value == other.value
    np.testing.assert_array_equal(one.replicates, other.replicates)
    assert len(set(one.replicates)) > 5


def test_the_bootstrap_interval_is_that_of_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    series = Series(np.append(rng.normal(5, 1, 40), np.nan), np.append(rng.integers(1, 9, 40).astype(float), 3.0))
    ((_, weights),) = resamples(41, 500, seed=1)
    assert weights.shape == (500, 41)
    assert (weights.sum(axis=1) == 41).all()
    for pooled in (False, True):
        found = averaged(series, pooled, 500, seed=1)
        factor = series.weight[:40] if pooled else np.ones(40)
        assert found.value == pytest.approx(np.average(series.value[:40], weights=factor))
        plain = [np.average(series.value[:40], weights=factor * row[:40]) for row in weights]
        assert found.interval == pytest.approx(np.percentile(plain, [2.5, 97.5]))


def test_the_paired_test_sees_a_difference_that_intervals_hide() -> None:
    rng = np.random.default_rng(0)
    hard = rng.normal(100, 30, 60)
    ones = np.ones(60)
    worse, better = (averaged(Series(hard + shift, ones), False, 1000, seed=0) for shift in (rng.normal(2, 1, 60), 0.0))
    assert worse.interval[0] < better.interval[1]
    apart, p = difference(worse, better)
    assert apart.value == pytest.approx(2, abs=0.5)
    assert p < 0.01
    assert difference(better, better)[1] == 1.0


def test_gap_closed_is_0_for_strangers_and_1_for_viewers() -> None:
    human, stranger = Replicates(2.0, np.array([2.0, 2.1])), Replicates(4.0, np.array([4.0, 4.1]))
    assert gap_closed(stranger, human, stranger).value == 0
    assert gap_closed(human, human, stranger).value == 1
    assert math.isnan(gap_closed(human, human, human).value)
