r"""How many viewers a study needs to see a difference in an area of interest.

Two groups of viewers, each seeing one design, compared by a two-sided t test (Welch). With standard deviations
:math:`s_A`, :math:`s_B` over viewers and a difference :math:`\Delta`, the number per design is

.. math:: n = (t_{1 - \alpha/2} + t_{power})^2 (s_A^2 + s_B^2) / \Delta^2

with 2n − 2 degrees of freedom (Cohen 1988). The spread over viewers is taken from the gaze that is given. Where that
gaze is generated, so is the answer: a plan to be checked by a pilot, not a measurement. Viewers for whom a measure is
not defined are added in proportion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.area_visits import MEASURES
from stdiffeye.statistics.aoi.area_group import AreaGroup
from stdiffeye.statistics.aoi.viewer_bootstrap import FEWEST_DEFINED, LEVELS

POWER, ALPHA = 0.8, 0.05
FEWEST_VIEWERS = 10  # of given gaze: fewer tell no spread
MOST_VIEWERS = 100_000


@dataclass(frozen=True)
class ViewersNeeded:
    """Viewers per design to see a difference in one area."""

    group: str
    name: str
    area: str
    measure: str
    difference: float
    """What shall be seen."""
    sd: float
    """Standard deviation over viewers, taken for both designs; NaN where fewer than five fixated the area."""
    viewers: int | None
    """Per design; None where no study of reasonable size would see it, or the spread is not known."""
    low: int | None
    """95 % interval of that number, by bootstrap over the given viewers."""
    high: int | None


def per_design(difference: float, variance: float, power: float = POWER, alpha: float = ALPHA) -> int | None:
    """Viewers per design for a difference, given the sum of both variances.

    Parameters
    ----------
    difference : float
        In the measure's unit, not 0.
    variance : float
        Variance over viewers of A plus that of B.
    power, alpha : float
        Probability to see the difference, and to see one that is not there.

    Returns
    -------
    int or None
        At least 2; None above 100,000.

    Examples
    --------
    >>> per_design(0.5, 2.0)
    64
    """
    from scipy.stats import t as student  # late: it takes longer to load than most commands need

    if difference == 0 or not math.isfinite(difference) or not math.isfinite(variance):
        return None
    viewers = 2.0
    for _ in range(100):
        freedom = max(2 * viewers - 2, 1.0)
        needed = (student.ppf(1 - alpha / 2, freedom) + student.ppf(power, freedom)) ** 2 * variance / difference**2
        needed = max(needed, 2.0)
        if needed > MOST_VIEWERS:
            return None
        if abs(needed - viewers) < 1e-6:
            break
        viewers = needed
    return math.ceil(viewers - 1e-6)


def viewers_needed(
    groups: Sequence[AreaGroup], measure: str, difference: float, replicates: int = 1000, seed: int = 0
) -> list[ViewersNeeded]:
    """Viewers per design that a study needs, for every area of every group that is given.

    Parameters
    ----------
    groups : sequence of AreaGroup
        Viewers whose spread is taken; at least ten each.
    measure : str
        One of the measures of areas.
    difference : float
        Smallest difference between the designs that shall be seen, in the measure's unit.
    replicates, seed : int
        Of the bootstrap.

    Returns
    -------
    list of ViewersNeeded

    Raises
    ------
    InputError
        For an unknown measure, a difference that is not positive, or too few viewers.
    """
    if measure not in MEASURES:
        raise InputError(f"there is no measure {measure!r}; choose one of {', '.join(MEASURES)}")
    if not difference > 0:
        raise InputError(f"the difference to see must be positive, got {difference:g}")
    found = []
    for group in groups:
        if len(group.subjects) < FEWEST_VIEWERS:
            raise InputError(
                f"{group.group} has {len(group.subjects)} viewers of {group.name}: the spread over viewers needs at "
                f"least {FEWEST_VIEWERS}; generate more with --samples"
            )
        rng = np.random.default_rng(seed)
        for column, area in enumerate(group.areas.names):
            what, values = (group.group, group.name, area, measure), group.values[measure][:, column]
            if group.values["hit"][:, column].sum() < FEWEST_DEFINED:
                found.append(ViewersNeeded(*what, difference, float("nan"), None, None, None))
            else:
                found.append(_of_area(what, values, difference, replicates, rng))
    return found


def _of_area(
    what: tuple[str, str, str, str], values: Floats, difference: float, replicates: int, rng: np.random.Generator
) -> ViewersNeeded:
    defined = values[np.isfinite(values)]
    resampled = defined[rng.integers(len(defined), size=(replicates, len(defined)))].var(axis=1, ddof=1)
    low, high = np.percentile(resampled, LEVELS)
    sizes = []
    for variance in (float(defined.var(ddof=1)), float(low), float(high)):
        size = per_design(difference, 2 * variance)
        sizes.append(None if size is None else math.ceil(size * len(values) / len(defined)))
    return ViewersNeeded(*what, difference, float(defined.std(ddof=1)), *sizes)
