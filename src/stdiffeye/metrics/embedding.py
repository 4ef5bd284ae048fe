"""TDE: is every window of the generated scanpath like some window of the human one?

* **TDE** ↓ windows of k = 3 fixations. For each generated window the distance to the nearest human window, divided by
  k; mean over the generated windows. Coordinates are divided by 512. The window distance is the Frobenius norm.
* **TDE_sum** ↓ the same with the sum of the k point distances.
* **TDE_scaled** ↓ mean over k = 1 … min(n, m) of the `sum` kind; **TDE_scaled_similarity** ↑ mean of exp(−that).

Wang et al. 2011; Zanca et al. 2018. Asymmetric: human first. Undefined (NaN) when either path is shorter than k.
"""

from __future__ import annotations

from stdiffeye.arrays import Floats
from stdiffeye.metrics.pairs import Pairs, Stretch, many_scaled_windows, many_windows, over
from stdiffeye.metrics.paths import EVALUATION_FRAME, PackedScanpaths

WINDOW = 3


def score(a: PackedScanpaths, b: PackedScanpaths, pairs: Pairs, k: int = WINDOW, frobenius: bool = True) -> Floats:
    """Compute TDE of pairs of scanpaths.

    Parameters
    ----------
    a, b : PackedScanpaths
        Human and generated scanpaths.
    pairs : Pairs
        Which scanpath of `a` is compared with which of `b`.
    k : int
        Fixations in a window.
    frobenius : bool
        Frobenius norm of a window's difference; else the sum of the k point distances.

    Returns
    -------
    ndarray, (pairs, 1)
        TDE in widths of the frame, NaN where either scanpath is shorter than `k`.
    """
    one, other = _unit(a), _unit(b)

    def fill(stretch: Stretch, out: Floats) -> None:
        many_windows(one, other, stretch, k, frobenius, out)

    return over(pairs, a.first, b.first, 1, fill)


def score_scaled(a: PackedScanpaths, b: PackedScanpaths, pairs: Pairs) -> Floats:
    """Compute scaled TDE of pairs of scanpaths.

    Parameters
    ----------
    a, b : PackedScanpaths
        Human and generated scanpaths.
    pairs : Pairs
        Which scanpath of `a` is compared with which of `b`.

    Returns
    -------
    ndarray, (pairs, 2)
        Distance in widths of the frame, and similarity in (0, 1].
    """
    one, other = _unit(a), _unit(b)

    def fill(stretch: Stretch, out: Floats) -> None:
        many_scaled_windows(one, other, stretch, out)

    return over(pairs, a.first, b.first, 2, fill)


def _unit(paths: PackedScanpaths) -> Floats:
    return paths.derived("unit", lambda: paths.xy_px / EVALUATION_FRAME.width_px)
