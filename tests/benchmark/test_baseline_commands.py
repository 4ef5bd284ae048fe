"""A baseline through the commands: trained, broken off and resumed, sampled, evaluated."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from benchmark_world import make_scanpath_set
from PIL import Image
from safetensors.torch import load_file

from stdiffeye.cli import main
from stdiffeye.data.preparation import prepare
from stdiffeye.data.read import read_trials
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.generation import load
from stdiffeye.systems.cores import one_core
from stdiffeye.training import loop
from stdiffeye.training.run import train

TINY = ("stages.scanpath.image.width=16", "stages.scanpath.image.mixing=0", "train.scanpath.stimuli=3",
        "train.scanpath.viewers=2", "train.scanpath.warm_up=2", "train.scanpath.steps=12",
        "train.scanpath.checkpoint_every=5", "train.scanpath.validate_samples=2")  # fmt: skip


class BrokenOffError(Exception):
    pass


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Threads that wait for each other on a busy machine cost many times the work itself."""
    with one_core():
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    make_scanpath_set(folder / "osie")
    prepare("osie", folder / "osie", folder / "store", quiet=True)
    return folder


def stdiffeye(*words: object, code: int = 0) -> None:
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    assert end.value.code == code


@pytest.mark.parametrize(("name", "timed"), [("hat", False), ("tpp-gaze", True)])
def test_a_baseline_is_trained_sampled_and_evaluated_by_the_same_commands_as_ours(name, timed, home, tmp_path, capsys):
    store, run = home / "store", tmp_path / "run"
    stdiffeye("train", name, store, "--out", run, "--cache", home / "cache", "--quiet", "--set", *TINY)
    draw = ("generate", store, "--split", "test", "--model", run, "--samples", 2, "--no-plots", "--quiet")
    stdiffeye(*draw, "--no-trajectories", "--out", tmp_path / "gaze")
    stdiffeye(*draw, "--no-trajectories", "--out", tmp_path / "again")
    files = [tmp_path / folder / "scanpaths.json" for folder in ("gaze", "again")]
    assert files[0].read_text() == files[1].read_text()
    assert all((trial.scanpath.duration_ms is not None) == timed for trial in read_trials(files[0]))
    evaluated = ("evaluate", "--human", store, "--split", "test", "--generated", f"baseline={files[0]}", "--quiet")
    stdiffeye(*evaluated, "--protocols", "crps", "--out", tmp_path / "r.json")
    assert ("SM_dur" in json.loads((tmp_path / "r.json").read_text())["systems"]["baseline"]["crps"]) == timed
    capsys.readouterr()
    stdiffeye(*draw, "--out", tmp_path / "moving", code=2)
    assert "samples scanpaths only: use --no-trajectories, or `stdiffeye animate`" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["deepgaze3", "gazexplain"])
def test_a_baseline_that_was_broken_off_ends_with_the_same_weights_and_counts(name, home, tmp_path, monkeypatch):
    options = {"changes": TINY, "cache": home / "cache", "quiet": True}
    train(name, [home / "store"], tmp_path / "whole", **options)
    follow, calls = loop._follow, iter(range(100))

    def broken(*arguments):
        if next(calls) == 7:
            raise BrokenOffError
        follow(*arguments)

    monkeypatch.setattr(loop, "_follow", broken)
    with pytest.raises(BrokenOffError):
        train(name, [home / "store"], tmp_path / "broken", **options)
    monkeypatch.setattr(loop, "_follow", follow)
    train(name, [home / "store"], tmp_path / "broken", resume=True, **options)
    whole, resumed = (load_file(tmp_path / run / "scanpath" / "last.safetensors") for run in ("whole", "broken"))
    assert whole.keys() == resumed.keys()
    assert any(key.endswith("priors.positions") for key in whole)
    for key, value in whole.items():
        torch.testing.assert_close(resumed[key], value, msg=lambda text, key=key: f"{key}: {text}")


def test_a_model_tells_users_its_densities_of_a_picture(home, tmp_path):
    store, pictures = home / "store", sorted((home / "osie").rglob("*.jpg"))
    model = load(train("deepgaze3", [store], tmp_path / "run", TINY, cache=home / "cache", quiet=True))
    people = [trial.scanpath for trial in Store.open(store).trials("test")]
    first = model.log_density(pictures[0], shape=(24, 32))
    for density in (first, model.log_density(pictures[0], people[0][:2], style="osie")):
        assert np.exp(density).sum() == pytest.approx(1, abs=1e-5)
    with Image.open(pictures[0]) as picture:
        assert density.shape == picture.size[::-1]
    assert abs(model.information_gain(pictures[0], people)) < 3
    with pytest.raises(InputError, match="of no fixation is not defined"):
        model.information_gain(pictures[0], [])
    heat = model.density(pictures[0], out=tmp_path / "heat.npy")
    assert heat.sum() == pytest.approx(1)
    np.testing.assert_allclose(np.load(tmp_path / "heat.npy"), heat, rtol=1e-5)
    model.density(pictures[0], shape=(6, 8), out=tmp_path / "heat.png")
    with Image.open(tmp_path / "heat.png") as grey:
        assert (grey.mode, grey.size, grey.getextrema()[1]) == ("L", (8, 6), 255)
    with pytest.raises(InputError, match=r"written as \.npy or \.png"):
        model.density(pictures[0], out=tmp_path / "heat.jpg")
