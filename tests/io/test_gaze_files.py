"""Gaze as CSV, TSV, Parquet and HDF5: the same trials whatever the format."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.io.gaze_files import read_gaze, write_gaze

FRAME = Frame(800, 600, 24)


def trials() -> list[Trial]:
    rng = np.random.default_rng(4)
    made = []
    for number in range(12):
        count = int(rng.integers(1, 9))
        xy = rng.uniform(0, 600, (count, 2))
        durations = None if number % 4 == 0 else rng.uniform(80, 400, count)
        onsets = np.cumsum(np.full(count, 300.5)) if number % 3 == 0 else None
        made.append(
            Trial(
                f"{number % 5:03d}.jpg",
                f"{number % 3:02d}",
                Scanpath(xy, FRAME, durations, onsets),
                task="a cup, or" if number % 2 else "",
                split="train",
                picture=Path("images/a.jpg"),
                viewing_ms=3000,
                target_box_px=(1.0, 2.0, 3.0, 4.5) if number % 2 else None,
            )
        )
    return made


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".csv", ".csv.gz", ".tsv", ".parquet"])
def test_trials_come_back_as_they_were(tmp_path, suffix):
    given = [replace(trial, picture=tmp_path / "images" / "a.jpg") for trial in trials()]
    write_gaze(tmp_path / f"gaze{suffix}", given)
    assert read_gaze(tmp_path / f"gaze{suffix}") == given


@pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet", ".hdf5"])
def test_every_format_says_how_a_generated_trial_was_sampled(tmp_path, suffix):
    path = Scanpath([[1.0, 2.0]], FRAME, [200.0])
    kinds = ["independent", "representative"]
    write_gaze(tmp_path / f"gaze{suffix}", [Trial("a.jpg", kind, path, details={"sampling": kind}) for kind in kinds])
    assert [trial.details["sampling"] for trial in read_gaze(tmp_path / f"gaze{suffix}")] == kinds


def test_pysaliency_files_keep_scanpaths_frames_and_names(tmp_path):
    write_gaze(tmp_path / "gaze.hdf5", trials())
    back = read_gaze(tmp_path / "gaze.hdf5")
    for got, given in zip(back, trials(), strict=True):
        assert (got.name, got.subject, got.task, got.frame) == (given.name, given.subject, given.task, given.frame)
        np.testing.assert_allclose(got.scanpath.xy_px, given.scanpath.xy_px)
        for key in ("duration_ms", "onset_ms"):
            one, other = getattr(got.scanpath, key), getattr(given.scanpath, key)
            assert (one is None) == (other is None)
            if one is not None:
                np.testing.assert_allclose(one, other, atol=1e-5)


def test_the_hdf5_layout_is_the_one_that_pysaliency_reads(tmp_path):
    write_gaze(tmp_path / "gaze.h5", trials())
    with h5py.File(tmp_path / "gaze.h5") as file:
        assert file.attrs["type"] == b"FixationTrains"
        assert file.attrs["version"] == b"1.1"
        assert json.loads(file.attrs["__attributes__"]) == ["subjects", "scanpath_index"]
        assert json.loads(file["scanpath_attributes"].attrs["__attributes__"]) == []
        longest = max(len(trial.scanpath) for trial in trials())
        assert file["train_xs"].shape == file["train_ys"].shape == file["train_ts"].shape == (12, longest)
        assert file["train_ns"][...].tolist() == [number % 5 for number in range(12)]
        assert np.isnan(file["train_xs"][0, len(trials()[0].scanpath) :]).all()


def test_a_file_of_pysaliency_itself_needs_a_frame(tmp_path):
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file["train_xs"] = file["train_ys"] = file["train_ts"] = np.array([[1.0, 2.0, np.nan]])
        file["train_ns"] = file["train_subjects"] = np.array([3])
    with pytest.raises(InputError, match="does not say the pictures' size"):
        read_gaze(tmp_path / "p.h5")
    (trial,) = read_gaze(tmp_path / "p.h5", FRAME)
    assert trial.name == "3"
    assert trial.scanpath == Scanpath([[1, 1], [2, 2]], FRAME)


def test_two_looks_of_one_viewer_at_one_picture_stay_two_trials(tmp_path):
    trial = Trial("a", "1", Scanpath([[1, 2], [3, 4]], FRAME))
    write_gaze(tmp_path / "g.csv", [trial, trial])
    assert read_gaze(tmp_path / "g.csv") == [trial, trial]


def test_common_column_names_are_understood(tmp_path):
    (tmp_path / "g.csv").write_text(
        "image,subject,x,y,duration\na.jpg,s1,1,2,100\na.jpg,s1,3,4,200\nb.jpg,s1,5,6,300\n"
    )
    one, two = read_gaze(tmp_path / "g.csv", FRAME)
    assert one == Trial("a.jpg", "s1", Scanpath([[1, 2], [3, 4]], FRAME, [100, 200]))
    assert two.name == "b.jpg"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.csv", "time,x,y\n1,2,3\n", "is no table of fixations: it has no column name .*stdiffeye fixations"),
        ("g.csv", "name,x,y\na,1,2\n", "does not say how large its picture is: add the columns width_px and height_px"),
        ("g.csv", "name,x,y,width,height\na,one,2,10,10\n", "column 'x' must hold numbers"),
        ("g.csv", "name,x,y,width,height\na,1,2\n", "line 2 has 3 cells, the header has 5"),
        ("g.csv", "name,x,y,width,height\na,1,2,0,10\n", "Frame.width_px must be a positive number"),
        ("g.csv", "name,x,y,width,height\na,,2,10,10\n", r"trial 'a' \(row 1\): fixation 1 has no place"),
        ("g.csv", "", "is empty"),
        ("g.parquet", "no", "cannot be read as Parquet"),
        ("g.h5", "no", "cannot be read as HDF5"),
        ("g.docx", "no", ".docx is no gaze file; known are .json"),
        ("g.json", "[]", "holds no trial"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        read_gaze(tmp_path / name)


def test_a_trial_without_a_scanpath_does_not_fit_a_table(tmp_path):
    from stdiffeye.gaze import Trajectory

    trial = dataclasses.replace(trials()[0], scanpath=None, trajectory=Trajectory(np.ones((3, 2)), 240, FRAME))
    with pytest.raises(InputError, match="has no scanpath: extract one first"):
        write_gaze(tmp_path / "g.csv", [trial])
    assert list(tmp_path.iterdir()) == []
