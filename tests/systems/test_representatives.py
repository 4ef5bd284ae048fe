"""The order of viewers: everybody has one place, and the first few are like all of them."""

from __future__ import annotations

import numpy as np
import pytest

from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.systems.coarse_to_fine.representatives import CANDIDATES, SELF_WEIGHT, distances, select_representatives

FRAME = Frame(512, 384)


def viewers(seed: int = 0, count: int = CANDIDATES) -> list[Scanpath]:
    """People who look left or right of the middle, for long or for short."""
    rng = np.random.default_rng(seed)
    paths = []
    for _ in range(count):
        middle = FRAME.denormalise(np.array([rng.choice([0.2, 0.8]), rng.uniform(0.2, 0.8)]))
        places = middle + rng.normal(0, 30, (int(rng.integers(2, 16)), 2))
        paths.append(Scanpath(places, FRAME, rng.uniform(100, 400, len(places))))
    return paths


def energy_distance(table: np.ndarray, some: list[int]) -> float:
    """Of some viewers to all of them, the diagonal counting for a part."""
    pairs = len(some) * (len(some) - 1 + SELF_WEIGHT)
    return float(2 * table[:, some].mean() - table[np.ix_(some, some)].sum() / pairs - table.mean())


def test_everybody_has_one_place():
    assert sorted(select_representatives(viewers(), CANDIDATES)) == list(range(CANDIDATES))


@pytest.mark.parametrize("first", [4, 8, 10, 15, 16, 20, 31, 32, 48])
def test_the_first_few_are_more_like_all_than_any_few_are(first):
    paths = viewers()
    table, order = distances(paths), select_representatives(paths, CANDIDATES)
    rng = np.random.default_rng(1)
    any_few = [energy_distance(table, rng.permutation(CANDIDATES)[:first].tolist()) for _ in range(200)]
    assert energy_distance(table, order[:first]) < np.min(any_few)


@pytest.mark.parametrize("count", [1, 16, 17, 40])
def test_the_first_places_do_not_depend_on_how_many_are_asked_for(count):
    paths = viewers(3)
    assert select_representatives(paths, count)[:count] == select_representatives(paths, CANDIDATES)[:count]


def test_no_swap_of_one_of_the_first_sixteen_makes_them_more_like_all():
    paths = viewers(2)
    table, order = distances(paths), select_representatives(paths, CANDIDATES)
    first, least = order[:16], energy_distance(distances(paths), order[:16])
    for gone in range(16):
        for come in order[16:]:
            assert energy_distance(table, [*first[:gone], come, *first[gone + 1 :]]) > least - 1e-9


def test_a_distance_is_symmetric_with_nothing_between_a_viewer_and_itself():
    table = distances(viewers(count=9))
    np.testing.assert_allclose(table, table.T)
    assert (np.diag(table) == 0).all()
    assert (table[~np.eye(9, dtype=bool)] > 0).all()


def test_viewers_who_all_do_the_same_keep_their_places():
    assert select_representatives([Scanpath([[100.0, 100.0]], FRAME)] * 8, 8) == list(range(8))


def test_paths_too_short_for_a_metric_are_seated_too():
    short = [Scanpath(path.xy_px[: 1 + number % 3], FRAME) for number, path in enumerate(viewers(count=16))]
    assert sorted(select_representatives(short, 16)) == list(range(16))


def test_without_durations_places_alone_count():
    timed = viewers(count=20)
    untimed = [Scanpath(path.xy_px, FRAME) for path in timed]
    assert sorted(select_representatives(untimed, 20)) == list(range(20))
    assert (distances(untimed) < distances(timed))[~np.eye(20, dtype=bool)].all()
