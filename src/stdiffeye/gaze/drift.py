"""Drift correction by a known target: a cross that the viewer fixated when, or just before, the trial began.

Gaze of each eye is shifted by what lies between the target and the median of the samples in a window of time. By
default these are the first 150 ms of the trial: the eye is still where the cross was, since no saccade starts sooner.
Where the gaze is further away than a drift can be, the viewer did not fixate the target, and nothing is shifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.gaze._scale import px_per_degree_of
from stdiffeye.gaze.frame import LARGEST_PX, Frame
from stdiffeye.gaze.recording import Recording

WINDOW_MS = (0.0, 150.0)
MAX_DRIFT_DEG = 3.0
FEWEST_SAMPLES = 5


@dataclass(frozen=True)
class DriftTarget:
    """Where the viewer looked, and when.

    Parameters
    ----------
    xy_px : tuple of float, optional
        The target's position on the screen; by default its centre.
    window_ms : tuple of float
        From and to, counted from the trial's beginning; negative before it.
    max_drift_deg : float
        A larger offset is no drift.

    Examples
    --------
    >>> DriftTarget.parse("centre@-200,0")
    DriftTarget(xy_px=None, window_ms=(-200.0, 0.0), max_drift_deg=3.0)
    """

    xy_px: tuple[float, float] | None = None
    window_ms: tuple[float, float] = WINDOW_MS
    max_drift_deg: float = MAX_DRIFT_DEG

    def __post_init__(self) -> None:
        if not self.window_ms[0] < self.window_ms[1]:
            raise InputError(f"the window of the drift's target must be FROM,TO in ms, got {self.window_ms}")
        if self.xy_px is not None and not all(abs(value) <= LARGEST_PX for value in self.xy_px):
            raise InputError(f"the drift's target must be a position in px, got {self.xy_px}")

    @classmethod
    def parse(cls, text: str) -> DriftTarget:
        """Read a target as the command line takes it.

        Parameters
        ----------
        text : str
            `centre` or `X,Y` in px, with or without `@FROM,TO` in ms behind it.

        Returns
        -------
        DriftTarget
            The target and its window of time.

        Raises
        ------
        InputError
            When the text has another form.
        """
        target, at, window = text.partition("@")
        rule = "the target of drift is centre or X,Y in px, and may end in @FROM,TO in ms"
        xy_px = None if target in ("centre", "center") else _pair(target, rule)
        return cls(xy_px, _pair(window, rule) if at else WINDOW_MS)

    def on(self, frame: Frame) -> tuple[float, float]:
        """The target's position on a screen.

        Parameters
        ----------
        frame : Frame
            The screen.

        Returns
        -------
        tuple of float
            x and y in px.
        """
        if self.xy_px is not None:
            return self.xy_px
        x, y = frame.centre_px.tolist()
        return x, y


def drift_corrected(trial: Recording, blocks: Sequence[Recording], target: DriftTarget) -> Recording:
    """A trial whose gaze is shifted onto the target.

    Parameters
    ----------
    trial : Recording
        Cut out of `blocks`, on their clock.
    blocks : sequence of Recording
        What lies before the trial, for windows that begin there.
    target : DriftTarget

    Returns
    -------
    Recording
        `details["drift_deg"]` is how far it was shifted (the larger of both eyes); None where it could not be told.
    """
    start = float(trial.time_ms[0])
    moved: dict[str, Any] = {}
    shifts: list[float] = []
    scale = px_per_degree_of(trial.frame)
    for eye in trial.eyes:
        offset = _offset(blocks, eye, start, target)
        if offset is None or float(np.hypot(*offset)) > target.max_drift_deg * scale:
            return replace(trial, details={**trial.details, "drift_deg": None})
        moved[f"{eye}_px"] = getattr(trial, f"{eye}_px") + offset
        shifts.append(float(np.hypot(*offset)) / scale)
    # The tracker's own events have positions of before.
    events = tuple(replace(event, xy_px=None, end_xy_px=None) for event in trial.events)
    return replace(trial, **moved, events=events, details={**trial.details, "drift_deg": round(max(shifts), 4)})


def _offset(blocks: Sequence[Recording], eye: str, start_ms: float, target: DriftTarget) -> Any:
    near = []
    for block in blocks:
        first, last = np.searchsorted(block.time_ms, [start_ms + edge for edge in target.window_ms])
        gaze = getattr(block, f"{eye}_px")
        if gaze is not None:
            near.append(gaze[first:last])
    seen = np.concatenate(near) if near else np.zeros((0, 2))
    seen = seen[np.isfinite(seen).all(axis=1)]
    if len(seen) < FEWEST_SAMPLES:
        return None
    return np.array(target.on(blocks[0].frame)) - np.median(seen, axis=0)


def _pair(text: str, rule: str) -> tuple[float, float]:
    words = text.split(",")
    try:
        one, two = (float(word) for word in words)
    except ValueError:
        raise InputError(f"{rule}, got {text!r}") from None
    if not np.isfinite([one, two]).all():
        raise InputError(f"{rule}, got {text!r}")
    return one, two
