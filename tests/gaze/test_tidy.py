"""Tidy tables of gaze: what a row is, by hand, and the same rows in pandas, polars and CSV."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from stdiffeye import Frame, GazeList, InputError, Scanpath, Trajectory, Trial
from stdiffeye.gaze.lifting import lift
from stdiffeye.gaze.tidy import TABLES, tidy_table
from stdiffeye.io.tidy_csv import write_tidy, write_tidy_blocks

FRAME = Frame(400, 300, px_per_degree=20)
PATH = Scanpath([[100, 100], [200, 100], [200, 40]], FRAME, [200, 250, 300], [0, 240, 530])
TRIAL = Trial("a.png", "ann", PATH, lift(PATH, 240, np.random.default_rng(0)), task="cup")


def test_a_fixation_is_a_row():
    table = tidy_table([TRIAL, TRIAL])
    assert table["name"].tolist() == ["a.png"] * 6
    assert table["fixation"].tolist() == [1, 2, 3] * 2
    assert table["onset_ms"].tolist() == [0, 240, 530] * 2


def test_a_saccade_is_the_step_between_two_fixations():
    table = tidy_table(TRIAL, "saccades")
    assert table["onset_ms"].tolist() == [200, 490]
    assert table["duration_ms"].tolist() == [40, 40]
    assert table["amplitude_deg"].tolist() == [5, 3]
    assert table["direction_deg"].tolist() == pytest.approx([0, 90])  # right, up
    assert (table["peak_deg_s"] > table["amplitude_deg"] / 0.04).all()  # the peak is above the mean speed


def test_what_is_not_known_is_not_a_number():
    table = tidy_table(Scanpath([[0, 0], [3, 4]], Frame(10, 10)), "saccades")
    assert table["amplitude_px"].tolist() == [5]
    assert all(np.isnan(table[key]).all() for key in ("onset_ms", "duration_ms", "amplitude_deg", "peak_deg_s"))


@pytest.mark.parametrize("table", TABLES)
def test_no_gaze_is_a_table_without_rows_but_with_all_columns(table):
    assert list(tidy_table([], table)) == list(tidy_table(TRIAL, table))
    assert {len(values) for values in tidy_table([], table).values()} == {0}


def test_a_table_of_another_name_is_refused():
    with pytest.raises(InputError, match="there is no table 'blinks'; choose one of fixations, saccades, samples"):
        tidy_table(TRIAL, "blinks")


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_pandas_and_polars_hold_the_same_rows(library, table):
    pytest.importorskip(library)
    frame = getattr(GazeList([TRIAL, TRIAL]), f"to_{library}")(table)
    expected = tidy_table([TRIAL, TRIAL], table)
    assert list(frame.columns) == list(expected)
    column = "to_x_px" if table == "saccades" else "x_px"
    np.testing.assert_array_equal(frame[column], expected[column])


def test_a_trajectory_alone_has_samples_and_no_fixations():
    gaze = Trajectory([[1, 2], [3, 4]], 1000, FRAME)
    assert tidy_table(gaze, "samples")["time_ms"].tolist() == [0, 1]
    assert len(tidy_table(gaze)["x_px"]) == 0


def test_csv_rounds_to_what_is_known_and_leaves_out_empty_columns(tmp_path):
    path = Scanpath([[10.123456, 20], [30, 40]], Frame(100, 80))
    write_tidy(tmp_path / "fixations.csv", [Trial("a.png", "1", path)], "fixations")
    rows = list(csv.reader((tmp_path / "fixations.csv").open()))
    assert rows == [
        ["name", "task", "subject", "fixation", "x_px", "y_px"],
        ["a.png", "", "1", "1", "10.1", "20"],
        ["a.png", "", "1", "2", "30", "40"],
    ]


def test_generated_gaze_says_in_every_row_how_it_was_sampled(tmp_path):
    path = Scanpath([[10.0, 20.0], [30.0, 40.0]], Frame(100, 80), [200.0, 300.0])
    trials = [Trial("a.png", "0", path, details={"sampling": "independent"}), Trial("b.png", "1", path)]
    write_tidy(tmp_path / "fixations.csv", trials, "fixations")
    rows = list(csv.DictReader((tmp_path / "fixations.csv").open()))
    assert [row["sampling"] for row in rows] == ["independent"] * 2 + [""] * 2
    write_tidy_blocks(tmp_path / "saccades.csv", lambda: [trials[1:], trials[:1]], "saccades")
    rows = list(csv.DictReader((tmp_path / "saccades.csv").open()))
    assert [row["sampling"] for row in rows] == ["", "independent"]
