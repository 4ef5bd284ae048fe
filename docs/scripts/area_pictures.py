"""The figures of the page on areas of interest: a scarf plot, and two designs of one scene compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from stdiffeye.gaze import Trial
from stdiffeye.gaze.areas import Areas
from stdiffeye.generation import Model
from stdiffeye.plotting import save
from stdiffeye.plotting.area_figures import design_differences, scarf
from stdiffeye.statistics.aoi import measure_areas
from stdiffeye.web.sample_pictures import sample_picture

VIEWERS, SECONDS, DPI = 20, 4.0, 80
SCENE, A, B = "street.png", "A", "B"


def area_pictures(model: Model, out: Path, seed: int) -> None:
    """aoi-scarf.png and aoi-designs.png: design B is design A mirrored, with the areas where they were."""
    first = sample_picture(SCENE)
    designs = {A: first, B: first.transpose(Image.Transpose.FLIP_LEFT_RIGHT)}
    width, height = first.size
    boxes = {"left": (0, 0, width / 3, height), "middle": (width / 3, 0, width / 3, height)}
    areas = Areas.boxes(boxes | {"right": (2 * width / 3, 0, width / 3, height)})
    trials = []
    for name, picture in designs.items():
        paths = model.scanpaths(np.asarray(picture), samples=VIEWERS, seconds=SECONDS, seed=seed)
        trials += [Trial(name, str(number), path) for number, path in enumerate(paths)]
    report = measure_areas({"freeview": trials}, areas)
    save(scarf(report, A), out / "aoi-scarf.png", DPI)
    save(design_differences(report.designs(A, B), A, B), out / "aoi-designs.png", DPI)
