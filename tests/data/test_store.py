"""The store: what was prepared comes back, fast columns agree with trials, and damage is noticed on opening."""

from __future__ import annotations

import copy
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_sets import make_doves, make_osie, scanpath_rows
from safetensors.numpy import load_file

from stdiffeye.data.preparation import prepare
from stdiffeye.data.read import read_trials
from stdiffeye.data.store import Store
from stdiffeye.data.store_manifest import manifest_checksum
from stdiffeye.data.tensor_file import Pieces, map_tensors, write_tensors
from stdiffeye.errors import InputError
from stdiffeye.gaze.index import fixation_index
from stdiffeye.io.scanpath_json import read_scanpaths, write_scanpaths


@pytest.fixture(scope="module")
def osie(tmp_path_factory) -> Store:
    folder = tmp_path_factory.mktemp("osie")
    return prepare("osie", make_osie(folder / "source", scanpath_rows(60)), folder / "store", quiet=True)


@pytest.fixture(scope="module")
def doves(tmp_path_factory) -> Store:
    folder = tmp_path_factory.mktemp("doves")
    return prepare("doves", make_doves(folder / "source", 12), folder / "store", quiet=True)


def test_scanpaths_come_back_exactly_as_the_file_has_them(osie):
    rows = scanpath_rows(60)
    assert len(osie) == 60
    for row, trial in zip(rows, osie.trials(), strict=True):
        assert trial.scanpath.xy_px.tolist() == np.column_stack([row["X"], row["Y"]])[:16].tolist()
        durations = None if trial.scanpath.duration_ms is None else trial.scanpath.duration_ms.tolist()
        assert durations == (None if row["T"] is None else row["T"][:16])
        assert (trial.name, trial.subject, trial.split) == (row["name"], str(row["subject"]), row["split"])
        assert (trial.dataset, trial.viewing_ms, trial.frame.px_per_degree) == ("osie", 3000, 24)
        assert trial.picture.is_file()


def test_columns_and_arrays_agree_with_the_trials(osie, doves):
    for store in (osie, doves):
        columns, scanpaths, trajectories = store.columns, store.scanpath_arrays(), store.trajectory_arrays()
        for number, trial in enumerate(store.trials()):
            assert store.words["name"][columns["name_id"][number]] == trial.name
            assert store.words["subject"][columns["subject_id"][number]] == trial.subject
            assert store.words["split"][columns["split_id"][number]] == trial.split
            assert (columns["width"][number], columns["height"][number]) == (
                trial.frame.width_px,
                trial.frame.height_px,
            )
            assert columns["n_fixations"][number] == len(trial.scanpath)
            assert columns["has_durations"][number] == (trial.scanpath.duration_ms is not None)
            assert columns["has_trajectory"][number] == (trial.trajectory is not None)
            part = slice(scanpaths.offsets[number], scanpaths.offsets[number + 1])
            assert np.array_equal(scanpaths.xy_px[part], trial.scanpath.xy_px)
            assert np.isnan(scanpaths.duration_ms[part]).all() == (trial.scanpath.duration_ms is None)
            part = slice(trajectories.offsets[number], trajectories.offsets[number + 1])
            assert len(trajectories.xy_px[part]) == columns["n_points"][number]


def test_the_fixation_index_is_that_of_the_trial(doves):
    for number, trial in enumerate(doves.trials()):
        rho = doves.rho(number)
        assert rho.dtype == np.float32
        np.testing.assert_allclose(rho, fixation_index(trial.trajectory, trial.scanpath), atol=0.02)
        assert (np.diff(rho) >= 0).all()


def test_trajectories_are_resampled_to_the_store_rate(doves):
    assert doves.rate_hz == 240
    for trial in doves.trials():
        assert trial.trajectory.rate_hz == 240
        assert len(trial.trajectory) <= 1500
        assert 1 <= len(trial.scanpath) <= 16


def test_arrays_are_mapped_and_not_read(osie):
    array = osie.scanpath_arrays().xy_px
    assert isinstance(array.base, np.memmap)
    assert not array.flags.writeable


def test_splits_are_chosen_by_name(osie):
    assert {trial.split for trial in osie.trials("test")} == {"test"}
    assert sum(len(osie.where(split)) for split in osie.words["split"]) == len(osie)
    with pytest.raises(InputError, match="has no split 'dev': it has train"):
        osie.where("dev")
    with pytest.raises(IndexError):
        osie[60]


def test_pictures_are_found_by_stimulus_and_may_move(osie, tmp_path):
    assert len(osie.pictures) == 7
    assert all(path.is_file() for path in osie.pictures.values())
    moved = Store.open(osie.path, pictures=tmp_path)
    assert moved.pictures["000.jpg"] == tmp_path / "000.jpg"
    with pytest.raises(InputError, match="is no folder: expected the pictures of osie"):
        Store.open(osie.path, pictures=tmp_path / "nowhere")


def test_a_store_goes_to_another_process_by_its_path(osie):
    other = copy.copy(osie)  # by way of __reduce__, as processes do
    assert other.columns is not osie.columns
    assert other[3] == osie[3]


def without_pictures(trials):
    """A file names pictures inside its own folder alone."""
    return [replace(trial, picture=None) for trial in trials]


def test_read_trials_reads_stores_and_files_alike(osie, tmp_path):
    write_scanpaths(tmp_path / "osie.json", osie.trials())
    file = tmp_path / "osie.json"
    assert without_pictures(read_trials(osie.path)) == without_pictures(read_trials(file))
    assert read_trials(file) == read_scanpaths(file)
    assert without_pictures(read_trials(osie.path, "test")) == without_pictures(read_trials(file, "test"))
    with pytest.raises(InputError, match="has no trial of the split 'dev'"):
        read_trials(tmp_path / "osie.json", "dev")


def test_no_torch_is_loaded_for_a_store():
    import subprocess

    code = "import stdiffeye.data.preparation, stdiffeye.data.read, sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# ── Damage ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def damaged(osie, tmp_path) -> Path:
    return Path(shutil.copytree(osie.path, tmp_path / "store"))


@pytest.mark.parametrize(
    "name", ["columns.safetensors", "scanpaths.safetensors", "trajectories.safetensors", "trials.jsonl"]
)
def test_a_truncated_file_is_noticed_on_opening(damaged, name):
    data = (damaged / name).read_bytes()
    (damaged / name).write_bytes(data[:-10])
    with pytest.raises(InputError, match=f"is damaged: {name} has {len(data) - 10} bytes, expected {len(data)}"):
        Store.open(damaged)
    (damaged / name).unlink()
    with pytest.raises(InputError, match=f"is damaged: {name} is missing"):
        Store.open(damaged)


def test_a_changed_index_is_noticed_by_its_checksum(damaged):
    text = (damaged / "trials.jsonl").read_text()
    (damaged / "trials.jsonl").write_text(text.replace('"train"', '"tests"', 1))
    with pytest.raises(InputError, match="the checksum of its index is wrong"):
        Store.open(damaged)


def test_a_store_of_another_version_is_refused(damaged):
    manifest = json.loads((damaged / "store.json").read_text())
    (damaged / "store.json").write_text(json.dumps(manifest | {"version": 99}))
    with pytest.raises(InputError, match="is a store of version 99, expected version 1: prepare it again"):
        Store.open(damaged)


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "is not JSON"), ('{"format": "other"}', "is not that of a store"), (None, "is no store")],
)
def test_what_is_no_store_is_refused(tmp_path, content, message):
    if content is not None:
        (tmp_path / "store.json").write_text(content)
    with pytest.raises(InputError, match=message):
        Store.open(tmp_path)


# ── The tensor file ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_tensor_files_are_safetensors(tmp_path):
    arrays = {"a": np.arange(6.0).reshape(3, 2), "b": np.array([True, False]), "c": np.empty((0, 2), np.float32)}
    pieces = Pieces("<i4", (4,), iter([np.array([1, 2], "<i4"), np.array([3, 4], "<i4")]))
    write_tensors(tmp_path / "t.safetensors", arrays | {"d": pieces})
    for read in (load_file, map_tensors):
        back = read(tmp_path / "t.safetensors")
        for key, array in (arrays | {"d": np.array([1, 2, 3, 4])}).items():
            assert np.array_equal(back[key], array)


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "is damaged"), (b"\x10" + b"\0" * 30, "its header is not JSON")]
)
def test_a_damaged_tensor_file_is_refused(tmp_path, content, message):
    (tmp_path / "t.safetensors").write_bytes(content)
    with pytest.raises(InputError, match=message):
        map_tensors(tmp_path / "t.safetensors")


@pytest.mark.parametrize("word", ["../secret.png", "/etc/secret.png", "a\\..\\..\\secret.png", "C:\\secret.png"])
def test_a_store_of_somebody_else_names_no_picture_outside_its_folder(osie, tmp_path, word):
    copied = shutil.copytree(osie.path, tmp_path / "store")
    info = json.loads((copied / "store.json").read_text())
    info["words"]["picture"][0] = word
    (copied / "store.json").write_text(json.dumps(info | {"manifest_sha256": manifest_checksum(info)}))
    with pytest.raises(InputError, match="names a picture outside its pictures' folder"):
        Store.open(copied)
