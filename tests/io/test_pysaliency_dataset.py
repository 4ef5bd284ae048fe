"""Data sets of pysaliency, written for it and read from it; against pysaliency itself."""

from __future__ import annotations

import warnings

import h5py
import numpy as np
import pytest
from PIL import Image

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.io.pysaliency_hdf5 import read_pysaliency, write_pysaliency_dataset

FRAME = Frame(64, 48)


@pytest.fixture
def trials(tmp_path):
    (tmp_path / "pictures").mkdir()
    found, rng = [], np.random.default_rng(0)
    for name in ("a.png", "b.png"):
        Image.new("RGB", (64, 48)).save(tmp_path / "pictures" / name)
        for subject, count in (("ann", 3), ("bob", 2)):
            path = Scanpath(rng.uniform([0, 0], [63, 47], (count, 2)), FRAME, onset_ms=np.arange(count) * 300.0)
            found.append(Trial(name, subject, path, picture=tmp_path / "pictures" / name))
    return found


@pytest.fixture
def library(monkeypatch):
    """pysaliency itself; numpy no longer has the name that it writes with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pytest.importorskip("pysaliency")
    monkeypatch.setattr(np, "string_", np.bytes_, raising=False)
    return found


def test_pysaliency_reads_the_set_that_we_write_and_we_the_one_that_it_writes(trials, library, tmp_path):
    stimuli_file, fixations_file = write_pysaliency_dataset(tmp_path / "ours", trials)
    stimuli, fixations = (library.datasets.read_hdf5(str(path)) for path in (stimuli_file, fixations_file))
    assert [tuple(shape) for shape in stimuli.shapes] == [(48, 64, 3)] * 2
    assert stimuli.stimuli[1].shape == (48, 64, 3)
    np.testing.assert_allclose(fixations.x, np.concatenate([trial.scanpath.xy_px[:, 0] for trial in trials]))
    (tmp_path / "theirs").mkdir()
    stimuli.to_hdf5(str(tmp_path / "theirs/stimuli.hdf5"))
    fixations.to_hdf5(str(tmp_path / "theirs/fixations.hdf5"))
    back = read_pysaliency(tmp_path / "theirs/fixations.hdf5")
    assert [(trial.name, trial.frame) for trial in back] == [(trial.name, FRAME) for trial in trials]
    assert all(trial.picture.samefile(tmp_path / "pictures" / trial.name) for trial in back)
    for one, other in zip(trials, back, strict=True):
        np.testing.assert_allclose(one.scanpath.xy_px, other.scanpath.xy_px)


@pytest.mark.parametrize("group", ["", "scanpaths"])
def test_the_layout_of_later_releases_is_read(group, tmp_path):
    with h5py.File(tmp_path / "fixations.hdf5", "w") as file:
        place = file.require_group(group) if group else file
        place["xs"], place["ys"] = np.array([[1, 2.0], [3, np.nan]]), np.array([[4, 5.0], [6, np.nan]])
        place["n"], place["length"] = np.array([1, 0]), np.array([2, 1])
        place["scanpath_attributes/subject"] = np.array([7, 8])
        place["fixation_attributes/ts"] = np.array([[0.1, 0.4], [0.2, np.nan]])
    first, second = read_pysaliency(tmp_path / "fixations.hdf5", FRAME)
    assert (first.name, first.subject, first.scanpath.xy_px.tolist()) == ("1", "7", [[1, 4], [2, 5]])
    assert second.scanpath.xy_px.tolist() == [[3, 6]]


def test_sets_that_cannot_be_exchanged_are_refused(trials, tmp_path):
    without = Trial("lost.png", "1", trials[0].scanpath)
    with pytest.raises(InputError, match=r"'lost\.png' has no picture here"):
        write_pysaliency_dataset(tmp_path, [*trials, without])
    write_pysaliency_dataset(tmp_path / "set", trials)
    with h5py.File(tmp_path / "set/fixations.hdf5", "r+") as file:
        del file["stdiffeye"]
        file["train_ns"][...] = 5
    with pytest.raises(InputError, match="is of more pictures than the 2"):
        read_pysaliency(tmp_path / "set/fixations.hdf5")
    (tmp_path / "set/stimuli.hdf5").unlink()
    with pytest.raises(InputError, match=r"has no stimuli\.hdf5 beside it"):
        read_pysaliency(tmp_path / "set/fixations.hdf5")
    with h5py.File(tmp_path / "set/stimuli.hdf5", "w") as file:
        file["filenames"] = [1, 2]
    with pytest.raises(InputError, match="holds no FileStimuli"):
        read_pysaliency(tmp_path / "set/fixations.hdf5")
