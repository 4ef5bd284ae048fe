"""Heat maps as data: the density of fixations of each picture, for other programs to use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from stdiffeye.arrays import Floats
from stdiffeye.files import atomic_write
from stdiffeye.gaze import Scanpath, Trial
from stdiffeye.gaze.types import by_stimulus
from stdiffeye.plotting.density import density
from stdiffeye.plotting.overview import stimulus_stem


def heatmap(paths: Sequence[Scanpath]) -> Floats:
    """(H, W) density of fixations, a value per pixel of their frame, which sum to 1; smoothed by one degree."""
    frame = paths[0].frame
    coarse = density([path.xy_px for path in paths], frame).astype(np.float32)
    size = round(frame.width_px), round(frame.height_px)
    fine = np.asarray(Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC), dtype=np.float64).clip(min=0)
    return np.asarray(fine / max(float(fine.sum()), np.finfo(np.float64).tiny))


def write_heatmaps(out: Path, trials: Sequence[Trial]) -> list[Path]:
    """NAME-heatmap.npy (float32, sums to 1) and NAME-heatmap.png (grey, white is the densest) per stimulus."""
    written = []
    for (name, task), group in by_stimulus(trials).items():
        values = heatmap([trial.scanpath for trial in group if trial.scanpath is not None])
        stem = out / stimulus_stem(name, task)
        grey = np.round(255 * values / max(float(values.max()), np.finfo(np.float64).tiny)).astype(np.uint8)
        for path in (Path(f"{stem}-heatmap.npy"), Path(f"{stem}-heatmap.png")):
            with atomic_write(path) as temporary, temporary.open("wb") as file:
                if path.suffix == ".npy":
                    np.save(file, values.astype(np.float32), allow_pickle=False)
                else:
                    Image.fromarray(grey).save(file, "PNG")
            written.append(path)
    return written
