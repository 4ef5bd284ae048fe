"""Heat maps as data: of the picture's size, sum 1, densest where fixations are."""

from __future__ import annotations

import numpy as np
from PIL import Image

from stdiffeye import Frame, Scanpath, Trial
from stdiffeye.plotting.heatmap_files import write_heatmaps


def test_a_heat_map_has_the_pictures_size_sums_to_one_and_peaks_at_the_fixations(tmp_path):
    path = Scanpath([[300, 60], [302, 62]], Frame(400, 200))
    written = write_heatmaps(tmp_path, [Trial("my photo.png", "1", path, task="cup")])
    assert [one.name for one in written] == ["my-photo-cup-heatmap.npy", "my-photo-cup-heatmap.png"]
    values = np.load(written[0], allow_pickle=False)
    assert values.shape == (200, 400)
    assert np.isclose(values.sum(), 1)
    y, x = np.unravel_index(values.argmax(), values.shape)
    assert abs(x - 301) < 8
    assert abs(y - 61) < 8
    grey = np.asarray(Image.open(written[1]))
    assert (grey.shape, grey.dtype, grey.max()) == ((200, 400), np.uint8, 255)
