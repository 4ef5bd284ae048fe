"""A laboratory's own style: what is learned, what stays, and what is gained on held-out pictures."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from blob_gaze import TINY, World, make_recording_set
from blob_pictures import make_scanpath_set
from safetensors.numpy import load_file

import stdiffeye
from stdiffeye.cli import main
from stdiffeye.data.preparation import prepare
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.training import style_folds
from stdiffeye.training.adaptation import Adaptation, adapt
from stdiffeye.training.run import read_run, train

SLOWER = 3  # times as long are the fixations of the laboratory's viewers


@pytest.fixture(scope="module")
def run(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "begun"
    settings = ("train.scanpath.steps=60", "train.scanpath.learning_rate=3e-3", "train.trajectory.steps=2")
    return train("coarse-to-fine", world.stores, out, [*TINY, *settings], cache=world.cache, quiet=True)


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of viewers who fixate longer, and so less often."""
    folder = make_scanpath_set(tmp_path_factory.mktemp("laboratory"))
    rows = json.loads((folder / "osie_fixations.json").read_text())
    for row in rows:
        row |= {key: row[key][:3] for key in ("X", "Y")} | {"T": [SLOWER * value for value in row["T"][:3]]}
    (folder / "osie_fixations.json").write_text(json.dumps(rows))
    return prepare("osie", folder, folder / "store", quiet=True).path


@pytest.fixture(scope="module")
def adapted(run: Path, laboratory: Path, world: World, tmp_path_factory: pytest.TempPathFactory) -> Adaptation:
    return adapt(laboratory, tmp_path_factory.mktemp("models") / "mine", run, "mine", world.cache, quiet=True)


def test_held_out_pictures_gain(adapted):
    assert adapted.steps in style_folds.STEPS[1:]
    assert 0 < adapted.loss.low < adapted.loss.value < adapted.loss.high
    assert adapted.gap.low < adapted.gap.value < adapted.gap.high
    assert (adapted.pictures, adapted.trials) == (12, 72)
    assert str(adapted).count("gain on held-out pictures") == 2


def test_only_the_style_and_its_heads_are_learned(adapted, run):
    before, after = (
        load_file(path) for path in (next((run / "scanpath").glob("best*")), adapted.folder / "scanpath.safetensors")
    )
    changed = {name for name in after if after[name].shape != before[name].shape or (after[name] != before[name]).any()}
    heads = {"conditions.style.weight", "density.centre_bias", "denoiser.head.0.weight", "denoiser.head.0.bias"}
    assert heads <= changed
    assert all(name in heads or name.startswith("length.") for name in changed)
    np.testing.assert_array_equal(after["denoiser.head.0.weight"][:2], before["denoiser.head.0.weight"][:2])
    np.testing.assert_array_equal(after["conditions.style.weight"][0], before["conditions.style.weight"][0])


def test_the_adapted_model_generates_in_its_style_and_fixates_longer(adapted, run, laboratory):
    assert read_run(adapted.folder).stages["scanpath"].sets == ("mine",)
    picture = next(iter(Store.open(laboratory).pictures.values()))
    usual, own = (stdiffeye.load(folder).scanpaths(picture, samples=12) for folder in (run, adapted.folder))
    assert np.mean([len(path) for path in own]) < np.mean([len(path) for path in usual])
    assert np.median(np.concatenate([path.duration_ms for path in own])) > 1.2 * np.median(
        np.concatenate([path.duration_ms for path in usual])
    )


def test_the_command_refuses_what_cannot_be_adapted(adapted, laboratory, world, tmp_path, capsys):
    few = prepare("doves", make_recording_set(tmp_path / "few", 4), tmp_path / "store", quiet=True).path
    for words, message in (
        ([laboratory, "--out", adapted.folder], "holds a model already"),
        ([laboratory, "--out", tmp_path / "a", "--model", "joint"], "has no styles to begin from"),
        ([few, "--out", tmp_path / "b", "--model", adapted.folder], "a style needs at least 20 trials on 4 pictures"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["adapt", *map(str, words), "--cache", str(world.cache)])
        assert ended.value.code == 2
        assert message in capsys.readouterr().err


def test_a_store_without_some_stimuli_keeps_its_numbers_and_survives_a_copy(laboratory):
    store = Store.open(laboratory)
    fewer = store.without({"000.jpg"}).without({"001.jpg"})
    assert {fewer[int(number)].name for number in fewer.where("train")} == {
        trial.name for trial in store.trials("train") if trial.name not in ("000.jpg", "001.jpg")
    }
    assert copy.copy(fewer).where().tolist() == fewer.where().tolist()
    with pytest.raises(InputError, match="has no split 'other'"):
        fewer.where("other")
