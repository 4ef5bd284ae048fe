"""Pages of earlier runs are what a command makes of the numbers beside them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from stdiffeye.benchmark import kept_tables, printed_rows
from stdiffeye.benchmark.paper_tables import to_csv
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.metrics import evaluate

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.mark.parametrize("name", kept_tables.KEPT)
def test_the_committed_page_is_what_the_command_writes(name, tmp_path):
    shutil.copy(RESULTS / f"{name}.csv", tmp_path)
    kept_tables.reproduce(Path(), tmp_path / "table1.md")
    for suffix in (".md", ".tex"):
        assert (tmp_path / name).with_suffix(suffix).read_text() == (RESULTS / name).with_suffix(suffix).read_text()


def test_rows_that_could_not_learn_are_left_out():
    assert kept_tables.KEPT["ablations"].void == (
        "full model, latent tokens",
        "latent-space",
        "learnable",
        "sinusoidal",
    )
    text = (RESULTS / "ablations.md").read_text()
    assert "| osie | Scanpath | full model |" in text
    assert "| osie | Scanpath | learnable |" not in text


def some(seed: int, viewers: int) -> list[Trial]:
    rng = np.random.default_rng(seed)
    paths = {(n, v): rng.uniform(0, 300, (int(rng.integers(3, 7)), 2)) for n in range(3) for v in range(viewers)}
    return [
        Trial(f"{n}.jpg", str(v), Scanpath(xy, Frame(400, 300), np.full(len(xy), 200.0)))
        for (n, v), xy in paths.items()
    ]


def test_fair_crps_follows_from_what_is_kept(tmp_path):
    human, model = some(0, 4), {"a": some(1, 5), "b": some(2, 5)}
    printed = evaluate(human, model, estimator="printed")
    fair = evaluate(human, model, protocols=("crps",), estimator="fair")
    numbers = tmp_path / "table1.csv"
    numbers.write_text(to_csv([kept_tables.TableBlock("made", "Scanpath", printed)]))
    (block,) = kept_tables.read_blocks(numbers)
    found = kept_tables.with_fair_crps(block, samples=5).result
    for name in model:
        for metric in ("LD", "DFD", "DTW", "MM", "SM_dur"):
            assert found.value(name, "crps", metric) == pytest.approx(fair.value(name, "crps", metric), rel=1e-4)


def test_without_numbers_there_is_no_page(tmp_path):
    with pytest.raises(InputError, match="holds no numbers of an earlier run"):
        kept_tables.reproduce(Path(), tmp_path / "table1.md")


def test_the_papers_scale_is_that_of_systems_near_people():
    assert printed_rows.implied("DFD") == (181.152, 224.163)  # all but TPP-Gaze, whose KLD is 2.265
    assert printed_rows.implied("SM_dur") == (0.413, 0.508)  # ST-DiffEye's KLD is 0.206
