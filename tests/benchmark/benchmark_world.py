"""Two small sets in the layouts of OSIE and DOVES: pictures with one bright blob, and viewers who look at it."""

from __future__ import annotations

from pathlib import Path

import blob_pictures
import numpy as np
from blob_pictures import draw_picture, looked_at, split_of

from stdiffeye.gaze import Frame, Scanpath, lift

FIXATIONS, STD = (4, 7), 0.05
RECORDING = Frame(1024, 768, 60)
RATE_HZ = 200


def make_scanpath_set(folder: Path, pictures: int = 12, viewers: int = 4) -> None:
    """In the layout of OSIE."""
    blob_pictures.make_scanpath_set(folder, pictures, viewers, FIXATIONS, STD)


def make_recording_set(folder: Path, pictures: int = 12, viewers: int = 3) -> None:
    """In the layout of DOVES."""
    rng, gaze = np.random.default_rng(2), []
    keys = [(number, viewer) for number in range(pictures) for viewer in range(viewers)]
    for number, _ in keys:
        xy = looked_at(number, rng, FIXATIONS, STD) * RECORDING.size_px
        gaze.append(lift(Scanpath(xy, RECORDING, rng.uniform(200, 350, len(xy))), RATE_HZ, rng).xy_px)
    for number in range(pictures):
        draw_picture(folder / "images" / f"img{number:03d}.jpg", number)
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
