"""A gaze file names pictures in its own folder only, and no word of a table is a formula."""

from __future__ import annotations

import csv
import json
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from stdiffeye import plot, replay
from stdiffeye.csv_cells import plain_cell, text_cell
from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial
from stdiffeye.generation.output_files import write_trajectories
from stdiffeye.io.gaze_files import read_gaze, write_gaze
from stdiffeye.io.pictures import find_picture
from stdiffeye.io.tidy_csv import write_tidy

FRAME = Frame(64, 48)
TRIAL = Trial("a.png", "1", Scanpath([[10, 10], [40, 30]], FRAME, [200, 200]))
SUFFIXES = [".json", ".csv", ".parquet"]


@pytest.fixture
def private(tmp_path) -> Path:
    """A picture that lies beside the folder that the user gave, not in it."""
    (tmp_path / "given").mkdir()
    path = tmp_path / "private.png"
    Image.new("RGB", (64, 48), "red").save(path)
    return path


def embedded(page: Path) -> bool:
    return "data:image" in page.read_text(encoding="utf-8")


def row(picture: str) -> dict[str, object]:
    return {
        "name": "a.png",
        "X": [10, 40],
        "Y": [10, 30],
        "T": [200, 200],
        "width": 64,
        "height": 48,
        "picture": picture,
    }


@pytest.mark.parametrize("how", ["absolute", "upwards", "link", "windows"])
def test_a_picture_elsewhere_is_never_opened(private, monkeypatch, how):
    folder = private.parent / "given"
    (folder / "link.png").symlink_to(private)
    words = {"absolute": str(private), "upwards": "../private.png", "link": "link.png", "windows": "..\\private.png"}
    (folder / "gaze.json").write_text(json.dumps([row(words[how])]))
    monkeypatch.chdir(private.parent)
    with pytest.warns(UserWarning, match="names pictures outside its folder"):
        assert read_gaze(folder / "gaze.json")[0].picture is None
    with pytest.warns(UserWarning, match="which are not opened"):
        replay(folder / "gaze.json", out=folder / "replay.html")
    assert not embedded(folder / "replay.html")


def test_neither_is_one_of_the_current_folder_nor_one_that_the_name_of_a_stimulus_leads_to(private, monkeypatch):
    folder = private.parent / "given"
    monkeypatch.chdir(private.parent)
    (folder / "gaze.json").write_text(json.dumps([row("private.png")]))
    replay(folder / "gaze.json", out=folder / "replay.html")
    assert not embedded(folder / "replay.html")
    assert find_picture(folder, "../private.png") is None
    assert find_picture(folder, str(private)) is None


def test_a_picture_in_the_folder_of_the_file_is_drawn_and_so_is_one_that_the_user_names(private):
    folder = private.parent / "given"
    (folder / "own.png").write_bytes(private.read_bytes())
    (folder / "gaze.json").write_text(json.dumps([row("own.png")]))
    replay(folder / "gaze.json", out=folder / "replay.html")
    assert embedded(folder / "replay.html")
    (folder / "gaze.json").write_text(json.dumps([row("gone.png")]))
    replay(folder / "gaze.json", private, folder / "named.html")
    assert embedded(folder / "named.html")
    assert plot(folder / "gaze.json", private) is not None


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_name_pictures_relative_to_their_folder_and_never_where_they_lie(tmp_path, suffix):
    near, far = tmp_path / "pictures" / "a.png", Path("/home/jane.doe/study/a.png")
    write_gaze(tmp_path / f"gaze{suffix}", [replace(TRIAL, picture=near), replace(TRIAL, subject="2", picture=far)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read_gaze(tmp_path / f"gaze{suffix}")
    assert [trial.picture for trial in found] == [near, tmp_path / "a.png"]
    assert b"jane" not in (tmp_path / f"gaze{suffix}").read_bytes()


FORMULAS = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "'=x", "\t=x"]


@pytest.mark.parametrize("word", [*FORMULAS, "-3.5", "cup", "'tis", "-", "-1e5", "+7"])
def test_a_word_comes_back_as_it_was(word):
    assert plain_cell(text_cell(word)) == word


@pytest.mark.parametrize("word", FORMULAS)
def test_no_table_holds_a_formula(tmp_path, word):
    trial = replace(TRIAL, name=word.strip(), subject=word.strip(), task=word.strip())
    write_gaze(tmp_path / "gaze.csv", [trial])
    write_tidy(tmp_path / "fixations.csv", [trial], "fixations")
    moving = replace(trial, trajectory=Trajectory([[1.0, 2.0], [3.0, 4.0]], 240.0, TRIAL.frame))
    write_trajectories(tmp_path, lambda: iter([[moving]]))
    for name in ("gaze.csv", "fixations.csv", "trajectories.csv"):
        with (tmp_path / name).open(newline="") as file:
            cells = [cell for cells in csv.reader(file) for cell in cells]
        assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []
        assert f"'{word.strip()}" in cells
    assert read_gaze(tmp_path / "gaze.csv") == [trial]
