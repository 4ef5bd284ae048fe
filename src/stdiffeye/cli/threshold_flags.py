"""When a trial is dropped, as flags of `fixations` and `prepare`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stdiffeye.gaze.quality import QualityThresholds


@dataclass(frozen=True)
class ThresholdFlags:
    """Rules of the gate; the fields of `QualityThresholds` under the names of flags."""

    max_missing: float = 0.25
    """Drop trials with a larger share of lost samples."""
    max_outside: float = 0.5
    """Drop trials with a larger share off the screen."""
    impossible_speed: float = 1000.0
    """deg/s that no eye moves from one sample to the next."""
    max_impossible_steps: int = 0
    """Drop trials with more such steps; -1 keeps all."""
    max_rms_deg: float | None = None
    """Drop trials of worse precision (RMS-S2S within fixations)."""
    max_validation_deg: float | None = None
    """Drop trials after a worse validation (mean error)."""

    def thresholds(self) -> QualityThresholds:
        """The rules that cleaning takes."""
        from stdiffeye.gaze.quality import QualityThresholds

        return QualityThresholds(
            max_missing_share=self.max_missing,
            max_out_of_frame_share=self.max_outside,
            impossible_speed_deg_s=self.impossible_speed,
            max_impossible_speed_count=None if self.max_impossible_steps < 0 else self.max_impossible_steps,
            max_rms_s2s_deg=self.max_rms_deg,
            max_validation_deg=self.max_validation_deg,
        )
