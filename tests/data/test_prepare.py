"""Preparing a set: the gate, the counts, resuming, and nothing half-written when something goes wrong."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_sets import OWN, make_doves, make_osie, scanpath_rows

from stdiffeye.cli import main
from stdiffeye.data import preparation as prepare_module
from stdiffeye.data import shards
from stdiffeye.data.clean import CleaningSettings
from stdiffeye.data.preparation import prepare
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.files import read_json
from stdiffeye.gaze.quality import QualityThresholds


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(prepare_module, "TRIALS_PER_SHARD", 20)


def test_trials_without_a_fixation_are_dropped_and_counted(tmp_path):
    rows = scanpath_rows(5) + [{"name": "x.jpg", "subject": 1, "X": [], "Y": [], "T": []}]
    store = prepare("osie", make_osie(tmp_path / "source", rows, pictures=False), tmp_path / "store", quiet=True)
    quality = read_json(store.path / "quality.json")["quality"]
    assert (len(store), quality["kept"], quality["dropped"]) == (5, 5, {"no fixation and no sample": 1})


def test_a_file_of_scanpaths_is_a_data_set_as_it_is(tmp_path):
    source = make_osie(tmp_path / "source", scanpath_rows(12))
    file = next(path for path in source.rglob("*.json")).rename(tmp_path / "gaze [mine].json")
    pictures = next(path.parent for path in source.rglob("*.jpg"))
    store = prepare(file, out=tmp_path / "store", pictures=pictures, quiet=True)
    assert (len(store), store.info["dataset"]) == (12, "gaze [mine]")
    with pytest.raises(InputError, match=r"is no folder: .*of a single file, prepare takes scanpaths as \.json"):
        prepare(file.rename(tmp_path / "gaze.csv"), out=tmp_path / "other", quiet=True)


def test_words_for_people_do_not_make_another_store(tmp_path, monkeypatch):
    source, out = make_osie(tmp_path / "source", scanpath_rows(5), pictures=False), tmp_path / "store"
    prepare("osie", source, out, quiet=True)
    described = prepare_module.describe_source

    def reworded(dataset, where):
        description, folder = described(dataset, where)
        return replace(description, shows="something else"), folder

    monkeypatch.setattr(prepare_module, "describe_source", reworded)
    assert len(prepare("osie", source, out, quiet=True)) == 5


def test_the_gate_drops_lost_and_impossible_trials_and_says_why(tmp_path):
    source = make_doves(tmp_path / "source", 5, samples=600)
    with np.load(source / "doves_gaze.npz") as file:
        arrays = dict(file)
    xy = arrays["xy"].reshape(5, 600, 2)
    xy[0] = np.nan
    xy[1, :300] = np.nan
    xy[2, 300] += 400
    np.savez(source / "doves_gaze.npz", **(arrays | {"xy": xy.reshape(-1, 2)}))
    store = prepare("doves", source, tmp_path / "store", quiet=True)
    dropped = read_json(store.path / "quality.json")["quality"]["dropped"]
    assert dropped == {"every sample lost": 1, "more than 25% of samples lost": 1, "faster than 1000 deg/s": 1}
    patient = CleaningSettings(thresholds=QualityThresholds(max_missing_share=0.6, max_impossible_speed_count=None))
    assert len(prepare("doves", source, tmp_path / "more", settings=patient, quiet=True)) == 4


def test_a_set_of_which_nothing_is_kept_makes_no_store(tmp_path):
    source = make_doves(tmp_path / "source", 2, samples=600)
    with np.load(source / "doves_gaze.npz") as file:
        arrays = dict(file)
    np.savez(source / "doves_gaze.npz", **(arrays | {"xy": np.full_like(arrays["xy"], np.nan)}))
    with pytest.raises(InputError, match=r"no trial of .* was kept: 0 of 2 trials kept;.*every sample lost"):
        prepare("doves", source, tmp_path / "store", quiet=True)
    assert not (tmp_path / "store").exists()


def test_scanpaths_are_cut_at_sixteen_fixations_and_counted(tmp_path):
    rows = scanpath_rows(40)
    store = prepare("osie", make_osie(tmp_path / "source", rows), tmp_path / "store", quiet=True)
    longer = sum(len(row["X"]) > 16 for row in rows)
    assert longer > 0
    assert read_json(store.path / "quality.json")["cut"] == longer
    whole = prepare(
        "osie", tmp_path / "source", tmp_path / "whole", settings=CleaningSettings(max_fixations=99), quiet=True
    )
    assert [len(trial.scanpath) for trial in whole.trials()] == [len(row["X"]) for row in rows]


def test_ones_own_set_is_described_by_a_file_and_split_by_picture(tmp_path):
    (tmp_path / "own.yaml").write_text(OWN)
    rows = [{key: value for key, value in row.items() if key != "split"} for row in scanpath_rows(90, pictures=30)]
    (tmp_path / "own.json").write_text(json.dumps(rows))
    store = prepare(tmp_path / "own.yaml", tmp_path, tmp_path / "store", quiet=True)
    split_of = {}
    for trial in store.trials():
        assert split_of.setdefault(trial.name, trial.split) == trial.split
    assert set(split_of.values()) == {"train", "validation", "test"}


def test_processes_change_nothing_but_the_time(tmp_path, small_shards):
    source = make_doves(tmp_path / "source", 50, samples=300)
    one = prepare("doves", source, tmp_path / "one", quiet=True)
    two = prepare("doves", source, tmp_path / "two", jobs=2, quiet=True)
    assert files_of(one.path) == files_of(two.path)


def test_a_finished_store_is_not_made_again_and_another_is_not_replaced_unasked(tmp_path, monkeypatch):
    source = make_osie(tmp_path / "source", scanpath_rows(10))
    prepare("osie", source, tmp_path / "store", quiet=True)
    monkeypatch.setattr(prepare_module, "write_shards", None)
    assert len(prepare("osie", source, tmp_path / "store", quiet=True)) == 10
    with pytest.raises(InputError, match="is a store made otherwise: choose another --out, or say --overwrite"):
        prepare("osie", source, tmp_path / "store", settings=CleaningSettings(max_fixations=3), quiet=True)
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="is there and is no store"):
        prepare("osie", source, tmp_path / "folder", quiet=True)


# ── Things that go wrong ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_full_disk_leaves_no_store_and_the_next_run_goes_on(tmp_path, small_shards, monkeypatch):
    source = make_osie(tmp_path / "source", scanpath_rows(70))
    whole = files_of(prepare("osie", source, tmp_path / "whole", quiet=True).path)
    real, calls = shards.write_tensors, []

    def full(path, tensors):
        calls.append(path)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        real(path, tensors)

    monkeypatch.setattr(shards, "write_tensors", full)
    with pytest.raises(
        InputError,
        match=r"cannot be written \(No space left on device; \d+ MB are free in .*run the same",
    ):
        prepare("osie", source, tmp_path / "store", quiet=True)
    assert not (tmp_path / "store").exists()
    with pytest.raises(InputError, match="is not finished: run the same `stdiffeye prepare` again"):
        Store.open(tmp_path / "store")
    before = len(calls)
    store = prepare("osie", source, tmp_path / "store", quiet=True)
    assert [path.name for path in calls[before:]][:2] == ["shard-00002.safetensors", "shard-00003.safetensors"]
    assert files_of(store.path) == whole


def test_a_killed_preparation_resumes_to_the_same_bytes(tmp_path, small_shards):
    source = make_doves(tmp_path / "source", 240, samples=300)
    script = (
        "import sys, time; from stdiffeye.data import preparation as p\n"
        "p.TRIALS_PER_SHARD = 20; write = p.write_shard\n"
        "def slow(*a):\n    write(*a); print(a[1]); time.sleep(float(sys.argv[3]))\n"
        "p.write_shard = slow; p.prepare('doves', sys.argv[1], sys.argv[2], quiet=True)"
    )
    command = [sys.executable, "-c", script, str(source)]
    process = subprocess.Popen([*command, str(tmp_path / "killed"), "0.1"], stdout=subprocess.DEVNULL)
    partial = tmp_path / "killed.partial"
    deadline = time.monotonic() + 60
    while len(list(partial.glob("shard-*.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    finished = {path.name for path in partial.glob("shard-*.json")}
    assert 3 <= len(finished) < 12
    assert not (tmp_path / "killed").exists()
    prepare("doves", source, tmp_path / "whole", quiet=True)
    resumed = subprocess.run([*command, str(tmp_path / "killed"), "0"], check=True, capture_output=True, text=True)
    made = {f"shard-{int(number):05d}.json" for number in resumed.stdout.split()}
    assert made.isdisjoint(finished)
    assert len(made) + len(finished) == 12
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")


def test_a_partial_store_of_other_settings_is_started_anew(tmp_path, small_shards, monkeypatch):
    source = make_osie(tmp_path / "source", scanpath_rows(50))
    monkeypatch.setattr(prepare_module, "finish", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        prepare("osie", source, tmp_path / "store", quiet=True)
    monkeypatch.undo()
    store = prepare("osie", source, tmp_path / "store", settings=CleaningSettings(max_fixations=2), quiet=True)
    assert store.columns["n_fixations"].max() == 2


def test_a_picture_that_is_no_picture_stops_the_preparation(tmp_path):
    source = make_osie(tmp_path / "source", scanpath_rows(10))
    (source / "images" / "003.jpg").write_text("no picture")
    with pytest.raises(InputError, match=r"003.jpg is not a picture that can be opened"):
        prepare("osie", source, tmp_path / "store", quiet=True)
    assert not (tmp_path / "store").exists()


def test_missing_and_misshapen_pictures_are_counted(tmp_path):
    from PIL import Image

    source = make_osie(tmp_path / "source", scanpath_rows(14))
    (source / "images" / "003.jpg").unlink()
    Image.new("RGB", (50, 80)).save(source / "images" / "004.jpg")
    store = prepare("osie", source, tmp_path / "store", quiet=True)
    assert read_json(store.path / "quality.json")["notes"] == {
        "trials whose picture is not there": 2,
        "trials whose picture has another shape than the gaze's frame": 2,
    }
    assert "003.jpg" not in store.pictures


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Y": [1.0]}, "the lists of fixations differ in length"),
        ({"width": 0}, "Frame.width_px must be a positive number, got 0"),
        ({"X": [None], "Y": [1.0], "T": None}, "fixation 1 has no place"),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_bad_row_stops_the_preparation_with_its_number(tmp_path, change, message, jobs):
    rows = scanpath_rows(10)
    rows[4] |= change
    source = make_osie(tmp_path / "source", rows, pictures=False)
    with pytest.raises(InputError, match=rf"row 5 of .*{message}"):
        prepare("osie", source, tmp_path / "store", jobs=jobs, quiet=True)
    assert not (tmp_path / "store").exists()


# ── The verbs ────────────────────────────────────────────────────────────────────────────────────────────────────────


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    return int(stopped.value.code or 0)


def test_the_verb_prepare_prints_the_quality_report_and_where_to_look(tmp_path, capsys):
    source = make_osie(tmp_path / "source", scanpath_rows(30))
    assert run("prepare", "osie", str(source), "--out", str(tmp_path / "store")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "30 of 30 trials kept"
    assert lines[-1].startswith(f"30 trials are in {tmp_path / 'store'}")


def test_the_verb_prepare_tells_what_is_missing(tmp_path, capsys):
    assert run("prepare", "mit1003", str(tmp_path), "--check") == 2
    out = capsys.readouterr().out
    assert f"MISSING               {tmp_path}/DATA/*/*.mat" in out
    assert run("prepare", "osie", str(tmp_path), "--out", str(tmp_path / "s")) == 2
    error = capsys.readouterr().err
    assert error.startswith("stdiffeye: OSIE is not whole")
    assert error.count("\n") == 1
    assert run("prepare", "osie", str(tmp_path)) == 2
    assert "say where the store goes: --out stores/osie" in capsys.readouterr().err


def test_the_verb_info_describes_stores_files_recordings_and_sets(tmp_path, capsys):
    source = make_doves(tmp_path / "source", 4, samples=600)
    store = prepare("doves", source, tmp_path / "store", quiet=True)
    assert run("info", str(store.path)) == 0
    out = " ".join(capsys.readouterr().out.split())  # a long path folds the line
    assert "a store" in out
    assert "fixation duration" in out
    assert run("info", str(store.path), "--json") == 0
    described = json.loads(capsys.readouterr().out)
    assert described["facts"]["trials"] == 4
    assert described["facts"]["rate (Hz)"] == 240
    assert sum(described["histograms"][0]["counts"]) == 4
    osie = make_osie(tmp_path / "osie", scanpath_rows(9))
    assert run("info", str(osie / "osie_fixations.json"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["facts"]["stimuli"] == 7
    assert run("info", "osie", str(osie)) == 0
    assert "1 there" in capsys.readouterr().out
    assert run("info", "mit1003", str(osie)) == 2
    assert "MISSING" in capsys.readouterr().out
    assert run("info", str(tmp_path / "nothing.json")) == 2
    assert "does not exist, and no data set or model has that name" in capsys.readouterr().err


SLOW = """
import sys, time
import stdiffeye.data.preparation as preparation
from stdiffeye.cli import main

preparation.TRIALS_PER_SHARD = 5
real = preparation._write_one

def slow(*given):
    report = real(*given)
    time.sleep(float(sys.argv[1]))
    return report

preparation._write_one = slow
main(sys.argv[2:])
"""


def test_ctrl_c_ends_all_processes_and_the_same_command_goes_on(tmp_path):
    source = make_osie(tmp_path / "source", scanpath_rows(60))
    words = [sys.executable, "-c", SLOW]
    folders = ["prepare", "osie", str(source), "--jobs", "2", "--quiet", "--out"]
    process = subprocess.Popen(
        [*words, "5", *folders, str(tmp_path / "store")], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while process.poll() is None and not list((tmp_path / "store.partial").glob("shard-*.json")):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes of the command
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert not (tmp_path / "store").exists()
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    subprocess.run([*words, "0", *folders, str(tmp_path / "store")], check=True)
    subprocess.run([*words, "0", *folders, str(tmp_path / "whole")], check=True)
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == names
    assert all((tmp_path / "store" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes() for name in names)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "store", "whole"]
