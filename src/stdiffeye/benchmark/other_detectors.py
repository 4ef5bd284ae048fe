"""Event detectors of other programs, pymovements and REMoDNaV, in the form that ours have: name → event → intervals.

Each runs with its own defaults, as a user would call it first. pymovements' I-VT and I-DT find fixations, its
microsaccade rule (Engbert and Kliegl) saccades. REMoDNaV finds fixations, saccades and oscillations; its pursuits are
no fixations. It cannot filter a signal that begins or ends lost, so that lost ends are cut off for it.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.gaze import Trajectory
from stdiffeye.gaze._scale import px_per_degree_of
from stdiffeye.gaze.microsaccades import velocity
from stdiffeye.gaze.saccades import find_saccades

Intervals = NDArray[np.float64]  # (M, 2) start and end in ms
Events = Mapping[str, Intervals]
Detector = Callable[[Trajectory], Events]

REMODNAV_LABELS = {
    "fixation": ("FIXA",),
    "saccade": ("SACC", "ISAC"),
    "oscillation": ("HPSO", "LPSO", "IHPS", "ILPS"),
}
SEEN_MS = 40.0  # at both ends, which REMoDNaV's filter needs


@dataclass(frozen=True)
class OtherDetectors:
    """Detectors that can run here, and the names of those that are not installed."""

    detectors: dict[str, Detector]
    missing: list[str]


def other_detectors() -> OtherDetectors:
    """Ours for saccades, and those of the programs that are installed."""
    found: dict[str, Detector] = {"stdiffeye": _own}
    missing = []
    try:
        import pymovements

        found |= {
            "pymovements I-VT": lambda gaze: _pymovements(gaze, pymovements, "ivt"),
            "pymovements I-DT": lambda gaze: _pymovements(gaze, pymovements, "idt"),
            "pymovements microsaccades": lambda gaze: _pymovements(gaze, pymovements, "microsaccades"),
        }
    except ImportError:
        missing.append("pymovements")
    try:
        from remodnav.clf import EyegazeClassifier

        found["REMoDNaV"] = lambda gaze: _remodnav(gaze, EyegazeClassifier)
    except ImportError:
        missing.append("remodnav")
    return OtherDetectors(found, missing)


def _own(gaze: Trajectory) -> Events:
    seen = find_saccades(gaze.xy_px, gaze.rate_hz, px_per_degree_of(gaze.frame))
    return {"saccade": _ms(seen.saccades, gaze), "oscillation": _ms(seen.oscillations, gaze)}


def _pymovements(gaze: Trajectory, pm: Any, method: str) -> Events:
    degrees = gaze.xy_px / px_per_degree_of(gaze.frame)
    if method == "idt":
        rows = pm.events.idt(degrees, timesteps=_steps(gaze)).frame
        return {"fixation": _rows(rows, gaze)}
    speed = velocity(degrees, gaze.rate_hz)  # over five samples, as pymovements advises
    if method == "ivt":
        return {"fixation": _rows(pm.events.ivt(speed, timesteps=_steps(gaze)).frame, gaze)}
    return {"saccade": _rows(pm.events.microsaccades(speed, timesteps=_steps(gaze)).frame, gaze)}


def _steps(gaze: Trajectory) -> NDArray[np.int64]:
    """Whole ms, which pymovements counts durations in."""
    return np.round(gaze.time_ms).astype(np.int64)


def _rows(frame: Any, gaze: Trajectory) -> Intervals:
    """Onsets and offsets in ms; an offset is the time of the last sample."""
    spans = np.stack([frame["onset"].to_numpy(), frame["offset"].to_numpy()], axis=1).astype(np.float64)
    return spans + [0, 1000 / gaze.rate_hz]


def _remodnav(gaze: Trajectory, classifier: Any) -> Events:
    width = max(round(SEEN_MS / 1000 * gaze.rate_hz), 1)
    whole = np.flatnonzero(np.convolve(~gaze.lost, np.ones(width), mode="valid") == width)
    if len(whole) == 0:
        return {name: np.zeros((0, 2)) for name in REMODNAV_LABELS}
    first, last = int(whole[0]), int(whole[-1]) + width
    data = np.zeros(last - first, dtype=[("x", np.float64), ("y", np.float64)])
    data["x"], data["y"] = gaze.xy_px[first:last].T
    logging.getLogger("remodnav").setLevel(logging.ERROR)
    detector = classifier(px2deg=1 / px_per_degree_of(gaze.frame), sampling_rate=gaze.rate_hz)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        events = detector(detector.preproc(data))
    begin = first / gaze.rate_hz
    return {
        name: 1000
        * np.array(
            sorted((begin + e["start_time"], begin + e["end_time"]) for e in events if e["label"] in labels)
        ).reshape(-1, 2)
        for name, labels in REMODNAV_LABELS.items()
    }


def _ms(spans: NDArray[np.int64], gaze: Trajectory) -> Intervals:
    return spans * np.float64(1000 / gaze.rate_hz)
