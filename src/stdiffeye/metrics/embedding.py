"""TDE: is every stretch of the generated path like some stretch of the human one?

* **TDE** ↓ windows of k = 3 fixations; for each generated window the distance to the nearest human window, / k; mean
  over the generated windows. Coordinates / 512. The window distance is the Frobenius norm.
* **TDE_sum** ↓ the same with the sum of the k point distances.
* **TDE_scaled** ↓ mean over k = 1 … min(n, m) of the `sum` kind; **TDE_scaled_similarity** ↑ mean of exp(−that).

Wang et al. 2011; Zanca et al. 2018. Asymmetric: human first. Undefined (NaN) when either path is shorter than k.
"""

from __future__ import annotations

from stdiffeye.metrics.pairs import Floats, Pairs, Stretch, many_scaled_windows, many_windows, over
from stdiffeye.metrics.paths import EVALUATION_FRAME, Paths

WINDOW = 3


def score(a: Paths, b: Paths, pairs: Pairs, k: int = WINDOW, frobenius: bool = True) -> Floats:
    """(pairs, 1) TDE with windows of k."""
    one, other = _unit(a), _unit(b)

    def fill(stretch: Stretch, out: Floats) -> None:
        many_windows(one, other, stretch, k, frobenius, out)

    return over(pairs, a.first, b.first, 1, fill)


def score_scaled(a: Paths, b: Paths, pairs: Pairs) -> Floats:
    """(pairs, 2) scaled TDE, scaled similarity."""
    one, other = _unit(a), _unit(b)

    def fill(stretch: Stretch, out: Floats) -> None:
        many_scaled_windows(one, other, stretch, out)

    return over(pairs, a.first, b.first, 2, fill)


def _unit(paths: Paths) -> Floats:
    return paths.derived("unit", lambda: paths.xy_px / EVALUATION_FRAME.width_px)
