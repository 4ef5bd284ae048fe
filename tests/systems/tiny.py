"""A small world for the systems: pictures of coloured cells, gaze of its own for each, an encoder that sees colours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from stdiffeye.data.preparation import prepare
from stdiffeye.data.store import Store
from stdiffeye.encoders import FeatureCache, load_picture
from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.gaze.lifting import lift
from stdiffeye.systems.base import Sources

FRAME = Frame(1024, 768, 60)
ROWS, COLUMNS, CHANNELS = 3, 4, 8
STARE_MS = 150


class ColourEncoder:
    """Mean colours of a few cells, and products of them: deterministic, and different for different pictures."""

    name, grid, width, input_size = "colours", (ROWS, COLUMNS), CHANNELS, (12, 16)
    identity = "colours-1"

    def encode(self, pictures: Sequence[Any], flip: bool = False) -> Tensor:
        rows = []
        for picture in pictures:
            image = load_picture(picture).resize((16, 12), Image.Resampling.BOX)
            colours = torch.from_numpy(np.asarray(image, dtype=np.float32) / 255)
            cells = colours.reshape(ROWS, 4, COLUMNS, 4, 3).mean((1, 3)).reshape(-1, 3)
            cells = cells.reshape(ROWS, COLUMNS, 3).flip(1).reshape(-1, 3) if flip else cells
            rows.append(torch.cat([cells, cells**2, cells[:, :1] * cells[:, 1:]], -1))
        return torch.stack(rows)


def path_of(number: int, viewer: int = 0) -> Scanpath:
    """Three or four fixations, others for each picture, with a little that differs from viewer to viewer."""
    rng = np.random.default_rng(number)
    xy_px = rng.uniform([150, 150], [870, 620], (3 + number % 2, 2))
    noise = np.random.default_rng([number, viewer]).normal(0, 5 * (viewer > 0), xy_px.shape)
    onset = np.arange(len(xy_px)) * (STARE_MS + 60.0)
    return Scanpath(xy_px + noise, FRAME, np.full(len(xy_px), float(STARE_MS)), onset)


def paint(folder: Path, pictures: int, grey: bool = False) -> None:
    folder.mkdir(parents=True)
    for number in range(pictures):
        pixels = np.random.default_rng(number).integers(0, 256, (1, 1, 1) if grey else (3, 4, 3), dtype=np.uint8)
        pixels = np.broadcast_to(pixels, (3, 4, 3))
        Image.fromarray(pixels).resize((64, 48), Image.Resampling.NEAREST).save(folder / f"img{number:03d}.jpg")


def recordings(folder: Path, pictures: int = 4, viewers: int = 2) -> Store:
    """A store with trajectories, in the layout of DOVES."""
    source = folder / "doves-source"
    paint(source / "images", pictures)
    keys = [(number, viewer) for number in range(pictures) for viewer in range(viewers)]
    gaze = [lift(path_of(*key), 200, np.random.default_rng(key), noise=0.5).xy_px for key in keys]
    np.savez(
        source / "doves_gaze.npz",
        xy=np.concatenate(gaze).astype(np.float32),
        offsets=np.concatenate([[0], np.cumsum([len(one) for one in gaze])]),
        image=np.array([f"img{number:03d}" for number, _ in keys]),
        subject=np.array([f"S{viewer}" for _, viewer in keys]),
        split=np.array(["train"] * len(keys)),
        rate_hz=200,
        px_per_degree=60,
        width=FRAME.width_px,
        height=FRAME.height_px,
    )
    return prepare("doves", source, folder / "doves", quiet=True)


def scanpaths(
    folder: Path,
    pictures: int = 4,
    viewers: int = 2,
    durations: bool = True,
    task: str = "",
    habit_px: Sequence[Sequence[float]] = (),
) -> Store:
    """A store with fixations alone, as of a laboratory's own set; with a habit, grey pictures all looked at alike."""
    source = folder / "own-source"
    paint(source / "images", pictures, grey=bool(habit_px))
    rows = []
    for number in range(pictures):
        for viewer in range(viewers):
            path = path_of(number, viewer)
            row = {"name": f"img{number:03d}.jpg", "subject": viewer, "split": "train", "task": task}
            xy_px = np.asarray(habit_px) if habit_px else path.xy_px
            row |= {"X": xy_px[:, 0].tolist(), "Y": xy_px[:, 1].tolist()}
            row["T"] = path.duration_ms[: len(xy_px)].tolist() if durations else None
            rows.append(row)
    (source / "own.json").write_text(json.dumps(rows))
    description = source / "own.yaml"
    description.write_text(
        "name: own\ntitle: Own set\nreader: scanpath_rows\nfiles: [{path: own.json, what: fixations}]\n"
        "pictures: images\nwidth_px: 1024\nheight_px: 768\npx_per_degree: 60\nviewing_ms: 1000\n"
        "citation: none\nlicence: MIT\nsplit: {rule: given}\n"
    )
    return prepare(description, source, folder / "own", quiet=True)


class Letters:
    """Words as a vector: how often each letter occurs."""

    name, width = "letters", 512

    def encode(self, text_embedding: str) -> Tensor:
        return torch.bincount(
            torch.tensor([ord(letter) % 512 for letter in text_embedding] or [0]), minlength=512
        ).float()


def sources(folder: Path, *stores: Store) -> Sources:
    return Sources(list(stores), FeatureCache(ColourEncoder(), folder / "cache"), Letters())


PICTURE = {"channels": CHANNELS, "rows": ROWS, "columns": COLUMNS, "width": 32, "dropout": 0.0, "mixing": 0}
DENOISER = {"width": 32, "depth": 1, "heads": 2, "feedforward": 64, "dropout": 0.0}
UNET = {
    "width": 8,
    "multipliers": [1, 2],
    "blocks": 1,
    "heads": 2,
    "groups": 2,
    "cross_attention_from": 0,
    "dropout": 0.0,
}
TOKENS = {
    "latent": 32,
    "max_points": 192,
    "image": PICTURE,
    "denoiser": DENOISER | {"hidden": 32},
    "unet": UNET,
}
