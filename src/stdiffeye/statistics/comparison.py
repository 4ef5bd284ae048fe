"""Human against generated: the distributions of the paper's appendix, and the distances between them.

`compare` pools each quantity over all trials of a side. Pooling ignores which picture was seen: two systems that agree
here may still fixate different things, which is what `stdiffeye.metrics` judges.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial
from stdiffeye.rounding import known_decimals
from stdiffeye.statistics.distances import circular_wasserstein, ks, kuiper, wasserstein
from stdiffeye.statistics.quantities import Quantity, choose_unit, quantities, scanpaths_in

HUMAN = "human"
DECIMALS = 3  # where nothing is known of a number's precision
TO_95 = 1.96  # standard errors


@dataclass(frozen=True)
class Distance:
    """Distance of a system's distribution from the humans'.

    Attributes
    ----------
    ks : float
        Kolmogorov–Smirnov distance in [0, 1]; for directions Kuiper's form.
    wasserstein : float
        First Wasserstein distance in the quantity's unit; for directions along the circle.
    """

    ks: float
    wasserstein: float


@dataclass(frozen=True)
class Distribution:
    """One quantity of every side, pooled over trials.

    Attributes
    ----------
    quantity : Quantity
        What was measured.
    values : dict of str to ndarray, (n,)
        "human" and each system → values in the quantity's unit.
    distances : dict of str to Distance
        System → distance to the humans.
    floor : Distance
        Distance between two halves of the human viewers (every other viewer by name): what remains for a perfect system
        with half as many trials. NaN with a single viewer.
    """

    quantity: Quantity
    values: Mapping[str, Floats]
    distances: Mapping[str, Distance]
    floor: Distance


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`; prints as a table.

    Attributes
    ----------
    distributions : dict of str to Distribution
        By name of the quantity, such as "saccade_amplitude".
    unit : {"deg", "px"}
        Unit of lengths.
    trials : dict of str to int
        Number of trials of each side.
    """

    distributions: Mapping[str, Distribution]
    unit: str
    trials: Mapping[str, int]

    def __getitem__(self, quantity: str) -> Distribution:
        return self.distributions[quantity]

    def to_json(self) -> dict[str, Any]:
        """Return plain values: unit, floor, and per side n, mean, sd, median and distances; NaN as null."""
        return {
            "unit_of_length": self.unit,
            "trials": dict(self.trials),
            "quantities": {name: _as_json(one) for name, one in self.distributions.items()},
        }

    def to_markdown(self) -> str:
        """Return a table with one row per quantity and side, rounded to what their numbers support."""
        lines = ["| quantity | | n | mean | median | KS | Wasserstein |", "|---|---|---:|---:|---:|---:|---:|"]
        for one in self.distributions.values():
            unit = f" ({one.quantity.unit})" if one.quantity.unit else ""
            for side, values in one.values.items():
                distance = one.distances.get(side, one.floor)
                note = f"{side} (halves)" if side == HUMAN else side
                share, length = (known_decimals([width], DECIMALS) for width in _half_widths(values))
                cells = [*_moments(one.quantity, values, length), _cell(distance.ks, share)]
                cells.append(_cell(distance.wasserstein, length))
                lines.append(f"| {one.quantity.label}{unit} | {note} | {len(values)} | {' | '.join(cells)} |")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_markdown()


def compare(human: Sequence[Trial], generated: Mapping[str, Sequence[Trial]], unit: str = "auto") -> Comparison:
    """Compare the distributions of scanpath quantities of humans and systems.

    Parameters
    ----------
    human : sequence of Trial
        Recorded gaze; trials without a scanpath have it extracted from their trajectory.
    generated : dict of str to sequence of Trial
        Gaze of each system.
    unit : {"auto", "deg", "px"}
        Unit of lengths: degrees, px of the 512×384 frame, or degrees where all frames know them, else px.

    Returns
    -------
    Comparison
        Distributions and distances of every quantity that any side has.

    Raises
    ------
    InputError
        When a side has no trials, or degrees are asked for and a frame does not know them.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath
    >>> near, far = (Scanpath([[0, 0], [x, 0]], Frame(512, 384)) for x in (100, 130))
    >>> found = compare([Trial("a.jpg", "1", near)], {"ours": [Trial("a.jpg", "1", far)]})
    >>> found["saccade_amplitude"].distances["ours"]
    Distance(ks=1.0, wasserstein=30.0)
    """
    sides = {HUMAN: list(human), **{name: list(trials) for name, trials in generated.items()}}
    _check(sides, len(generated))
    unit = choose_unit((trial for trials in sides.values() for trial in trials), unit)
    scanpaths = {side: scanpaths_in(trials, unit) for side, trials in sides.items()}
    halves = _halves(sides[HUMAN])
    found = {}
    for quantity in quantities(unit):
        values = {side: quantity.pooled(paths) for side, paths in scanpaths.items()}
        if not any(len(sample) for sample in values.values()):
            continue
        distances = {side: distance(quantity, values[HUMAN], values[side]) for side in generated}
        pooled = [quantity.pooled(scanpaths[HUMAN][i] for i in half) for half in halves]
        found[quantity.name] = Distribution(quantity, values, distances, distance(quantity, *pooled))
    return Comparison(found, unit, {side: len(trials) for side, trials in sides.items()})


def distance(quantity: Quantity, one: Floats, other: Floats) -> Distance:
    """Compute both distances of two samples, along the circle for directions.

    Parameters
    ----------
    quantity : Quantity
        What the samples are of.
    one, other : ndarray, (n,), (m,)
        Values in the quantity's unit.

    Returns
    -------
    Distance
        NaN where a sample is empty.
    """
    if quantity.circular:
        return Distance(kuiper(one, other), circular_wasserstein(one, other))
    return Distance(ks(one, other), wasserstein(one, other))


def _check(sides: Mapping[str, list[Trial]], systems: int) -> None:
    if len(sides) != systems + 1:
        raise InputError(f"a system cannot be called {HUMAN!r}: that is the name of the reference")
    for side, trials in sides.items():
        if not trials:
            raise InputError(f"{side!r} has no trials: nothing to compare")


def _halves(trials: Sequence[Trial]) -> tuple[list[int], list[int]]:
    """Numbers of the trials of every other viewer, and of the others."""
    rank = {subject: number for number, subject in enumerate(sorted({trial.subject for trial in trials}))}
    odd = [rank[trial.subject] % 2 for trial in trials]
    return [i for i, half in enumerate(odd) if half == 0], [i for i, half in enumerate(odd) if half == 1]


def _as_json(one: Distribution) -> dict[str, Any]:
    sides: dict[str, Any] = {}
    for side, values in one.values.items():
        row: dict[str, Any] = {"n": len(values)}
        for name, statistic in (("mean", np.mean), ("sd", np.std), ("median", np.median)):
            row[name] = float(statistic(values)) if len(values) and not one.quantity.circular else None
        if side in one.distances:
            row |= _distance_json(one.distances[side])
        sides[side] = row
    return {"unit": one.quantity.unit, "human_halves": _distance_json(one.floor), "sides": sides}


def _distance_json(distance: Distance) -> dict[str, float | None]:
    return {
        "ks": None if math.isnan(distance.ks) else distance.ks,
        "wasserstein": None if math.isnan(distance.wasserstein) else distance.wasserstein,
    }


def _half_widths(values: Floats) -> tuple[float, float]:
    """Half the 95 % interval of a share of so many values, the widest there is, and of their mean."""
    root = math.sqrt(max(len(values), 1))
    return TO_95 * 0.5 / root, TO_95 * float(values.std()) / root if len(values) else math.nan


def _moments(quantity: Quantity, values: Floats, decimals: int) -> list[str]:
    if quantity.circular or not len(values):
        return ["–", "–"]
    return [_cell(float(values.mean()), decimals), _cell(float(np.median(values)), decimals)]


def _cell(value: float, decimals: int) -> str:
    return "–" if math.isnan(value) else f"{value:z.{decimals}f}"
