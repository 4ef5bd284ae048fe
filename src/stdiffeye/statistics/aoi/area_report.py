"""Areas of interest of every group on every picture, in one report that prints, compares and saves itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trajectory, Trial, extract
from stdiffeye.gaze.area_visits import MEASURES
from stdiffeye.gaze.areas import Areas, areas_for
from stdiffeye.gaze.types import by_stimulus
from stdiffeye.statistics.aoi.area_group import AreaGroup
from stdiffeye.statistics.aoi.designs import DesignDifference, compare_designs
from stdiffeye.statistics.aoi.study_size import ViewersNeeded, viewers_needed
from stdiffeye.statistics.aoi.viewer_bootstrap import ViewerEstimate, differences, means, shares

REPLICATES = 1000
Row = dict[str, Any]
AnyGaze = Scanpath | Trajectory | Trial


@dataclass(frozen=True, eq=False)
class AreaReport:
    """What viewers did with areas of interest.

    Attributes
    ----------
    groups : tuple of AreaGroup
        A group of viewers on a picture each; the first group is the one that others are compared with.
    replicates, seed : int
        Of the bootstrap over viewers.
    """

    groups: tuple[AreaGroup, ...]
    replicates: int = REPLICATES
    seed: int = 0

    @property
    def stimuli(self) -> list[tuple[str, str]]:
        """(name, task) of the pictures, in order."""
        return list(dict.fromkeys((one.name, one.task) for one in self.groups))

    def of(self, name: str, task: str = "") -> list[AreaGroup]:
        """The groups that saw one picture."""
        return [one for one in self.groups if (one.name, one.task) == (name, task)]

    def summary(self) -> list[Row]:
        """Means over viewers with 95 % intervals: a row per picture, group, area and measure.

        Keys: name, task, group, area, measure, viewers (for whom it is defined), value, low, high.
        """
        rows = []
        for group in self.groups:
            for measure, estimates in self.estimates(group).items():
                defined = np.isfinite(group.values[measure]).sum(axis=0).tolist()
                for area, viewers, one in zip(group.areas.names, defined, estimates, strict=True):
                    rows.append(_stimulus(group) | {"area": area, "measure": measure, "viewers": viewers} | vars(one))
        return rows

    def estimates(self, group: AreaGroup) -> dict[str, list[ViewerEstimate]]:
        """Measure → estimate of each area, for the measures that are defined for somebody."""
        found = {"hit": shares(group.values["hit"])}
        for measure in MEASURES[1:]:
            if np.isfinite(group.values[measure]).any():
                found[measure] = means(group.values[measure], self.replicates, np.random.default_rng(self.seed))
        return found

    def compared(self) -> list[Row]:
        """Each other group minus the first one on the same picture, with 95 % intervals.

        Keys: name, task, group, reference, area, measure, value, low, high.
        """
        rows = []
        for name, task in self.stimuli:
            reference, *others = self.of(name, task)
            for other in others:
                for measure in MEASURES:
                    one, two = other.values[measure], reference.values[measure]
                    if not (np.isfinite(one).any() and np.isfinite(two).any()):
                        continue
                    gaps = differences(one, two, self.replicates, np.random.default_rng(self.seed))
                    for area, gap in zip(other.areas.names, gaps, strict=True):
                        what = {"reference": reference.group, "area": area, "measure": measure}
                        rows.append(_stimulus(other) | what | vars(gap))
        return rows

    def designs(self, a: str, b: str) -> list[DesignDifference]:
        """Compare two designs, pictures A and B, area by area; B − A."""
        return compare_designs(self.groups, a, b, self.replicates, self.seed)

    def viewers_needed(self, measure: str, difference: float) -> list[ViewersNeeded]:
        """How many viewers per design a study needs to see a difference in a measure; see `study_size`."""
        return viewers_needed(self.groups, measure, difference, self.replicates, self.seed)

    def transitions(self) -> list[Row]:
        """Transitions between areas: a row per picture, group, from and to, with count and share of the row."""
        rows = []
        for group in self.groups:
            counts, shares, nodes = group.transition_counts, group.transition_shares, group.nodes
            for i, source in enumerate(nodes):
                for j, target in enumerate(nodes):
                    share = None if np.isnan(shares[i, j]) else float(shares[i, j])
                    found = {"from": source, "to": target, "count": int(counts[i, j]), "share": share}
                    rows.append(_stimulus(group) | found)
        return rows

    def long(self) -> list[Row]:
        """Every value: a row per picture, group, viewer, area and measure; undefined values are None."""
        return [
            _stimulus(group) | {"subject": subject, "area": area, "measure": measure, "value": _known(value)}
            for group in self.groups
            for row, subject in enumerate(group.subjects)
            for column, area in enumerate(group.areas.names)
            for measure in MEASURES
            for value in (group.values[measure][row, column],)
        ]

    def wide(self) -> list[Row]:
        """Every value: a row per picture, group and viewer, a column AREA.MEASURE each."""
        return [
            _stimulus(group)
            | {"subject": subject}
            | {
                f"{area}.{measure}": _known(group.values[measure][row, column])
                for column, area in enumerate(group.areas.names)
                for measure in MEASURES
            }
            for group in self.groups
            for row, subject in enumerate(group.subjects)
        ]

    def __str__(self) -> str:
        from stdiffeye.statistics.aoi.area_text import as_text

        return as_text(self)


def measure_areas(
    gaze: AnyGaze | Sequence[AnyGaze] | Mapping[str, Sequence[AnyGaze]],
    areas: Areas | Mapping[str, Areas],
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> AreaReport:
    """Measure what viewers did with areas of interest.

    Parameters
    ----------
    gaze : noun, sequence of nouns, or dict of str to sequence of nouns
        Gaze of one group, or of several by name: {"human": …, "ours": …}. The first is what others are compared with.
        Fixations of trajectories without a scanpath are found by Judd's rule.
    areas : Areas, or dict of str to Areas
        For all pictures, or by the picture's name; "*" stands for all others. Pictures without areas are left out.
    replicates, seed : int
        Of the bootstrap over viewers.

    Returns
    -------
    AreaReport
        Prints as a table; `summary()`, `compared()`, `designs()`, `transitions()`, `long()` and `wide()` give rows.

    Raises
    ------
    InputError
        Where no picture of the gaze has areas.

    Examples
    --------
    >>> from stdiffeye import Frame
    >>> areas = Areas.boxes({"left": (0, 0, 50, 80), "right": (50, 0, 50, 80)})
    >>> path = Scanpath([[20, 30], [70, 50], [30, 30]], Frame(100, 80), [200, 300, 100])
    >>> report = measure_areas([path, path], areas)
    >>> report.groups[0].values["dwell_ms"].mean(axis=0).tolist()
    [300.0, 300.0]
    """
    named: Mapping[str, Any] = gaze if isinstance(gaze, Mapping) else {"gaze": gaze}
    found: dict[tuple[str, str], list[AreaGroup]] = {}
    for group, nouns in named.items():
        trials = _trials([nouns] if isinstance(nouns, AnyGaze) else nouns)
        for (name, task), several in by_stimulus(trials).items():
            own = areas_for(areas, name)
            if own is not None:
                found.setdefault((name, task), []).append(AreaGroup.of(group, several, own))
    if not found:
        raise InputError("no picture of the gaze has areas of interest: are they named after the pictures?")
    return AreaReport(tuple(group for groups in found.values() for group in groups), replicates, seed)


def _trials(nouns: Sequence[AnyGaze]) -> list[Trial]:
    """Trials with scanpaths; nouns that belong to no picture share one without a name."""
    trials = []
    for number, noun in enumerate(nouns, start=1):
        if isinstance(noun, Trial):
            path = noun.scanpath if noun.scanpath is not None else _path(noun.trajectory)
            trials.append(Trial(noun.name, noun.subject, path, task=noun.task, picture=noun.picture))
        else:
            trials.append(Trial("", str(number), noun if isinstance(noun, Scanpath) else _path(noun)))
    return trials


def _path(trajectory: Trajectory | None) -> Scanpath:
    assert trajectory is not None
    own = getattr(trajectory, "scanpath", None)  # generated gaze knows the fixations that it was made from
    return own if isinstance(own, Scanpath) else extract(trajectory)


def _stimulus(group: AreaGroup) -> Row:
    return {"name": group.name, "task": group.task, "group": group.group}


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
