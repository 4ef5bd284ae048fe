"""Every command of docs/plots.md and docs/statistics.md runs as it is printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from stdiffeye import Frame, Scanpath, Trial
from stdiffeye.cli import main
from stdiffeye.gaze.lifting import lift
from stdiffeye.io.gaze_files import write_gaze

DOCS = Path(__file__).parents[2] / "docs"


def commands(page: str) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("stdiffeye ")]


def write_examples(folder: Path) -> None:
    frame = Frame(320, 240, px_per_degree=12)
    for seed, (file, raw, task) in enumerate(
        [("human", False, ""), ("ours", False, ""), ("raw", True, ""), ("search", False, "cup")]
    ):
        rng = np.random.default_rng(seed)
        trials = []
        for subject in range(1, 6):
            path = Scanpath(rng.uniform((20, 20), (300, 220), (5, 2)), frame, rng.uniform(150, 400, 5).round())
            gaze = lift(path, 240.0, rng) if raw else None
            box = (100.0, 100.0, 80.0, 80.0) if task else None
            trials.append(Trial("photo", str(subject), path, gaze, task=task, target_box_px=box))
        write_gaze(folder / f"{file}.json", trials)
    Image.new("RGB", (320, 240), "darkslategray").save(folder / "photo.png")


@pytest.mark.parametrize("command", [*commands("plots.md"), *commands("statistics.md")])
def test_the_command_runs_and_its_last_line_says_where_to_look(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_examples(tmp_path)
    words = shlex.split(command)[1:]
    with pytest.raises(SystemExit) as stopped:
        main(words)
    printed = capsys.readouterr()
    assert stopped.value.code == 0, printed.err
    if "--json" not in words:
        assert words[words.index("--out") + 1] in printed.out.splitlines()[-1]
