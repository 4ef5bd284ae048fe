"""What lets gaze draw, measure and tabulate itself: `.plot()`, `.aoi()`, `.to_pandas()`; in a notebook unasked.

Here are the imports that point up: drawing and statistics lie above, and are loaded when they are called for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stdiffeye.errors import InputError

if TYPE_CHECKING:
    import mne
    import pandas
    import polars
    import pymovements
    import pysaliency
    from matplotlib.axes import Axes

    from stdiffeye.gaze.tidy import TableName
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

    def to_pandas(self, table: TableName = "fixations") -> pandas.DataFrame:
        """Its fixations, saccades or samples as a pandas table; see `stdiffeye.gaze.tidy`.

        Parameters
        ----------
        table : "fixations", "saccades" or "samples"
            What a row is.

        Returns
        -------
        pandas.DataFrame
            A row per fixation, saccade or sample.

        Raises
        ------
        InputError
            Where pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise InputError("to_pandas needs pandas: pip install pandas") from None
        return pandas.DataFrame(self._tidy(table))

    def to_polars(self, table: TableName = "fixations") -> polars.DataFrame:
        """Its fixations, saccades or samples as a polars table; see `stdiffeye.gaze.tidy`.

        Parameters
        ----------
        table : "fixations", "saccades" or "samples"
            What a row is.

        Returns
        -------
        polars.DataFrame
            A row per fixation, saccade or sample.

        Raises
        ------
        InputError
            Where polars is not installed.
        """
        try:
            import polars
        except ImportError:
            raise InputError("to_polars needs polars: pip install polars") from None
        words = {"name": polars.String, "task": polars.String, "subject": polars.String}
        columns = {key: values.tolist() if key in words else values for key, values in self._tidy(table).items()}
        return polars.DataFrame(columns, schema_overrides=words, nan_to_null=True)

    def to_mne(self) -> mne.io.RawArray:
        """Its samples as MNE's Raw, fixations as annotations; see `stdiffeye.gaze.bridges`.

        Raises
        ------
        InputError
            Where it has no samples, or where MNE is not installed.
        """
        from stdiffeye.gaze.bridges import to_mne

        gaze: Any = self
        return to_mne(gaze)

    def to_pymovements(self) -> pymovements.Gaze:
        """Its samples as pymovements' Gaze, fixations as events; see `stdiffeye.gaze.bridges`.

        Raises
        ------
        InputError
            Where it has no samples, or where pymovements is not installed.
        """
        from stdiffeye.gaze.bridges import to_pymovements

        gaze: Any = self
        return to_pymovements(gaze)

    def to_pysaliency(self) -> pysaliency.FixationTrains:
        """Its scanpaths as pysaliency's fixation trains; see `stdiffeye.gaze.bridges`.

        Raises
        ------
        InputError
            Where it has no scanpath, or where pysaliency is not installed.
        """
        from stdiffeye.gaze.bridges import to_pysaliency

        gaze: Any = self
        return to_pysaliency(gaze)

    def _tidy(self, table: TableName) -> dict[str, Any]:
        from stdiffeye.gaze.tidy import tidy_table

        gaze: Any = self
        return tidy_table(gaze, table)

    def _repr_png_(self) -> bytes | None:
        from stdiffeye.plotting import png

        return png(self._drawn())

    def _drawn(self) -> Any:
        """What is handed to the drawing functions."""
        return self
