"""The gate: how good one trajectory is, and what a preparation kept and dropped and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.files import read_json, write_json
from stdiffeye.gaze.samples import Samples
from stdiffeye.gaze.types import Trajectory


@dataclass(frozen=True)
class QualityThresholds:
    """When a trial is dropped. None switches a rule off."""

    max_missing_share: float | None = 0.25
    """Largest share of lost samples."""
    max_out_of_frame_share: float | None = 0.5
    """Largest share of the samples that are there, outside the frame; fewer are kept, counted and reported."""
    impossible_speed_deg_s: float = 1000.0
    """From one sample to the next no eye is faster than this: the tracker lost it."""
    max_impossible_speed_count: int | None = 0
    """How many such steps are borne."""
    min_duration_ms: float | None = None
    """Shortest trajectory."""
    max_rms_s2s_deg: float | None = None
    """Worst precision within fixations, RMS from sample to sample as recorded."""
    max_validation_deg: float | None = None
    """Worst mean error of the last validation; trials without one are kept."""

    def __post_init__(self) -> None:
        for name in ("max_missing_share", "max_out_of_frame_share"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise InputError(f"{name} is a share between 0 and 1, got {value!r}")
        if not self.impossible_speed_deg_s > 0:
            raise InputError(f"impossible_speed_deg_s must be positive, got {self.impossible_speed_deg_s!r}")
        for name in ("max_impossible_speed_count", "min_duration_ms", "max_rms_s2s_deg", "max_validation_deg"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"{name} must not be negative, got {value!r}")


DEFAULT_THRESHOLDS = QualityThresholds()
GAP_STEPS = 1.5  # a step this many times the nominal one has lost a sample, and tells no speed


@dataclass(frozen=True)
class Quality:
    """How good one trajectory is.

    Attributes
    ----------
    sample_count : int
        Samples that there should be; missing rows count.
    duration_ms : float
    missing_share : float
        Share of them that is lost.
    out_of_frame_share : float
        Share of the others that lies outside the frame.
    impossible_speed_count : int or None
        Steps that no eye makes; None where the frame has no px_per_degree.
    peak_speed_deg_s : float or None
    """

    sample_count: int
    duration_ms: float
    missing_share: float
    out_of_frame_share: float
    impossible_speed_count: int | None
    peak_speed_deg_s: float | None

    @classmethod
    def of(cls, gaze: Trajectory | Samples, thresholds: QualityThresholds = DEFAULT_THRESHOLDS) -> Quality:
        """Measure gaze; rows that are missing from raw samples count as lost ones do.

        Parameters
        ----------
        gaze : Trajectory or Samples
            Best the samples as they were recorded: resampling hides short losses and single impossible steps.
        thresholds : QualityThresholds
            Only the impossible speed matters here.

        Returns
        -------
        Quality
        """
        samples = Samples.of(gaze) if isinstance(gaze, Trajectory) else gaze
        seen = ~samples.lost
        outside = seen & ~samples.frame.contains(samples.xy_px)
        expected = max(len(samples), round(samples.duration_ms * samples.rate_hz / 1000))
        count: int | None = None
        peak: float | None = None
        if samples.frame.px_per_degree is not None:
            speed = _speeds_px_s(samples) / samples.frame.px_per_degree
            count = int((speed > thresholds.impossible_speed_deg_s).sum())
            peak = float(speed.max(initial=0.0))
        return cls(
            sample_count=expected,
            duration_ms=samples.duration_ms,
            missing_share=(expected - int(seen.sum())) / expected,
            out_of_frame_share=float(outside.sum() / max(int(seen.sum()), 1)),
            impossible_speed_count=count,
            peak_speed_deg_s=peak,
        )

    def fault(self, thresholds: QualityThresholds = DEFAULT_THRESHOLDS) -> str | None:
        """Say why a trial is dropped.

        Parameters
        ----------
        thresholds : QualityThresholds
            What is allowed.

        Returns
        -------
        str or None
            A reason that does not vary from trial to trial; None where the trial is kept.
        """
        limit = thresholds
        if self.missing_share == 1:
            return "every sample lost"
        if limit.max_missing_share is not None and self.missing_share > limit.max_missing_share:
            return f"more than {limit.max_missing_share:.0%} of samples lost"
        allowed = limit.max_impossible_speed_count
        if allowed is not None and self.impossible_speed_count is not None and self.impossible_speed_count > allowed:
            return f"faster than {limit.impossible_speed_deg_s:g} deg/s"
        if limit.max_out_of_frame_share is not None and self.out_of_frame_share > limit.max_out_of_frame_share:
            return f"more than {limit.max_out_of_frame_share:.0%} of samples outside the frame"
        if limit.min_duration_ms is not None and self.duration_ms < limit.min_duration_ms:
            return f"shorter than {limit.min_duration_ms:g} ms"
        return None


@dataclass
class QualityReport:
    """Counts over many trials: kept, dropped and why. Add trials as they come, merge reports of parallel workers.

    Parameters
    ----------
    thresholds : QualityThresholds
        When a trial is dropped.
    kept : int
        Trials that were kept.
    dropped : Counter of str
        Reason → trials that were dropped.
    sample_count, missing_count, out_of_frame_count : int or float
        Samples of all measured trials: all, lost, outside the frame.
    impossible_speed_count, impossible_speed_trials : int
        Steps that are faster than an eye, and the trials that have any.
    synthesised : int
        Kept trials whose samples were made of fixations.

    Examples
    --------
    >>> report = QualityReport()
    >>> report.drop("no sample within 20 px of the first fixation")
    >>> print(report)
    0 of 1 trials kept
      dropped 1: no sample within 20 px of the first fixation
    """

    thresholds: QualityThresholds = DEFAULT_THRESHOLDS
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    sample_count: int = 0
    missing_count: float = 0.0
    out_of_frame_count: float = 0.0
    impossible_speed_count: int = 0
    impossible_speed_trials: int = 0
    synthesised: int = 0

    def admit(self, trajectory: Trajectory) -> bool:
        """Measure a trajectory, count it, and say whether it is kept.

        Parameters
        ----------
        trajectory : Trajectory
            The samples of a trial.

        Returns
        -------
        bool
            True where the trial is kept.
        """
        quality = Quality.of(trajectory, self.thresholds)
        return self.add(quality, synthesised=trajectory.synthesised)

    def add(self, quality: Quality, synthesised: bool = False) -> bool:
        """Count a measured trajectory, kept or not, and say whether it is kept.

        Parameters
        ----------
        quality : Quality
            Its measures.
        synthesised : bool
            Whether the samples were made of fixations.

        Returns
        -------
        bool
            True where the trial is kept.
        """
        missing = quality.missing_share * quality.sample_count
        self.sample_count += quality.sample_count
        self.missing_count += missing
        self.out_of_frame_count += quality.out_of_frame_share * (quality.sample_count - missing)
        self.impossible_speed_count += quality.impossible_speed_count or 0
        self.impossible_speed_trials += bool(quality.impossible_speed_count)
        fault = quality.fault(self.thresholds)
        if fault is None:
            self.keep()
            self.synthesised += synthesised
        else:
            self.drop(fault)
        return fault is None

    def keep(self) -> None:
        """Count a kept trial that has no trajectory to measure."""
        self.kept += 1

    def drop(self, reason: str) -> None:
        """Count a trial that was dropped for another reason than its samples.

        Parameters
        ----------
        reason : str
            Why, in words that do not vary from trial to trial.
        """
        self.dropped[reason] += 1

    @property
    def total(self) -> int:
        return self.kept + sum(self.dropped.values())

    @property
    def missing_share(self) -> float:
        return self.missing_count / max(self.sample_count, 1)

    @property
    def out_of_frame_share(self) -> float:
        return self.out_of_frame_count / max(self.sample_count - self.missing_count, 1)

    def merge(self, other: QualityReport) -> QualityReport:
        """Add up two reports.

        Parameters
        ----------
        other : QualityReport
            The report of other trials, with the same thresholds.

        Returns
        -------
        QualityReport
            The report of both sets of trials.

        Raises
        ------
        InputError
            When the thresholds differ.
        """
        if self.thresholds != other.thresholds:
            raise InputError(
                f"reports with different thresholds cannot be merged: {self.thresholds}, {other.thresholds}"
            )
        counts = {
            item.name: getattr(self, item.name) + getattr(other, item.name)
            for item in fields(self)
            if item.name != "thresholds"
        }
        return QualityReport(thresholds=self.thresholds, **counts)

    def __str__(self) -> str:
        lines = [f"{self.kept:,} of {self.total:,} trials kept"]
        lines += [f"  dropped {count:,}: {reason}" for reason, count in self.dropped.most_common()]
        if self.sample_count:
            lines += [
                f"  {self.sample_count:,} samples looked at: {self.missing_share:.2%} lost, "
                f"{self.out_of_frame_share:.2%} of the others outside the frame",
                f"  {self.impossible_speed_count:,} steps faster than {self.thresholds.impossible_speed_deg_s:g} deg/s "
                f"in {self.impossible_speed_trials:,} trials",
            ]
        if self.synthesised:
            lines.append(f"  {self.synthesised:,} of the kept trajectories are synthesised")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Counts, thresholds and shares as JSON values.

        Returns
        -------
        dict
            What `from_dict` reads.
        """
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["thresholds"] = asdict(self.thresholds)
        values["dropped"] = dict(self.dropped)
        return values | {
            "total": self.total,
            "missing_share": self.missing_share,
            "out_of_frame_share": self.out_of_frame_share,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> QualityReport:
        """The inverse of `as_dict`.

        Parameters
        ----------
        values : dict
            As `as_dict` returns them.

        Returns
        -------
        QualityReport
            The report.

        Raises
        ------
        InputError
            When a value is missing.
        """
        try:
            values_read = {item.name: values[item.name] for item in fields(cls)}
            values_read["thresholds"] = QualityThresholds(**values_read["thresholds"])
            values_read["dropped"] = Counter(values_read["dropped"])
        except (KeyError, TypeError) as error:
            raise InputError(f"this is not a quality report: {error}") from None
        return cls(**values_read)

    def save(self, path: str | Path) -> None:
        """Write the report as JSON.

        Parameters
        ----------
        path : path
            File to write.
        """
        write_json(path, self.as_dict())

    @classmethod
    def load(cls, path: str | Path) -> QualityReport:
        """Read a report that `save` wrote.

        Parameters
        ----------
        path : path
            File to read.

        Returns
        -------
        QualityReport
            The report.

        Raises
        ------
        InputError
            When the file holds no report.
        """
        return cls.from_dict(read_json(path))


def _speeds_px_s(samples: Samples) -> Floats:
    """Speed of every step between two neighbouring samples that are both there."""
    step_ms, step_px = np.diff(samples.time_ms), np.hypot(*np.diff(samples.xy_px, axis=0).T)
    whole = np.isfinite(step_px) & (step_ms < GAP_STEPS * 1000 / samples.rate_hz)
    return step_px[whole] / step_ms[whole] * 1000
