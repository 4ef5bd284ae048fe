"""`plot`: one function for every picture of gaze; `statistics_figures`: every picture of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial
from stdiffeye.plotting.canvas import figure_of
from stdiffeye.plotting.distributions import distributions, motion, search_curves
from stdiffeye.plotting.drawing import Noun, draw
from stdiffeye.plotting.multiples import multiples, picture_of
from stdiffeye.plotting.selection import select
from stdiffeye.plotting.trace import trace, traces
from stdiffeye.statistics.report import Statistics

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(
    gaze: Noun | Sequence[Noun] | Mapping[str, Sequence[Trial]],
    picture: Any = None,
    *,
    kind: str | None = None,
    name: str | None = None,
    task: str | None = None,
    subject: str | Sequence[str] = (),
    viewers: int | None = None,
    **options: Any,
) -> Figure:
    """Draw gaze over its picture, as a density, over time, or several systems side by side.

    Parameters
    ----------
    gaze : Scanpath, Trajectory, Trial, a sequence of these, or dict of str to trials
        One viewer, several, or the trials of each system. Of trials of several stimuli one stimulus is shown.
    picture : path, PIL image or array, optional
        The picture, or a folder of pictures named like the stimuli; by default the trials' own.
    kind : {"scanpath", "trajectory", "density", "trace", "multiples"}, optional
        By default "multiples" for several systems, else the trajectory where there is one, else the scanpath.
    name, task : str, optional
        The stimulus to show; by default the first one, for "multiples" the first six.
    subject : str or sequence of str
        Only these viewers.
    viewers : int, optional
        At most so many viewers; by default all that are given, one per cell for "multiples".
    **options
        As in `draw`: colour, numbers, dim, fit, title.

    Returns
    -------
    matplotlib.figure.Figure
        To be shown, or written by `save`.

    Raises
    ------
    InputError
        Where nothing fits the selection, or the gaze cannot be drawn in this way.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath
    >>> figure = plot(Scanpath([[20, 30], [70, 50]], Frame(100, 80)))
    >>> len(figure.axes)
    1
    """
    systems: Mapping[str, Any] = gaze if isinstance(gaze, Mapping) else {"gaze": gaze}
    kind = kind or ("multiples" if len(systems) > 1 else None)
    if kind == "multiples":
        rows = _stimuli(systems, name, task)
        return multiples(systems, picture, rows, viewers or 1, **options)
    if len(systems) != 1:
        raise InputError(f"kind {kind!r} draws one system, got {len(systems)}: use kind 'multiples'")
    (only,) = systems.values()
    nouns: list[Any] = [only] if isinstance(only, Noun) else list(only)
    if nouns and all(isinstance(one, Trial) for one in nouns):
        nouns = select(nouns, name, task, viewers, subject)
        picture = picture_of(picture, nouns[0].name)
    if kind == "trace":
        return trace(nouns[0]) if len(nouns) == 1 else traces(nouns, titles=[_title(one) for one in nouns])
    return figure_of(draw(nouns, picture, kind=kind, **options))


def statistics_figures(found: Statistics) -> dict[str, Figure]:
    """Draw every figure of a report of statistics.

    Parameters
    ----------
    found : Statistics
        What `stdiffeye.statistics.stats` returned.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        "distributions", and "kinematics" and "search" where the report has them.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath
    >>> from stdiffeye.statistics import stats
    >>> path = Scanpath([[100, 100], [200, 100], [150, 200]], Frame(512, 384), [250, 300, 200])
    >>> list(statistics_figures(stats([Trial("a.jpg", "1", path)])))
    ['distributions']
    """
    figures = {"distributions": distributions(found.distributions)}
    if found.kinematics:
        figures["kinematics"] = motion(found.kinematics)
    if found.search:
        figures["search"] = search_curves(found.search)
    return figures


def _stimuli(systems: Mapping[str, Any], name: str | None, task: str | None) -> list[tuple[str, str]] | None:
    if name is None:
        return None
    first = next(iter(systems))
    keys = [trial.key for trial in systems[first] if trial.name == name]
    found = [key for key in dict.fromkeys(keys) if task in (None, key[1])]
    if not found:
        raise InputError(f"there is no stimulus {name!r} in {first}")
    return found


def _title(noun: Any) -> str:
    return noun.subject if isinstance(noun, Trial) else ""
