"""A model of ours as a `ScanpathModel` of pysaliency, so that all of its evaluation applies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.generation.trained import Model


def history_of(x_hist: ArrayLike, y_hist: ArrayLike, t_hist: ArrayLike, frame: Frame) -> Scanpath | None:
    """Fixations so far as pysaliency states them: px, seconds, NaN where there is none.

    Times that do not rise, or that only count the fixations, are left out.
    """
    x, y, t = (np.atleast_1d(np.asarray(column, dtype=np.float64)) for column in (x_hist, y_hist, t_hist))
    if x.shape != y.shape or x.ndim != 1:
        raise InputError(f"x_hist and y_hist must be lists of the same length, got {x.shape} and {y.shape}")
    there = ~(np.isnan(x) | np.isnan(y))
    if not there.any():
        return None
    known = t.shape == x.shape and np.isfinite(t[there]).all() and (np.diff(t[there]) >= 0).all()
    counts = known and np.array_equal(t[there], np.arange(there.sum()))
    onset_ms = t[there] * 1000 if known and not counts else None
    return Scanpath(np.column_stack([x, y])[there], frame, onset_ms=onset_ms)


def scanpath_model(model: Model, task: str = "", style: str | None = None) -> Any:
    """Wrap a model for pysaliency.

    Parameters
    ----------
    model : Model
        What `stdiffeye.load` gives.
    task : str
        What is searched for; a task among the attributes of a fixation comes first.
    style : str, optional
        Data set whose viewing style is wanted; by default the model's own.

    Returns
    -------
    pysaliency.ScanpathModel
        With `conditional_log_density`, `log_likelihoods`, `information_gain`, ….

    Raises
    ------
    InputError
        Where pysaliency is not installed.
    """
    try:
        from pysaliency.datasets import as_stimulus
        from pysaliency.models import ScanpathModel
    except ImportError:
        raise InputError("this needs pysaliency: pip install pysaliency 'setuptools<81'") from None

    class Wrapped(ScanpathModel):
        """The density of the next fixation by a model of stdiffeye."""

        def conditional_log_density(
            self,
            stimulus: Any,
            x_hist: ArrayLike,
            y_hist: ArrayLike,
            t_hist: ArrayLike,
            attributes: dict[str, Any] | None = None,
            out: Floats | None = None,
        ) -> Floats:
            picture = as_stimulus(stimulus).stimulus_data
            frame = Frame(picture.shape[1], picture.shape[0])
            wanted = str((attributes or {}).get("task", task))
            return model.log_density(picture, history_of(x_hist, y_hist, t_hist, frame), wanted, style)

    return Wrapped()
