"""`stdiffeye aoi`, from the files to what lies in --out."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from PIL import Image

from stdiffeye import Frame, InputError, Scanpath, Trial, aoi, write_gaze
from stdiffeye.cli import main

FRAME = Frame(100, 80)
AREAS = {
    "size": [100, 80],
    "areas": [{"name": "left", "box": [0, 0, 50, 80]}, {"name": "top", "polygon": [[0, 0], [100, 0], [50, 40]]}],
}


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "areas.json").write_text(json.dumps(AREAS))
    Image.new("RGB", (100, 80), "teal").save(tmp_path / "old.png")
    for name, seed in (("human", 0), ("ours", 1)):
        rng = np.random.default_rng(seed)
        trials = [
            Trial(
                picture, str(viewer), Scanpath(rng.uniform((0, 0), (100, 80), (6, 2)), FRAME, rng.uniform(90, 400, 6))
            )
            for picture in ("old.png", "new.png")
            for viewer in range(10)
        ]
        write_gaze(tmp_path / f"{name}.json", trials)
    return tmp_path


def rows(path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8")))


def test_two_groups_and_two_designs_give_every_table_and_figure(files, capsys):
    out = files / "aoi"
    groups = (f"human={files / 'human.json'}", f"ours={files / 'ours.json'}")
    wanted = ("--areas", files / "areas.json", "--designs", "old.png", "new.png", "--needed", "dwell_ms=100")
    assert run("aoi", *groups, *wanted, "--picture", files, "--out", out) == 0
    printed = capsys.readouterr().out
    assert "begin with" in printed
    assert "A = old.png, B = new.png" in printed
    assert "check the plan by a pilot study" in printed
    tables = {"summary", "compared", "designs", "viewers-needed", "long", "wide", "transitions"}
    assert {path.stem for path in out.glob("*.csv")} == tables
    assert {path.name for path in out.glob("old-*.png")} == {
        f"old-{kind}.png" for kind in ("areas", "measures", "transitions", "scarf")
    }
    assert (out / "designs.png").is_file()
    assert len(rows(out / "wide.csv")) == 40
    assert {row["group"] for row in rows(out / "compared.csv")} == {"ours"}


def test_the_json_of_the_command_is_what_the_function_returns(files, capsys):
    arguments = ("--areas", files / "areas.json", "--no-plots", "--json", "--out", files / "aoi")
    assert run("aoi", files / "human.json", *arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    report = aoi(files / "human.json", files / "areas.json")
    assert [row["value"] for row in printed["summary"]] == [
        None if row["value"] != row["value"] else row["value"] for row in report.summary()
    ]
    assert not list((files / "aoi").glob("*.png"))


def test_a_difference_that_makes_no_sense_is_refused_before_work_begins():
    with pytest.raises(InputError, match=r"needed is MEASURE=DIFFERENCE such as dwell_ms=200 or hit=0.1, got 'dwell'"):
        aoi("human.json", "areas.json", needed="dwell")
