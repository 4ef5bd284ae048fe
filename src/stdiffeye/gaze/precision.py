"""Precision of a recording: how much the gaze moves while the eye is still.

Sources: Holmqvist, Nyström and Mulvey (ETRA 2012); Niehorster et al., Behav. Res. Methods 52 (2020).

| measure | definition, for the samples of one fixation |
|---|---|
| RMS-S2S | root mean square of the steps from sample to sample; high where noise is fast |
| SD | √(variance of x + variance of y); high where gaze drifts |
| BCEA | 2kπ σx σy √(1 − ρ²), the area of the ellipse that holds 68 % of the samples (k = −ln 0.32) |

Conventions: degrees of visual angle; a trial's value is the median over its fixations, so that one that was cut
wrongly does not decide. The first and last 20 ms of a fixation are left out, since saccades and oscillations reach
into them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stdiffeye.arrays import Floats, Points
from stdiffeye.gaze.samples import Samples
from stdiffeye.gaze.types import Scanpath

EDGE_MS = 20.0
FEWEST_SAMPLES = 5
HELD_SHARE = 0.68
GAP_STEPS = 1.5  # a step this many times the nominal one has lost a sample


@dataclass(frozen=True)
class Precision:
    """Precision of one trial: medians over its fixations.

    Attributes
    ----------
    rms_s2s_deg, sd_deg : float
        Degrees.
    bcea_deg2 : float
        Square degrees.
    fixation_count : int
        Fixations with enough samples to tell.
    """

    rms_s2s_deg: float
    sd_deg: float
    bcea_deg2: float
    fixation_count: int


def precision_of(samples: Samples, scanpath: Scanpath) -> Precision | None:
    """Measure precision within fixations.

    Parameters
    ----------
    samples : Samples
        As they were recorded.
    scanpath : Scanpath
        Fixations with durations and with onsets from the first sample.

    Returns
    -------
    Precision or None
        None where the frame has no px_per_degree, or where no fixation has five samples.

    Examples
    --------
    >>> from stdiffeye import Frame
    >>> xy = np.random.default_rng(0).normal(50, 1, (1000, 2))
    >>> still = Samples(np.arange(1000.0), xy, 1000, Frame(100, 100, 10))
    >>> found = precision_of(still, Scanpath([[50, 50]], still.frame, [1000], [0]))
    >>> round(found.sd_deg, 2), round(found.rms_s2s_deg, 2)
    (0.14, 0.2)
    """
    if samples.frame.px_per_degree is None or scanpath.onset_ms is None or scanpath.duration_ms is None:
        return None
    xy_deg = samples.xy_px / samples.frame.px_per_degree
    time_ms = samples.time_ms - samples.time_ms[0]
    longest_ms = GAP_STEPS * 1000 / samples.rate_hz
    measured = []
    for onset, duration in zip(scanpath.onset_ms, scanpath.duration_ms, strict=True):
        first, last = np.searchsorted(time_ms, [onset + EDGE_MS, onset + duration - EDGE_MS])
        one = _of_fixation(time_ms[first:last], xy_deg[first:last], longest_ms)
        if one is not None:
            measured.append(one)
    if not measured:
        return None
    rms, std, area = np.median(np.array(measured), axis=0).tolist()
    return Precision(rms, std, area, len(measured))


def _of_fixation(time_ms: Floats, xy_deg: Points, longest_ms: float) -> tuple[float, float, float] | None:
    steps = np.diff(xy_deg, axis=0)[np.diff(time_ms) < longest_ms]
    steps = steps[np.isfinite(steps).all(axis=1)]
    seen = xy_deg[np.isfinite(xy_deg).all(axis=1)]
    if len(seen) < FEWEST_SAMPLES or len(steps) < FEWEST_SAMPLES - 1:
        return None
    covariance = np.cov(seen.T)
    rms = float(np.sqrt((steps**2).sum(axis=1).mean()))
    area = -2 * np.pi * np.log(1 - HELD_SHARE) * np.sqrt(max(float(np.linalg.det(covariance)), 0.0))
    return rms, float(np.sqrt(np.trace(covariance))), float(area)
