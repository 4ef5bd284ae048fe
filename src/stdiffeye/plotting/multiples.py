"""Small multiples: one row per picture, one column per system, as in the paper's qualitative figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial
from stdiffeye.gaze.types import by_stimulus
from stdiffeye.io.pictures import PICTURE_SUFFIXES, find_picture
from stdiffeye.plotting import canvas, overlay
from stdiffeye.plotting.drawing import draw, points_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Key = tuple[str, str]

COLUMN_IN, GAP_IN, TITLE_IN, TASK_IN = 2.6, 0.06, 0.24, 0.24
MAX_ROWS = 6


def multiples(
    systems: Mapping[str, Sequence[Trial]],
    pictures: Any = None,
    stimuli: Sequence[Key] | None = None,
    per_cell: int = 1,
    fit: str | None = None,
    **options: Any,
) -> Figure:
    """Draw the gaze of humans and systems on the same pictures, one row per picture, one column per system.

    Parameters
    ----------
    systems : dict of str to sequence of Trial
        Column title → trials, in the order of the columns, e.g. {"human": …, "ours": …}.
    pictures : path, picture or dict, optional
        A folder with files named like the stimuli, one picture for all, or stimulus name → picture; by default the
        trials' own.
    stimuli : sequence of (str, str), optional
        (name, task) of the rows; by default the first six that every system has.
    per_cell : int
        Viewers in each cell.
    fit : {"stretch", "letterbox", "centre"}, optional
        How a picture is positioned in the gaze's frame.
    **options
        As in `draw`.

    Returns
    -------
    matplotlib.figure.Figure
        The grid.

    Raises
    ------
    InputError
        When no stimulus is shared by all systems, or a folder lacks a picture.
    """
    by_system = {name: by_stimulus(trials) for name, trials in systems.items()}
    if not by_system:
        raise InputError("small multiples need at least one system, got none")
    keys = list(stimuli) if stimuli is not None else _shared(by_system)[:MAX_ROWS]
    if not keys:
        raise InputError(f"no stimulus (name, task) is shared by all of {', '.join(by_system)}")
    cells = [[found.get(key, [])[:per_cell] for found in by_system.values()] for key in keys]
    figure, axes = _grid(cells, bool(any(task for _, task in keys)), options.get("kind"))
    for ax_row, key, row in zip(axes, keys, cells, strict=True):
        together = [trial for cell in row for trial in cell]
        for ax, trials in zip(ax_row, row, strict=True):
            if trials:
                draw(trials, picture_of(pictures, key[0]), ax, fit=fit, room_for=together, **options)
    _label(figure, axes, list(by_system), [task for _, task in keys])
    return figure


def _grid(cells: list[list[list[Trial]]], tasks: bool, kind: str | None) -> tuple[Figure, list[list[Axes]]]:
    """Axes at fixed positions: sizes of marks follow from them, so they must be final before anything is drawn."""
    left_in, title_in = TASK_IN if tasks else GAP_IN, TITLE_IN
    heights_in = [COLUMN_IN * _aspect(row, kind) for row in cells]
    width_in = left_in + len(cells[0]) * (COLUMN_IN + GAP_IN)
    height_in = title_in + sum(height + GAP_IN for height in heights_in)
    figure = canvas.new_figure(width_in, height_in, constrained=False)
    axes, bottom_in = [], height_in - title_in
    for height in heights_in:
        bottom_in -= height
        lefts_in = [left_in + column * (COLUMN_IN + GAP_IN) for column in range(len(cells[0]))]
        size = COLUMN_IN / width_in, height / height_in
        axes.append([figure.add_axes((left / width_in, bottom_in / height_in, *size)) for left in lefts_in])
        bottom_in -= GAP_IN
    for ax in (ax for row in axes for ax in row):
        ax.set_axis_off()
    return figure, axes


def _aspect(row: list[list[Trial]], kind: str | None) -> float:
    """Height over width of the area that the cells of a row show."""
    trials = [trial for cell in row for trial in cell]
    if not trials:
        return 0.75
    left, right, top, bottom = overlay.view_px(trials[0].frame, points_of(trials, kind), room_px=0.0)
    return (bottom - top) / (right - left)


def _label(figure: Figure, axes: list[list[Axes]], names: list[str], tasks: list[str]) -> None:
    with canvas.style():
        for ax, name in zip(axes[0], names, strict=True):
            box = ax.get_position()
            figure.text((box.x0 + box.x1) / 2, box.y1, name, ha="center", va="bottom", fontsize=10)
        for row, task in zip(axes, tasks, strict=True):
            box = row[0].get_position()
            words: dict[str, Any] = {"rotation": 90, "fontsize": 9, "style": "italic"}
            figure.text(box.x0, (box.y0 + box.y1) / 2, f"{task} " if task else "", ha="right", va="center", **words)


def _shared(by_system: Mapping[str, Mapping[Key, list[Trial]]]) -> list[Key]:
    first, *others = by_system.values()
    return [key for key in first if all(key in other for other in others)]


def picture_of(pictures: Any, name: str) -> Any:
    """Return the picture of a stimulus, from a mapping, a folder, or the same one for all."""
    if isinstance(pictures, Mapping):
        return pictures.get(name)
    if isinstance(pictures, str | Path) and Path(pictures).is_dir():
        found = find_picture(pictures, name)
        if found is None:
            raise InputError(f"{pictures} holds no picture called {name!r} (tried {', '.join(PICTURE_SUFFIXES)})")
        return found
    return pictures
