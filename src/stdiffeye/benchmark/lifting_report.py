"""The report on lifting, as Markdown."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from stdiffeye.benchmark.lifting_constants import RoundTrip, Saccade

AMPLITUDE_EDGES_DEG = (0.0, 0.4, 1.0, 2.0, 4.0, 8.0, 16.0)

WORDS = {
    "saccade_base_ms": "main sequence: ms of a vanishing saccade (Lund2013, experts' saccades)",
    "saccade_ms_per_deg": "main sequence: ms per degree",
    "shoulder_ms": "how much longer than the movement the extractor's interval is (Judd on lifted saccades)",
    "shoulder_share_before": "share of it before the movement",
    "drift_deg2_s": "diffusion constant of drift, deg²/s (DOVES, within fixations)",
    "drift_persistence_ms": "how long drift keeps its velocity, ms (DOVES)",
    "noise_deg": "tracker noise per axis and sample, deg (DOVES)",
    "overshoot_deg": "overshoot of a vanishing saccade, deg (DOVES, half the excess path, below 0.6 deg)",
    "overshoot_deg_per_deg": "how much less per degree of amplitude",
}

HEAD = """# Lifting a scanpath to a trajectory

Made by `stdiffeye reproduce lifting-constants`. `lift(scanpath)` returns a *synthesised* trajectory: fixations held,
with drift and tracker noise, joined by minimum-jerk saccades of main-sequence duration. `Trajectory.synthesised` is
True and stays True in every file; a lifted trajectory is never a recording. `skeleton_of(scanpath)` is the same without
drift, noise and overshoot.

Time: where onsets are given, the true times between fixations are kept. Otherwise the time between two fixations is
the movement, and on both sides the shoulders by which Judd's rule extends it. A fixation thus keeps its duration
through lifting and extraction. A scanpath without durations cannot be lifted.

Small saccades: Judd's rule cannot see a saccade of less than about 0.4 degrees that goes straight to its goal, and
every fourth OSIE trial has one below 0.5. In recordings such saccades overshoot and come back (see the table below),
and so they do here: out at the main sequence's pace and back at the same mean speed. Larger saccades do not overshoot
here; in DOVES they do, by the lens of the dual Purkinje tracker. At last each fixation is shifted so that its median is
the scanpath's position, the difference being shared out along the saccade's own path. Where that hides a saccade from
Judd's rule, drift and noise are sampled again.
"""


def document(
    used: Mapping[str, float],
    fitted: Mapping[str, float],
    trips: Mapping[str, RoundTrip],
    human: Sequence[Saccade],
    lifted: Sequence[Saccade],
) -> str:
    """The whole report."""
    sections = [
        HEAD,
        "## Constants\n",
        _constants(used, fitted),
        "\n## Round trip: OSIE scanpaths, lifted at 240 Hz with noise, extracted by Judd's rule (24 px/deg)\n",
        _trips(trips),
        "\nPlace and duration: medians over trials with the same number of fixations. Fixations shorter than Judd's 50",
        "ms cannot come back, hence the third row.",
        "\n## Saccades of DOVES, and of its scanpaths lifted again (medians)\n",
        _saccades(human, lifted),
        "",
    ]
    return "\n".join(sections)


def _constants(used: Mapping[str, float], fitted: Mapping[str, float]) -> str:
    lines = ["| constant | in use | fitted now | what |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {used[name]:.3g} | {fitted[name]:.3g} | {WORDS[name]} |" for name in used]
    return "\n".join(lines)


def _trips(trips: Mapping[str, RoundTrip]) -> str:
    lines = ["| trials | number | same count | position px | duration ms | 95 % ms |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {name} | {trip.trials:,} | {trip.same_count_share:.2%} | {trip.median_position_px:.3f} | "
        f"{trip.median_duration_ms:.1f} | {trip.p95_duration_ms:.1f} |"
        for name, trip in trips.items()
    ]
    return "\n".join(lines)


def _saccades(human: Sequence[Saccade], lifted: Sequence[Saccade]) -> str:
    lines = [
        "| amplitude deg | number | interval ms | lifted | path − amplitude deg | lifted | peak deg/s | lifted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for low, high in itertools.pairwise(AMPLITUDE_EDGES_DEG):
        groups = [[s for s in side if low <= s.amplitude_deg < high] for side in (human, lifted)]
        gap, path, peak = (
            [float(np.median([value(s) for s in group])) if group else float("nan") for group in groups]
            for value in (
                lambda s: s.gap_ms,
                lambda s: s.path_deg - s.amplitude_deg,
                lambda s: s.peak_deg_s,
            )
        )
        lines.append(
            f"| {low:g}–{high:g} | {len(groups[0]):,} | {gap[0]:.0f} | {gap[1]:.0f} | {path[0]:.2f} | {path[1]:.2f} | "
            f"{peak[0]:.0f} | {peak[1]:.0f} |"
        )
    return "\n".join(lines)
