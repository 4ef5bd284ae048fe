"""Pictures are found by the name of their stimulus."""

from __future__ import annotations

import pytest

from stdiffeye.io.pictures import PICTURE_SUFFIXES, find_picture


@pytest.mark.parametrize("suffix", PICTURE_SUFFIXES)
def test_a_picture_is_found_with_and_without_its_suffix(tmp_path, suffix):
    path = tmp_path / f"face{suffix}"
    path.touch()
    assert find_picture(tmp_path, f"face{suffix}") == path
    assert find_picture(tmp_path, "face") == path
    assert find_picture(tmp_path, "house") is None
