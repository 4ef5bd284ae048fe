"""Pictures with one bright blob, and viewers who look at it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

WIDTH_PX, HEIGHT_PX = 160, 120


def blob(number: int) -> np.ndarray:
    """(2,) where the blob of a picture is, in [0, 1]."""
    return np.random.default_rng([7, number]).uniform(0.2, 0.8, 2)


def draw_picture(path: Path, number: int) -> Path:
    """A dark picture with a bright blob."""
    y, x = np.mgrid[:HEIGHT_PX, :WIDTH_PX] / [[[HEIGHT_PX]], [[WIDTH_PX]]]
    centre = blob(number)
    light = np.exp(-((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / (2 * 0.06**2))
    pixels = (30 + 225 * light[..., None] * [1.0, 0.9, 0.4]).astype(np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return path


def split_of(number: int) -> str:
    return "validation" if number % 4 == 2 else "test" if number % 4 == 3 else "train"


def looked_at(number: int, rng: np.random.Generator, fixations: tuple[int, int], std: float) -> np.ndarray:
    """(n, 2) in [0, 1]: the middle first, then around the blob."""
    xy = blob(number) + rng.normal(0, std, (int(rng.integers(*fixations)), 2))
    xy[0] = 0.5
    return xy


def make_scanpath_set(
    folder: Path, pictures: int = 16, viewers: int = 6, fixations: tuple[int, int] = (5, 8), std: float = 0.03
) -> Path:
    """In the layout of OSIE."""
    rng, rows = np.random.default_rng(1), []
    for number in range(pictures):
        name = f"{number:03d}.jpg"
        draw_picture(folder / "images" / name, number)
        for viewer in range(viewers):
            xy = looked_at(number, rng, fixations, std) * [WIDTH_PX, HEIGHT_PX]
            row: dict[str, Any] = {"name": name, "subject": viewer, "width": WIDTH_PX, "height": HEIGHT_PX}
            row |= {"X": xy[:, 0].round(1).tolist(), "Y": xy[:, 1].round(1).tolist()}
            row |= {"T": rng.integers(180, 400, len(xy)).tolist(), "split": split_of(number)}
            rows.append(row)
    (folder / "osie_fixations.json").write_text(json.dumps(rows))
    return folder
