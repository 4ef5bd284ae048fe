"""The order of viewers: everybody has one place, and the first few are like all of them."""

from __future__ import annotations

import numpy as np
import pytest

from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.systems.seating import POOL, distances, seats

FRAME = Frame(512, 384)


def viewers(seed: int = 0, count: int = POOL) -> list[Scanpath]:
    """People who look left or right of the middle, for long or for short."""
    rng = np.random.default_rng(seed)
    paths = []
    for _ in range(count):
        middle = FRAME.denormalise(np.array([rng.choice([0.2, 0.8]), rng.uniform(0.2, 0.8)]))
        paths.append(Scanpath(middle + rng.normal(0, 30, (int(rng.integers(2, 16)), 2)), FRAME))
    return paths


def energy_distance(table: np.ndarray, some: list[int]) -> float:
    """Of some viewers to all of them, with the diagonal."""
    return float(2 * table[some].mean() - table[np.ix_(some, some)].mean() - table.mean())


def test_everybody_has_one_place():
    assert sorted(seats(viewers())) == list(range(POOL))


@pytest.mark.parametrize(("first", "last"), [(0, 8), (0, 10), (0, 15), (0, 16), (16, 31), (16, 32)])
def test_those_beside_each_other_are_more_like_all_than_any_few_are(first, last):
    paths = viewers()
    table, order = distances(paths), seats(paths)
    rng = np.random.default_rng(1)
    any_few = [energy_distance(table, rng.permutation(POOL)[: last - first].tolist()) for _ in range(200)]
    assert energy_distance(table, order[first:last]) < np.quantile(any_few, 0.01)


def test_a_distance_is_symmetric_with_nothing_between_a_viewer_and_itself():
    table = distances(viewers(count=9))
    np.testing.assert_allclose(table, table.T)
    assert (np.diag(table) == 0).all()
    assert (table[~np.eye(9, dtype=bool)] > 0).all()


def test_viewers_who_all_do_the_same_keep_their_places():
    assert seats([Scanpath([[100.0, 100.0]], FRAME)] * 8) == list(range(8))


def test_paths_too_short_for_a_metric_are_seated_too():
    short = [Scanpath(path.xy_px[: 1 + number % 3], FRAME) for number, path in enumerate(viewers(count=16))]
    assert sorted(seats(short)) == list(range(16))
