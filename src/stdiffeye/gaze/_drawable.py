"""What lets gaze draw itself, in a script by `.plot()` and in a notebook unasked.

This is the one import that points up: drawing lies two rooms above, and is loaded when it is called for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Drawable:
    """Base of the nouns that draw themselves on their picture."""

    def plot(self, **options: Any) -> Axes:
        """Draw on the picture, or on a blank frame.

        Parameters
        ----------
        **options
            Those of `stdiffeye.plotting.draw`: `picture`, `ax`, `kind`, `colour`, `numbers`, `title`, …

        Returns
        -------
        matplotlib.axes.Axes
            The axes drawn in; `stdiffeye.plotting.save` writes them to a file.
        """
        from stdiffeye.plotting import draw

        return draw(self._drawn(), **options)

    def _repr_png_(self) -> bytes | None:
        from stdiffeye.plotting import png

        return png(self._drawn())

    def _drawn(self) -> Any:
        """What is handed to the drawing functions."""
        return self
