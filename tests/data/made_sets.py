"""Small data sets that tests prepare: exactly the real layouts, made-up gaze."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

OWN = """
name: own
title: A laboratory's own set
reader: scanpath_rows
files: [{path: "own.json", what: "fixations"}]
pictures: images
viewing_ms: 2000
citation: none
licence: MIT
split: {rule: by-picture}
"""


def scanpath_rows(count: int, pictures: int = 7, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        fixations = int(rng.integers(1, 20))
        x, y = rng.uniform(0, [[800], [600]], (2, fixations)).round(1)
        row = {"name": f"{number % pictures:03d}.jpg", "subject": number // pictures, "width": 800, "height": 600}
        row |= {
            "X": x.tolist(),
            "Y": y.tolist(),
            "split": ["train", "train", "validation", "test"][number % pictures % 4],
        }
        row["T"] = rng.integers(80, 400, fixations).tolist() if number % 5 else None
        rows.append(row)
    return rows


def make_osie(folder: Path, rows: list[dict[str, Any]], pictures: bool = True) -> Path:
    """The layout of our OSIE: osie_fixations.json and images/."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "osie_fixations.json").write_text(json.dumps(rows))
    if pictures:
        (folder / "images").mkdir(exist_ok=True)
        for name in {row["name"] for row in rows}:
            Image.new("RGB", (80, 60)).save(folder / "images" / name)
    return folder


def make_doves(folder: Path, trials: int, seed: int = 0, samples: int = 1040) -> Path:
    """The layout of DOVES: some seconds at 200 Hz, a new place about every 300 ms."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    gaze = []
    for _ in range(trials):
        places = rng.uniform([200, 200], [800, 600], (samples // 60 + 1, 2))
        track = np.repeat(places, 60, axis=0)[:samples]
        smooth = np.stack([np.convolve(column, np.ones(8) / 8, "same") for column in track.T], axis=1)
        smooth[:4], smooth[-4:] = track[:4], track[-4:]
        gaze.append(smooth + rng.normal(0, 0.3, smooth.shape))
    np.savez(
        folder / "doves_gaze.npz",
        xy=np.concatenate(gaze).astype(np.float32),
        offsets=np.arange(trials + 1) * samples,
        image=np.array([f"img{number % 5:03d}" for number in range(trials)]),
        subject=np.array([f"S{number // 5}" for number in range(trials)]),
        split=np.array(["train" if number % 5 else "test" for number in range(trials)]),
        rate_hz=200,
        px_per_degree=60,
        width=1024,
        height=768,
    )
    return folder
