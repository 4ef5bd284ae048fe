"""`stats`: everything that can be said about how humans and systems move their eyes, in one report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stdiffeye.gaze import Trial
from stdiffeye.statistics import saliency as saliency_view
from stdiffeye.statistics import search as visual_search
from stdiffeye.statistics.comparison import HUMAN, Comparison, compare
from stdiffeye.statistics.motion import Kinematics
from stdiffeye.statistics.motion import kinematics as measure_kinematics
from stdiffeye.statistics.saliency import SaliencyScores
from stdiffeye.statistics.search import Search


@dataclass(frozen=True)
class Statistics:
    """What `stats` found.

    Attributes
    ----------
    distributions : Comparison
        Distributions of scanpath quantities and their distances to the humans.
    kinematics : dict of str to Kinematics
        Per side ("human" and each system) the movements of raw gaze; empty where they were not measured.
    search : dict of str to Search
        Per side the efficiency of visual search; empty where no trial has a target box.
    saliency : dict of str to SaliencyScores
        Per side the scores of the fixations as a saliency map; empty unless asked for.
    """

    distributions: Comparison
    kinematics: Mapping[str, Kinematics] = field(default_factory=dict)
    search: Mapping[str, Search] = field(default_factory=dict)
    saliency: Mapping[str, SaliencyScores] = field(default_factory=dict)

    def kinematics_distances(self) -> dict[str, dict[str, float | None]]:
        """Per system the distances of its kinematics to the humans', None where undefined."""
        if not self.kinematics:
            return {}
        human = self.kinematics[HUMAN]
        distances = {name: one.distance_to(human) for name, one in self.kinematics.items() if name != HUMAN}
        return {name: _without_nan(row) for name, row in distances.items()}

    def to_json(self) -> dict[str, Any]:
        """Plain values, as in statistics.json; NaN as null."""
        numbers: dict[str, Any] = {"distributions": self.distributions.to_json()}
        if self.kinematics:
            numbers["kinematics"] = {name: one.to_json() for name, one in self.kinematics.items()}
            numbers["kinematics_distance"] = self.kinematics_distances()
        if self.search:
            numbers["search"] = {name: one.to_json() for name, one in self.search.items()}
        if self.saliency:
            numbers["saliency"] = {name: one.to_json() for name, one in self.saliency.items()}
        return numbers

    def to_markdown(self) -> str:
        """One table for each kind of statistics."""
        numbers = self.to_json()
        tables = [
            self.distributions.to_markdown(),
            _table("kinematics, distance to humans", numbers.get("kinematics_distance", {})),
            _table("visual search", numbers.get("search", {})),
            _table("saliency", numbers.get("saliency", {})),
        ]
        return "\n\n".join(table for table in tables if table)

    def __str__(self) -> str:
        return self.to_markdown()


def stats(
    human: Sequence[Trial],
    generated: Mapping[str, Sequence[Trial]] | None = None,
    *,
    unit: str = "auto",
    kinematics: bool = False,
    search: bool = False,
    saliency: bool = False,
    skip_first: int = 0,
) -> Statistics:
    """Compare how humans and systems move their eyes.

    Parameters
    ----------
    human : sequence of Trial
        Recorded gaze.
    generated : dict of str to sequence of Trial, optional
        Gaze of each system.
    unit : {"auto", "deg", "px"}
        Unit of lengths; "auto" is degrees where all frames know them, else px of the 512×384 frame.
    kinematics : bool
        Raise an error where kinematics cannot be measured. They are measured anyway where all trials have raw gaze at
        one sampling rate.
    search : bool
        Raise an error where visual search cannot be measured. It is measured anyway where human trials have target
        boxes.
    saliency : bool
        Also score the fixations as a saliency map.
    skip_first : int
        Leading fixations that the saliency map leaves out: 1 where the first is central by design.

    Returns
    -------
    Statistics
        Numbers, printable as tables.

    Raises
    ------
    InputError
        Where a side has no trials, or a kind of statistics that was asked for lacks its data.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath, Trial
    >>> path = Scanpath([[100, 100], [200, 100]], Frame(512, 384), [250, 300])
    >>> found = stats([Trial("a.jpg", "1", path)], {"ours": [Trial("a.jpg", "0", path)]})
    >>> found.distributions["saccade_amplitude"].distances["ours"].ks
    0.0
    """
    systems = dict(generated or {})
    sides = {HUMAN: human, **systems}
    found = compare(human, systems, unit)
    moved = kinematics or _all_raw(sides)
    searched = search or any(trial.target_box_px for trial in human)
    return Statistics(
        found,
        {name: measure_kinematics(trials) for name, trials in sides.items()} if moved else {},
        visual_search.compare(human, systems) if searched else {},
        saliency_view.compare(human, systems, skip_first) if saliency else {},
    )


def _all_raw(sides: Mapping[str, Sequence[Trial]]) -> bool:
    """Whether kinematics can be measured: raw gaze everywhere, at one sampling rate, in degrees."""
    raw = [trial.trajectory for trials in sides.values() for trial in trials]
    rates = {trajectory.rate_hz for trajectory in raw if trajectory is not None}
    return len(rates) == 1 and all(one is not None and one.frame.px_per_degree is not None for one in raw)


def _without_nan(row: Mapping[str, float]) -> dict[str, float | None]:
    """JSON has no NaN."""
    return {name: None if value != value else value for name, value in row.items()}


def _table(title: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    """The plain numbers, one row per side; curves are left to the figures."""
    if not rows:
        return ""
    names = [name for name, value in next(iter(rows.values())).items() if not isinstance(value, list)]
    lines = [f"| {title} | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    lines += [f"| {side} | {' | '.join(_cell(row[name]) for name in names)} |" for side, row in rows.items()]
    return "\n".join(lines)


def _cell(value: float | int | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, int):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 1000 else f"{round(value, 6) + 0.0:.3g}"
