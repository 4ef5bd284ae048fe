"""A set in, a store, a run, gaze and a table out: the commands all the way, on a world that a tiny model can learn."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from blob_gaze import TINY, make_recording_set
from blob_pictures import make_scanpath_set

from stdiffeye.cli import main
from stdiffeye.data.read import read_trials
from stdiffeye.generation import animate
from stdiffeye.training.run import read_run

LEARN = ("train.scanpath.steps=160", "train.scanpath.learning_rate=3e-3", "train.trajectory.steps=40")


def stdiffeye(*words: object) -> None:
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    assert end.value.code == 0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run trained by the commands; beside it the stores."""
    home = tmp_path_factory.mktemp("end-to-end")
    stdiffeye("prepare", "osie", make_scanpath_set(home / "osie"), "--out", home / "scanpaths", "--quiet")
    stdiffeye("prepare", "doves", make_recording_set(home / "doves"), "--out", home / "recordings", "--quiet")
    stores = (home / "scanpaths", home / "recordings")
    where = ("--out", home / "run", "--cache", home / "cache", "--quiet")
    stdiffeye("train", "coarse-to-fine", *stores, *where, "--set", *TINY, *LEARN)
    return home / "run"


def test_what_was_trained_looks_like_people_on_unseen_pictures(run, tmp_path, capsys):
    store = run.parent / "scanpaths"
    stdiffeye("generate", store, "--split", "test", "--model", run, "--out", tmp_path, "--no-plots", "--samples", 6)
    said = capsys.readouterr().out.splitlines()
    assert said == [f"Gaze of 6 viewers for 4 pictures is in {tmp_path}", f"Look at {tmp_path / 'fixations.csv'}"]
    systems = ("--generated", f"ours={tmp_path / 'scanpaths.json'}", "--protocols", "crps")
    stdiffeye("evaluate", "--human", store, "--split", "test", *systems, "--out", tmp_path / "r.json", "--quiet")
    gap = json.loads((tmp_path / "r.json").read_text())["gap_closed"]
    # Humans on other pictures close none of the gap between them and humans on the same one.
    assert gap["ours"]["crps"]["mean"]["value"] > 0.3


def test_a_run_knows_how_long_people_looked_and_were_recorded(run):
    coarse = read_run(run).stages["scanpath"]
    lengths = [len(trial.trajectory) / 240 for trial in read_trials(run.parent / "recordings")]
    assert coarse.sets == ("osie", "doves")
    assert coarse.viewing_s == (3.0, 5.2)
    assert coarse.recorded_s == (0.0, pytest.approx(max(set(lengths), key=lengths.count), abs=1e-4))


def test_generated_files_tell_the_same_gaze(run, tmp_path):
    picture = run.parent / "osie" / "images" / "003.jpg"
    stdiffeye("generate", picture, "--model", run, "--out", tmp_path, "--samples", 2, "--seconds", 2, "--quiet")
    trials = read_trials(tmp_path / "scanpaths.json")
    assert [trial.details["sample"] for trial in trials] == [0, 1]
    assert {trial.frame.size_px.tolist() == [160, 120] for trial in trials} == {True}
    with (tmp_path / "trajectories.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["name"] for row in rows} == {"003.jpg"}
    for trial in trials:
        samples = [row for row in rows if row["sample"] == trial.subject]
        first = trial.scanpath
        assert len(samples) == pytest.approx(240 * (first.onset_ms[-1] + first.duration_ms[-1]) / 1000, abs=1)
    drawn = {path.name for path in tmp_path.glob("*.png")}
    assert {"003-scanpath.png", "003-density.png", "003-trajectory.png", "003-trace.png"} <= drawn


def test_the_run_says_how_training_went(run):
    for part, least in (("scanpath", 0.5), ("trajectory", 0.05)):
        rows = [json.loads(line) for line in (run / part / "log.jsonl").read_text().splitlines()]
        totals = [row["total"] for row in rows if "total" in row]
        assert totals[-1] < totals[0] - least * totals[0]
        assert "validation/score" in rows[-1]
    assert (run / "scanpath" / "best.safetensors").is_file()


def test_the_run_has_a_card_that_goes_with_it(run, tmp_path, capsys):
    card = (run / "card.md").read_text()
    assert "160 steps in" in card
    assert "best on validation at step 160: gap closed (fair CRPS) osie " in card
    assert "van der Linde" in card  # whose gaze it is
    trials = sum(trial["split"] == "train" for trial in map(json.loads, (run.parent / "scanpaths/trials.jsonl").open()))
    assert f"* OSIE, {trials} trials of the train split" in card
    assert "## trajectory\n\nThe trajectory stage" in card
    stdiffeye("export", run, "--out", tmp_path / "model")
    capsys.readouterr()
    stdiffeye("models", tmp_path / "model")
    assert capsys.readouterr().out.strip() == card.strip()


def test_anybodys_scanpaths_are_animated_by_the_fine_half(run, tmp_path):
    rows = [
        {"name": "drawing.png", "subject": 1, "width": 800, "height": 600, "X": [100, 500, 300], "Y": [90, 400, 200]}
    ]
    (tmp_path / "peer.json").write_text(json.dumps([row | {"T": [300, 250, 400]} for row in rows]))
    stdiffeye("animate", tmp_path / "peer.json", "--model", run, "--out", tmp_path / "moved", "--quiet")
    (trial,) = read_trials(tmp_path / "moved" / "scanpaths.json")
    assert trial.scanpath.xy_px.tolist() == [[100, 90], [500, 400], [300, 200]]
    (moved,) = animate(tmp_path / "peer.json", model=run, quiet=True)
    assert len(moved.trajectory) == pytest.approx(0.24 * (950 + 2 * 60), abs=20)
