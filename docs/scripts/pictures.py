"""Make the pictures of README and docs, from nothing but this package: python docs/scripts/pictures.py [FOLDER]

hero.png            one viewer's scanpath, the same gaze as samples, the density of eight viewers
replay.gif          three viewers at once, in real time
scanpath.png …      every kind of figure on the page of plots: viewers, trajectory, density, multiples, index (a trace),
                    statistics, motion, replay
coupling.png        a trajectory, its scanpath and the index that ties them
coarse-to-fine.png  how gaze comes out of noise

Gaze is drawn by the model that ships, on pictures that are drawn by code. What stands for people in the statistics and
small multiples is made up, and called so.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from method_pictures import coarse_to_fine, coupling
from PIL import Image

from stdiffeye.cli.demo_fixations import SCENES, draw_scene, made_scanpath
from stdiffeye.gaze import Frame, Scanpath, Trial, lift
from stdiffeye.generate import Model, load
from stdiffeye.plot import distributions, draw, motion, multiples, replay, save, trace
from stdiffeye.plot.canvas import new_figure, style
from stdiffeye.plot.film import Reel, frames_at
from stdiffeye.plot.picture import DIM, backdrop
from stdiffeye.plot.playback import playbacks
from stdiffeye.stats import compare, kinematics
from stdiffeye.web.samples import sample_picture

IMAGES = Path(__file__).parents[1] / "images"
HERO, SHOWN = "harbour.png", "street.png"
SEED, VIEWERS, SECONDS, RATE_HZ = 7, 8, 4.0, 240.0
REPLAYED, REPLAY_SECONDS = 3, 3.0
HERO_IN, HERO_DPI, SMALL_DPI, PANEL_DPI = (9.0, 2.55), 150, 90, 100
STRIP_TIMES_MS, STRIP_SIDE_PX, STRIP_GAP_PX = (400.0, 1850.0), 440, 8
COMMON_COLOURS, RARE_COLOURS = 128, 128  # of a page's picture: the file is a third of what it was


def main(out: Path, viewers: int = VIEWERS) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        pictures = draw_pictures(Path(folder))
        model = load()
        gaze = {name: look(model, picture, name, viewers) for name, picture in pictures.items()}
        save(hero(gaze[HERO], pictures[HERO]), out / "hero.png", HERO_DPI)
        kinds(gaze[SHOWN], pictures[SHOWN], out)
        save(trace(gaze[HERO][0], title=""), out / "index.png", PANEL_DPI)
        save(side_by_side(gaze, pictures), out / "multiples.png", SMALL_DPI)
        panels(gaze, out)
        save(coupling(model, pictures[SHOWN], SEED), out / "coupling.png", PANEL_DPI)
        save(coarse_to_fine(model, pictures[SHOWN], SEED), out / "coarse-to-fine.png", PANEL_DPI)
        films(gaze, pictures, out)
    for path in out.glob("*.png"):
        if path.name != "web.png":
            make_small(path)
    print(f"Look at {out}")


def draw_pictures(folder: Path) -> dict[str, Path]:
    """Simple scenes and one of the page's samples, as files."""
    for name, scene in SCENES.items():
        draw_scene(folder / name, scene)
    sample_picture(SHOWN).save(folder / SHOWN)
    return {name: folder / name for name in (*SCENES, SHOWN)}


def look(model: Model, picture: Path, name: str, viewers: int) -> list[Trial]:
    """Gaze of several viewers of the picture."""
    gaze = model.generate(picture, samples=viewers, seconds=SECONDS, seed=SEED)
    return [Trial(name, str(number), one.scanpath(), one) for number, one in enumerate(gaze)]


def hero(trials: Sequence[Trial], picture: Path) -> Any:
    """One viewer's scanpath, the same viewer's samples, and where all of them looked."""
    with style():
        figure = new_figure(*HERO_IN)
        axes = figure.subplots(1, 3)
        draw(trials[0], picture, axes[0], kind="scanpath", title="scanpath")
        draw(trials[0], picture, axes[1], kind="trajectory", title=f"{RATE_HZ:g} Hz trajectory")
        draw(trials, picture, axes[2], kind="density", title=f"density of {len(trials)} viewers")
    return figure


def kinds(trials: Sequence[Trial], picture: Path, out: Path) -> None:
    """Every overlay by itself."""
    save(draw(trials[0], picture, kind="scanpath"), out / "scanpath.png", SMALL_DPI)
    save(draw(trials[:5], picture, kind="scanpath"), out / "viewers.png", SMALL_DPI)
    save(draw(trials[0], picture, kind="trajectory"), out / "trajectory.png", SMALL_DPI)
    save(draw(trials, picture, kind="density"), out / "density.png", SMALL_DPI)


def made_up(name: str, viewers: int, rng: np.random.Generator) -> list[Trial]:
    """Viewers who go from thing to thing of a simple scene, at random."""
    paths = [made_scanpath(SCENES[name], rng) for _ in range(viewers)]
    return [Trial(name, f"m{number}", path, lift(path, RATE_HZ, rng)) for number, path in enumerate(paths)]


def blind(name: str, frame: Frame, rng: np.random.Generator) -> Trial:
    """Somebody who looks round the centre and sees nothing."""
    xy_px = np.clip(rng.normal(frame.centre_px, frame.size_px / 6, (9, 2)), 0, frame.size_px)
    return Trial(name, "blind", Scanpath(xy_px, frame, rng.gamma(6.0, 45.0, len(xy_px))))


def side_by_side(gaze: Mapping[str, Sequence[Trial]], pictures: Mapping[str, Path]) -> Any:
    """Two pictures, three columns."""
    rng, shown = np.random.default_rng(SEED), list(SCENES)[1:]
    frames = {name: gaze[name][0].frame for name in shown}
    people = [Trial(name, "", made_scanpath(SCENES[name], rng).rescaled(frames[name])) for name in shown]
    columns = {
        "made-up viewer": people,
        "freeview": [gaze[name][1] for name in shown],
        "noise round the centre": [blind(name, frames[name], rng) for name in shown],
    }
    return multiples(columns, pictures, kind="scanpath")


def panels(gaze: Mapping[str, Sequence[Trial]], out: Path) -> None:
    """Statistics of scanpaths and of raw gaze, against viewers who are made up."""
    rng = np.random.default_rng(SEED)
    people = [one for name in SCENES for one in made_up(name, VIEWERS, rng)]
    ours = [_as_seen(one, people[0].frame) for name in SCENES for one in gaze[name]]
    save(distributions(compare(people, {"freeview": ours})), out / "statistics.png", PANEL_DPI)
    save(motion({"human": kinematics(people), "freeview": kinematics(ours)}), out / "motion.png", PANEL_DPI)


def _as_seen(trial: Trial, frame: Frame) -> Trial:
    """The same gaze with the degrees of `frame`, which has the same size."""
    assert trial.scanpath is not None
    assert trial.trajectory is not None
    path, gaze = replace(trial.scanpath, frame=frame), replace(trial.trajectory, frame=frame)
    return Trial(trial.name, trial.subject, path, gaze)


def films(gaze: Mapping[str, Sequence[Trial]], pictures: Mapping[str, Path], out: Path) -> None:
    """A film for README, and two moments of one for the page."""
    first = [_beginning(trial) for trial in gaze[HERO][:REPLAYED]]
    replay(first, pictures[HERO], out / "replay.gif")
    viewers, frame = playbacks(gaze[SHOWN][:REPLAYED])
    reel = Reel(viewers, frame, backdrop(pictures[SHOWN], frame), DIM, tail_ms=350.0)
    moments = list(frames_at(reel, STRIP_TIMES_MS, STRIP_SIDE_PX))
    width = sum(one.width + STRIP_GAP_PX for one in moments) - STRIP_GAP_PX
    strip = Image.new("RGB", (width, moments[0].height), "white")
    for number, one in enumerate(moments):
        strip.paste(one, (number * (one.width + STRIP_GAP_PX), 0))
    strip.save(out / "replay.png")


def _beginning(trial: Trial) -> Trial:
    """The first seconds of a trial, which make a smaller film."""
    assert trial.trajectory is not None
    kept = trial.trajectory.xy_px[: round(REPLAY_SECONDS * RATE_HZ)]
    return Trial(trial.name, trial.subject, trajectory=replace(trial.trajectory, xy_px=kept))


def make_small(path: Path) -> None:
    """The same picture with few colours: those that cover most of it, and rare ones, which marks have."""
    with Image.open(path) as opened:
        whole = opened.convert("RGB")
    common = whole.quantize(COMMON_COLOURS, Image.Quantize.MEDIANCUT).getpalette() or []
    rare = whole.quantize(RARE_COLOURS, Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette(common[: 3 * COMMON_COLOURS] + rare[: 3 * RARE_COLOURS])
    whole.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
