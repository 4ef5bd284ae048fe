"""Colours that colour-blind readers can tell apart: one scale for time, one set for viewers and systems.

Time runs through viridis, which rises in lightness all the way and so survives grey printing. Categories are those
of Okabe and Ito (2008), "Color Universal Design", without their black and yellow, which vanish on pictures. Four more
follow, chosen to be far from these six and from each other in CIELAB, also as protanopes and deuteranopes see them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

CATEGORIES = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"),
    *("#7B3FF2", "#7F4A1E", "#E6F08A", "#004D40"),
)
HUMAN = "#222222"
TIME_SCALE = "viridis"
TIME_SCALE_FROM = 0.2
DENSITY_SCALE = "inferno"
# Above this relative luminance black text is easier to read than white (WCAG 2 contrast of both is equal at 0.179).
BLACK_TEXT_FROM_LUMINANCE = 0.179


def time_scale() -> Colormap:
    """Return the colour map of time, from dark to bright, without its darkest fifth, which is lost on dark pictures."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps[TIME_SCALE](np.linspace(TIME_SCALE_FROM, 1, 256)), name="time")


def category(number: int) -> str:
    """Return the colour of the n-th viewer or system; ten colours repeat."""
    return CATEGORIES[number % len(CATEGORIES)]


def by_time(share: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n, 4) RGBA colours of (n,) shares of the viewing time in [0, 1]."""
    return np.asarray(time_scale()(np.asarray(share, dtype=np.float64)))


def text_on(colour: Any) -> str:
    """Return "black" or "white", whichever is easier to read on `colour`."""
    from matplotlib.colors import to_rgb

    channels = np.array(to_rgb(colour), dtype=np.float64)
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ (0.2126, 0.7152, 0.0722) > BLACK_TEXT_FROM_LUMINANCE else "white"


def shades(colours: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return black, white and each colour with darker and paler forms of it, as RGB in 0 … 255, for a small palette."""
    from matplotlib.colors import to_rgb

    found = [(0, 0, 0), (255, 255, 255)]
    for colour in dict.fromkeys(colours):
        pure = 255 * np.array(to_rgb(colour))
        for mixed in (pure, 0.7 * pure, 0.45 * pure, 0.5 * pure + 127):
            red, green, blue = np.round(mixed).astype(int).tolist()
            found.append((red, green, blue))
    return found
