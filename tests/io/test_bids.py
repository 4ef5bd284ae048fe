"""BIDS eye tracking: written, judged by the BIDS validator, read back; refusals."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from stdiffeye.errors import DiskFull, InputError
from stdiffeye.gaze import Frame
from stdiffeye.gaze.recording import Event, Message, Recording
from stdiffeye.io.bids import read_bids
from stdiffeye.io.bids_write import Screen
from stdiffeye.io.bids_write import write_bids as write_published
from stdiffeye.io.recordings import read_recording

SCREEN = Screen(distance_m=0.6, width_m=0.5, height_m=0.3)
RUN = "sub-ann1_task-view_run-01"

# With what must not be published by default: tests/test_pseudonyms.py is about that.
write_bids = partial(write_published, keep_ids=True, messages=".")


def made() -> list[Recording]:
    rng = np.random.default_rng(3)
    left, right = np.round(rng.uniform(0, 700, (2, 400, 2)), 1)
    left[30:60] = np.nan
    events = (
        Event("blink", "left", 1030, 30),
        Event("fixation", "right", 1100, 120.5, (10.5, 20.25)),
        Event("saccade", "right", 1220.5, 30, (1.0, 2.0), (3.0, 4.5)),
    )
    both = Recording(
        1000 + np.arange(400.0),
        1000,
        Frame(1024, 768, 35.5),
        left,
        right,
        left_pupil=np.full(400, 900.0),
        right_pupil=np.full(400, 901.5),
        name="cat.png",
        subject="ann_1",
        events=events,
        messages=(Message(990, "TRIALID cat.png"), Message(1400, "TRIAL_RESULT 0")),
    )
    one = Recording(np.arange(0, 50.0, 0.5), 2000, Frame(800, 600), right_px=right[:100], name="dog.png", subject="bob")
    return [both, replace(both, name="dog.png", events=(), messages=()), one]


def validate(folder: Path) -> dict:
    program = Path(sys.executable).with_name("bids-validator-deno")
    if not program.exists():
        pytest.skip("bids-validator-deno is not installed")
    done = subprocess.run([program, folder, "--format", "json", "--max-rows", "-1"], capture_output=True, text=True)
    report = json.loads(done.stdout)
    errors = [issue for issue in report["issues"]["issues"] if issue["severity"] == "error"]
    return {"code": done.returncode, "errors": errors, "summary": report["summary"]}


def test_what_is_written_passes_the_bids_validator(tmp_path):
    folder = write_bids(tmp_path / "set", made(), SCREEN, task="free viewing", name="Made gaze")
    result = validate(folder)
    assert (result["code"], result["errors"]) == (0, [])
    assert result["summary"]["schemaVersion"] >= "1.1"
    assert sorted(result["summary"]["subjects"]) == ["ann1", "bob"]


@pytest.mark.parametrize("key", ["RecordedEye", "SampleCoordinateSystem", "Columns", "SamplingFrequency"])
def test_the_validator_would_notice_a_missing_field(tmp_path, key):
    folder = write_bids(tmp_path / "set", made()[2:], SCREEN)
    (sidecar,) = folder.rglob("*_physio.json")
    values = json.loads(sidecar.read_text())
    del values[key]
    sidecar.write_text(json.dumps(values))
    assert validate(folder)["errors"]


def test_what_is_written_is_read_back(tmp_path):
    recordings = made()
    folder = write_bids(tmp_path / "set", recordings, SCREEN)
    back = read_recording(folder)
    assert [(r.subject, r.name) for r in back] == [("ann1", "cat.png"), ("ann1", "dog.png"), ("bob", "dog.png")]
    for ours, theirs in zip(recordings, back, strict=True):
        for name in ("time_ms", "left_px", "right_px", "left_pupil", "right_pupil"):
            expected, actual = getattr(ours, name), getattr(theirs, name)
            assert (expected is None) == (actual is None)
            if expected is not None:
                np.testing.assert_array_equal(actual, expected)
        assert (theirs.rate_hz, theirs.events, theirs.messages) == (ours.rate_hz, ours.events, ours.messages)
    assert back[0].frame == recordings[0].frame
    # Bob's screen knows its size and distance only: 800 px on 0.5 m at 0.6 m.
    assert back[2].frame.px_per_degree == pytest.approx(800 / 0.5 * 0.6 * np.tan(np.radians(1)))


def test_one_file_of_a_set_can_be_read_alone_and_the_same_gaze_gives_the_same_bytes(tmp_path):
    one, two = (write_bids(tmp_path / name, made(), SCREEN) for name in ("one", "two"))
    file = f"sub-ann1/beh/{RUN}_recording-eye1_physio.tsv.gz"
    (recording,) = read_recording(one / file)
    assert recording.eyes == ("left",)
    assert (one / file).read_bytes() == (two / file).read_bytes()


def test_sidecars_are_inherited_and_other_origins_are_turned(tmp_path):
    folder = write_bids(tmp_path / "set", made()[2:], SCREEN)
    straight = read_bids(folder)[0].right_px
    beh = folder / "sub-bob" / "beh"
    (sidecar,) = beh.glob("*_events.json")
    values = json.loads(sidecar.read_text())
    values["StimulusPresentation"]["ScreenOrigin"] = ["bottom", "left"]
    sidecar.unlink()
    (folder / "task-view_events.json").write_text(json.dumps(values))
    turned = read_bids(folder)[0].right_px
    np.testing.assert_allclose(turned, np.stack([straight[:, 0], 600 - straight[:, 1]], axis=1))


def edited(folder: Path, change: dict, kind: str = "physio") -> None:
    (sidecar,) = folder.rglob(f"*_{kind}.json")
    values = json.loads(sidecar.read_text()) | change
    sidecar.write_text(json.dumps({key: value for key, value in values.items() if value is not None}))


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"PhysioType": "generic"}, "physio", "holds no eye tracking in BIDS"),
        ({"SampleCoordinateSystem": "eye-in-head"}, "physio", "SampleCoordinateSystem is 'eye-in-head'"),
        ({"Columns": None}, "physio", "its sidecar has no list `Columns`"),
        ({"Columns": ["timestamp", "x_coordinate"]}, "physio", "line 1 has 3 cells, `Columns` names 2"),
        ({"Columns": ["timestamp", "x_coordinate", "y"]}, "physio", "has no column 'y_coordinate'"),
        ({"SamplingFrequency": 0}, "physio", "SamplingFrequency must be a positive number of Hz, got 0"),
        ({"x_coordinate": {"Units": "degree"}}, "physio", "x_coordinate is in 'degree', expected pixels"),
        (
            {"timestamp": {"Units": "fortnight"}},
            "physio",
            "timestamps are in 'fortnight', expected one of ms, s, us, ns",
        ),
        ({"StimulusPresentation": "none"}, "events", "no StimulusPresentation.ScreenResolution"),
        ({"StimulusPresentation": {}}, "events", "no StimulusPresentation.ScreenResolution"),
    ],
)
def test_sets_that_are_not_gaze_on_a_screen_are_refused(tmp_path, change, kind, message):
    folder = write_bids(tmp_path / "set", made()[2:], SCREEN)
    edited(folder, change, kind)
    with pytest.raises(InputError) as caught:
        read_bids(folder)
    assert message in str(caught.value)


def test_timestamps_in_seconds_are_turned_to_milliseconds(tmp_path):
    folder = write_bids(tmp_path / "set", made()[2:], SCREEN)
    edited(folder, {"timestamp": {"Units": "seconds"}})
    assert read_bids(folder)[0].time_ms[1] == 500


def test_damaged_tables_are_refused(tmp_path):
    folder = write_bids(tmp_path / "set", made()[2:], SCREEN)
    (file,) = folder.rglob("*_physio.tsv.gz")
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    with pytest.raises(InputError, match="is cut short: the gzip stream ends too early"):
        read_bids(folder)
    file.write_bytes(gzip.compress(b"1\t2\tthree\n"))
    with pytest.raises(InputError, match="column 'y_coordinate': could not convert string to float: 'three'"):
        read_bids(folder)


def test_nothing_is_left_behind_when_writing_fails(tmp_path, monkeypatch):
    def full_disk(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gzip, "compress", full_disk)
    with pytest.raises(DiskFull, match="No space left"):
        write_bids(tmp_path / "set", made(), SCREEN)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_empty_same_labels_and_no_recordings_are_refused(tmp_path):
    folder = write_bids(tmp_path / "set", made(), SCREEN)
    with pytest.raises(InputError, match="exists already and is not empty"):
        write_bids(folder, made(), SCREEN)
    shutil.rmtree(folder)
    with pytest.raises(InputError, match="subjects 'ann_1', 'ann1' become the same BIDS label 'ann1'"):
        write_bids(folder, [made()[0], replace(made()[0], subject="ann1")], SCREEN)
    with pytest.raises(InputError, match="there is no recording to write"):
        write_bids(folder, [], SCREEN)
    with pytest.raises(InputError, match=r"Screen\.distance_m must be a positive number of metres, got 0"):
        Screen(0, 1, 1)
    assert not folder.exists()
