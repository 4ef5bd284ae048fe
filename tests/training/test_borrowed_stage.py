"""A set without raw samples trains the scanpath stage; the trajectory stage comes from the shipped model, said so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from blob_gaze import TINY, World

from stdiffeye.cli import main
from stdiffeye.errors import InputError
from stdiffeye.generation import load
from stdiffeye.training.run import train

SHORT = ("train.scanpath.steps=2", "train.scanpath.validate_every=1000")


@pytest.fixture(scope="module")
def run(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("borrowed") / "run"
    return train("coarse-to-fine", [world.scanpaths], out, changes=(*TINY, *SHORT), cache=world.cache, quiet=True)


def test_the_trajectory_stage_of_a_set_without_samples_is_the_shipped_one(run):
    model, shipped = load(run), load("freeview")
    assert (run / "scanpath" / "last.safetensors").is_file()
    assert not (run / "trajectory").exists()
    for own, lent in zip(
        model.stages["trajectory"].parameters(), shipped.stages["trajectory"].parameters(), strict=True
    ):
        assert bool((own == lent).all())
    said = "the scanpath stage alone is trained; the trajectory stage is that of the shipped model freeview"
    assert said in (run / "card.md").read_text()
    assert said in " ".join((run / "run.yaml").read_text().split())


def test_the_command_that_training_names_next_works(run, world, tmp_path, monkeypatch, capsys):
    from stdiffeye.cli.train import next_command

    monkeypatch.chdir(tmp_path)
    words = shlex.split(next_command(run, [world.scanpaths]))
    assert words[0] == "stdiffeye"
    with pytest.raises(SystemExit) as ended:
        main([*words[1:], "--samples", "1", "--seconds", "1", "--no-plots"])
    assert ended.value.code == 0
    assert re.search(r"Look at gaze/fixations.csv", capsys.readouterr().out)


def test_the_trajectory_stage_alone_cannot_learn_from_such_a_set(world, tmp_path):
    with pytest.raises(InputError, match="learns from raw samples, which osie lacks: add a store that has them"):
        train("coarse-to-fine", [world.scanpaths], tmp_path / "run", changes=TINY, only="trajectory", quiet=True)
