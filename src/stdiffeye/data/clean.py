"""One raw trial to what the store keeps: aligned, gated, resampled, with its scanpath and its fixation index.

Order: trim raw samples to the first and last fixation where a scanpath is given → the quality gate, on the samples
as they were recorded → resample by time, gaps up to 75 ms bridged → extract the scanpath where none is given → at
most 16 fixations and 1500 points → fixation index.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trajectory, Trial
from stdiffeye.gaze.cleaning import (
    MAX_FIXATIONS,
    MAX_GAP_MS,
    MAX_POINTS,
    TRIM_RADIUS_PX,
    resample,
    trimmed_range,
    truncate,
)
from stdiffeye.gaze.fixations import extract
from stdiffeye.gaze.index import fixation_index
from stdiffeye.gaze.quality import Quality, QualityReport, QualityThresholds


@dataclass(frozen=True)
class Settings:
    """How trials are prepared."""

    rate_hz: float = 240.0
    max_fixations: int = MAX_FIXATIONS
    max_points: int = MAX_POINTS
    max_gap_ms: float = MAX_GAP_MS
    trim_radius_px: float = TRIM_RADIUS_PX
    extractor: str = "judd"
    thresholds: QualityThresholds = field(default_factory=QualityThresholds)

    def __post_init__(self) -> None:
        for name in ("rate_hz", "max_fixations", "max_points"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be positive, got {getattr(self, name)!r}")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Prepared:
    """A trial as the store keeps it; `rho` (T,) only with a trajectory."""

    trial: Trial
    rho: NDArray[np.float64] | None
    cut: bool
    """Whether fixations or points were cut off its end."""


def clean(trial: Trial | None, settings: Settings, report: QualityReport) -> Prepared | None:
    """Prepare one trial and count it in `report`; None when it is dropped."""
    if trial is None:
        report.drop("no fixation and no sample")
        return None
    if trial.trajectory is None:
        report.keep()
        return _cut_scanpath(trial, settings)
    try:
        raw, shift_ms = _aligned(trial.trajectory, trial.scanpath, settings)
    except InputError:
        report.drop(f"no sample within {settings.trim_radius_px:g} px of the first or last fixation")
        return None
    quality = Quality.of(raw, settings.thresholds)
    fault = quality.fault(settings.thresholds)
    prepared = None if fault else _with_trajectory(replace(trial, trajectory=raw), shift_ms, settings)
    if fault is None and prepared is None:
        report.drop("fewer samples than fixations")
    else:
        report.add(quality, synthesised=raw.synthesised)
    return prepared


def _aligned(trajectory: Trajectory, scanpath: Scanpath | None, settings: Settings) -> tuple[Trajectory, float]:
    """The samples from the first fixation to the last, and how many ms were cut in front."""
    if scanpath is None:
        return trajectory, 0.0
    start, stop = trimmed_range(trajectory, scanpath, settings.trim_radius_px)
    return trajectory[start:stop], start * 1000 / trajectory.rate_hz


def _with_trajectory(trial: Trial, shift_ms: float, settings: Settings) -> Prepared | None:
    raw = trial.trajectory
    assert raw is not None
    steady = resample(raw.time_ms, raw.xy_px, settings.rate_hz, raw.frame, settings.max_gap_ms)
    steady = replace(steady, synthesised=raw.synthesised)
    scanpath = trial.scanpath
    try:
        if scanpath is None:
            scanpath = extract(steady, settings.extractor)
        trajectory, shorter = truncate(
            steady, scanpath, settings.max_points, settings.max_fixations, settings.trim_radius_px
        )
        rho = fixation_index(trajectory, shorter)
    except InputError:
        return None
    details = trial.details | ({"trimmed_ms": shift_ms} if shift_ms else {})
    cut = len(trajectory) < len(steady) or len(shorter) < len(scanpath)
    return Prepared(replace(trial, scanpath=shorter, trajectory=trajectory, details=details), rho, cut)


def _cut_scanpath(trial: Trial, settings: Settings) -> Prepared:
    assert trial.scanpath is not None
    cut = len(trial.scanpath) > settings.max_fixations
    return Prepared(replace(trial, scanpath=trial.scanpath[: settings.max_fixations]), None, cut)
