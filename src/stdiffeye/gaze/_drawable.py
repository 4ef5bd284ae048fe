"""What lets gaze draw and measure itself: `.plot()`, `.aoi()`, and in a notebook a drawing unasked.

These are the imports that point up: drawing and statistics lie above, and are loaded when they are called for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from stdiffeye.statistics.aoi import AreaReport


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

    def aoi(self, areas: Any, **options: Any) -> AreaReport:
        """Measure what its viewers do with areas of interest.

        Parameters
        ----------
        areas : Areas, or dict of str to Areas
            For all pictures, or by the picture's name.
        **options
            Those of `stdiffeye.statistics.aoi.measure_areas`: `replicates`, `seed`.

        Returns
        -------
        AreaReport
            Prints as a table; `summary()`, `long()`, `wide()`, `transitions()` and `designs()` give rows.
        """
        from stdiffeye.statistics.aoi import measure_areas

        gaze: Any = self
        return measure_areas(gaze, areas, **options)

    def _repr_png_(self) -> bytes | None:
        from stdiffeye.plotting import png

        return png(self._drawn())

    def _drawn(self) -> Any:
        """What is handed to the drawing functions."""
        return self
