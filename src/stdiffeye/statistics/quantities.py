"""Quantities of scanpaths, pooled over trials.

Conventions
-----------
* Amplitudes are in degrees of visual angle where every frame knows its pixels per degree, else in pixels of the common
  512×384 frame.
* Directions are in degrees counter-clockwise from the right (up = 90), in [−180, 180).
* The inter-saccade angle is in [0, 180]: 0 straight on, 180 straight back.
* Saccades of length zero have no direction and are left out there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.gaze.extraction import extract

COMMON_FRAME = Frame(512, 384)
UNITS = ("deg", "px")


@dataclass(frozen=True)
class Quantity:
    """One quantity of scanpaths.

    Attributes
    ----------
    name, label, unit : str
        Its key, how figures call it, and its unit ("" for counts).
    of : callable
        Scanpath with coordinates in the chosen unit of length → (n,) values.
    circular : bool
        Whether it is an angle around the full circle.
    whole : bool
        Whether its values are whole numbers.
    """

    name: str
    label: str
    unit: str
    of: Callable[[Scanpath], Floats]
    circular: bool = False
    whole: bool = False

    def pooled(self, scanpaths: Iterable[Scanpath]) -> Floats:
        """Return (n,) values of all scanpaths, one after the other."""
        values = [self.of(scanpath) for scanpath in scanpaths]
        return np.concatenate(values) if values else np.empty(0)


def saccade_vectors(scanpath: Scanpath) -> Floats:
    """Return (M − 1, 2) vectors from each fixation to the next, y down."""
    return np.diff(scanpath.xy_px, axis=0)


def amplitude(scanpath: Scanpath) -> Floats:
    """Return (M − 1,) distances from each fixation to the next."""
    return np.hypot(*saccade_vectors(scanpath).T)


def direction_deg(scanpath: Scanpath) -> Floats:
    """Return (≤ M − 1,) directions of saccades, counter-clockwise from the right, in [−180, 180)."""
    vectors = saccade_vectors(scanpath)
    x, y = vectors[(vectors != 0).any(axis=1)].T
    return _wrap_deg(np.degrees(np.arctan2(-y, x)))


def inter_saccade_angle_deg(scanpath: Scanpath) -> Floats:
    """Return (≤ M − 2,) angles between consecutive saccades, in [0, 180]."""
    vectors = saccade_vectors(scanpath)
    before, after = vectors[:-1], vectors[1:]
    moves = (before != 0).any(axis=1) & (after != 0).any(axis=1)
    before, after = before[moves], after[moves]
    cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return np.degrees(np.abs(np.arctan2(cross, (before * after).sum(axis=1))))


def duration_ms(scanpath: Scanpath) -> Floats:
    """Return (M,) durations; empty where they are unknown."""
    return np.empty(0) if scanpath.duration_ms is None else scanpath.duration_ms


def fixation_count(scanpath: Scanpath) -> Floats:
    """Return (1,) the number of fixations."""
    return np.array([float(len(scanpath))])


def quantities(unit: str) -> tuple[Quantity, ...]:
    """Return all quantities of scanpaths, with lengths in `unit`."""
    return (
        Quantity("saccade_amplitude", "saccade amplitude", unit, amplitude),
        Quantity("saccade_direction", "saccade direction", "°", direction_deg, circular=True),
        Quantity("inter_saccade_angle", "angle between saccades", "°", inter_saccade_angle_deg),
        Quantity("fixation_duration", "fixation duration", "ms", duration_ms),
        Quantity("fixation_count", "fixations per trial", "", fixation_count, whole=True),
    )


def choose_unit(trials: Iterable[Trial], unit: str = "auto") -> str:
    """Return "deg" when every frame knows its pixels per degree, else "px"; an explicit unit is checked."""
    if unit not in ("auto", *UNITS):
        raise InputError(f"unit must be auto, deg or px, got {unit!r}")
    if unit == "px":
        return unit
    unknown = next((trial for trial in trials if trial.frame.px_per_degree is None), None)
    if unknown is None:
        return "deg"
    if unit == "deg":
        raise InputError(
            f"lengths in degrees need Frame.px_per_degree, which trial {unknown.name!r} of {unknown.subject!r} lacks: "
            f"use unit='px', or give the pixels per degree when reading"
        )
    return "px"


def scanpaths_in(trials: Sequence[Trial], unit: str) -> list[Scanpath]:
    """Return the trials' scanpaths with coordinates in `unit`, extracted from trajectories where there is none."""
    found = []
    for trial in trials:
        scanpath = trial.scanpath
        if scanpath is None:
            assert trial.trajectory is not None
            scanpath = extract(trial.trajectory)
        if unit == "px":
            found.append(scanpath.rescaled(COMMON_FRAME))
        else:
            scale = 1 / scanpath.frame.require_px_per_degree()
            size = scanpath.frame.size_px * scale
            found.append(scanpath.rescaled(Frame(float(size[0]), float(size[1]), px_per_degree=1)))
    return found


def _wrap_deg(angle: Floats) -> Floats:
    return (angle + 180) % 360 - 180
