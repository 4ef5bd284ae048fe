"""What `info` says of a recording's messages, of tables without a screen, of runs and of models."""

from __future__ import annotations

import json

import numpy as np
import pytest

from stdiffeye.cli import main
from stdiffeye.cli.info import _bars
from stdiffeye.data.description import Histogram, info
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame
from stdiffeye.gaze.recording import Message, Recording
from stdiffeye.io.eyelink_asc_write import write_asc


def test_the_kinds_of_messages_are_named_and_counted(tmp_path):
    said = ["TRIALID 1", "SHOW cat.png", "TRIALID 2", "SHOW dog.png", "BREAK"]
    messages = tuple(Message(1000.0 + 10 * at, text) for at, text in enumerate(said))
    xy = np.full((200, 2), 300.0)
    write_asc(
        tmp_path / "a.asc", [Recording(1000 + np.arange(200.0), 1000, Frame(800, 600), left_px=xy, messages=messages)]
    )
    kinds = info(tmp_path / "a.asc").counts["messages (# is a number)"]
    assert {kind: kinds[kind] for kind in ("TRIALID #", "SHOW FILE", "BREAK")} == {
        "TRIALID #": 2,
        "SHOW FILE": 2,
        "BREAK": 1,
    }


def test_a_table_is_described_once_its_screen_is_given(tmp_path, capsys):
    rows = [f"{4 * n},{400 + n},300" for n in range(50)]
    (tmp_path / "t.csv").write_text("\n".join(["time,x,y", *rows]))
    with pytest.raises(InputError, match="give --screen"):
        info(tmp_path / "t.csv")
    with pytest.raises(SystemExit) as ended:
        main(["info", str(tmp_path / "t.csv"), "--screen", "1024x768", "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["facts"]["frame (px)"] == "1024×768"


def test_runs_and_models_are_described(tmp_path):
    model = info("freeview")
    assert (model.what, model.facts["system"]) == ("model", "coarse-to-fine")
    assert model.facts["weights scanpath.safetensors"].endswith(" parameters")
    (tmp_path / "run.yaml").write_text("system: deepgaze3\nabout: mine\nstages: {scanpath: {}}\n")
    run = info(tmp_path)
    assert (run.what, run.facts["stages"]) == ("run", "scanpath")
    assert run.facts["weights"] == "none yet: the training has not written any"
    (tmp_path / "run.yaml").write_text("- a\n")
    with pytest.raises(InputError, match="is not the configuration of a run"):
        info(tmp_path)
    with pytest.raises(InputError, match="no data set or model has that name"):
        info("nothing-of-the-kind")


SHOWN = {
    "one value": ([2.17], "2.17 s"),
    "equal counts": (np.array([5, 5, 5]), "5 s"),
    "a power of ten": (np.linspace(0, 11500, 200), "11,500 s"),
    "one value beyond equal ones": ([3.0] * 200 + [5.0], "5 s"),
    "an outlier": ([*np.linspace(1, 2, 1000), 90.0], "2 s, largest 90"),
}


@pytest.mark.parametrize("case", SHOWN)
def test_a_histogram_has_a_range_that_people_read(case):
    values, ends = SHOWN[case]
    histogram = Histogram.of("x", "s", np.asarray(values))
    assert sum(histogram.counts) == len(values)
    assert _bars(histogram).endswith(f" {ends}")
