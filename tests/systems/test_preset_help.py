"""Presets and keys are printed with their sentences."""

from __future__ import annotations

import pytest

from stdiffeye.cli import main
from stdiffeye.systems.presets import load_preset, presets


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    with pytest.raises(SystemExit) as ended:
        main(["train", *words])
    assert ended.value.code == 0
    return capsys.readouterr().out.splitlines()


def test_every_preset_is_listed_with_what_it_is(capsys):
    lines = printed(capsys, "--list")
    assert [line.split()[0] for line in lines] == presets()
    assert all(load_preset(line.split()[0]).about in line for line in lines)


def test_a_preset_is_shown_by_keys_that_set_takes(capsys):
    lines = printed(capsys, "search", "--show", "--set", "train.scanpath.steps=7")
    assert "start_from=freeview  # A shipped model or a run whose weights training begins with." in lines
    assert "train.scanpath.steps=7" in lines
    changes = [line.split("  #")[0] for line in lines if line.startswith(("stages.", "train."))]
    again = load_preset("coarse-to-fine", changes)
    assert again.stages == load_preset("search").stages


@pytest.mark.parametrize("name", ["freeview", "search", "joint"])
def test_every_shipped_model_has_its_recipe(name):
    assert load_preset(name).about.startswith(f"The recipe of the shipped model {name}")


@pytest.mark.parametrize(("words", "error"), [([], "name a preset"), (["freeview"], "say where the run goes: --out")])
def test_what_is_missing_is_one_line(words, error, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["train", *words])
    assert ended.value.code == 2
    assert error in capsys.readouterr().err
