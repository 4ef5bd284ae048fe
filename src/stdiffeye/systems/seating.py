"""Which viewers are shown together: an order of many in which every first few look at a picture as all of them do.

Of a pool of viewers those sixteen are seated first who are most like the pool (by the energy distance over scanpath
metrics), then the sixteen who together with them are most like it, and so on; within sixteen, those come last whom the
others can best do without. Each viewer has one place, so among all of them nothing that is drawn gets likelier; but the
first ten, or sixteen, cover what people do better than any ten or sixteen. These few are therefore chosen, not drawn.

References
----------
G. J. Székely, M. L. Rizzo: Energy statistics. Journal of Statistical Planning and Inference 143(8), 2013.
S. Mak, V. R. Joseph: Support points. Annals of Statistics 46(6A), 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stdiffeye.gaze import Scanpath
from stdiffeye.metrics.pairs import Pairs
from stdiffeye.metrics.paths import pack
from stdiffeye.metrics.spec import METRICS, Context, scores

POOL = 64  # viewers who are seated together: those whose seeds differ in the remainder alone
PART = 16
BY = {"LD": 0.116, "DFD": 0.042, "DTW": 0.244, "TDE": 0.231, "MM": 0.085, "SM": 0.170, "SM_dur": 0.177}
"""Metric → what it tells of a picture: how much further apart two people are if they look at two different pictures, as
part of their distance (61 pictures of OSIE's train split, fair CRPS; other sets are much the same up to a factor)."""
BY_NUMBER = 0.1  # the same for the number of fixations, which is to be as varied as in the pool; chosen
SELF_WEIGHT = 0.75
"""How much the distance of a viewer to itself, which is none, counts. Drafts are chosen, and what comes of them is less
unlike: with 1, which would be right for drafts, a chosen few end up narrower than all."""
SWEEPS = 8  # at most; swaps run out after three or four

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def seats(paths: Sequence[Scanpath], count: int) -> list[int]:
    """At least the first `count` places: which of the viewers with these scanpaths is first, second, …"""
    crowd, seated = Crowd(distances(paths)), np.empty(0, dtype=np.int64)
    while len(seated) < min(count, len(paths)):
        seated = np.append(seated, crowd.by_need(seated, crowd.most_like_all(seated)))
    return seated.tolist()


def distances(paths: Sequence[Scanpath]) -> Floats:
    """(n, n) between viewers: a sum of metrics, the mean of both directions, in units of what each tells.

    A pair that a metric cannot tell apart or alike counts as a usual one.
    """
    packed, total = pack(paths, [0] * len(paths)), np.zeros((len(paths), len(paths)))
    one, other = np.triu_indices(len(paths), 1)
    for symmetric, directions in ((True, [(one, other)]), (False, [(one, other), (other, one)])):
        chosen = [METRICS[name] for name in BY if METRICS[name].symmetric is symmetric]
        for rows, columns in directions:
            for name, values in scores(chosen, packed, packed, Pairs(rows, columns), Context()).items():
                apart = values if METRICS[name].direction == "lower" else 1 - values
                usual = float(np.nanmean(apart)) if np.isfinite(apart).any() else 0.0
                share = (usual or 1.0) * BY[name] * len(directions)
                total[one, other] += np.nan_to_num(apart, nan=usual) / share
    number = np.array([len(path) for path in paths], dtype=np.float64)
    longer = np.abs(number[:, None] - number)
    return total + total.T + longer / ((longer.mean() or 1.0) * BY_NUMBER)


@dataclass(frozen=True)
class Crowd:
    """The viewers of a pool."""

    apart: Floats  # (n, n) distances between them

    @cached_property
    def from_all(self) -> Floats:
        """(n,) how far each is from all of them, on average."""
        return self.apart.mean(axis=0)

    def most_like_all(self, seated: Ints) -> Ints:
        """Up to sixteen who, with those who are seated, are as like the pool as swaps of one can make them."""
        rest = np.setdiff1d(np.arange(len(self.apart)), seated)
        some = rest[:0]
        while len(some) < min(PART, len(rest)):
            some = np.append(some, self._best_with(np.append(seated, some), rest))
        for _ in range(SWEEPS):
            before = some.copy()
            for place in range(len(some)):
                others = np.append(seated, np.delete(some, place))
                some[place] = self._best_with(others, rest, now=int(some[place]))
            if (some == before).all():
                break
        return some

    def by_need(self, seated: Ints, who: Ints) -> list[int]:
        """The order in which each is last whom those before it, and those seated, replace best."""
        leaving: list[int] = []
        while len(who) > 1:
            needed = self._energy(who, np.append(seated, who), len(seated) + len(who) - 1)
            least = len(who) - 1 - int(needed[::-1].argmax())  # the last of several
            leaving.append(int(who[least]))
            who = np.delete(who, least)
        return [*who.tolist(), *reversed(leaving)]

    def _best_with(self, there: Ints, rest: Ints, now: int | None = None) -> int:
        """Who of the rest makes those who are there most like the pool; `now` where nobody does so better."""
        free = rest[~np.isin(rest, there)]
        energy = self._energy(free, there, len(there) + 1)
        best = int(energy.argmin())
        if now is not None and energy[best] > energy[free == now][0] - 1e-9 * self.apart.max():
            return now
        return int(free[best])

    def _energy(self, who: Ints, others: Ints, together: int) -> Floats:
        """What each adds to the energy distance to the pool of so many viewers."""
        return self.from_all[who] - self.apart[np.ix_(who, others)].sum(axis=1) / (together - 1 + SELF_WEIGHT)
