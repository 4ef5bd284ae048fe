"""Scanpaths as JSON: what goes out comes back, and what is wrong is said in one sentence."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stdiffeye.errors import DiskFull, InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial
from stdiffeye.io.scanpath_json import CHUNK_CHARACTERS, iterate_rows, read_scanpaths, write_scanpaths

FRAME = Frame(1680, 1050)
ROW = {
    "name": "a.jpg",
    "subject": 1,
    "task": "chair",
    "width": 100,
    "height": 50,
    "X": [1, 2.5],
    "Y": [3, 4],
    "T": [200, 300],
}


def written(path: Path, *rows: Any) -> Path:
    path.write_text(json.dumps(list(rows)), encoding="utf-8")
    return path


@settings(deadline=None, max_examples=30)
@given(
    xy=st.lists(st.tuples(st.floats(-50, 2000), st.floats(-50, 2000)), min_size=1, max_size=20),
    durations=st.booleans(),
    onsets=st.booleans(),
    box=st.booleans(),
)
def test_trials_come_back_as_they_were(tmp_path_factory, xy, durations, onsets, box):
    times = np.arange(len(xy)) * 250.0
    scanpath = Scanpath(xy, FRAME, times + 100.5 if durations else None, times if onsets else None)
    trial = Trial(
        "dir/ä.jpg",
        "7",
        scanpath,
        task="a cup",
        dataset="own",
        split="validation",
        viewing_ms=3000,
        target_box_px=(1.0, 2.0, 3.5, 4.0) if box else None,
        details={"correct": 1, "RT": 412.5},
    )
    path = tmp_path_factory.mktemp("json") / "gaze.json.gz"
    write_scanpaths(path, [trial, trial])
    assert read_scanpaths(path) == [trial, trial]


def test_a_trajectory_comes_back_with_its_lost_samples(tmp_path):
    xy = np.array([[1.0, 2.0], [np.nan, np.nan], [3.25, 4.5]])
    trial = Trial("a", "b", trajectory=Trajectory(xy, 240, FRAME, synthesised=True))
    write_scanpaths(tmp_path / "t.json", [trial])
    assert read_scanpaths(tmp_path / "t.json") == [trial]


def test_a_generated_trial_carries_sample_instead_of_subject(tmp_path):
    path = written(tmp_path / "g.json", {key: value for key, value in ROW.items() if key != "subject"} | {"sample": 3})
    (trial,) = read_scanpaths(path)
    assert trial.subject == "3"
    write_scanpaths(tmp_path / "h.json", [trial])
    (row,) = json.loads((tmp_path / "h.json").read_text())
    assert row["sample"] == 3
    assert "subject" not in row


def test_unknown_durations_are_absent_and_not_zero(tmp_path):
    (trial,) = read_scanpaths(written(tmp_path / "g.json", ROW | {"T": None}))
    assert trial.scanpath.duration_ms is None
    write_scanpaths(tmp_path / "h.json", [trial])
    assert "T" not in json.loads((tmp_path / "h.json").read_text())[0]


def test_rows_of_coco_search18_need_no_width_and_height(tmp_path):
    row = {
        "name": "1.jpg",
        "subject": 2,
        "task": "cup",
        "condition": "present",
        "bbox": [1, 2, 3, 4],
        "X": [5],
        "Y": [6],
        "T": [7],
        "length": 1,
        "correct": 1,
        "split": "valid",
    }
    (trial,) = read_scanpaths(written(tmp_path / "c.json", row))
    assert trial.frame == Frame(1680, 1050)
    assert trial.split == "validation"
    assert trial.target_box_px == (1, 2, 3, 4)
    assert trial.details == {"condition": "present", "length": 1, "correct": 1}


def test_rows_without_a_fixation_are_left_out_with_a_warning(tmp_path):
    path = written(tmp_path / "g.json", ROW, ROW | {"X": [], "Y": [], "T": []})
    with pytest.warns(UserWarning, match="1 trials without a fixation"):
        assert len(read_scanpaths(path)) == 1


def test_a_file_larger_than_the_buffer_is_read_row_by_row(tmp_path):
    count = CHUNK_CHARACTERS // 60
    path = tmp_path / "many.json"
    path.write_text("[" + ",\n".join(json.dumps({"number": number, "pad": "x" * 40}) for number in range(count)) + "]")
    assert [row["number"] for row in iterate_rows(path)] == list(range(count))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Y": [1]}, "row 2 of .*: the lists of fixations differ in length .X has 2, Y has 1, T has 2."),
        ({"T": [1, 2, 3]}, "T has 3"),
        ({"width": 0}, "row 2 of .*: Frame.width_px must be a positive number, got 0"),
        ({"width": None}, "does not say how large its picture is: add 'width' and 'height'"),
        ({"X": 5}, "'X' must be a list of numbers, got 5"),
        ({"X": ["a", "b"]}, "must hold numbers"),
        ({"X": [None, 1]}, "fixation 1 has no place"),
        ({"T": [-5, 10]}, "a fixation cannot last -5 ms"),
        ({"bbox": [1, 2]}, "bbox must be x, y, width, height"),
        ({"trajectory": {"X": [1]}}, "its trajectory cannot be read"),
    ],
)
def test_a_bad_row_is_named_with_its_fault(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        read_scanpaths(written(tmp_path / "bad.json", ROW, ROW | change))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"images": []}', "is not a list of trials"),
        ("[1, 2]", "row 1 of .* is int, expected an object"),
        ('[{"file": "a", "fixations": []}]', "has no 'name' and no 'X' and no 'Y'; it has the keys file, fixations"),
        ('[{"name": "a"', "is not whole JSON"),
        ("", "is not a list of trials"),
    ],
)
def test_json_of_another_schema_is_refused(tmp_path, content, message):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_scanpaths(path)


def test_a_truncated_gzip_file_is_refused(tmp_path):
    path = tmp_path / "cut.json.gz"
    data = gzip.compress(json.dumps([ROW] * 500).encode())
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="is cut short"):
        read_scanpaths(path)


def test_nothing_is_left_of_a_write_that_fails(tmp_path):
    def trials():
        yield Trial("a", "1", Scanpath([[1, 2]], FRAME))
        raise OSError(28, "No space left on device")

    with pytest.raises(DiskFull, match="No space left"):
        write_scanpaths(tmp_path / "out.json", trials())
    assert list(tmp_path.iterdir()) == []
