"""I-DT: a fixation is a stretch in which the eye stays within a small box.

Source: Salvucci and Goldberg (ETRA 2000). The dispersion is (max x − min x) + (max y − min y). A lost sample ends a
window.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stdiffeye.gaze._scale import px_per_degree_of, samples_of
from stdiffeye.gaze.types import Trajectory

# Chosen by `stdiffeye reproduce extractors` on recordings that two experts labelled.
MAX_DISPERSION_DEG = 2.5
MIN_FIXATION_MS = 100.0


def fixation_intervals(
    trajectory: Trajectory,
    px_per_degree: float | None = None,
    max_dispersion_deg: float = MAX_DISPERSION_DEG,
    min_fixation_ms: float = MIN_FIXATION_MS,
) -> NDArray[np.int64]:
    """Where fixations begin and end by a threshold on dispersion.

    Parameters
    ----------
    trajectory : Trajectory
    px_per_degree : float, optional
        For frames that do not know it.
    max_dispersion_deg : float
        Width plus height of the box.
    min_fixation_ms : float
        The shortest fixation.

    Returns
    -------
    array, shape (M, 2)
        First sample of each fixation, and the one after its last.
    """
    from stdiffeye.gaze import _kernels

    scale = px_per_degree_of(trajectory.frame, px_per_degree)
    min_samples = samples_of(min_fixation_ms, trajectory.rate_hz)
    return _kernels.dispersion_windows(trajectory.xy_px, max_dispersion_deg * scale, min_samples)
