"""A data set whose pictures could not all be had."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_sets import make_osie, scanpath_rows

from stdiffeye.data.preparation import prepare
from stdiffeye.errors import InputError
from stdiffeye.generation import Request
from stdiffeye.generation.wanted import wanted_of


def test_stimuli_whose_picture_is_missing_are_left_out(tmp_path: Path) -> None:
    source = make_osie(tmp_path / "osie", scanpath_rows(21))
    gone, *kept = sorted((source / "images").iterdir())
    gone.unlink()
    store = prepare("osie", source, tmp_path / "store", quiet=True)
    assert sorted(one.picture for one in wanted_of([store.path], Request())) == kept


def test_a_store_without_any_picture_is_an_error(tmp_path: Path) -> None:
    source = make_osie(tmp_path / "osie", scanpath_rows(7), pictures=False)
    store = prepare("osie", source, tmp_path / "store", quiet=True)
    with pytest.raises(InputError, match="has no pictures: open it with its pictures' folder"):
        wanted_of([store.path], Request())
