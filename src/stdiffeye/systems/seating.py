"""Which viewers are shown together: an order of many in which every first few look at a picture as all of them do.

The viewers of a pool are parted into two halves that differ as little as they can (by the energy distance over
scanpath metrics), and so on down to parts of sixteen, of whom those come last that the others can best do without.
Each viewer has one place, so among all of them nothing that is drawn gets likelier; but the first ten, or sixteen,
cover what people do better than any ten or sixteen. These few are therefore chosen, not drawn.

References
----------
M. Papenberg, G. W. Klau: Using anticlustering to partition data sets into equivalent parts. Psychological Methods
26(2), 2021. G. J. Székely, M. L. Rizzo: Energy statistics. Journal of Statistical Planning and Inference 143(8), 2013.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stdiffeye.gaze import Scanpath
from stdiffeye.metrics import pairwise
from stdiffeye.metrics.spec import METRICS

POOL = 32  # viewers that are parted: those whose seeds differ in the remainder alone
PART = 16
BY = ("LD", "DTW", "TDE", "SM")
SWEEPS = 8  # at most; swaps run out after three or four

Floats = NDArray[np.float64]


def seats(paths: Sequence[Scanpath]) -> list[int]:
    """The order: which of the viewers with these scanpaths is first, second, …"""
    return _parted(distances(paths), np.arange(len(paths)))


def distances(paths: Sequence[Scanpath]) -> Floats:
    """(n, n) sum of several metrics, each 1 on average; a pair that a metric cannot tell apart or alike counts 1."""
    total = np.zeros((len(paths), len(paths)))
    apart = ~np.eye(len(paths), dtype=bool)
    for name in BY:
        table = pairwise(name, paths) * (1 if METRICS[name].direction == "lower" else -1)
        table = (table + table.T) / 2
        table -= np.diag(table).mean()  # of a similarity: what is alike has no distance
        usual = np.nanmean(table[apart]) if np.isfinite(table[apart]).any() else 0.0
        total += np.nan_to_num(table, nan=usual) / (usual or 1.0)
    return np.where(apart, total, 0.0)


def _parted(distance: Floats, who: NDArray[np.int64]) -> list[int]:
    if len(who) <= PART:
        return _by_need(distance, who)
    first = _first_half(distance[np.ix_(who, who)])
    return [*_parted(distance, who[first]), *_parted(distance, who[~first])]


def _by_need(distance: Floats, who: NDArray[np.int64]) -> list[int]:
    """The order of these viewers in which each is last whom those before it replace best, held against the pool."""
    from_pool, leaving = distance.mean(axis=1), []
    while len(who) > 1:
        among, from_all = distance[np.ix_(who, who)], from_pool[who]
        left = len(who) - 1
        energy = 2 * (from_all.sum() - from_all) / left - (among.sum() - 2 * among.sum(axis=1)) / left**2
        least = left - int(energy[::-1].argmin())  # the last of several
        leaving.append(int(who[least]))
        who = np.delete(who, least)
    return [*who.tolist(), *reversed(leaving)]


def _first_half(distance: Floats) -> NDArray[np.bool_]:
    """(n,) True for one of two halves between which distances are as small as swaps of two can make them."""
    n = len(distance)
    side = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    lean = distance @ side  # of each: how much further the first half is than the second
    for _ in range(SWEEPS):
        before = side.copy()
        for one in range(n):
            others = np.flatnonzero(side != side[one])
            nearer = -side[one] * lean[one] - side[others] * lean[others] - 2 * distance[one, others]
            best = int(nearer.argmax())
            if nearer[best] > 1e-9 * distance.max():
                other = int(others[best])
                lean -= 2 * (side[one] * distance[:, one] + side[other] * distance[:, other])
                side[[one, other]] *= -1
        if (side == before).all():
            break
    return side > 0
