"""Make the pictures of README and docs, from nothing but this package: python docs/scripts/pictures.py [FOLDER]

hero.png    gaze on a drawn picture: by the model that ships or, where none does, lifted from a made scanpath
index.png   one viewer over time, with the fixation index
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from stdiffeye.cli.demo_fixations import SCENES, draw_scene, made_scanpath
from stdiffeye.gaze import Trajectory, Trial, lift
from stdiffeye.generate.shipped import models
from stdiffeye.plot import draw, save, trace
from stdiffeye.plot.canvas import new_figure, style

IMAGES = Path(__file__).parents[1] / "images"
SCENE, SEED, VIEWERS, SECONDS, RATE_HZ = "harbour.png", 7, 8, 4.0, 240.0
HERO_IN, HERO_DPI, INDEX_DPI = (9.0, 2.55), 150, 110


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / SCENE
        draw_scene(picture, SCENES[SCENE])
        trials = look(picture)
        save(hero(trials, picture), out / "hero.png", HERO_DPI)
    save(trace(trials[0].trajectory), out / "index.png", INDEX_DPI)
    print(f"Look at {out}")


def look(picture: Path) -> list[Trial]:
    """Gaze of several viewers of the picture."""
    if models():
        from stdiffeye.generate import load

        gaze = load().generate(picture, samples=VIEWERS, seconds=SECONDS, seed=SEED)
        return [_trial(number, one.scanpath(), one) for number, one in enumerate(gaze)]
    rng = np.random.default_rng(SEED)
    paths = [made_scanpath(SCENES[SCENE], rng) for _ in range(VIEWERS)]
    return [_trial(number, path, lift(path, RATE_HZ, rng)) for number, path in enumerate(paths)]


def hero(trials: list[Trial], picture: Path) -> object:
    """One viewer's scanpath, the same viewer's samples, and where all of them looked."""
    with style():
        figure = new_figure(*HERO_IN)
        axes = figure.subplots(1, 3)
        draw(trials[0].scanpath, picture, axes[0], title="scanpath")
        draw(trials[0].trajectory, picture, axes[1], title=f"{RATE_HZ:g} Hz trajectory")
        paths = [trial.scanpath for trial in trials]
        draw(paths, picture, axes[2], kind="density", title=f"density of {len(trials)} viewers")
    return figure


def _trial(number: int, path: object, gaze: Trajectory) -> Trial:
    return Trial(SCENE, str(number), path, gaze)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
