"""The verbs that describe and show gaze, given nouns or files: `stats`, `plot`, `replay`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stdiffeye.data.read import File, trials_of
from stdiffeye.gaze import Scanpath, Trajectory, Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from stdiffeye.statistics import Statistics

Noun = Scanpath | Trajectory | Trial

REPLAYED_VIEWERS = 15  # of a file, where nobody says how many


def stats(
    human: File | Sequence[Trial],
    generated: Mapping[str, File | Sequence[Trial]] | None = None,
    out: File | None = None,
    *,
    split: str | None = None,
    **settings: Any,
) -> Statistics:
    """Compare the distributions of gaze of humans and systems.

    Parameters
    ----------
    human, generated, split
        As in `evaluate`.
    out : path, optional
        Folder for statistics.json, statistics.md and the figures (PNG and PDF).
    **settings
        As in `stdiffeye.statistics.stats`: unit, kinematics, search, saliency, skip_first.

    Returns
    -------
    Statistics
        Distributions, and where the data allow it kinematics and visual search; prints as tables.

    Raises
    ------
    InputError
        Where a file cannot be read, or what was asked for needs data that are not there.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath, Trial
    >>> path = Scanpath([[100, 100], [200, 100]], Frame(512, 384), [250, 300])
    >>> stats([Trial("a.jpg", "1", path)]).distributions["fixation_duration"].values["human"]
    array([250., 300.])
    """
    from stdiffeye import statistics

    human_trials = trials_of(human, split=split)
    systems = {name: trials_of(gaze, human_trials) for name, gaze in (generated or {}).items()}
    found = statistics.stats(human_trials, systems, **settings)
    if out is not None:
        _write_statistics(found, Path(out))
    return found


def plot(
    gaze: File | Noun | Sequence[Noun] | Mapping[str, File | Sequence[Trial]],
    picture: Any = None,
    out: File | None = None,
    *,
    split: str | None = None,
    dpi: float | None = None,
    **options: Any,
) -> Figure:
    """Draw gaze over its picture, as a density, over time, or several systems side by side.

    Parameters
    ----------
    gaze : path, noun, sequence of nouns, or dict of str to path or sequence of Trial
        A file or store, gaze in memory, or several systems by name. Of a file one viewer is shown, for a density all.
    picture : path, PIL image or array, optional
        The picture, or a folder of pictures named like the stimuli; by default the trials' own.
    out : path, optional
        File to write: .png, .pdf or .svg.
    split : str, optional
        Only this split of the files.
    dpi : float, optional
        Resolution of PNG; 150 by default.
    **options
        As in `stdiffeye.plotting.plot`: kind, name, task, subject, viewers, colour, fit, …

    Returns
    -------
    matplotlib.figure.Figure
        The figure, also when it was written.

    Raises
    ------
    InputError
        Where a file cannot be read or nothing fits the selection.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath
    >>> figure = plot(Scanpath([[20, 30], [70, 50]], Frame(100, 80)))
    """
    from stdiffeye import plotting

    shown: Any = gaze
    if isinstance(gaze, File):
        whole = options.get("kind") in ("density", "multiples") or options.get("subject")
        options["viewers"] = options.get("viewers") or (None if whole else 1)
        shown = trials_of(gaze, split=split)
    elif isinstance(gaze, Mapping):
        shown = {name: trials_of(one, split=split) for name, one in gaze.items()}
    figure = plotting.plot(shown, picture, **options)
    if out is not None:
        plotting.save(figure, out, *([] if dpi is None else [dpi]))
    return figure


def replay(
    gaze: File | Noun | Sequence[Noun],
    picture: Any = None,
    out: File = "replay.html",
    *,
    split: str | None = None,
    **options: Any,
) -> Path:
    """Replay gaze over its picture in real time, as a page, a GIF or a film.

    Parameters
    ----------
    gaze : path, noun or sequence of nouns
        A file or store, or gaze in memory: one viewer or several of one picture.
    picture : path, PIL image or array, optional
        The picture, or a folder of pictures named like the stimuli; by default the trials' own.
    out : path
        File to write: .html, .gif or .mp4.
    split : str, optional
        Only this split of a file.
    **options
        As in `stdiffeye.plotting.replay`: speed, tail_ms, dim, fit, title, quiet. And which trials, as in
        `stdiffeye.plotting.selection.select`: name, task, viewers, subject. Of a file the first stimulus and its first
        15 viewers are shown by default.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    InputError
        Where a file cannot be read, nothing fits the selection, or the suffix of `out` is unknown.

    Examples
    --------
    >>> replay("gaze.json", "photo.jpg", "slow.gif", speed=0.5)  # doctest: +SKIP
    """
    from stdiffeye import plotting
    from stdiffeye.plotting.multiples import picture_of
    from stdiffeye.plotting.selection import select

    shown: Any = gaze
    wanted = {key: options.pop(key) for key in ("name", "task", "viewers", "subject") if key in options}
    if isinstance(gaze, File):
        wanted["viewers"] = wanted.get("viewers") or REPLAYED_VIEWERS
        shown = trials_of(gaze, split=split)
    if wanted:
        shown = select(shown, **wanted)
        picture = picture_of(picture, shown[0].name)
    return plotting.replay(shown, picture, out, **options)


def _write_statistics(found: Statistics, out: Path) -> None:
    from stdiffeye.files import write_json, write_text
    from stdiffeye.plotting import save, statistics_figures

    write_json(out / "statistics.json", found.to_json())
    write_text(out / "statistics.md", found.to_markdown() + "\n")
    for name, figure in statistics_figures(found).items():
        for suffix in (".png", ".pdf"):
            save(figure, out / f"{name}{suffix}")
