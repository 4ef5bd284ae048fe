"""A report of areas of interest as text: a table per picture, and sentences about designs and viewers needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stdiffeye.gaze.area_visits import LABELS
from stdiffeye.statistics.aoi.designs import DesignDifference
from stdiffeye.statistics.aoi.study_size import ALPHA, POWER, ViewersNeeded
from stdiffeye.statistics.aoi.viewer_bootstrap import ViewerEstimate

if TYPE_CHECKING:
    from stdiffeye.statistics.aoi.area_report import AreaReport

PRINTED = ("hit", "dwell_ms", "time_to_first_ms", "visits")  # of the measures: a table must fit a screen
SHARES = ("hit", "dwell_share")
UNEQUAL = 1.2  # viewing times that differ by more make dwell times and counts differ, whoever looks


def as_text(report: AreaReport) -> str:
    """The main measures as tables, one per picture."""
    blocks = []
    for name, task in report.stimuli:
        groups = report.of(name, task)
        title = f"{name or 'gaze'}{f', search for {task}' if task else ''}"
        viewers = ", ".join(f"{len(one.subjects)} {one.group}" for one in groups)
        rows = [["area", "group", *(LABELS[measure] for measure in PRINTED)]]
        for column, area in enumerate(groups[0].areas.names):
            for group in groups:
                found = report.estimates(group)
                cells = [in_words(m, found[m][column]) if m in found else "–" for m in PRINTED]
                rows.append([area, group.group, *cells])
        blocks.append(f"{title} (viewers: {viewers})\n{aligned(rows)}")
    intervals = "Means over viewers; in brackets the 95 % interval by bootstrap over viewers (hit share: Wilson's)."
    return "\n\n".join([*blocks, "\n".join([intervals, *notes(report)])])


def notes(report: AreaReport) -> list[str]:
    """What makes groups hard to compare: times without saccades, and gaze that ends at different times."""
    found = []
    names = dict.fromkeys(one.group for one in report.groups if one.stays[0] and not one.onsets_known)
    if names:
        found.append(f"Note: {', '.join(names)} has no onsets; its times are sums of durations, without saccades.")
    for name, task in report.stimuli:
        timed = [one for one in report.of(name, task) if not math.isnan(one.end_ms)]
        shortest, longest = (choose(timed, key=lambda one: one.end_ms, default=None) for choose in (min, max))
        if shortest and longest and longest.end_ms > UNEQUAL * shortest.end_ms:
            ends = ", ".join(f"{one.group} after {one.end_ms / 1000:.1f} s" for one in (shortest, longest))
            found.append(f"Note: gaze ends at different times on {name or 'the picture'}: {ends}. Compare shares.")
            break
    return found


def designs_text(differences: Sequence[DesignDifference], a: str, b: str) -> str:
    """Which design has more of what, as a table."""
    rows = [["area", "measure", "group", "A", "B", "B − A", "wins"]]
    for one in differences:
        if one.measure in PRINTED:
            values = (number(one.measure, one.a), number(one.measure, one.b), in_words(one.measure, one.difference))
            rows.append([one.area, LABELS[one.measure], one.group, *values, one.winner])
    paired = "viewers matched by name" if all(one.paired for one in differences) else "different viewers"
    return f"A = {a}, B = {b} ({paired})\n{aligned(rows)}"


def needed_text(found: Sequence[ViewersNeeded]) -> str:
    """How many viewers a study needs, as a table."""
    one = found[0]
    rows = [["picture", "area", "spread taken from", "SD over viewers", "viewers per design (95 % interval)"]]
    for need in found:
        sizes = f"{_count(need.viewers)} ({_count(need.low)} to {_count(need.high)})"
        sizes = "not known: fewer than five viewers fixated it" if math.isnan(need.sd) else sizes
        rows.append([need.name, need.area, need.group, number(need.measure, need.sd), sizes])
    return (
        f"To see a difference of {one.difference:g} in {LABELS[one.measure]} between two designs "
        f"(different viewers, power {POWER:.0%}, alpha {ALPHA:g}):\n{aligned(rows)}\n"
        "The spread over viewers is that of the gaze above; where it is generated, check the plan by a pilot study."
    )


def in_words(measure: str, one: ViewerEstimate) -> str:
    """`value (low to high)`, rounded to what is known."""
    if math.isnan(one.value):
        return "–"
    ends = "" if math.isnan(one.low) else f" ({number(measure, one.low)} to {number(measure, one.high)})"
    return f"{number(measure, one.value)}{ends}"


def number(measure: str, value: float) -> str:
    """A value of a measure: shares in per cent, ms whole, counts with a decimal or two."""
    if math.isnan(value):
        return "–"
    if measure in SHARES:
        return f"{value:.0%}"
    return f"{value:.0f}" if measure.endswith("_ms") else f"{value:.2f}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns of equal width."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def _count(value: int | None) -> str:
    return "more than 100,000" if value is None else f"{value:,}"
