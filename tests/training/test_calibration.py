"""A model's density of the next fixation, calibrated on validation trials."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from blob_gaze import TINY, World

import stdiffeye
from stdiffeye.cli import main
from stdiffeye.errors import InputError
from stdiffeye.generation.calibration import calibrate, calibrate_model
from stdiffeye.generation.trained import Model
from stdiffeye.systems.presets import load_preset
from stdiffeye.training.run import read_run, train

QUICK = ("train.scanpath.steps=3", "train.trajectory.steps=2", "stages.scanpath.next_fixation.samples=4")


@pytest.fixture(scope="module")
def run(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "begun"
    return train("coarse-to-fine", world.stores, out, [*TINY, *QUICK], cache=world.cache, quiet=True)


@pytest.fixture(scope="module")
def calibrated(run: Path, world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("calibrated") / "run"
    shutil.copytree(run, copy)
    made = calibrate(copy, world.stores[:1], pictures=2, viewers=2, quiet=True)
    assert made.folder == copy
    return copy


def test_the_factors_are_written_and_nothing_else_changes(run, calibrated):
    before, after = read_run(run).stages, read_run(calibrated).stages
    assert after["trajectory"] == before["trajectory"]
    history = after["scanpath"].next_fixation.history
    assert history.styles == before["scanpath"].sets[:1]
    assert len(history.last) == 2
    made = [(folder / "run.yaml").read_text().partition("made:")[2] for folder in (run, calibrated)]
    assert made[0] == made[1]


def test_densities_change_and_generated_gaze_does_not(run, calibrated, world):
    picture = next(iter(stdiffeye.Store.open(world.stores[0]).pictures.values()))
    history = stdiffeye.Scanpath([[20.0, 20.0], [40.0, 30.0]], stdiffeye.Frame(64, 48))
    plain, own = (stdiffeye.load(folder) for folder in (run, calibrated))
    densities = [np.exp(model.log_density(picture, history, shape=(12, 16))) for model in (plain, own)]
    for density in densities:
        assert density.sum() == pytest.approx(1)
        assert density.min() > 0
    assert np.abs(densities[0] - densities[1]).max() > 1e-4
    for one, other in zip(*(model.scanpaths(picture, samples=3) for model in (plain, own)), strict=True):
        np.testing.assert_array_equal(one.xy_px, other.xy_px)


def test_samples_that_add_nothing_are_not_taken(calibrated, world, monkeypatch):
    picture = next(iter(stdiffeye.Store.open(world.stores[0]).pictures.values()))
    model = stdiffeye.load(calibrated)
    known = model.first.config.next_fixation
    without = replace(known.history, samples_power=(0.0,) * len(known.history.samples_power))
    model.first.config = replace(model.first.config, next_fixation=replace(known, history=without))
    monkeypatch.setattr(model.first, "next_positions", lambda *_: pytest.fail("sampled"))
    assert np.exp(model.log_density(picture, shape=(12, 16))).sum() == pytest.approx(1)


def test_the_command_says_what_it_is_worth(calibrated, world, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["calibrate", str(calibrated), str(world.stores[0]), "--pictures", "2", "--viewers", "1"])
    printed = capsys.readouterr().out
    assert ended.value.code == 0
    assert "bits over uniform, cross-validated (2 pictures" in printed
    assert "samples of the next fixation:" in printed
    assert f"The calibration is in {calibrated / 'run.yaml'}" in printed


def test_a_system_that_states_its_density_exactly_is_refused(world):
    config = load_preset("deepgaze3", ("stages.scanpath.sets=[osie]",))
    exact = Model(config, config.build(), "exact")
    with pytest.raises(InputError, match="exact states its density exactly: there is nothing to calibrate"):
        calibrate_model(exact, [stdiffeye.Store.open(world.stores[0])], 1, 1, quiet=True)
