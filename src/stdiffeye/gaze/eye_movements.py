"""All that an eye does in a trial, as one tidy table: fixations, saccades, microsaccades, oscillations, blinks.

| event | found by |
|---|---|
| `fixation` | the trial's scanpath, so that all tables of a trial agree |
| `saccade`, `oscillation` | `gaze.saccades`, on the samples as they were recorded |
| `microsaccade` | `gaze.microsaccades`, within fixations; binocular where both eyes were recorded |
| `blink` | the tracker's own events; without these, losses of 50 to 1000 ms |

Conventions: times from the trial's first sample; px of the recording's frame; a direction is 0 to the right and 90
upwards. Saccades need 100 Hz and microsaccades 200 Hz: slower trackers have too few samples in one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from stdiffeye.arrays import Floats, Ints, Points
from stdiffeye.gaze._scale import px_per_degree_of, runs
from stdiffeye.gaze.cleaning import resample
from stdiffeye.gaze.microsaccades import inside, microsaccades
from stdiffeye.gaze.recording import Eye, Recording
from stdiffeye.gaze.saccades import filtered_speed, find_saccades
from stdiffeye.gaze.types import Scanpath

EventName = Literal["fixation", "saccade", "microsaccade", "oscillation", "blink"]
EVENT_NAMES: tuple[EventName, ...] = ("fixation", "saccade", "microsaccade", "oscillation", "blink")
SACCADE_RATE_HZ, MICROSACCADE_RATE_HZ = 100.0, 200.0
BLINK_MS = (50.0, 1000.0)
# A clock that jitters by half a step has lost nothing.
JITTER_STEPS = 0.5


@dataclass(frozen=True)
class EyeMovement:
    """One event of a trial.

    Attributes
    ----------
    event : {"fixation", "saccade", "microsaccade", "oscillation", "blink"}
    eye : {"left", "right", "mean", "both"}
        Whose samples it was found in.
    onset_ms, duration_ms : float
        From the trial's first sample.
    x_px, y_px, to_x_px, to_y_px : float
        Where a fixation is, or where a movement began and ended; NaN for what has no place.
    amplitude_deg, direction_deg, peak_deg_s : float
        Of a movement; degrees are NaN where the frame has no px_per_degree.
    """

    event: EventName
    eye: str
    onset_ms: float
    duration_ms: float
    x_px: float = np.nan
    y_px: float = np.nan
    to_x_px: float = np.nan
    to_y_px: float = np.nan
    amplitude_deg: float = np.nan
    direction_deg: float = np.nan
    peak_deg_s: float = np.nan

    def as_row(self) -> dict[str, Any]:
        """The event as a row of a table.

        Returns
        -------
        dict
            Column → value.
        """
        return dict(vars(self))


@dataclass(frozen=True)
class _Gaze:
    """One eye on an even clock from the first sample on."""

    eye: str
    xy_px: Points
    rate_hz: float
    scale: float
    """px per degree that thresholds are measured in."""
    known_scale: float
    """px per degree of the frame; NaN where it has none."""
    speed_deg_s: Floats


def eye_movements(recording: Recording, scanpath: Scanpath | None = None, eye: Eye = "best") -> list[EyeMovement]:
    """The events of one trial in order of time.

    Parameters
    ----------
    recording : Recording
        The trial's raw samples.
    scanpath : Scanpath, optional
        Its fixations, with onsets from the first sample; without it there are neither fixations nor microsaccades.
    eye : {"best", "left", "right", "mean"}
        Whose saccades and blinks are looked for.

    Returns
    -------
    list of EyeMovement

    Examples
    --------
    >>> from stdiffeye import Frame
    >>> from stdiffeye.gaze.lifting import lift
    >>> path = Scanpath([[200, 200], [600, 400]], Frame(1024, 768, 34), [300, 300], [0, 350])
    >>> gaze = lift(path, 1000, np.random.default_rng(0))
    >>> raw = Recording(gaze.time_ms, 1000, gaze.frame, left_px=gaze.xy_px)
    >>> [event.event for event in eye_movements(raw, path) if event.event in ("fixation", "saccade")]
    ['fixation', 'saccade', 'fixation']
    """
    chosen = recording.chosen_eye(eye)
    gaze = _even(recording, chosen)
    found = [*_fixations(scanpath, chosen), *_blinks(recording, gaze)]
    if recording.rate_hz >= SACCADE_RATE_HZ:
        seen = find_saccades(gaze.xy_px, gaze.rate_hz, gaze.scale)
        found += [_movement("saccade", gaze, span) for span in seen.saccades.tolist()]
        found += [_movement("oscillation", gaze, span) for span in seen.oscillations.tolist()]
    if recording.rate_hz >= MICROSACCADE_RATE_HZ and scanpath is not None:
        found += _microsaccades(recording, scanpath, gaze)
    return sorted(found, key=lambda one: (one.onset_ms, EVENT_NAMES.index(one.event)))


def _even(recording: Recording, eye: Eye) -> _Gaze:
    step_ms = 1000 / recording.rate_hz
    even = resample(recording.time_ms, recording.xy_px(eye), recording.rate_hz, recording.frame, JITTER_STEPS * step_ms)
    scale = px_per_degree_of(recording.frame)
    known = recording.frame.px_per_degree or np.nan
    return _Gaze(
        eye, even.xy_px, recording.rate_hz, scale, known, filtered_speed(even.xy_px / scale, recording.rate_hz)
    )


def _fixations(scanpath: Scanpath | None, eye: str) -> Iterator[EyeMovement]:
    if scanpath is None or scanpath.onset_ms is None or scanpath.duration_ms is None:
        return
    for (x, y), onset, duration in zip(scanpath.xy_px, scanpath.onset_ms, scanpath.duration_ms, strict=True):
        yield EyeMovement("fixation", eye, float(onset), float(duration), float(x), float(y))


def _blinks(recording: Recording, gaze: _Gaze) -> Iterator[EyeMovement]:
    if recording.events:
        begin, end = float(recording.time_ms[0]), float(recording.time_ms[-1])
        for event in recording.events:
            if event.kind == "blink" and event.eye == gaze.eye and begin <= event.start_ms <= end:
                yield EyeMovement("blink", gaze.eye, event.start_ms - begin, event.duration_ms)
        return
    step_ms = 1000 / gaze.rate_hz
    for start, stop in runs(np.asarray(np.isnan(gaze.xy_px).any(axis=1))).tolist():
        if BLINK_MS[0] <= (stop - start) * step_ms <= BLINK_MS[1]:
            yield EyeMovement("blink", gaze.eye, start * step_ms, (stop - start) * step_ms)


def _microsaccades(recording: Recording, scanpath: Scanpath, gaze: _Gaze) -> list[EyeMovement]:
    both = len(recording.eyes) == 2
    eyes = [_even(recording, eye).xy_px for eye in recording.eyes] if both else [gaze.xy_px]
    spans = inside(microsaccades(eyes, gaze.rate_hz, gaze.scale), _within_fixations(scanpath, gaze))
    shown = _Gaze("both", (eyes[0] + eyes[1]) / 2, *_rest(gaze)) if both else gaze
    return [_movement("microsaccade", shown, span) for span in spans.tolist()]


def _rest(gaze: _Gaze) -> tuple[float, float, float, Floats]:
    return gaze.rate_hz, gaze.scale, gaze.known_scale, gaze.speed_deg_s


def _within_fixations(scanpath: Scanpath, gaze: _Gaze) -> Any:
    marked = np.zeros(len(gaze.xy_px), dtype=bool)
    if scanpath.onset_ms is not None and scanpath.duration_ms is not None:
        edges = np.stack([scanpath.onset_ms, scanpath.onset_ms + scanpath.duration_ms], axis=1)
        spans: Ints = np.round(edges * gaze.rate_hz / 1000).astype(np.int64)
        for start, stop in spans.tolist():
            marked[max(start, 0) : stop] = True
    return marked


def _movement(event: EventName, gaze: _Gaze, span: list[int]) -> EyeMovement:
    start, stop = span
    (x, y), (to_x, to_y) = gaze.xy_px[start].tolist(), gaze.xy_px[stop - 1].tolist()
    dx, dy = to_x - x, to_y - y
    speed = gaze.speed_deg_s[start:stop]
    peak = float(np.nanmax(speed)) if np.isfinite(speed).any() else np.nan
    return EyeMovement(
        event,
        gaze.eye,
        start * 1000 / gaze.rate_hz,
        (stop - start) * 1000 / gaze.rate_hz,
        x,
        y,
        to_x,
        to_y,
        float(np.hypot(dx, dy)) / gaze.known_scale,
        float(np.degrees(np.arctan2(-dy, dx))),
        peak * gaze.scale / gaze.known_scale,
    )
