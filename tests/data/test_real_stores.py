"""The real sets prepared: how many trials there are, and how many the gate drops."""

from __future__ import annotations

import pytest

from stdiffeye.data.preparation import prepare
from stdiffeye.files import read_json

pytestmark = pytest.mark.real_data


@pytest.mark.parametrize(
    ("name", "trials", "stimuli"),
    [
        ("osie", 9000, 600),
        ("crowd", 6718, 420),
        ("scene", 5234, 440),
        ("figrim", 31749, 2007),
        ("mcs", 3350, 1343),
        ("ueyes", 17211, 1798),
    ],
)
def test_scanpath_sets_are_prepared_whole(real_data, tmp_path, name, trials, stimuli):
    store = prepare(name, real_data / name, tmp_path / name, quiet=True)
    assert (len(store), len(store.words["name"]), len(store.pictures)) == (trials, stimuli, stimuli)
    assert set(store.words["split"]) == {"train", "validation", "test"}
    assert bool(store.columns["has_onsets"].all()) == (name in ("scene", "ueyes"))
    assert bool(store.columns["has_durations"].any()) == (name != "figrim")


def test_the_gate_drops_the_tracking_losses_of_doves(real_data, tmp_path):
    store = prepare("doves", real_data / "doves", tmp_path / "doves", jobs=2, quiet=True)
    quality = read_json(store.path / "quality.json")["quality"]
    assert quality["total"] == 2349
    assert list(quality["dropped"]) == ["faster than 1000 deg/s"]
    assert 0.085 < quality["dropped"]["faster than 1000 deg/s"] / 2349 < 0.10
    assert store.columns["has_trajectory"].all()
