"""Kernels give the same whether they are compiled or not; tiny input is judged without compiling."""

from __future__ import annotations

import ast
import subprocess
import sys

import numpy as np
import pytest

from stdiffeye.metrics import kernel_distance, kernels, multimatch
from stdiffeye.metrics.clusters import neighbour_distance

TINY = """
import sys
from stdiffeye import Frame, Scanpath, Trial, evaluate
def trials(x):
    path = Scanpath([[x, 100], [200, 100], [200, 200], [90, 20]], Frame(512, 384), [250, 300, 200, 180])
    return [Trial(name, subject, path) for name in ("a.jpg", "b.jpg") for subject in "12"]
result = evaluate(trials(100), {"ours": trials(110)}, compile_kernels=%s, replicates=0)
print("numba" in sys.modules, {m: one.value for m, one in result["ours"]["crps"].items()})
"""


def test_alignment_by_rows_is_the_compiled_one(rng: np.random.Generator) -> None:
    substitution = rng.normal(0, 2, (12, 12))
    for _ in range(50):
        a, b = (rng.integers(0, 12, rng.integers(1, 40)) for _ in range(2))
        assert kernels.align_by_rows(a, b, substitution) == kernels.align(a, b, substitution)


def test_lanes_are_sorted_alike_short_and_long(rng: np.random.Generator) -> None:
    for cells in (1, 2, 30, 64, 65, 200):
        one = rng.normal(size=(cells + 3, multimatch.LANES))
        one[:, 4] = np.nan
        other = one.copy()
        multimatch._sort_lanes(one, cells)
        multimatch.sort_by_numpy(other, cells)
        assert np.array_equal(one, other, equal_nan=True)


def test_the_table_of_fixations_is_the_compiled_similarity(random_paths: list[np.ndarray]) -> None:
    a, b = random_paths[0][:, :2].copy(), random_paths[1][:, :2].copy()
    bounds = (a, 0, len(a), b, 0, len(b))
    assert kernel_distance.similarity_by_table(*bounds) == pytest.approx(kernel_distance._similarity(*bounds))


def test_neighbours_are_those_of_the_plain_loop(rng: np.random.Generator) -> None:
    points = rng.uniform(0, 500, (40, 2))
    distances = np.sort(np.linalg.norm(points[:, None] - points[None], axis=-1), axis=1)
    assert neighbour_distance(points, 12) == pytest.approx(distances[:, 11].mean())


def test_tiny_input_is_judged_without_numba_and_to_the_same_numbers() -> None:
    said = [
        subprocess.run([sys.executable, "-c", TINY % how], capture_output=True, text=True, check=True).stdout
        for how in ("None", "True")
    ]
    assert said[0].startswith("False ")
    assert said[1].startswith("True ")
    ours, compiled = (ast.literal_eval(one.split(" ", 1)[1].strip()) for one in said)
    assert ours.keys() == compiled.keys()
    assert all(ours[name] == pytest.approx(compiled[name], rel=1e-12) for name in ours)
