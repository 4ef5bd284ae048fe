"""What is counted in scanpaths: one entry per quantity, pooled over trials.

Conventions: amplitudes in degrees of visual angle where every frame says how many pixels a degree has, else in pixels
of the common 512×384 frame; directions in degrees counter-clockwise from the right, as on paper (up = 90), in
[−180, 180); inter-saccade angle in [0, 180], 0 = straight on, 180 = straight back. Saccades of length zero have no
direction and are left out there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.gaze.fixations import extract

Floats = NDArray[np.float64]

COMMON_FRAME = Frame(512, 384)
UNITS = ("deg", "px")


@dataclass(frozen=True)
class Quantity:
    """One thing that is counted: `of` a scanpath whose coordinates are already in the chosen unit of length."""

    name: str
    label: str
    unit: str
    of: Callable[[Scanpath], Floats]
    circular: bool = False
    whole: bool = False

    def pooled(self, scanpaths: Iterable[Scanpath]) -> Floats:
        """(n,) values of all scanpaths, one after the other."""
        parts = [self.of(scanpath) for scanpath in scanpaths]
        return np.concatenate(parts) if parts else np.empty(0)


def saccade_vectors(scanpath: Scanpath) -> Floats:
    """(M − 1, 2) from each fixation to the next, y down."""
    return np.diff(scanpath.xy_px, axis=0)


def amplitude(scanpath: Scanpath) -> Floats:
    """(M − 1,) distance from each fixation to the next."""
    return np.hypot(*saccade_vectors(scanpath).T)


def direction_deg(scanpath: Scanpath) -> Floats:
    """(≤ M − 1,) direction of each saccade that moves, counter-clockwise from the right, in [−180, 180)."""
    vectors = saccade_vectors(scanpath)
    x, y = vectors[(vectors != 0).any(axis=1)].T
    return _wrap_deg(np.degrees(np.arctan2(-y, x)))


def inter_saccade_angle_deg(scanpath: Scanpath) -> Floats:
    """(≤ M − 2,) turn between two saccades in a row, in [0, 180]."""
    vectors = saccade_vectors(scanpath)
    before, after = vectors[:-1], vectors[1:]
    moves = (before != 0).any(axis=1) & (after != 0).any(axis=1)
    before, after = before[moves], after[moves]
    cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return np.degrees(np.abs(np.arctan2(cross, (before * after).sum(axis=1))))


def duration_ms(scanpath: Scanpath) -> Floats:
    """(M,) durations; empty where the data do not say."""
    return np.empty(0) if scanpath.duration_ms is None else scanpath.duration_ms


def fixation_count(scanpath: Scanpath) -> Floats:
    """(1,) number of fixations."""
    return np.array([float(len(scanpath))])


def quantities(unit: str) -> tuple[Quantity, ...]:
    """All quantities of scanpaths, with lengths in `unit`."""
    return (
        Quantity("saccade_amplitude", "saccade amplitude", unit, amplitude),
        Quantity("saccade_direction", "saccade direction", "°", direction_deg, circular=True),
        Quantity("inter_saccade_angle", "angle between saccades", "°", inter_saccade_angle_deg),
        Quantity("fixation_duration", "fixation duration", "ms", duration_ms),
        Quantity("fixation_count", "fixations per trial", "", fixation_count, whole=True),
    )


def choose_unit(trials: Iterable[Trial], unit: str = "auto") -> str:
    """ "deg" when every frame knows its pixels per degree, else "px"; an explicit wish is checked."""
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
            f"use unit='px', or say how many pixels a degree has when reading"
        )
    return "px"


def scanpaths_in(trials: Sequence[Trial], unit: str) -> list[Scanpath]:
    """The trials' scanpaths with coordinates in `unit`; those without one are extracted from their trajectory."""
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
