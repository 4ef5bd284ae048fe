"""Two small sets in the layouts of OSIE and DOVES: pictures with one bright blob, and viewers who look at it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

from stdiffeye.gaze import Frame, Scanpath, lift

WIDTH_PX, HEIGHT_PX = 160, 120
RECORDING = Frame(1024, 768, 60)
RATE_HZ = 200


def blob(number: int) -> np.ndarray:
    """(2,) where the blob of a picture is, in [0, 1]."""
    return np.random.default_rng([7, number]).uniform(0.2, 0.8, 2)


def paint(path: Path, number: int) -> None:
    y, x = np.mgrid[:HEIGHT_PX, :WIDTH_PX] / [[[HEIGHT_PX]], [[WIDTH_PX]]]
    light = np.exp(-((x - blob(number)[0]) ** 2 + (y - blob(number)[1]) ** 2) / (2 * 0.06**2))
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray((30 + 225 * light[..., None] * [1.0, 0.9, 0.4]).astype(np.uint8)).save(path)


def split_of(number: int) -> str:
    return "validation" if number % 4 == 2 else "test" if number % 4 == 3 else "train"


def looked_at(number: int, rng: np.random.Generator) -> np.ndarray:
    """(n, 2) in [0, 1]: the middle first, then around the blob."""
    xy = blob(number) + rng.normal(0, 0.05, (int(rng.integers(4, 7)), 2))
    xy[0] = 0.5
    return xy


def make_scanpath_set(folder: Path, pictures: int = 12, viewers: int = 4) -> None:
    """In the layout of OSIE."""
    rng, rows = np.random.default_rng(1), []
    for number in range(pictures):
        name = f"{number:03d}.jpg"
        paint(folder / "images" / name, number)
        for viewer in range(viewers):
            xy = looked_at(number, rng) * [WIDTH_PX, HEIGHT_PX]
            row = {"name": name, "subject": viewer, "width": WIDTH_PX, "height": HEIGHT_PX, "split": split_of(number)}
            row |= {"X": xy[:, 0].round(1).tolist(), "Y": xy[:, 1].round(1).tolist()}
            rows.append(row | {"T": rng.integers(180, 400, len(xy)).tolist()})
    (folder / "osie_fixations.json").write_text(json.dumps(rows))


def make_recording_set(folder: Path, pictures: int = 12, viewers: int = 3) -> None:
    """In the layout of DOVES."""
    rng, gaze = np.random.default_rng(2), []
    keys = [(number, viewer) for number in range(pictures) for viewer in range(viewers)]
    for number, _ in keys:
        xy = looked_at(number, rng) * RECORDING.size_px
        gaze.append(lift(Scanpath(xy, RECORDING, rng.uniform(200, 350, len(xy))), RATE_HZ, rng).xy_px)
    for number in range(pictures):
        paint(folder / "images" / f"img{number:03d}.jpg", number)
    np.savez(
        folder / "doves_gaze.npz",
        xy=np.concatenate(gaze).astype(np.float32),
        offsets=np.cumsum([0, *map(len, gaze)]),
        image=np.array([f"img{number:03d}" for number, _ in keys]),
        subject=np.array([f"S{viewer}" for _, viewer in keys]),
        split=np.array([split_of(number) for number, _ in keys]),
        rate_hz=RATE_HZ,
        px_per_degree=60,
        width=int(RECORDING.width_px),
        height=int(RECORDING.height_px),
    )
