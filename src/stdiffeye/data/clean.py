"""The one way from raw samples to a trial, whatever they come from: tracker files, a public set, COCO's recordings.

The order, and why it is this one:

1. **Lids.** Samples that a moving lid bent away are lost. Trials are cut out after that (`gaze.trial_messages`),
   because a blink may lie across a trial's beginning. Lids come before everything else: their jumps would look like
   lost tracking to the gate, and like saccades to the extraction.
2. **Eye.** The eye asked for or, by default, the one that was lost less often in this trial.
3. **Span.** Where the data set gives the fixations, samples before the first and after the last are cut off. The gate
   must not judge what is thrown away.
4. **Gate**, on the samples as they were recorded. Bridging hides short losses, and resampling steps over single
   impossible samples, so that after either the gate sees less than the tracker's faults.
5. **Resample once**, by time and straight to the rate that is wanted. Gaps up to 75 ms are bridged in the same
   interpolation: filling first and resampling afterwards would interpolate twice.
6. **Extract** the scanpath where none is given, from the samples that are kept.
7. **Cut** to what a store holds, 16 fixations and 1500 points, and count the fixation index on that (`fit`).

`fixations` takes steps 1 to 6, `prepare` all of them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trajectory, Trial
from stdiffeye.gaze.cleaning import (
    MAX_FIXATIONS,
    MAX_GAP_MS,
    MAX_POINTS,
    TRIM_RADIUS_PX,
    fixation_span,
    resample,
    truncate,
)
from stdiffeye.gaze.extraction import EXTRACTORS, extract
from stdiffeye.gaze.index import fixation_index
from stdiffeye.gaze.precision import precision_of
from stdiffeye.gaze.quality import Quality, QualityReport, QualityThresholds
from stdiffeye.gaze.recording import Eye
from stdiffeye.gaze.samples import RawTrial, Samples
from stdiffeye.gaze.validations import validation_for


@dataclass(frozen=True)
class CleaningSettings:
    """How raw samples become trials."""

    rate_hz: float = 240.0
    """Samples per second of the trajectories."""
    max_fixations: int = MAX_FIXATIONS
    """Scanpaths of a store are cut after so many fixations."""
    max_points: int = MAX_POINTS
    """Trajectories of a store are cut after so many samples."""
    max_gap_ms: float = MAX_GAP_MS
    """Losses up to this long are bridged by straight lines."""
    trim_radius_px: float = TRIM_RADIUS_PX
    """How near to a given fixation a sample counts as being there."""
    extractor: str = "judd"
    """How fixations are found where the data do not give them: judd, ivt or idt."""
    eye: Eye = "best"
    """best (less often lost in the trial), left, right or mean."""
    thresholds: QualityThresholds = field(default_factory=QualityThresholds)
    """When a trial is dropped."""

    def __post_init__(self) -> None:
        for name in ("rate_hz", "max_fixations", "max_points"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be positive, got {getattr(self, name)!r}")
        if self.extractor not in EXTRACTORS:
            known = ", ".join(EXTRACTORS)
            raise InputError(f"there is no fixation extractor {self.extractor!r}; choose one of {known}")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class PreparedTrial:
    """A trial as the store keeps it; `rho` (T,) only with a trajectory."""

    trial: Trial
    rho: Floats | None
    cut: bool
    """Whether fixations or points were cut off its end."""


def clean(raw: Trial | RawTrial | None, settings: CleaningSettings, report: QualityReport) -> Trial | None:
    """One trial, cleaned in the order above, and counted.

    Parameters
    ----------
    raw : Trial, RawTrial or None
        What a reader returned: raw samples, samples of a constant rate, a scanpath alone, or nothing.
    settings : CleaningSettings
    report : QualityReport
        Counts the trial as kept, or as dropped with the reason.

    Returns
    -------
    Trial or None
        Scanpath and trajectory at `settings.rate_hz`; the scanpath alone where there were no samples; None when it
        is dropped.
    """
    if isinstance(raw, Trial) and raw.trajectory is None:
        report.keep()
        return raw
    try:
        if raw is None:
            raise _Dropped("no fixation and no sample")
        return _from_samples(raw, settings, report)
    except _Dropped as reason:
        report.drop(str(reason))
        return None


def fit(trial: Trial, settings: CleaningSettings) -> PreparedTrial:
    """Cut a clean trial to what a store holds, and count the fixation index of its samples."""
    scanpath, trajectory = trial.scanpath, trial.trajectory
    assert scanpath is not None
    if trajectory is None:
        cut = len(scanpath) > settings.max_fixations
        return PreparedTrial(replace(trial, scanpath=scanpath[: settings.max_fixations]), None, cut)
    shorter_trajectory, shorter = truncate(
        trajectory, scanpath, settings.max_points, settings.max_fixations, settings.trim_radius_px
    )
    cut = len(shorter_trajectory) < len(trajectory) or len(shorter) < len(scanpath)
    kept = replace(trial, scanpath=shorter, trajectory=shorter_trajectory)
    return PreparedTrial(kept, fixation_index(shorter_trajectory, shorter), cut)


class _Dropped(Exception):
    """Why a trial is left out, in words that do not vary from trial to trial."""


def _from_samples(raw: Trial | RawTrial, settings: CleaningSettings, report: QualityReport) -> Trial | None:
    samples, trimmed_ms = _within_fixations(_samples(raw, settings.eye), raw.scanpath, settings)
    quality = Quality.of(samples, settings.thresholds)
    if quality.fault(settings.thresholds) is not None:
        report.add(quality)
        return None
    trajectory = resample(samples.time_ms, samples.xy_px, settings.rate_hz, samples.frame, settings.max_gap_ms)
    scanpath = raw.scanpath or _extracted(trajectory, settings.extractor)
    if (~trajectory.lost).sum() < len(scanpath):
        raise _Dropped("fewer samples than fixations")
    _require_precision(raw, samples, scanpath, settings)
    trial = _trial(raw, trajectory, scanpath, {"trimmed_ms": trimmed_ms} if trimmed_ms else {})
    report.add(quality, synthesised=_own_trajectory(trial).synthesised)
    return trial


def _require_precision(raw: Trial | RawTrial, samples: Samples, scanpath: Scanpath, settings: CleaningSettings) -> None:
    """Drop a trial whose precision or validation is worse than is borne; what is not known is no fault."""
    worst_rms, worst_validation = settings.thresholds.max_rms_s2s_deg, settings.thresholds.max_validation_deg
    if worst_rms is not None:
        precision = precision_of(samples, scanpath)
        if precision is not None and precision.rms_s2s_deg > worst_rms:
            raise _Dropped(f"precision worse than {worst_rms:g} deg")
    if worst_validation is not None and isinstance(raw, RawTrial):
        eye = raw.recording.chosen_eye(settings.eye)
        validation = validation_for(raw.validations, eye, float(raw.recording.time_ms[0]))
        if validation is not None and validation.mean_deg > worst_validation:
            raise _Dropped(f"validation error above {worst_validation:g} deg")


def _samples(raw: Trial | RawTrial, eye: Eye) -> Samples:
    return Samples.of(raw.recording, eye) if isinstance(raw, RawTrial) else Samples.of(_own_trajectory(raw))


def _within_fixations(samples: Samples, scanpath: Scanpath | None, settings: CleaningSettings) -> tuple[Samples, float]:
    """The samples from the first given fixation to the last, and how many ms were cut in front."""
    if scanpath is None:
        return samples, 0.0
    try:
        start, stop = fixation_span(samples.xy_px, scanpath, settings.trim_radius_px)
    except InputError:
        radius_px = f"{settings.trim_radius_px:g}"
        raise _Dropped(f"no sample within {radius_px} px of the first or last fixation") from None
    return samples[start:stop], float(samples.time_ms[start] - samples.time_ms[0])


def _extracted(trajectory: Trajectory, extractor: str) -> Scanpath:
    try:
        return extract(trajectory, extractor)
    except InputError:
        raise _Dropped("no fixation found") from None


def _trial(raw: Trial | RawTrial, trajectory: Trajectory, scanpath: Scanpath, details: dict[str, Any]) -> Trial:
    if isinstance(raw, RawTrial):
        return raw.cleaned(trajectory, scanpath, **details)
    trajectory = replace(trajectory, synthesised=_own_trajectory(raw).synthesised)
    return replace(raw, trajectory=trajectory, scanpath=scanpath, details=raw.details | details)


def _own_trajectory(trial: Trial) -> Trajectory:
    assert trial.trajectory is not None
    return trial.trajectory
