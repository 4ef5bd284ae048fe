"""Ten colours that can be told apart, by colour-blind readers too."""

from __future__ import annotations

import numpy as np
import pytest

from stdiffeye.plotting.colours import CATEGORIES

# Machado, Oliveira & Fernandes 2009, severity 1, on linear RGB; sRGB to XYZ (D65); white of D65.
SEEN_BY = {
    "anybody": np.eye(3),
    "protanopes": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopes": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])
JUST_NOTICEABLE = 2.3  # of CIE76


def lab(colours: tuple[str, ...], matrix: np.ndarray) -> np.ndarray:
    rgb = np.array([[int(one[k : k + 2], 16) for k in (1, 3, 5)] for one in colours]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    scaled = np.clip(linear @ np.transpose(matrix), 0, 1) @ XYZ.T / WHITE
    f = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=-1)


@pytest.mark.parametrize("who", SEEN_BY)
def test_ten_colours_are_far_apart(who):
    assert len(set(CATEGORIES)) == 10
    places = lab(CATEGORIES, SEEN_BY[who])
    apart = np.linalg.norm(places[:, None] - places, axis=-1)[np.triu_indices(len(places), 1)]
    assert apart.min() > 7 * JUST_NOTICEABLE
