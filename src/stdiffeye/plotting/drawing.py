"""Gaze over its picture: `draw` for any noun or several, `png` as a notebook shows it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial
from stdiffeye.plotting import canvas, overlay
from stdiffeye.plotting.backdrop import DIM, backdrop
from stdiffeye.plotting.colours import category
from stdiffeye.plotting.density import draw_density

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Noun = Scanpath | Trajectory | Trial

KINDS = ("scanpath", "trajectory", "density")
LONGER_SIDE_IN = 7.0
NOTEBOOK_DPI = 100
# Numbers of one viewer would be hidden by the circles of another.
MAX_NUMBERED = 1


def draw(
    noun: Noun | Sequence[Noun],
    picture: Any = None,
    ax: Axes | None = None,
    *,
    kind: str | None = None,
    colour: str | None = None,
    numbers: bool | None = None,
    dim: float = DIM,
    fit: str | None = None,
    title: str | None = None,
    room_for: Sequence[Noun] = (),
) -> Axes:
    """Draw gaze over its picture, or over a blank frame.

    Parameters
    ----------
    noun : Scanpath, Trajectory or Trial, or a sequence of these
        One viewer, or several of one picture.
    picture : path, PIL image or ndarray, optional
        By default the trial's own, where its file exists.
    ax : matplotlib Axes, optional
        Axes to draw in; by default those of a new figure (`ax.figure`).
    kind : {"scanpath", "trajectory", "density"}, optional
        By default the trajectory, where there is one.
    colour : str, optional
        "time", "sample" (one per noun), or any colour; by default time for one noun, sample for several.
    numbers : bool, optional
        Number the fixations; by default where there is one noun.
    dim : float
        Share by which the picture is darkened.
    fit : {"stretch", "letterbox", "centre"}, optional
        How the picture is positioned in the gaze's frame, see `stdiffeye.plotting.backdrop.backdrop`.
    title : str, optional
        Above the drawing.
    room_for : sequence of nouns
        Other gaze in the same frame that must fit into view, so that several drawings show the same area.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn in.

    Raises
    ------
    InputError
        When there is nothing to draw, frames differ, or the picture does not fit.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath
    >>> ax = draw(Scanpath([[20, 30], [70, 50]], Frame(100, 80)))
    """
    nouns = _as_list(noun)
    frame = nouns[0].frame
    kind = kind or kind_of(nouns)
    if kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    behind = backdrop(_own_picture(nouns) if picture is None else picture, frame, fit)
    points = points_of([*nouns, *room_for], kind)
    with canvas.style():
        if ax is None:
            ax = _new_axes(frame, points)
        overlay.set_view(ax, frame, points)
        behind.show(ax, frame, dim, grey=kind == "density")
        if kind == "density":
            draw_density(ax, [_dwelling(one).xy_px for one in nouns], frame)
        else:
            _draw_each(ax, nouns, kind, colour, numbers)
        box = next((one.target_box_px for one in nouns if isinstance(one, Trial) and one.target_box_px), None)
        if box is not None:
            overlay.draw_target(ax, box)
        if title:
            ax.set_title(title)
    return ax


def png(noun: Noun | Sequence[Noun], **options: Any) -> bytes:
    """Draw gaze as a PNG file in memory.

    Parameters
    ----------
    noun : Scanpath, Trajectory or Trial, or a sequence of these
        As in `draw`.
    **options
        As in `draw`. The trial's own picture is letterboxed where its shape differs.

    Returns
    -------
    bytes
        The file.
    """
    options.setdefault("fit", "letterbox" if options.get("picture") is None else None)
    return canvas.png_bytes(draw(noun, **options), dpi=NOTEBOOK_DPI)


def points_of(nouns: Sequence[Noun], kind: str | None = None) -> list[Any]:
    """Return (n, 2) positions that a drawing of this kind covers, px: corners around circles, and samples."""
    kind = kind or kind_of(nouns)
    paths = [_scanpath(one) for one in nouns] if kind != "density" else []
    lines = [_trajectory(one) for one in nouns] if kind == "trajectory" else []
    found = [path or (line and _extracted(line)) for path, line in zip_longest(paths, lines)]
    return [overlay.circles_px(path) for path in found if path] + [line.xy_px for line in lines if line]


def kind_of(nouns: Sequence[Noun]) -> str:
    """Return the default kind of drawing: trajectories, where there are any."""
    return "trajectory" if any(_trajectory(one) for one in nouns) else "scanpath"


def _draw_each(ax: Axes, nouns: list[Noun], kind: str, colour: str | None, numbers: bool | None) -> None:
    colour = colour or ("time" if len(nouns) == 1 else "sample")
    numbers = len(nouns) <= MAX_NUMBERED if numbers is None else numbers
    for number, one in enumerate(nouns):
        paint = {"time": None, "sample": category(number)}.get(colour, colour)
        scanpath, trajectory = _scanpath(one), _trajectory(one)
        if kind == "trajectory":
            if trajectory is None:
                raise InputError(f"{one!r} has no trajectory to draw: use kind='scanpath'")
            line = overlay.draw_trajectory(ax, trajectory, paint)
            if paint is None and number == 0:
                overlay.time_bar(ax, line, trajectory)
            scanpath = scanpath or _extracted(trajectory)
        elif scanpath is None:
            raise InputError(f"{one!r} has no scanpath to draw: use kind='trajectory'")
        if scanpath is not None:
            overlay.draw_scanpath(ax, scanpath, paint, numbers, hollow=kind == "trajectory")


def _new_axes(frame: Frame, points: list[Any]) -> Axes:
    """Axes that fill a figure of the picture's shape, so that nothing is distorted or left white."""
    scale = LONGER_SIDE_IN / max(frame.width_px, frame.height_px)
    left, right, top, bottom = overlay.view_px(frame, points, room_px=0.0)
    figure = canvas.new_figure((right - left) * scale, (bottom - top) * scale, constrained=False)
    return figure.add_axes((0.0, 0.0, 1.0, 1.0))


def _as_list(noun: Noun | Sequence[Noun]) -> list[Noun]:
    nouns = [noun] if isinstance(noun, Scanpath | Trajectory | Trial) else list(noun)
    if not nouns:
        raise InputError("nothing to draw: the list of gaze is empty")
    for one in nouns:
        if not isinstance(one, Scanpath | Trajectory | Trial):
            raise InputError(f"cannot draw a {type(one).__name__}: expected Scanpath, Trajectory or Trial")
        if one.frame != nouns[0].frame:
            raise InputError(f"gaze of different frames cannot share a picture: {nouns[0].frame} and {one.frame}")
    return nouns


def _own_picture(nouns: list[Noun]) -> Any:
    own = (one.picture for one in nouns if isinstance(one, Trial))
    return next((path for path in own if path is not None and path.is_file()), None)


def _extracted(trajectory: Trajectory) -> Scanpath | None:
    """Fixations to mark where a trajectory comes without them; None where there are none."""
    from stdiffeye.gaze.extraction import extract

    try:
        return extract(trajectory)
    except InputError:
        return None


def _dwelling(noun: Noun) -> Scanpath | Trajectory:
    """What a density counts: fixations where there are any, else samples, which are mostly fixations."""
    gaze = _scanpath(noun) or _trajectory(noun)
    assert gaze is not None
    return gaze


def _scanpath(noun: Noun) -> Scanpath | None:
    return noun.scanpath if isinstance(noun, Trial) else noun if isinstance(noun, Scanpath) else None


def _trajectory(noun: Noun) -> Trajectory | None:
    return noun.trajectory if isinstance(noun, Trial) else noun if isinstance(noun, Trajectory) else None
