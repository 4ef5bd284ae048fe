"""Stores that the training tests share; made once per session."""

from __future__ import annotations

import pytest
from blob_gaze import World, make_recording_set
from blob_pictures import make_scanpath_set

from stdiffeye.data.preparation import prepare


@pytest.fixture(scope="session", autouse=True)
def _alone(one_thread: None) -> None: ...


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    osie = prepare("osie", make_scanpath_set(folder / "osie"), folder / "stores" / "osie", quiet=True)
    doves = prepare("doves", make_recording_set(folder / "doves"), folder / "stores" / "doves", quiet=True)
    return World(osie.path, doves.path, folder / "cache")
