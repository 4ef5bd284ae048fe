"""The recipe for Ray Data of the page about clusters, run on two cores: the gaze of one program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import DOCS, blocks
from PIL import Image

import stdiffeye

PICTURES = 3


def recipe() -> dict[str, Any]:
    """What the page's blocks of Python define."""
    names: dict[str, Any] = {"__name__": "recipe"}
    for kind, text in blocks(DOCS / "how-to" / "cluster.md"):
        if kind == "python":
            exec(text, names)
    return names


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number}.png" for number in range(PICTURES)]
    for number, path in enumerate(paths):
        pixels = np.random.default_rng(number).integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((160, 120)).save(path)
    return paths


def expected(pictures: list[Path]) -> dict[str, list[Any]]:
    model = stdiffeye.load()
    gaze = model.scanpaths_of_many(pictures, stdiffeye.Request(samples=10))
    return {str(path): [one.xy_px for one in some] for path, some in zip(pictures, gaze, strict=True)}


def assert_same(found: dict[str, Any], wanted: dict[str, list[Any]]) -> None:
    assert found.keys() == wanted.keys()
    for path, paths in wanted.items():
        assert len(found[path]) == len(paths)
        for one, other in zip(found[path], paths, strict=True):
            assert np.array_equal(np.array([list(row) for row in one]), other)


def test_the_sampler_of_the_recipe_gives_the_gaze_of_the_model(pictures):
    batch = recipe()["Sampler"]()({"path": np.array([str(path) for path in pictures])})
    assert_same(dict(zip(batch["path"], batch["xy_px"], strict=True)), expected(pictures))


def test_ray_gives_the_gaze_of_one_program(pictures, tmp_path):
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    parquet = pytest.importorskip("pyarrow.parquet")
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    try:
        recipe()["sample_with_ray"](pictures, str(tmp_path / "gaze"), workers=2)
    finally:
        ray.shutdown()
    rows = parquet.read_table(tmp_path / "gaze").to_pylist()
    assert_same({row["path"]: row["xy_px"] for row in rows}, expected(pictures))
