"""Density of fixations as colour over the picture, computed as in `stdiffeye.statistics.saliency`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.gaze import Frame
from stdiffeye.plotting.colours import DENSITY_SCALE
from stdiffeye.statistics.saliency import fixation_map, grid_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The map turns opaque as density rises, but never hides the picture wholly; low density lets all of it through.
MOST_OPAQUE = 0.82
OPACITY_POWER = 0.6


def density(points_px: Sequence[Floats], frame: Frame) -> Floats:
    """Return the (H, W) density of all points inside the frame, smoothed by one degree."""
    shape, sigma_cells = grid_of(frame)
    xy_px = np.concatenate(list(points_px))
    return fixation_map(frame.normalise(xy_px[frame.contains(xy_px)]), shape, sigma_cells)


def draw_density(ax: Axes, points_px: Sequence[Floats], frame: Frame) -> Any:
    """Draw the density over the axes, whose view is already set, and return the image."""
    from matplotlib import colormaps

    height = density(points_px, frame)
    share = height / max(float(height.max()), 1e-300)
    rgba = np.asarray(colormaps[DENSITY_SCALE](share))
    rgba[..., 3] = MOST_OPAQUE * share**OPACITY_POWER
    limits = ax.get_xlim(), ax.get_ylim()
    extent = (-0.5, frame.width_px - 0.5, frame.height_px - 0.5, -0.5)
    image = ax.imshow(rgba, extent=extent, interpolation="bilinear", aspect="equal", zorder=1)
    ax.set(xlim=limits[0], ylim=limits[1])
    return image
