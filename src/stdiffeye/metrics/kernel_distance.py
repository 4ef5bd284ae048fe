"""KTD: how far apart are two scanpaths in a space where CRPS is proper by construction?

* **KTD** ↓ kernel time-delay distance. Fixation i is the delay vector z_i = (p_i, p_{i−1}) of its position and the one
  before (the first fixation repeats itself), at order i. A scanpath is the sum of its fixations in the Hilbert space of

      k((z, i), (w, j)) = 1 / (1 + ‖z − w‖² / σ²) · 1 / (1 + (i − j)² / τ²),   σ = 64 px, τ = 2 fixations,

  and KTD(a, b) = ‖Σ_i k(z_i, ·) − Σ_j k(w_j, ·)‖ = √(K(a, a) + K(b, b) − 2 K(a, b)), with K the sum over all pairs of
  fixations.

A norm of differences in a Hilbert space is of negative type, so that CRPS under KTD is a proper score (an energy score;
Gneiting & Raftery 2007, Sejdinovic et al. 2013). Both factors are characteristic kernels and every fixation carries its
position and order, so that different scanpaths never coincide: the score is strictly proper.

Symmetric, without unit, defined from one fixation on, blind to durations, 0 for equal scanpaths only. Fixations
that nothing of the other path is near to count about 1 each, so that missing and surplus fixations count too.
"""

from __future__ import annotations

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.metrics.compiled import kernel
from stdiffeye.metrics.pairs import Pairs, Stretch, over
from stdiffeye.metrics.paths import PackedScanpaths

SCALE_PX = 64.0
SCALE_FIXATIONS = 2.0
ROUNDING = 1e-10  # of the squares: smaller differences are rounding, which the root would blow up


def score(a: PackedScanpaths, b: PackedScanpaths, pairs: Pairs) -> Floats:
    """Compute KTD of pairs of scanpaths.

    Parameters
    ----------
    a, b : PackedScanpaths
        Human and generated scanpaths.
    pairs : Pairs
        Which scanpath of `a` is compared with which of `b`.

    Returns
    -------
    ndarray, (pairs, 1)
        Distances, 0 for equal scanpaths.
    """
    one, other = _self_similarity(a), _self_similarity(b)

    def fill(stretch: Stretch, out: Floats) -> None:
        _many_similarities(a.xy_px, b.xy_px, stretch, out)

    cross = over(pairs, a.first, b.first, 1, fill)
    both = one[pairs.a, None] + other[pairs.b, None]
    square = both - 2 * cross
    return np.sqrt(np.where(square > ROUNDING * both, square, 0.0))


def _self_similarity(paths: PackedScanpaths) -> Floats:
    """(P,) K(a, a) of each scanpath, computed once and not per pair."""

    def make() -> Floats:
        every = np.arange(len(paths))
        out = np.empty((len(paths), 1))
        _many_similarities(paths.xy_px, paths.xy_px, (paths.first, paths.first, every, every, 0, len(paths)), out)
        return out[:, 0]

    return paths.derived("self_similarity", make)


@kernel(error_model="numpy")
def _many_similarities(xy_a: Floats, xy_b: Floats, stretch: Stretch, out: Floats) -> None:
    first_a, first_b, a, b, start, stop = stretch
    for p in range(start, stop):
        out[p, 0] = _similarity(xy_a, first_a[a[p]], first_a[a[p] + 1], xy_b, first_b[b[p]], first_b[b[p] + 1])


def similarity_by_table(xy_a: Floats, begin_a: int, end_a: int, xy_b: Floats, begin_b: int, end_b: int) -> float:
    """What `_similarity` computes, from the table of all pairs of fixations.

    Parameters
    ----------
    xy_a, xy_b : array, shape (N, 2)
        Positions of packed scanpaths.
    begin_a, end_a, begin_b, end_b : int
        The two scanpaths in them.

    Returns
    -------
    float
        Sum over all pairs of fixations.
    """
    one, other = xy_a[begin_a:end_a], xy_b[begin_b:end_b]
    apart = ((one[:, None] - other[None]) ** 2).sum(axis=-1)
    rows, columns = (np.maximum(np.arange(len(path)) - 1, 0) for path in (one, other))
    near = 1 + (apart + apart[np.ix_(rows, columns)]) / SCALE_PX**2
    order = np.subtract.outer(np.arange(len(one)), np.arange(len(other)))
    return float((1 / (near * (1 + order**2 / SCALE_FIXATIONS**2))).sum())


@kernel(similarity_by_table, error_model="numpy")
def _similarity(xy_a: Floats, begin_a: int, end_a: int, xy_b: Floats, begin_b: int, end_b: int) -> float:
    """K(a, b): the kernel summed over all pairs of fixations."""
    total = 0.0
    for i in range(begin_a, end_a):
        before_i = max(i - 1, begin_a)
        for j in range(begin_b, end_b):
            before_j = max(j - 1, begin_b)
            dx, dy = xy_a[i, 0] - xy_b[j, 0], xy_a[i, 1] - xy_b[j, 1]
            bx, by = xy_a[before_i, 0] - xy_b[before_j, 0], xy_a[before_i, 1] - xy_b[before_j, 1]
            apart = (i - begin_a) - (j - begin_b)
            near = 1.0 + (dx * dx + dy * dy + bx * bx + by * by) / (SCALE_PX * SCALE_PX)
            total += 1.0 / (near * (1.0 + apart * apart / (SCALE_FIXATIONS * SCALE_FIXATIONS)))
    return total
