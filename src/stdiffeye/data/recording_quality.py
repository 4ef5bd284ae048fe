"""Data quality of recordings as papers report it: per trial, per viewer and per file, what was kept and what was not.

Conventions: precision is that of `gaze.precision`, on samples as they were recorded. The effective rate counts the
samples in which the eye was seen. A viewer's and a file's precision is the median over the trials that were kept, loss
is over all samples, and the validation error is the mean over the validations that were in force.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.data.clean import CleaningSettings
from stdiffeye.errors import InputError
from stdiffeye.files import read_json, write_json
from stdiffeye.gaze import Trial
from stdiffeye.gaze.precision import precision_of
from stdiffeye.gaze.quality import Quality, QualityReport
from stdiffeye.gaze.samples import RawTrial, Samples
from stdiffeye.gaze.validations import Validation, validation_for

MEDIANS = ("rms_s2s_deg", "rms_s2s_resampled_deg", "sd_deg", "bcea_deg2", "drift_deg")
DIGITS = 5


@dataclass(frozen=True)
class TrialQuality:
    """Data quality of one trial; None is unknown.

    Attributes
    ----------
    file, subject, name : str
    dropped : str or None
        Why; None for a trial that was kept.
    eye : str
        Whose samples these are.
    rate_hz, effective_rate_hz : float
        Nominal, and samples per second in which the eye was seen.
    duration_ms, missing_share, out_of_frame_share, impossible_speed_count
        As of `Quality`.
    rms_s2s_deg, sd_deg, bcea_deg2 : float or None
        Precision as recorded.
    rms_s2s_resampled_deg : float or None
        RMS from sample to sample of the trajectory, which is what generated gaze has, too.
    validation_mean_deg, validation_max_deg : float or None
        Of the last validation before the trial.
    drift_deg : float or None
        How far drift correction shifted the gaze.
    """

    file: str
    subject: str
    name: str
    dropped: str | None
    eye: str
    rate_hz: float
    effective_rate_hz: float
    duration_ms: float
    missing_share: float
    out_of_frame_share: float
    impossible_speed_count: int | None
    rms_s2s_deg: float | None = None
    sd_deg: float | None = None
    bcea_deg2: float | None = None
    rms_s2s_resampled_deg: float | None = None
    validation_mean_deg: float | None = None
    validation_max_deg: float | None = None
    drift_deg: float | None = None

    @classmethod
    def of(
        cls, raw: RawTrial, trial: Trial | None, file: str, dropped: str | None, settings: CleaningSettings
    ) -> TrialQuality:
        """Measure a trial: the raw one, and what cleaning made of it (None when it was dropped)."""
        samples, eye = Samples.of(raw.recording, settings.eye), raw.recording.chosen_eye(settings.eye)
        quality = Quality.of(samples, settings.thresholds)
        seen = int((~samples.lost).sum())
        validation = validation_for(raw.validations, eye, float(samples.time_ms[0]))
        return cls(
            file=file,
            subject=raw.subject,
            name=raw.name,
            dropped=dropped,
            eye=eye,
            rate_hz=samples.rate_hz,
            effective_rate_hz=round(seen / samples.duration_ms * 1000, 2),
            duration_ms=round(quality.duration_ms, 2),
            missing_share=round(quality.missing_share, DIGITS),
            out_of_frame_share=round(quality.out_of_frame_share, DIGITS),
            impossible_speed_count=quality.impossible_speed_count,
            validation_mean_deg=None if validation is None else validation.mean_deg,
            validation_max_deg=None if validation is None else validation.max_deg,
            drift_deg=raw.details.get("drift_deg"),
            **_precision(samples, trial),
        )


@dataclass(frozen=True)
class RecordingQuality:
    """Data quality of all trials, the counts of the gate, the rate that trials were resampled to, and validations."""

    trials: list[TrialQuality] = field(default_factory=list)
    report: QualityReport = field(default_factory=QualityReport)
    resampled_hz: float = 240.0
    validations: dict[tuple[str, float, str], Validation] = field(default_factory=dict)
    """File, time and eye → validation, each once however many trials it was in force for."""

    def add(
        self, raw: RawTrial, trial: Trial | None, file: str, dropped: str | None, settings: CleaningSettings
    ) -> None:
        """Take in one trial.

        Parameters
        ----------
        raw : RawTrial
            As it was recorded.
        trial : Trial or None
            What cleaning made of it; None when it was dropped.
        file : str
            Where it is from.
        dropped : str or None
            Why it was dropped.
        settings : CleaningSettings
            Those that it was cleaned with.
        """
        self.trials.append(TrialQuality.of(raw, trial, file, dropped, settings))
        self.validations.update({(file, one.time_ms, one.eye): one for one in raw.validations})

    def by(self, key: str) -> list[dict[str, Any]]:
        """A row per viewer (`"subject"`) or file (`"file"`), in the order in which they come."""
        names = dict.fromkeys(getattr(one, key) for one in self.trials)
        return [{key: name} | _summary([t for t in self.trials if getattr(t, key) == name]) for name in names]

    def overall(self) -> dict[str, Any]:
        """The same over all trials."""
        return _summary(self.trials)

    def as_dict(self) -> dict[str, Any]:
        """JSON values: the counts of the gate, then overall, files, viewers, validations and trials."""
        return self.report.as_dict() | {
            "resampled_hz": self.resampled_hz,
            "overall": self.overall(),
            "files": self.by("file"),
            "viewers": self.by("subject"),
            "validations": [{"file": key[0]} | one.as_dict() for key, one in self.validations.items()],
            "trials": [asdict(one) for one in self.trials],
        }

    def save(self, path: str | Path) -> None:
        """Write quality.json."""
        write_json(path, self.as_dict())


def tracker_precision_deg(path: str | Path) -> tuple[float, dict[str, float]]:
    """Precision of the recordings that a quality.json describes, at the rate of trajectories.

    Parameters
    ----------
    path : str or Path
        The quality.json of `stdiffeye fixations`.

    Returns
    -------
    overall : float
        RMS from sample to sample, degrees.
    by_viewer : dict of str to float
        The same of each viewer who has one.

    Raises
    ------
    InputError
        When the file is another, or when no precision is known.
    """
    values = read_json(path)
    try:
        overall = values["overall"]["rms_s2s_resampled_deg"]
        viewers = {str(row["subject"]): row["rms_s2s_resampled_deg"] for row in values["viewers"]}
    except (KeyError, TypeError):
        raise InputError(f"{path} is not the quality.json of `stdiffeye fixations`") from None
    known = {name: float(value) for name, value in viewers.items() if _is_precision(value)}
    if not _is_precision(overall):
        raise InputError(f"{path} holds no precision: degrees need px per degree, see `fixations --px-per-degree`")
    return float(overall), known


def _is_precision(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


def _precision(samples: Samples, trial: Trial | None) -> dict[str, float | None]:
    if trial is None or trial.scanpath is None or trial.trajectory is None:
        return {}
    recorded = precision_of(samples, trial.scanpath)
    resampled = precision_of(Samples.of(trial.trajectory), trial.scanpath)
    if recorded is None or resampled is None:
        return {}
    return {
        "rms_s2s_deg": round(recorded.rms_s2s_deg, DIGITS),
        "sd_deg": round(recorded.sd_deg, DIGITS),
        "bcea_deg2": round(recorded.bcea_deg2, DIGITS),
        "rms_s2s_resampled_deg": round(resampled.rms_s2s_deg, DIGITS),
    }


def _summary(trials: Sequence[TrialQuality]) -> dict[str, Any]:
    kept = [one for one in trials if one.dropped is None]
    seconds = np.array([one.duration_ms / 1000 for one in trials])
    weight = seconds if seconds.sum() > 0 else None
    validations = [(one.validation_mean_deg, one.validation_max_deg) for one in trials]
    known = sorted({pair for pair in validations if None not in pair})
    return {
        "trials": len(trials),
        "kept": len(kept),
        "rates_hz": sorted({one.rate_hz for one in trials}),
        "effective_rate_hz": _rounded(np.average([one.effective_rate_hz for one in trials], weights=weight), 2),
        "missing_share": _rounded(np.average([one.missing_share for one in trials], weights=weight)),
        **{name: _median([getattr(one, name) for one in kept]) for name in MEDIANS},
        "validation_mean_deg": _rounded(np.mean([mean for mean, _ in known])) if known else None,
        "validation_max_deg": max((largest for _, largest in known if largest is not None), default=None),
    }


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _rounded(np.median(known)) if known else None


def _rounded(value: Any, digits: int = DIGITS) -> float:
    return round(float(value), digits)
