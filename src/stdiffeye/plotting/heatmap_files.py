"""Heat maps as data: the density of fixations of each picture, for other programs to use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write
from stdiffeye.gaze import Scanpath, Trial
from stdiffeye.gaze.types import by_stimulus
from stdiffeye.plotting.density import density
from stdiffeye.plotting.overview import stimulus_stem


def heatmap(paths: Sequence[Scanpath]) -> Floats:
    """(H, W) density of fixations, a value per pixel of their frame, which sum to 1; smoothed by one degree."""
    frame = paths[0].frame
    return smooth(density([path.xy_px for path in paths], frame), (round(frame.height_px), round(frame.width_px)))


def smooth(coarse: Floats, shape: tuple[int, int]) -> Floats:
    """A density on a finer grid (rows, columns), interpolated; sum 1."""
    image = Image.fromarray(coarse.astype(np.float32)).resize(shape[::-1], Image.Resampling.BICUBIC)
    fine = np.asarray(image, dtype=np.float64).clip(min=0)
    return np.asarray(fine / max(float(fine.sum()), np.finfo(np.float64).tiny))


def grey_picture(values: Floats) -> Image.Image:
    """A heat map as a grey picture, where white is the densest."""
    most = max(float(values.max()), np.finfo(np.float64).tiny)
    return Image.fromarray(np.round(255 * values / most).astype(np.uint8))


def write_heatmap(path: Path, values: Floats) -> None:
    """A density (rows, columns) as .npy (float32), or as .png in grey, where white is the densest."""
    if path.suffix.lower() not in (".npy", ".png"):
        raise InputError(f"a heat map is written as .npy or .png, not as {path.name!r}")
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        if path.suffix.lower() == ".npy":
            np.save(file, values.astype(np.float32), allow_pickle=False)
        else:
            grey_picture(values).save(file, "PNG")


def write_heatmaps(out: Path, trials: Sequence[Trial]) -> list[Path]:
    """NAME-heatmap.npy (float32, sums to 1) and NAME-heatmap.png (grey, white is the densest) per stimulus."""
    written = []
    for (name, task), group in by_stimulus(trials).items():
        values = heatmap([trial.scanpath for trial in group if trial.scanpath is not None])
        stem = out / stimulus_stem(name, task)
        for path in (Path(f"{stem}-heatmap.npy"), Path(f"{stem}-heatmap.png")):
            write_heatmap(path, values)
            written.append(path)
    return written
