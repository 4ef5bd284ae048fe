"""Negative type, and the metric under which CRPS is proper by construction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stdiffeye.benchmark.proper_metrics import MARK, _into, table, verdict
from stdiffeye.errors import InputError
from stdiffeye.metrics import pairwise
from stdiffeye.metrics.negative_type import NegativeType, negative_type


def energy_score(q: np.ndarray, p: np.ndarray, distance: np.ndarray) -> float:
    """Expected CRPS of the forecast q where p is the truth, both weights of the points."""
    return float(p @ distance @ q - q @ distance @ q / 2)


def test_euclidean_distances_are_of_negative_type_and_their_cubes_are_not(rng: np.random.Generator) -> None:
    points = rng.normal(size=(30, 2))
    euclidean = np.linalg.norm(points[:, None] - points[None], axis=-1)
    assert negative_type(euclidean).holds
    assert negative_type(euclidean).mass == 0
    cubes = negative_type(euclidean**3)
    assert not cubes.holds
    assert cubes.smallest < 0 < cubes.mass < 1
    assert cubes.points == 30


def test_a_negative_eigenvalue_is_a_forecast_that_beats_the_truth(random_paths: list[np.ndarray]) -> None:
    distance = pairwise("DTW", random_paths)
    assert not negative_type(distance).holds
    n = len(distance)
    centring = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-centring @ distance @ centring / 2)
    direction = centring @ vectors[:, 0]
    assert values[0] < 0
    truth = np.full(n, 1 / n)
    wrong = truth + direction / (n * np.abs(direction).max())
    assert (wrong >= -1e-12).all()
    assert energy_score(wrong, truth, distance) < energy_score(truth, truth, distance)


def test_ktd_is_of_negative_type_and_no_forecast_beats_the_truth(
    random_paths: list[np.ndarray], rng: np.random.Generator
) -> None:
    distance = pairwise("KTD", random_paths)
    assert negative_type(distance).holds
    truth = rng.dirichlet(np.ones(len(distance)))
    best = energy_score(truth, truth, distance)
    assert all(energy_score(rng.dirichlet(np.ones(len(truth))), truth, distance) > best for _ in range(100))


def test_ktd_obeys_the_laws_of_a_distance(random_paths: list[np.ndarray]) -> None:
    distance = pairwise("KTD", random_paths)
    assert np.allclose(distance, distance.T, atol=1e-9)
    assert (np.diag(distance) == 0).all()
    apart = distance[~np.eye(len(distance), dtype=bool)]
    assert (apart > 0).all()
    assert (distance[:, None, :] <= distance[:, :, None] + distance[None, :, :] + 1e-9).all()


def test_ktd_is_its_formula_on_two_short_paths() -> None:
    a, b = np.array([[0.0, 0], [64, 0]]), np.array([[0.0, 64]])

    def k(z: list[float], w: list[float], i: int, j: int) -> float:
        return 1 / (1 + sum((s - t) ** 2 for s, t in zip(z, w, strict=True)) / 64**2) / (1 + (i - j) ** 2 / 4)

    first, second, other = [0.0, 0, 0, 0], [64.0, 0, 0, 0], [0.0, 64, 0, 64]
    own = 2 + 2 * k(first, second, 0, 1)
    cross = k(first, other, 0, 0) + k(second, other, 1, 0)
    assert pairwise("KTD", [a], [b])[0, 0] == pytest.approx(np.sqrt(own + 1 - 2 * cross))


def test_ktd_notices_order_and_missing_fixations() -> None:
    path = np.array([[100.0, 100], [300, 200], [50, 300]])
    assert pairwise("KTD", [path], [path[::-1].copy()])[0, 0] > 0.3
    assert pairwise("KTD", [path], [path[:2].copy()])[0, 0] > 0.3
    near, far = path + 5, path + 50
    assert pairwise("KTD", [path], [near])[0, 0] < pairwise("KTD", [path], [far])[0, 0]


@pytest.mark.parametrize("table", [np.zeros((2, 2)), np.zeros((3, 4)), np.full((4, 4), np.nan)])
def test_what_cannot_be_tested_is_refused(table: np.ndarray) -> None:
    with pytest.raises(InputError, match="negative type is tested on"):
        negative_type(table)


def test_the_table_goes_between_the_marks_of_the_page() -> None:
    found = {"osie": {"LD": NegativeType(-0.1, 0.02, 9), "KTD": NegativeType(0.0, 0.0, 9)}}
    text = table(found)
    assert "| LD | yes | 2 % (-0.1) | no |" in text
    assert "| KTD | yes | 0 | yes, by construction |" in text
    assert "not proper under LD:" in verdict(found)
    page = _into(f"above\n{MARK}\nold\n{MARK}\nbelow\n", text)
    assert page.startswith("above\n")
    assert page.endswith("below\n")
    assert "old" not in page
    explained = Path(__file__).parents[2] / "docs" / "explanation" / "crps.md"
    assert explained.read_text(encoding="utf-8").count(MARK) == 2
