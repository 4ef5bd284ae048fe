"""The report on the data sets is made from whatever sets are there."""

from __future__ import annotations

import numpy as np
import pytest
from made_sets import make_doves, make_osie, scanpath_rows

from stdiffeye.benchmark import reproduce
from stdiffeye.errors import InputError


def test_the_report_counts_what_is_there_and_what_the_gate_dropped(tmp_path):
    make_osie(tmp_path / "data" / "osie", scanpath_rows(30))
    source = make_doves(tmp_path / "data" / "doves", 6, samples=600)
    with np.load(source / "doves_gaze.npz") as file:
        arrays = dict(file)
    arrays["xy"][650] += 500
    np.savez(source / "doves_gaze.npz", **arrays)
    text = reproduce("datasets", tmp_path / "data", tmp_path / "datasets.md", quiet=True).read_text()
    assert "| `osie` | 30 | 30 |" in text
    assert "| `doves` | 6 | 5 |" in text
    assert "dropped 1: faster than 1000 deg/s" in text
    assert "Dropped trials of `doves` by viewer: S0 1." in text
    assert "| `mit1003` | each its own | 35 | 240 | 3000 |" in text


def test_a_folder_without_any_set_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds none of the described data sets"):
        reproduce("datasets", tmp_path, tmp_path / "datasets.md", quiet=True)
