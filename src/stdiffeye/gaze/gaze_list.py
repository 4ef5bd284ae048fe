"""Several trajectories, scanpaths or trials, as readers and models return them: a list that shows itself."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from stdiffeye.errors import InputError
from stdiffeye.gaze._drawable import Drawable
from stdiffeye.gaze.types import Scanpath, Trajectory, Trial

AnyGaze = Scanpath | Trajectory | Trial
Noun = TypeVar("Noun", bound=AnyGaze, covariant=True)

MOST_DRAWN = 20  # viewers in one drawing; more hide each other
LINES_SHOWN = 3


class GazeList(Drawable, Sequence[Noun], Generic[Noun]):
    """An immutable sequence of `Trajectory`, `Scanpath` or `Trial`.

    It is indexed, sliced, joined by `+` and compared as a list is. In a notebook it shows itself: a line that says
    what it holds, and a drawing of the first stimulus' gaze.

    Parameters
    ----------
    gaze : iterable of Trajectory, Scanpath or Trial
        What it holds, in order.
    sampling : str
        How a model sampled it, "independent" or "representative"; "" for gaze that was not generated together.

    Raises
    ------
    InputError
        When something else is among them.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath
    >>> frame = Frame(100, 80)
    >>> gaze = GazeList([Scanpath([[20, 30], [70, 50]], frame), Scanpath([[50, 40]], frame)])
    >>> gaze
    GazeList of 2:
      Scanpath(2 fixations, no durations, 100×80 px)
      Scanpath(1 fixations, no durations, 100×80 px)
    >>> gaze[:1]
    GazeList of 1:
      Scanpath(2 fixations, no durations, 100×80 px)
    """

    __slots__ = ("_gaze", "sampling")
    _gaze: tuple[Noun, ...]
    sampling: str

    def __init__(self, gaze: Iterable[Noun] = (), sampling: str = "") -> None:
        items = tuple(gaze)
        for one in items:
            if not isinstance(one, AnyGaze):
                raise InputError(f"a GazeList holds Scanpath, Trajectory or Trial, got {type(one).__name__}")
        object.__setattr__(self, "_gaze", items)
        object.__setattr__(self, "sampling", sampling)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a GazeList does not change: make another one instead of setting {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return GazeList, (self._gaze, self.sampling)

    def __len__(self) -> int:
        return len(self._gaze)

    def __iter__(self) -> Iterator[Noun]:
        return iter(self._gaze)

    @overload
    def __getitem__(self, index: int) -> Noun: ...

    @overload
    def __getitem__(self, index: slice) -> GazeList[Noun]: ...

    def __getitem__(self, index: int | slice) -> Noun | GazeList[Noun]:
        return GazeList(self._gaze[index], self.sampling) if isinstance(index, slice) else self._gaze[index]

    def __add__(self, other: Iterable[Any]) -> GazeList[Any]:
        return GazeList((*self._gaze, *other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GazeList | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    def __repr__(self) -> str:
        shown = [f"  {one!r}" for one in self._gaze[:LINES_SHOWN]]
        more = [f"  … and {len(self) - LINES_SHOWN:,} more"] if len(self) > LINES_SHOWN else []
        return "\n".join([f"GazeList of {len(self):,}{':' if shown else ''}", *shown, *more])

    def _drawn(self) -> list[Noun]:
        """The gaze of the first stimulus: what can share one picture."""
        if not self._gaze:
            raise InputError("there is nothing to draw: the list of gaze is empty")
        first = _stimulus(self._gaze[0])
        return [one for one in self._gaze if _stimulus(one) == first][:MOST_DRAWN]

    def _repr_png_(self) -> bytes | None:
        return super()._repr_png_() if self._gaze else None

    def _repr_html_(self) -> str:
        stimuli = len({_stimulus(one) for one in self._gaze})
        kinds = " and ".join(sorted({type(one).__name__ for one in self._gaze}))
        line = f"<p>{len(self):,} × {kinds or 'nothing'} on {stimuli:,} stimul{'us' if stimuli == 1 else 'i'}</p>"
        drawing = self._repr_png_()
        if drawing is None:
            return line
        return f'{line}<img alt="gaze" src="data:image/png;base64,{base64.b64encode(drawing).decode()}">'


def _stimulus(gaze: AnyGaze) -> tuple[Any, ...]:
    """What gaze must share to share a picture."""
    return (gaze.frame, *(gaze.key if isinstance(gaze, Trial) else ()))
