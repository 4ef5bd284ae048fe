"""The verbs plot, replay, stats, and the demonstration crps, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from stdiffeye import Frame, Scanpath, Trial
from stdiffeye.cli import main
from stdiffeye.gaze.lifting import lift
from stdiffeye.io.gaze_files import write_gaze

FRAME = Frame(400, 300, px_per_degree=15)
BOX = (300.0, 200.0, 60.0, 60.0)


def crowd(seed: int, raw: bool = False, task: str = "") -> list[Trial]:
    rng = np.random.default_rng(seed)
    trials = []
    for name in ("a.png", "b.png"):
        for subject in range(4):
            path = Scanpath(rng.uniform((20, 20), (380, 280), (5, 2)), FRAME, rng.uniform(150, 400, 5).round())
            gaze = lift(path, 240.0, rng) if raw else None
            trials.append(Trial(name, str(subject), path, gaze, task=task, target_box_px=BOX if task else None))
    return trials


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write_gaze(tmp_path / "human.json", crowd(0))
    write_gaze(tmp_path / "ours.json", crowd(1))
    for name in ("a.png", "b.png"):
        Image.new("RGB", (400, 300), "olive").save(tmp_path / name)
    return tmp_path


def call(*words: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return int(stopped.value.code or 0)


@pytest.mark.parametrize("kind", ["scanpath", "density", "trace"])
def test_plot_draws_one_file_and_says_where(files: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = files / f"{kind}.svg"
    assert call("plot", files / "human.json", "--picture", files, "--kind", kind, "--name", "b.png", "--out", out) == 0
    assert out.read_bytes().startswith(b"<?xml")
    assert capsys.readouterr().out.splitlines()[-1] == f"Look at {out}"


def test_plot_puts_several_files_side_by_side(files: Path) -> None:
    pair = f"human={files / 'human.json'}", f"ours={files / 'ours.json'}"
    assert call("plot", *pair, "--picture", files, "--out", files / "m.png") == 0
    with Image.open(files / "m.png") as picture:
        assert picture.width > picture.height * 0.9


def test_replay_writes_a_page_of_some_viewers(files: Path) -> None:
    out = files / "r.html"
    assert call("replay", files / "human.json", "--picture", files, "--subject", "1", "3", "--out", out, "--quiet") == 0
    assert '"name":"3"' in out.read_text()
    assert '"name":"2"' not in out.read_text()


def test_stats_writes_numbers_and_figures(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = "--human", files / "human.json", "--generated", f"ours={files / 'ours.json'}"
    assert call("stats", *sides, "--saliency", "--out", files / "s", "--json") == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers == json.loads((files / "s" / "statistics.json").read_text())
    assert set(numbers) == {"distributions", "saliency"}
    assert (files / "s" / "distributions.pdf").read_bytes().startswith(b"%PDF")


def test_stats_adds_kinematics_and_search_where_the_data_allow(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_gaze(files / "raw.json", crowd(2, raw=True, task="cup"))
    sides = "--human", files / "raw.json", "--generated", f"ours={files / 'raw.json'}"
    assert call("stats", *sides, "--out", files / "s") == 0
    numbers = json.loads((files / "s" / "statistics.json").read_text())
    assert numbers["kinematics_distance"]["ours"]["jitter"] == 0
    assert numbers["search"]["ours"]["probability_mismatch"] == 0
    assert {file.name for file in (files / "s").glob("*.png")} == {"distributions.png", "kinematics.png", "search.png"}
    assert capsys.readouterr().out.splitlines()[-1].startswith("Look at ")


def test_demo_crps_ends_with_where_to_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("demo", "crps", "--out", tmp_path) == 0
    printed = capsys.readouterr().out
    assert "| CRPS |" in printed
    assert f"Look at {tmp_path / 'crps.png'}" in printed.splitlines()[-1]
    assert (tmp_path / "crps.pdf").exists()
    assert (tmp_path / "crps.md").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("plot", "HUMAN", "--name", "c.png"), "there is no stimulus 'c.png' in the file: did you mean"),
        (("plot", "HUMAN", "--subject", "9"), "'a.png' has no viewer '9': it has 0, 1, 2, 3"),
        (("plot", "HUMAN", "--out", "x.bmp"), "cannot draw into 'x.bmp'"),
        (("plot", "HUMAN", "HUMAN"), "two files are called 'human'"),
        (("plot", "h=HUMAN", "o=HUMAN", "--kind", "trace"), "kind 'trace' draws one system, got 2"),
        (("replay", "HUMAN", "--out", "x.avi"), "cannot replay into 'x.avi'"),
        (("stats", "--human", "HUMAN", "--search"), "none of the trials has a scanpath and a target box"),
        (("stats", "--human", "HUMAN", "--kinematics"), "none of the 8 trials has a trajectory"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    files: Path, words: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*(word.replace("HUMAN", str(files / "human.json")) for word in words)) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert complaint in lines[0]


@pytest.mark.parametrize("verb", ["plot", "replay", "stats"])
def test_help_fits_a_screen_and_carries_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(verb, "--help") == 0
    text = capsys.readouterr().out
    assert f"stdiffeye {verb} " in text
    assert len(text.splitlines()) <= 50
