"""Representative samples: an order of candidates in which every first few stand for all of them.

Of many candidates those sixteen come first that are most like all candidates, by the energy distance over scanpath
metrics; then the sixteen that together with them are most like all, and so on. Within sixteen, those come last that the
others can best do without. Each candidate has one rank, so that over all ranks nothing gets more likely. A first few
are chosen, not sampled: they cover human gaze better than independent samples, and must not be scored.

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

from stdiffeye.arrays import Floats, Ints
from stdiffeye.gaze import Scanpath
from stdiffeye.metrics.pairs import Pairs
from stdiffeye.metrics.paths import pack
from stdiffeye.metrics.spec import METRICS, Context, scores

CANDIDATES = 64  # seeds that differ only in the remainder
GROUP = 16
METRIC_SHARES = {"LD": 0.116, "DFD": 0.042, "DTW": 0.244, "TDE": 0.231, "MM": 0.085, "SM": 0.170, "SM_dur": 0.177}
"""Metric → how much further apart two viewers are on two different pictures, as a share of their distance (61 pictures
of OSIE's train split, fair CRPS; other sets are much the same up to a factor)."""
LENGTH_SHARE = 0.1  # the same for the number of fixations
SELF_WEIGHT = 0.75
"""How much the distance of a candidate to itself counts. Candidates are drafts, and the samples made of them differ
less: with 1, which is right for drafts, the chosen few end up too narrow."""
SWEEPS = 8  # at most; swaps run out after three or four


def select_representatives(paths: Sequence[Scanpath], count: int) -> list[int]:
    """At least the first `count` ranks: the number of the candidate that is first, second, …"""
    selection, selected = Selection(distances(paths)), np.empty(0, dtype=np.int64)
    while len(selected) < min(count, len(paths)):
        group = selection.most_representative(selected)
        selected = np.append(selected, selection.by_contribution(selected, group))
    return selected.tolist()


def distances(paths: Sequence[Scanpath]) -> Floats:
    """(n, n) between candidates: a weighted sum of metrics, each the mean of both directions.

    A pair for which a metric is undefined counts as a usual one.
    """
    packed, total = pack(paths, [0] * len(paths)), np.zeros((len(paths), len(paths)))
    one, other = np.triu_indices(len(paths), 1)
    for symmetric, directions in ((True, [(one, other)]), (False, [(one, other), (other, one)])):
        chosen = [METRICS[name] for name in METRIC_SHARES if METRICS[name].symmetric is symmetric]
        for rows, columns in directions:
            for name, values in scores(chosen, packed, packed, Pairs(rows, columns), Context()).items():
                apart = values if METRICS[name].direction == "lower" else 1 - values
                usual = float(np.nanmean(apart)) if np.isfinite(apart).any() else 0.0
                share = (usual or 1.0) * METRIC_SHARES[name] * len(directions)
                total[one, other] += np.nan_to_num(apart, nan=usual) / share
    number = np.array([len(path) for path in paths], dtype=np.float64)
    longer = np.abs(number[:, None] - number)
    return total + total.T + longer / ((longer.mean() or 1.0) * LENGTH_SHARE)


@dataclass(frozen=True)
class Selection:
    """Choices among candidates by energy distance."""

    distance: Floats  # (n, n)

    @cached_property
    def mean_distance(self) -> Floats:
        """(n,) of each candidate to all of them."""
        return self.distance.mean(axis=0)

    def most_representative(self, selected: Ints) -> Ints:
        """Up to sixteen that, with those selected, are as like all candidates as swaps of one can make them."""
        rest = np.setdiff1d(np.arange(len(self.distance)), selected)
        group = rest[:0]
        while len(group) < min(GROUP, len(rest)):
            group = np.append(group, self._best_with(np.append(selected, group), rest))
        for _ in range(SWEEPS):
            before = group.copy()
            for rank in range(len(group)):
                others = np.append(selected, np.delete(group, rank))
                group[rank] = self._best_with(others, rest, current=int(group[rank]))
            if (group == before).all():
                break
        return group

    def by_contribution(self, selected: Ints, group: Ints) -> list[int]:
        """The order in which each is last that those before it, and those selected, replace best."""
        leaving: list[int] = []
        while len(group) > 1:
            energy = self._energy(group, np.append(selected, group), len(selected) + len(group) - 1)
            least = len(group) - 1 - int(energy[::-1].argmax())  # the last of several
            leaving.append(int(group[least]))
            group = np.delete(group, least)
        return [*group.tolist(), *reversed(leaving)]

    def _best_with(self, others: Ints, rest: Ints, current: int | None = None) -> int:
        """Which of the rest makes the others most like all candidates; `current` where none does so better."""
        free = rest[~np.isin(rest, others)]
        energy = self._energy(free, others, len(others) + 1)
        best = int(energy.argmin())
        if current is not None and energy[best] > energy[free == current][0] - 1e-9 * self.distance.max():
            return current
        return int(free[best])

    def _energy(self, chosen: Ints, others: Ints, size: int) -> Floats:
        """What each adds to the energy distance between `size` candidates and all of them."""
        return self.mean_distance[chosen] - self.distance[np.ix_(chosen, others)].sum(axis=1) / (size - 1 + SELF_WEIGHT)
