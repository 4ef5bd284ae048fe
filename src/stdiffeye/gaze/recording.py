"""A `Recording`: what a tracker wrote down in one go, before anything is cleaned, resampled or cut.

Time is the tracker's own clock in ms; it is never closed up. A lost sample is NaN. Positions are px of the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from stdiffeye.arrays import Floats, Points
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import FASTEST_HZ, Frame, require_px

if TYPE_CHECKING:
    import mne
    import pymovements

Eye = Literal["best", "left", "right", "mean"]
EventKind = Literal["fixation", "saccade", "blink"]
XY = tuple[float, float]
LARGEST_CLOCK_MS = 1e16  # a clock in ns since 1970 that was taken for µs


@dataclass(frozen=True)
class Event:
    """What the tracker's own parser reported; our own fixations come from `stdiffeye.gaze.extraction`.

    Parameters
    ----------
    kind : {"fixation", "saccade", "blink"}
    eye : {"left", "right"}
    start_ms, duration_ms : float
        On the tracker's clock; the duration includes the last sample.
    xy_px : tuple of float, optional
        A fixation's mean position, or where a saccade began; None when the tracker did not say.
    end_xy_px : tuple of float, optional
        Where a saccade ended.
    """

    kind: EventKind
    eye: Literal["left", "right"]
    start_ms: float
    duration_ms: float
    xy_px: XY | None = None
    end_xy_px: XY | None = None

    def moved(self, origin_px: Sequence[float]) -> Event:
        """The same event measured from another origin.

        Parameters
        ----------
        origin_px : sequence of float
            x and y of the new origin.

        Returns
        -------
        Event
            The event, its positions moved.
        """
        left, top = origin_px
        if left == top == 0:
            return self
        xy, end = (None if at is None else (at[0] - left, at[1] - top) for at in (self.xy_px, self.end_xy_px))
        return replace(self, xy_px=xy, end_xy_px=end)


@dataclass(frozen=True)
class Message:
    """A line of text that the experiment wrote into the recording.

    Parameters
    ----------
    time_ms : float
        On the tracker's clock.
    text : str
        The line.
    """

    time_ms: float
    text: str


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """One continuous block of raw samples of one or two eyes.

    Parameters
    ----------
    time_ms : array, shape (N,)
        Tracker clock, strictly increasing, not necessarily evenly spaced.
    rate_hz : float
        Nominal samples per second.
    frame : Frame
        The screen.
    left_px, right_px : array, shape (N, 2), optional
        Gaze on the screen, NaN where lost; None for an eye that was not recorded.
    left_pupil, right_pupil : array, shape (N,), optional
        Pupil size in the tracker's units.
    name : str
        The file, or the trial once trials are cut out.
    subject : str
        The viewer.
    events : tuple of Event
    messages : tuple of Message
        Both in order of time.
    details : dict
        Anything else worth keeping (JSON values).

    Raises
    ------
    InputError
        When time does not run forwards, when there is no eye or no sample, or when shapes do not fit.

    Examples
    --------
    >>> still = Recording([0, 2, 4], 500, Frame(100, 80), left_px=[[5, 5]] * 3, name="a.png", subject="ann")
    >>> still.within(1, 5).xy_px("left").tolist()
    [[5.0, 5.0], [5.0, 5.0]]
    """

    time_ms: Floats
    rate_hz: float
    frame: Frame
    left_px: Points | None = None
    right_px: Points | None = None
    left_pupil: Floats | None = None
    right_pupil: Floats | None = None
    name: str = ""
    subject: str = ""
    events: tuple[Event, ...] = ()
    messages: tuple[Message, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        time = np.array(self.time_ms, dtype=np.float64)
        if time.ndim != 1 or len(time) == 0:
            raise InputError(f"recording {self.name!r} needs at least one sample, got times of shape {time.shape}")
        if (np.abs(time[np.isfinite(time)]) > LARGEST_CLOCK_MS).any():
            raise InputError(
                f"recording {self.name!r}: times are up to {np.nanmax(np.abs(time)):g} ms, which no clock shows"
            )
        if not np.isfinite(time).all() or (np.diff(time) <= 0).any():
            raise InputError(f"recording {self.name!r}: time must run forwards; {_first_step_back(time)}")
        if not 0 < self.rate_hz <= FASTEST_HZ:
            raise InputError(f"recording {self.name!r}: the rate must be a positive number of Hz, got {self.rate_hz!r}")
        if self.left_px is None and self.right_px is None:
            raise InputError(f"recording {self.name!r} has neither a left nor a right eye")
        events = sorted(self.events, key=lambda event: (event.start_ms, event.eye, event.kind))
        object.__setattr__(self, "events", tuple(events))
        object.__setattr__(self, "messages", tuple(sorted(self.messages, key=lambda message: message.time_ms)))
        time.setflags(write=False)
        object.__setattr__(self, "time_ms", time)
        for name, shape in (("left_px", (len(time), 2)), ("right_px", (len(time), 2))):
            object.__setattr__(self, name, _frozen(getattr(self, name), shape, f"{self.name!r}: {name}"))
        for name in ("left_pupil", "right_pupil"):
            object.__setattr__(self, name, _frozen(getattr(self, name), (len(time),), f"{self.name!r}: {name}"))

    def __len__(self) -> int:
        return len(self.time_ms)

    def __repr__(self) -> str:
        return (
            f"Recording({self.name!r} of {self.subject!r}: {len(self)} samples, {self.duration_ms / 1000:.2f} s "
            f"at {self.rate_hz:g} Hz, {' and '.join(self.eyes)}, {self.missing_share():.0%} lost, "
            f"{self.frame.width_px:g}×{self.frame.height_px:g} px, {len(self.messages)} messages)"
        )

    @property
    def eyes(self) -> tuple[Literal["left", "right"], ...]:
        """Which eyes were recorded."""
        both: tuple[Literal["left", "right"], ...] = ("left", "right")
        return tuple(eye for eye in both if getattr(self, f"{eye}_px") is not None)

    @property
    def duration_ms(self) -> float:
        """From the first sample to the end of the last one."""
        return float(self.time_ms[-1] - self.time_ms[0] + 1000 / self.rate_hz)

    def xy_px(self, eye: Eye = "best") -> Points:
        """Gaze of one eye, or the mean of both.

        The mean is lost wherever either eye is: letting one stand in for both would make the gaze jump.

        Parameters
        ----------
        eye : {"best", "left", "right", "mean"}
            Which eye; "best" is the one less often lost.

        Returns
        -------
        array, shape (N, 2)
            Pixels of the screen, NaN where lost.

        Raises
        ------
        InputError
            When that eye was not recorded.
        """
        chosen = self.chosen_eye(eye)
        if chosen == "mean":
            assert self.left_px is not None and self.right_px is not None  # noqa: PT018
            return (self.left_px + self.right_px) / 2
        own = self.left_px if chosen == "left" else self.right_px
        assert own is not None
        return own

    def chosen_eye(self, eye: Eye = "best") -> Literal["left", "right", "mean"]:
        """Which eye `xy_px(eye)` is of.

        Parameters
        ----------
        eye : {"best", "left", "right", "mean"}
            As in `xy_px`.

        Returns
        -------
        {"left", "right", "mean"}
            The only eye that was recorded, or the one that was chosen.

        Raises
        ------
        InputError
            When that eye was not recorded.
        """
        if eye not in get_args(Eye):
            raise InputError(f"eye must be one of {', '.join(get_args(Eye))}, got {eye!r}")
        if self.left_px is None or self.right_px is None:
            if eye in ("left", "right") and eye not in self.eyes:
                raise InputError(f"recording {self.name!r} has no {eye} eye, only the {self.eyes[0]} one")
            return self.eyes[0]
        if eye == "best":
            return "left" if _lost_share(self.left_px) <= _lost_share(self.right_px) else "right"
        return eye

    def missing_share(self, eye: Eye = "best") -> float:
        """Share of samples in which the eye was lost.

        Parameters
        ----------
        eye : {"best", "left", "right", "mean"}
            As in `xy_px`.

        Returns
        -------
        float
            0 to 1.
        """
        return _lost_share(self.xy_px(eye))

    def without_blink_edges(self) -> Recording:
        """The same with the samples lost that a closing or opening lid bent away.

        While the lid moves, the visible rest of the pupil seems to jump. EyeLink's parser reports that as a saccade
        around the blink, so all samples of a saccade that encloses a blink of the same eye are no gaze.

        Returns
        -------
        Recording
            The same samples, more of them lost.
        """
        changed: dict[str, Any] = {}
        for eye in self.eyes:
            blinks = [event for event in self.events if event.kind == "blink" and event.eye == eye]
            bent = [
                saccade
                for saccade in self.events
                if saccade.kind == "saccade" and saccade.eye == eye and any(_encloses(saccade, one) for one in blinks)
            ]
            if not bent:
                continue
            xy_px = np.array(getattr(self, f"{eye}_px"))
            for event in bent:
                first, last = np.searchsorted(self.time_ms, [event.start_ms, event.start_ms + event.duration_ms])
                xy_px[first:last] = np.nan
            changed[f"{eye}_px"] = xy_px
        return replace(self, **changed) if changed else self

    def to_mne(self) -> mne.io.RawArray:
        """Convert to MNE's Raw, with events and messages as annotations.

        Returns
        -------
        mne.io.RawArray
            See `stdiffeye.gaze.bridges.to_mne`.
        """
        from stdiffeye.gaze.bridges import to_mne

        return to_mne(self)

    def to_pymovements(self) -> pymovements.Gaze:
        """Convert to pymovements' Gaze.

        Returns
        -------
        pymovements.Gaze
            See `stdiffeye.gaze.bridges.to_pymovements`.
        """
        from stdiffeye.gaze.bridges import to_pymovements

        return to_pymovements(self)

    def within(self, start_ms: float, end_ms: float) -> Recording:
        """Cut out a stretch of time.

        Parameters
        ----------
        start_ms, end_ms : float
            On the tracker's clock; the end itself is not within.

        Returns
        -------
        Recording
            Its samples, events and messages.

        Raises
        ------
        InputError
            When there is no sample in it.
        """
        first, last = (int(edge) for edge in np.searchsorted(self.time_ms, [start_ms, end_ms]))
        if first == last:
            raise InputError(f"recording {self.name!r} has no sample between {start_ms:g} and {end_ms:g} ms")
        span = slice(first, last)
        arrays: dict[str, Any] = {name: _sliced(getattr(self, name), span) for name in ARRAYS}
        return replace(
            self,
            **arrays,
            events=tuple(event for event in self.events if start_ms <= event.start_ms < end_ms),
            messages=tuple(message for message in self.messages if start_ms <= message.time_ms < end_ms),
        )


ARRAYS = ("time_ms", "left_px", "right_px", "left_pupil", "right_pupil")


def _frozen(values: ArrayLike | None, shape: tuple[int, ...], what: str) -> Floats | None:
    if values is None:
        return None
    array = np.array(values, dtype=np.float64)
    if array.shape != shape:
        raise InputError(f"recording {what} must have shape {shape}, got {array.shape}")
    require_px(array, f"recording {what}")
    array.setflags(write=False)
    return array


def _sliced(values: Floats | None, span: slice) -> Floats | None:
    return None if values is None else values[span]


def _encloses(outer: Event, inner: Event) -> bool:
    return outer.start_ms <= inner.start_ms and inner.start_ms + inner.duration_ms <= outer.start_ms + outer.duration_ms


def _lost_share(xy_px: Points) -> float:
    return float(np.isnan(xy_px).any(axis=1).mean())


def _first_step_back(time_ms: Floats) -> str:
    if not np.isfinite(time_ms).all():
        return f"sample {int((~np.isfinite(time_ms)).argmax()) + 1} has no time"
    at = int((np.diff(time_ms) <= 0).argmax())
    return f"after {time_ms[at]:.10g} ms comes {time_ms[at + 1]:.10g} ms (sample {at + 2})"
