"""The figures that come with generated gaze: all scanpaths, one trajectory with its trace, and the density."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stdiffeye.gaze import Trial
from stdiffeye.gaze.types import by_stimulus
from stdiffeye.plotting.canvas import save
from stdiffeye.plotting.drawing import draw
from stdiffeye.plotting.replays import replay
from stdiffeye.plotting.trace import trace
from stdiffeye.progress import track

MOST_PICTURES = 50
"""At most so many stimuli are drawn; thousands of figures would only take time."""


def overviews(
    trials: Sequence[Trial], out: Path, pictures: bool = True, replays: bool = False, quiet: bool = False
) -> list[Path]:
    """Draw the gaze of each stimulus.

    Parameters
    ----------
    trials : sequence of Trial
        Gaze of any number of stimuli; the first 50 are drawn.
    out : Path
        Folder for the files.
    pictures, replays : bool
        Whether to draw figures, and whether to write replays.
    quiet : bool
        Show no progress.

    Returns
    -------
    list of Path
        The files that were written.
    """
    written: list[Path] = []
    for (name, task), group in track(list(by_stimulus(trials).items())[:MOST_PICTURES], "drawing", quiet=quiet):
        stem = out / stimulus_stem(name, task)
        if pictures:
            written += _pictures(group, stem)
        if replays:
            written.append(replay(group, group[0].picture, Path(f"{stem}-replay.html")))
    return written


def stimulus_stem(name: str, task: str) -> str:
    """What the files of one stimulus are called: `kitchen-microwave`."""
    return (f"{Path(name).stem}-{task}" if task else Path(name).stem).replace(" ", "-")


def _pictures(group: list[Trial], stem: Path) -> list[Path]:
    picture = group[0].picture
    scanpaths = [trial.scanpath for trial in group if trial.scanpath is not None]
    files = [
        save(draw(scanpaths[0], picture=picture), Path(f"{stem}-scanpath.png")),
        save(draw(scanpaths, picture=picture, kind="density"), Path(f"{stem}-density.png")),
    ]
    if len(scanpaths) > 1:
        files.append(save(draw(scanpaths, picture=picture), Path(f"{stem}-scanpaths.png")))
    if group[0].trajectory is not None:
        files.append(save(draw(group[0].trajectory, picture=picture), Path(f"{stem}-trajectory.png")))
        files.append(save(trace(group[0]), Path(f"{stem}-trace.png")))
    return files
