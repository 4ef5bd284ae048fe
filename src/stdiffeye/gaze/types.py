"""The nouns: a `Trajectory`, a `Scanpath`, and the `Trial` that holds one viewer's gaze at one picture.

Frozen, validated, units in the names. Arrays inside are read-only. A lost sample is NaN.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stdiffeye.arrays import Floats, Points
from stdiffeye.border import NO_TEXT
from stdiffeye.errors import InputError
from stdiffeye.gaze._drawable import Drawable
from stdiffeye.gaze.frame import FASTEST_HZ, LARGEST_PX, Frame, require_px

LONGEST_MS = 1e12
"""Thirty years: the clock of a tracker may count from anywhere, but no longer than that."""


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Drawable):
    """Gaze sampled at a constant rate.

    Parameters
    ----------
    xy_px : array, shape (T, 2)
        Position in `frame`, NaN where the eye was lost.
    rate_hz : float
        Samples per second.
    frame : Frame
        What the pixels are pixels of.
    synthesised : bool
        True when made by a program (lifted from a scanpath, or generated), never for a recording.

    Raises
    ------
    InputError
        When there is no sample, when the shape is another, or when a value is infinite.

    Examples
    --------
    >>> gaze = Trajectory([[10, 10], [11, 10], [float("nan")] * 2, [12, 11]], 1000, Frame(100, 80))
    >>> gaze
    Trajectory(4 samples, 0.00 s at 1000 Hz, 100×80 px, 25% lost)
    >>> gaze[:2].time_ms.tolist()
    [0.0, 1.0]
    """

    xy_px: Points
    rate_hz: float
    frame: Frame
    synthesised: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "xy_px", _frozen_points(self.xy_px, "Trajectory.xy_px"))
        if len(self.xy_px) == 0:
            raise InputError("a Trajectory needs at least one sample, got none")
        if not 0 < self.rate_hz <= FASTEST_HZ:
            raise InputError(f"Trajectory.rate_hz must be a positive number, got {self.rate_hz!r:.60}")

    def __len__(self) -> int:
        return len(self.xy_px)

    def __getitem__(self, span: slice) -> Trajectory:
        """A contiguous stretch, `trajectory[a:b]` in samples."""
        return replace(self, xy_px=self.xy_px[_contiguous(span)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trajectory) and _same(self, other, ("xy_px",), ("rate_hz", "frame", "synthesised"))

    def __repr__(self) -> str:
        lost = f", {self.missing_share:.0%} lost" if self.missing_share else ""
        made = ", synthesised" if self.synthesised else ""
        return (
            f"Trajectory({len(self)} samples, {self.duration_ms / 1000:.2f} s at {self.rate_hz:g} Hz, "
            f"{self.frame.width_px:g}×{self.frame.height_px:g} px{lost}{made})"
        )

    @property
    def time_ms(self) -> Floats:
        """(T,) time of each sample from the first one."""
        return np.arange(len(self), dtype=np.float64) * (1000 / self.rate_hz)

    @property
    def duration_ms(self) -> float:
        """From the first sample to the end of the last one."""
        return len(self) * 1000 / self.rate_hz

    @property
    def lost(self) -> NDArray[np.bool_]:
        """(T,) which samples are lost."""
        return np.asarray(np.isnan(self.xy_px).any(axis=1))

    @property
    def missing_share(self) -> float:
        """Share of samples that are lost, 0 to 1."""
        return float(self.lost.mean())

    def within(self, start_ms: float, end_ms: float) -> Trajectory:
        """Cut out a stretch of time.

        Parameters
        ----------
        start_ms, end_ms : float
            Since the first sample; the end itself is not within.

        Returns
        -------
        Trajectory
            The samples in it.
        """
        first, last = np.searchsorted(self.time_ms, [start_ms, end_ms])
        return self[int(first) : int(last)]

    def rescaled(self, to: Frame) -> Trajectory:
        """The same gaze in another frame that shows the same thing.

        Parameters
        ----------
        to : Frame
            The other frame.

        Returns
        -------
        Trajectory
            Positions in px of `to`.
        """
        return replace(self, xy_px=self.frame.rescale(self.xy_px, to), frame=to)


@dataclass(frozen=True, eq=False, repr=False)
class Scanpath(Drawable):
    """Fixations in the order in which they were made.

    Parameters
    ----------
    xy_px : array, shape (M, 2)
        Position of each fixation in `frame`.
    frame : Frame
        What the pixels are pixels of.
    duration_ms : array, shape (M,), optional
        How long each lasted; None where the data do not say.
    onset_ms : array, shape (M,), optional
        When each began, from the picture's onset; None where the data do not say.

    Raises
    ------
    InputError
        When there is no fixation, a position is NaN, a duration is negative, or onsets go back in time.

    Examples
    --------
    >>> path = Scanpath([[20, 30], [70, 50]], Frame(100, 80), duration_ms=[250, 180], onset_ms=[0, 290])
    >>> path
    Scanpath(2 fixations, 0.43 s, 100×80 px)
    >>> path.gap_ms.tolist()
    [40.0]
    """

    xy_px: Points
    frame: Frame
    duration_ms: Floats | None = None
    onset_ms: Floats | None = None

    def __post_init__(self) -> None:
        xy_px = _frozen_points(self.xy_px, "Scanpath.xy_px")
        object.__setattr__(self, "xy_px", xy_px)
        if len(xy_px) == 0:
            raise InputError("a Scanpath needs at least one fixation, got none")
        if np.isnan(xy_px).any():
            raise InputError(f"fixation {int(np.isnan(xy_px).any(axis=1).argmax()) + 1} has no place (NaN)")
        for name in ("duration_ms", "onset_ms"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _frozen_column(getattr(self, name), len(xy_px), f"Scanpath.{name}"))
        if self.duration_ms is not None and (self.duration_ms < 0).any():
            raise InputError(f"a fixation cannot last {self.duration_ms.min():g} ms: durations are ≥ 0")
        if self.onset_ms is not None and (np.diff(self.onset_ms) < 0).any():
            raise InputError("fixation onsets must not go back in time")

    def __len__(self) -> int:
        return len(self.xy_px)

    def __getitem__(self, span: slice) -> Scanpath:
        """Some consecutive fixations, `scanpath[:16]`."""
        span = _contiguous(span)
        duration = None if self.duration_ms is None else self.duration_ms[span]
        onset = None if self.onset_ms is None else self.onset_ms[span]
        return replace(self, xy_px=self.xy_px[span], duration_ms=duration, onset_ms=onset)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scanpath) and _same(self, other, ("xy_px", "duration_ms", "onset_ms"), ("frame",))

    def __repr__(self) -> str:
        time = "no durations" if self.duration_ms is None else f"{self.duration_ms.sum() / 1000:.2f} s"
        return f"Scanpath({len(self)} fixations, {time}, {self.frame.width_px:g}×{self.frame.height_px:g} px)"

    @property
    def gap_ms(self) -> Floats | None:
        """(M − 1,) time from the end of each fixation to the start of the next; None unless the data say."""
        if self.duration_ms is None or self.onset_ms is None:
            return None
        return np.diff(self.onset_ms) - self.duration_ms[:-1]

    def rescaled(self, to: Frame) -> Scanpath:
        """The same fixations in another frame that shows the same thing.

        Parameters
        ----------
        to : Frame
            The other frame.

        Returns
        -------
        Scanpath
            Positions in px of `to`.
        """
        return replace(self, xy_px=self.frame.rescale(self.xy_px, to), frame=to)


@dataclass(frozen=True, repr=False)
class Trial(Drawable):
    """Gaze of one viewer, or one generated sample, at one stimulus.

    Parameters
    ----------
    name : str
        The stimulus, usually the picture's file name.
    subject : str
        The viewer; for generated gaze the sample's number.
    scanpath : Scanpath, optional
    trajectory : Trajectory, optional
        Either may be absent, not both; they share a frame.
    task : str
        What is searched for, in words; "" for free viewing.
    dataset, split : str
        Where it comes from ("osie", "train"); "" when unknown.
    picture : Path, optional
        The picture's file, where there is one.
    target_box_px : tuple of float, optional
        x, y, width, height of the target of a search, in the gaze's frame.
    viewing_ms : float, optional
        How long the picture was shown.
    details : dict
        Anything else worth keeping (JSON values).

    Raises
    ------
    InputError
        When it has neither scanpath nor trajectory, when they differ in frame, or when `viewing_ms` is not positive.

    Examples
    --------
    >>> Trial("face.png", "ann", Scanpath([[20, 30], [70, 50]], Frame(100, 80)), task="nose")
    Trial('face.png' by 'ann' looking for 'nose': Scanpath(2 fixations, no durations, 100×80 px))
    """

    name: str
    subject: str
    scanpath: Scanpath | None = None
    trajectory: Trajectory | None = None
    task: str = ""
    dataset: str = ""
    split: str = ""
    picture: Path | None = None
    target_box_px: tuple[float, float, float, float] | None = None
    viewing_ms: float | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.scanpath is None and self.trajectory is None:
            raise InputError(f"trial {self.name!r} of {self.subject!r} has neither a scanpath nor a trajectory")
        if self.scanpath is not None and self.trajectory is not None and self.scanpath.frame != self.trajectory.frame:
            raise InputError(f"trial {self.name!r} of {self.subject!r}: scanpath and trajectory differ in frame")
        if self.viewing_ms is not None and not (_is_number(self.viewing_ms) and 0 < self.viewing_ms <= LONGEST_MS):
            raise InputError(f"trial {self.name!r}: viewing time must be positive, got {self.viewing_ms!r:.60} ms")
        if self.target_box_px is not None and not all(
            _is_number(v) and abs(v) <= LARGEST_PX for v in self.target_box_px
        ):
            raise InputError(f"trial {self.name!r}: target_box_px must be 4 numbers, got {self.target_box_px!r:.60}")
        for key in ("name", "subject", "task", "dataset", "split"):
            if NO_TEXT.search(getattr(self, key)):
                raise InputError(f"{key} of trial {self.name!r:.60} holds NUL, a carriage return or half a character")

    def __repr__(self) -> str:
        shown = [repr(one) for one in (self.scanpath, self.trajectory) if one is not None]
        task = f" looking for {self.task!r}" if self.task else ""
        return f"Trial({self.name!r} by {self.subject!r}{task}: {', '.join(shown)})"

    @property
    def frame(self) -> Frame:
        """What the gaze is measured in."""
        gaze = self.scanpath if self.scanpath is not None else self.trajectory
        assert gaze is not None
        return gaze.frame

    @property
    def key(self) -> tuple[str, str]:
        """What stimuli are matched by: (name, task)."""
        return self.name, self.task

    def rescaled(self, to: Frame) -> Trial:
        """The same trial in another frame that shows the same thing.

        Parameters
        ----------
        to : Frame
            The other frame.

        Returns
        -------
        Trial
            Scanpath, trajectory and target box in px of `to`.
        """
        box = self.target_box_px
        if box is not None:
            x, y, width, height = self.frame.rescale(np.reshape(box, (2, 2)), to).ravel().tolist()
            box = (x, y, width, height)
        return replace(
            self,
            scanpath=None if self.scanpath is None else self.scanpath.rescaled(to),
            trajectory=None if self.trajectory is None else self.trajectory.rescaled(to),
            target_box_px=box,
        )


def _frozen_points(xy: ArrayLike, what: str) -> Points:
    points = np.array(xy, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise InputError(f"{what} must have shape (n, 2), got {points.shape}")
    require_px(points, what)
    points.setflags(write=False)
    return points


def _frozen_column(values: ArrayLike, length: int, what: str) -> Floats:
    column = np.array(values, dtype=np.float64)
    if column.shape != (length,):
        raise InputError(f"{what} must have one value per fixation ({length}), got shape {column.shape}")
    if not np.isfinite(column).all():
        raise InputError(f"{what} holds NaN or infinity; leave durations out (None) where they are unknown")
    if (np.abs(column) > LONGEST_MS).any():
        raise InputError(f"{what} holds {column[np.abs(column).argmax()]:g} ms, expected at most {LONGEST_MS:g}")
    column.setflags(write=False)
    return column


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _contiguous(span: slice) -> slice:
    if not isinstance(span, slice) or span.step not in (None, 1):
        raise InputError(f"gaze is sliced in one piece, [a:b], got {span!r}")
    return span


def _same(one: Any, other: Any, arrays: tuple[str, ...], values: tuple[str, ...]) -> bool:
    def equal(a: Floats | None, b: Floats | None) -> bool:
        return (a is None) == (b is None) and (a is None or b is None or np.array_equal(a, b, equal_nan=True))

    return all(equal(getattr(one, name), getattr(other, name)) for name in arrays) and all(
        getattr(one, name) == getattr(other, name) for name in values
    )


def by_stimulus(trials: Iterable[Trial]) -> dict[tuple[str, str], list[Trial]]:
    """Group trials by stimulus and task, in the order in which they come.

    Parameters
    ----------
    trials : iterable of Trial
        Trials of any viewers.

    Returns
    -------
    dict
        (name, task) → trials.
    """
    groups: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        groups.setdefault(trial.key, []).append(trial)
    return groups
