"""The page for R users: its code runs, where R is there, on tables that this package wrote."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from pages import DOCS, blocks

from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.gaze.eye_movements import eye_movements
from stdiffeye.gaze.lifting import lift
from stdiffeye.gaze.recording import Recording
from stdiffeye.io.tidy_csv import write_rows, write_tidy

FRAME = Frame(1024, 768, 34)
CODE = "\n".join(text for kind, text in blocks(DOCS / "how-to/r.md") if kind == "r")


def made(folder) -> None:
    rng = np.random.default_rng(0)
    paths = [Scanpath(rng.uniform(100, 700, (6, 2)), FRAME, [250] * 6, np.arange(6) * 300.0) for _ in range(4)]
    trials = [Trial("a.png", str(k), path) for k, path in enumerate(paths)]
    for name in ("gaze", "found"):
        (folder / name).mkdir()
    write_tidy(folder / "gaze/fixations.csv", trials, "fixations")
    write_tidy(folder / "gaze/saccades.csv", trials, "saccades")
    rows = []
    for trial, path in zip(trials, paths, strict=True):
        gaze = lift(path, 500, rng)
        raw = Recording(gaze.time_ms, 500, FRAME, left_px=gaze.xy_px)
        words = {"name": trial.name, "task": "", "subject": trial.subject}
        rows += [words | event.as_row() for event in eye_movements(raw, path)]
    write_rows(folder / "found/events.csv", rows)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_code_of_the_page_for_r_users_runs(tmp_path):
    made(tmp_path)
    checks = (
        "stopifnot(nrow(fixations) == 24, all(counts$fixation == 6), nrow(moved) >= 12, coef(main_sequence)[2] > 0)"
    )
    (tmp_path / "page.R").write_text(f"{CODE}\n{checks}\n")
    done = subprocess.run(["Rscript", "--vanilla", "page.R"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "saccade" in done.stdout


def test_the_page_for_r_users_has_code():
    assert CODE.count("read.csv(") == 3
