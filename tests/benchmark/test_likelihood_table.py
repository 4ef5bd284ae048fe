"""The table of likelihoods on a small world."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from benchmark_world import make_scanpath_set

from stdiffeye.benchmark import Budget, likelihood_table, reproduce
from stdiffeye.benchmark.systems_table import BenchmarkEntry
from stdiffeye.errors import InputError
from stdiffeye.statistics.likelihood import LikelihoodSettings, LikelihoodTable, Score

QUICK = ("train.scanpath.stimuli=2", "train.scanpath.viewers=2", "train.scanpath.validate_stimuli=2")
SMALL = ("stages.scanpath.denoiser.depth=1", "stages.scanpath.next_fixation.samples=4")


def test_systems_are_trained_scored_and_written_and_the_page_names_its_command(tmp_path, monkeypatch):
    make_scanpath_set(tmp_path / "data/osie", pictures=8, viewers=2)
    entries = {
        "DeepGaze III": BenchmarkEntry("DeepGaze III", "deepgaze3", QUICK),
        "GazeXplain": BenchmarkEntry("GazeXplain", "gazexplain", (*QUICK, "stages.scanpath.depth=1")),
        "ours": BenchmarkEntry("ours", "coarse-to-fine", (*QUICK, *SMALL)),
    }
    monkeypatch.setattr(likelihood_table, "ENTRIES", tuple(entries.values()))
    budget = Budget(tmp_path / "work", minutes=0.005, rates=(), systems=("deepgaze3,gazexplain,ours",))
    named = "deepgaze3,gazexplain,coarse-to-fine"
    page = likelihood_table.reproduce(tmp_path / "data", tmp_path / "page.md", budget, quiet=True).read_text()
    assert f"`stdiffeye reproduce likelihood --sets osie --minutes 0.005 --systems {named} --rates`" in page
    assert "| DeepGaze III | exact |" in page
    assert re.search(r"\| ours \| [a-z, ]+, calibrated \|", page)
    scores = json.loads((tmp_path / "page.json").read_text())["osie"]
    assert set(scores["systems"]) == {*entries, "gold standard", "centre bias"}
    assert scores["stimuli"] == 2
    assert scores["viewers"] == 1


def test_only_systems_that_there_are_can_be_chosen_and_a_dry_run_says_what_it_costs(capsys):
    names = [one.name for one in likelihood_table.chosen_entries(())]
    assert names[0] == "freeview"
    assert {"ours", "DeepGaze III", "DiffEye", "joint"} < set(names)
    assert "saliency sampler" not in names
    with pytest.raises(InputError, match="there is no system 'deepgaze4': choose of freeview, DeepGaze III"):
        likelihood_table.chosen_entries(("deepgaze4",))
    reproduce("likelihood", budget=Budget(minutes=2, dry_run=True, systems=("hat,freeview",)))
    assert "2 processor minutes of training (2 for each of 1 runs)" in capsys.readouterr().out


def test_the_shipped_model_stands_beside_the_best_of_the_others_paired():
    def row(*values: float) -> dict[str, Score]:
        return {"ig": Score.of(np.array(values), LikelihoodSettings())}

    rows = {"freeview": row(1.5, 2.6, 3.4), "near": row(1.0, 2.0, 3.0), "same": row(1.4, 2.7, 3.4)}
    table = LikelihoodTable(rows, [], 1, 3)
    told = likelihood_table._beside_shipped(table, "near")
    assert told.startswith("`freeview` is ahead of near: +0.50 bits (+0.")
    assert "not decidedly ahead of or behind same: +0.00 bits" in likelihood_table._beside_shipped(table, "same")
