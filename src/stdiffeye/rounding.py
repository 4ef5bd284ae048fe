"""Numbers rounded to what is known of them: as many decimals as the width of their interval supports."""

from __future__ import annotations

import math
from collections.abc import Iterable

MOST_DECIMALS = 4


def known_decimals(half_widths: Iterable[float], otherwise: int) -> int:
    """Decimals that show two digits of the narrowest interval.

    Parameters
    ----------
    half_widths : iterable of float
        Half the width of each interval; those that are 0, NaN or infinite say nothing.
    otherwise : int
        Decimals where no interval says anything.

    Returns
    -------
    int
        0 to 4.

    Examples
    --------
    >>> known_decimals([20.1, 35.0], otherwise=3), known_decimals([0.22], otherwise=3), known_decimals([], otherwise=3)
    (0, 2, 3)
    """
    known = [width for width in half_widths if math.isfinite(width) and width > 0]
    if not known:
        return otherwise
    return min(max(1 - math.floor(math.log10(min(known))), 0), MOST_DECIMALS)
