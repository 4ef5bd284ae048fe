"""What the paper's form generates, before it is gaze in the pixels of a picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stdiffeye.gaze import Frame, Scanpath, Trajectory


@dataclass(frozen=True)
class GeneratedSequence:
    """One generated sequence of L samples, or fixations."""

    xy: NDArray[np.float64]  # (L, 2) in [0, 1] of the picture
    duration_ms: NDArray[np.float64] | None  # (L,) of fixations; None for samples
    rho: NDArray[np.float64] | None  # (L,) the generated fixation index, where it is one of the channels

    def to_trajectory(self, frame: Frame, rate_hz: float) -> Trajectory:
        return Trajectory(frame.denormalise(self.xy), rate_hz, frame, synthesised=True)

    def to_scanpath(self, frame: Frame) -> Scanpath:
        return Scanpath(frame.denormalise(self.xy), frame, self.duration_ms)
