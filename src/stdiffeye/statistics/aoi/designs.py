"""Two designs of the same thing, A and B: in which area do viewers do more, by how much, and is that decided?

Areas of the two pictures are matched by name. The interval is a bootstrap over viewers; where the same viewers saw
both designs, they are resampled together, which is the paired test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.area_visits import MEASURES
from stdiffeye.statistics.aoi.area_group import AreaGroup
from stdiffeye.statistics.aoi.viewer_bootstrap import ViewerEstimate, differences

SOONER_IS_BETTER = ("time_to_first_ms",)


@dataclass(frozen=True)
class DesignDifference:
    """B − A of one measure in one area, for one group of viewers."""

    group: str
    area: str
    measure: str
    a: float
    """Mean over the viewers of design A."""
    b: float
    difference: ViewerEstimate
    paired: bool
    """Whether the same viewers saw both."""

    @property
    def winner(self) -> str:
        """The design with more, A or B; for the time to first fixation the sooner one; – where it is not decided."""
        if not self.difference.decided:
            return "–"
        return "B" if (self.difference.value > 0) != (self.measure in SOONER_IS_BETTER) else "A"


def compare_designs(groups: Sequence[AreaGroup], a: str, b: str, replicates: int, seed: int) -> list[DesignDifference]:
    """Differences of every measure in every area that both designs have.

    Parameters
    ----------
    groups : sequence of AreaGroup
        Groups of viewers on both pictures.
    a, b : str
        Names of the two pictures.
    replicates, seed : int
        Of the bootstrap.

    Returns
    -------
    list of DesignDifference

    Raises
    ------
    InputError
        Where a picture has no gaze, or no area of the two has the same name.
    """
    known = list(dict.fromkeys(one.name for one in groups))
    for name in (a, b):
        if name not in known:
            raise InputError(f"there is no gaze on the design {name!r}: the pictures are {', '.join(known)}")
    found: list[DesignDifference] = []
    for of_a in (one for one in groups if one.name == a):
        of_b = next((one for one in groups if (one.name, one.group, one.task) == (b, of_a.group, of_a.task)), None)
        if of_b is not None:
            found += _of_group(of_a, of_b, replicates, seed)
    if not found:
        raise InputError(f"{a!r} and {b!r} share no area by name, or no group of viewers saw both")
    return found


def _of_group(a: AreaGroup, b: AreaGroup, replicates: int, seed: int) -> list[DesignDifference]:
    shared = [name for name in a.areas.names if name in b.areas.names]
    columns_a = [a.areas.names.index(name) for name in shared]
    columns_b = [b.areas.names.index(name) for name in shared]
    paired = sorted(a.subjects) == sorted(b.subjects) and len(set(a.subjects)) == len(a.subjects)
    rows_a, rows_b = (np.argsort(one.subjects) if paired else np.arange(len(one.subjects)) for one in (a, b))
    found = []
    for measure in MEASURES:
        one, other = a.values[measure][rows_a][:, columns_a], b.values[measure][rows_b][:, columns_b]
        if not shared or not (np.isfinite(one).any() and np.isfinite(other).any()):
            continue
        gaps = differences(other, one, replicates, np.random.default_rng(seed), paired)
        for column, (area, gap) in enumerate(zip(shared, gaps, strict=True)):
            mean_a, mean_b = _mean(one[:, column]), _mean(other[:, column])
            found.append(DesignDifference(a.group, area, measure, mean_a, mean_b, gap, paired))
    return found


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")
