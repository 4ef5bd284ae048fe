"""Verbs as functions: they take nouns or files, and do what the commands do."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import stdiffeye
from stdiffeye import Frame, InputError, Scanpath, Trial, write_gaze

FRAME = Frame(400, 300, px_per_degree=15)


def trials(seed: int) -> list[Trial]:
    rng = np.random.default_rng(seed)
    return [
        Trial(name, subject, Scanpath(rng.uniform(20, 280, (5, 2)), FRAME, rng.uniform(150, 400, 5).round()))
        for name in ("a.png", "b.png")
        for subject in ("1", "2", "3")
    ]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write_gaze(tmp_path / "human.json", trials(0))
    write_gaze(tmp_path / "ours.json", trials(1))
    return tmp_path


def test_evaluate_gives_the_same_for_files_and_for_nouns(files: Path) -> None:
    settings = {"metrics": ["DTW", "SM_dur"], "replicates": 20}
    read = stdiffeye.evaluate(files / "human.json", {"ours": str(files / "ours.json")}, files / "r.json", **settings)
    given = stdiffeye.evaluate(
        stdiffeye.read_trials(files / "human.json"), {"ours": stdiffeye.read_trials(files / "ours.json")}, **settings
    )
    assert read.to_dict() == given.to_dict() == json.loads((files / "r.json").read_text())
    assert all((files / f"r{suffix}").is_file() for suffix in (".md", ".tex", ".csv"))


def test_stats_writes_numbers_and_figures_only_when_told_where(files: Path) -> None:
    found = stdiffeye.stats(trials(0), {"ours": files / "ours.json"}, saliency=True)
    assert set(found.to_json()) == {"distributions", "saliency"}
    assert sorted(path.name for path in files.iterdir()) == ["human.json", "ours.json"]
    stdiffeye.stats(trials(0), out=files / "stats")
    assert (files / "stats" / "distributions.pdf").is_file()


def test_plot_shows_one_viewer_of_a_file_and_all_of_a_list(files: Path) -> None:
    from_file = stdiffeye.plot(files / "human.json", name="b.png", out=files / "p.svg")
    from_list = stdiffeye.plot([trial for trial in trials(0) if trial.name == "b.png"])
    assert len(from_file.axes[0].collections) < len(from_list.axes[0].collections)
    assert (files / "p.svg").is_file()
    assert len(stdiffeye.plot({"human": trials(0), "ours": files / "ours.json"}).axes) == 4


def test_replay_selects_from_files_and_shows_nouns_as_they_are(files: Path) -> None:
    page = stdiffeye.replay(files / "human.json", out=files / "r.html", subject="2").read_text()
    assert '"name":"2"' in page
    assert '"name":"1"' not in page
    every = stdiffeye.replay(trials(0), out=files / "all.html").read_text()
    assert every.count('"start_ms"') == 6
    with pytest.raises(InputError, match=r"there is no stimulus 'c\.png'"):
        stdiffeye.replay(trials(0), out=files / "r.html", name="c.png")


def test_a_split_that_no_noun_has_is_an_error() -> None:
    with pytest.raises(InputError, match="no trial of the split 'test'"):
        stdiffeye.evaluate(trials(0), {"ours": trials(1)}, split="test")
