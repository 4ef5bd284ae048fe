"""Colours that colour-blind readers can tell apart: one scale for time, one set for viewers and systems.

Time runs through viridis, which rises in lightness all the way and so survives grey printing. Categories are those
of Okabe and Ito (2008), "Color Universal Design", without their black and yellow, which vanish on pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

Rgb = tuple[float, float, float]

CATEGORIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
HUMAN = "#222222"
TIME_SCALE = "viridis"
TIME_SCALE_FROM = 0.2
DENSITY_SCALE = "inferno"
# Above this relative luminance black text is easier to read than white (WCAG 2 contrast of both is equal at 0.179).
BLACK_TEXT_FROM_LUMINANCE = 0.179


def time_scale() -> Colormap:
    """The colour map for time, early dark to late bright; the darkest part, lost on dark pictures, is left out."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps[TIME_SCALE](np.linspace(TIME_SCALE_FROM, 1, 256)), name="time")


def category(number: int) -> str:
    """Colour of the n-th viewer or system; after six they come again."""
    return CATEGORIES[number % len(CATEGORIES)]


def by_time(share: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) shares of the viewing time in [0, 1] → (n, 4) RGBA."""
    return np.asarray(time_scale()(np.asarray(share, dtype=np.float64)))


def text_on(colour: Any) -> str:
    """ "black" or "white", whichever is easier to read on `colour`."""
    from matplotlib.colors import to_rgb

    channels = np.array(to_rgb(colour), dtype=np.float64)
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ (0.2126, 0.7152, 0.0722) > BLACK_TEXT_FROM_LUMINANCE else "white"


def shades(colours: Sequence[str]) -> list[tuple[int, int, int]]:
    """Each different colour, darker and paler forms of it, black and white, as whole numbers: for a palette of few."""
    from matplotlib.colors import to_rgb

    found = [(0, 0, 0), (255, 255, 255)]
    for colour in dict.fromkeys(colours):
        pure = 255 * np.array(to_rgb(colour))
        for mixed in (pure, 0.7 * pure, 0.45 * pure, 0.5 * pure + 127):
            red, green, blue = np.round(mixed).astype(int).tolist()
            found.append((red, green, blue))
    return found
