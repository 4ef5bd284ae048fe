"""A laboratory's folder of recordings is a data set like any other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from stdiffeye.cli import main
from stdiffeye.data.preparation import prepare
from stdiffeye.errors import InputError
from stdiffeye.files import read_json
from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.gaze.lifting import lift
from stdiffeye.gaze.recording import Message, Recording
from stdiffeye.io.bids_write import Screen, write_bids
from stdiffeye.io.eyelink_asc_write import write_asc
from stdiffeye.io.trial_files import find_recordings

SCREEN = Frame(1024, 768, 34)
SIZE = Screen(distance_m=0.67, width_m=0.38, height_m=0.30)
PLACES = np.array([[512, 384], [200, 150], [800, 600], [300, 650]])


def block(start_ms: float, message: str, places: np.ndarray = PLACES, subject: str = "") -> Recording:
    path = Scanpath(places, SCREEN, duration_ms=[250, 300, 280, 320])
    xy_px = lift(path, 500, np.random.default_rng(4)).xy_px
    time_ms = start_ms + 2 * np.arange(len(xy_px))
    messages = (Message(start_ms - 4, message), Message(float(time_ms[-1]) + 4, "TRIAL_RESULT 0"))
    return Recording(time_ms, 500, SCREEN, right_px=xy_px, messages=messages, name=message, subject=subject)


def table(path: Path, places: np.ndarray = PLACES) -> None:
    one = block(0, "x", places)
    rows = [f"{t:.0f},{x:.2f},{y:.2f}" for t, (x, y) in zip(one.time_ms, one.right_px, strict=True)]
    path.write_text("\n".join(["time,x,y", *rows]))


@pytest.fixture
def folder(tmp_path):
    """Two viewers, one in a folder of his own, between files that are no recordings."""
    source = tmp_path / "recordings"
    (source / "second day").mkdir(parents=True)
    for path in (source / "ann.asc", source / "second day" / "bob.asc.gz"):
        write_asc(path, [block(1000, "TRIALID 1 face.png"), block(9000, "TRIALID 2 house.png")])
    (source / "participants.tsv").write_text("participant\tage\nann\t31\n")
    (source / "notes.txt").write_text("bob was late\nann was early\n")
    (source / "ann.edf").write_bytes(b"the same recording, before it was converted")
    return source


@pytest.fixture
def pictures(tmp_path):
    (tmp_path / "stimuli").mkdir()
    for name in ("face.png", "house.png"):
        Image.new("RGB", (512, 384)).save(tmp_path / "stimuli" / name)
    return tmp_path / "stimuli"


def test_recordings_are_found_in_all_folders_and_nothing_else_is(folder):
    assert [path.name for path in find_recordings(folder)] == ["ann.asc", "bob.asc.gz"]


def test_a_folder_becomes_a_store_without_any_description(folder, tmp_path):
    store = prepare(folder, out=tmp_path / "store", quiet=True, keep_ids=True)
    trials = list(store.trials())
    assert {trial.subject for trial in trials} == {"ann", "bob"}
    assert [trial.name for trial in trials[:2]] == ["1 face.png", "2 house.png"]
    for trial in trials:
        assert trial.trajectory.rate_hz == 240
        np.testing.assert_allclose(trial.scanpath.xy_px, PLACES, atol=4)
    assert store.pictures == {}


def test_pictures_are_found_by_the_names_in_the_messages(folder, pictures, tmp_path):
    store = prepare(folder, out=tmp_path / "store", pictures=pictures, quiet=True)
    assert {name: path.name for name, path in store.pictures.items()} == {
        "face.png": "face.png",
        "house.png": "house.png",
    }
    assert next(store.trials()).details["trial"] == "1 face.png"
    assert read_json(store.path / "quality.json")["notes"] == {}


def test_the_verb_takes_the_folder_alone(folder, pictures, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["prepare", str(folder), "--out", str(tmp_path / "store"), "--pictures", str(pictures)])
    assert not ended.value.code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "4 of 4 trials kept"
    assert lines[-1].startswith(f"4 trials are in {tmp_path / 'store'}")


def test_a_description_changes_only_what_it_says(folder, pictures, tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "start: 'TRIALID (?P<name>.*)'\nend: TRIAL_RESULT\ntask: the odd one\nviewing_ms: 1500\n"
    )
    store = prepare(tmp_path / "mine.yaml", folder, tmp_path / "store", pictures=pictures, quiet=True)
    trial = store[0]
    assert (store.dataset, trial.task, trial.viewing_ms, trial.name) == ("mine", "the odd one", 1500, "face.png")


@pytest.mark.parametrize(
    ("placement", "frame", "expected"),
    [("centred", Frame(824, 568, 34), PLACES - [100, 100]), ("letterbox", Frame(512, 384, 17), PLACES / 2)],
)
def test_gaze_is_measured_on_the_picture_where_the_description_says_how_it_lay(
    folder, tmp_path, placement, frame, expected
):
    (tmp_path / "mine.yaml").write_text(f"placement: {placement}\n")
    (tmp_path / "shown").mkdir()
    Image.new("RGB", (frame.width_px, frame.height_px)).save(tmp_path / "shown" / "face.png")
    store = prepare(tmp_path / "mine.yaml", folder, tmp_path / "store", pictures=tmp_path / "shown", quiet=True)
    assert store[0].frame == frame
    np.testing.assert_allclose(store[0].scanpath.xy_px, expected, atol=4)


def test_a_recording_that_has_changed_is_read_again(folder, tmp_path):
    assert len(prepare(folder, out=tmp_path / "one", quiet=True)) == 4
    write_asc(folder / "ann.asc", [block(1000, "TRIALID 1 face.png")])
    assert len(prepare(folder, out=tmp_path / "two", quiet=True)) == 3


def test_tables_need_their_screen_once(tmp_path):
    (tmp_path / "raw").mkdir()
    table(tmp_path / "raw" / "ann.csv")
    with pytest.raises(InputError, match="does not say how large the screen is"):
        prepare(tmp_path / "raw", out=tmp_path / "store", quiet=True)
    (tmp_path / "mine.yaml").write_text("width_px: 1024\nheight_px: 768\npx_per_degree: 34\n")
    (trial,) = prepare(tmp_path / "mine.yaml", tmp_path / "raw", tmp_path / "store", quiet=True).trials()
    np.testing.assert_allclose(trial.scanpath.xy_px, PLACES, atol=4)


def test_a_bids_data_set_is_read_viewer_by_viewer(tmp_path):
    blocks = [block(1000, "TRIALID face.png", subject=subject) for subject in ("ann", "bob")]
    write_bids(tmp_path / "bids", blocks, SIZE, keep_ids=True)
    assert [path.name for path in find_recordings(tmp_path / "bids")] == ["sub-ann", "sub-bob"]
    store = prepare(tmp_path / "bids", out=tmp_path / "store", quiet=True, keep_ids=True)
    assert sorted(trial.subject for trial in store.trials()) == ["ann", "bob"]


def test_processes_change_nothing_but_the_time(folder, tmp_path):
    one = prepare(folder, out=tmp_path / "one", quiet=True)
    two = prepare(folder, out=tmp_path / "two", jobs=2, quiet=True)
    assert list(one.trials()) == list(two.trials())


def test_what_is_missing_is_said(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="is not whole: missing EyeLink"):
        prepare(tmp_path / "empty", out=tmp_path / "store", quiet=True)
    (tmp_path / "empty" / "notes.txt").write_text("nothing\nhere\n")
    with pytest.raises(InputError, match="holds no recording: expected an EyeLink"):
        prepare(tmp_path / "empty", out=tmp_path / "store", quiet=True)
    with pytest.raises(InputError, match="say where osie lies: stdiffeye prepare osie FOLDER"):
        prepare("osie", out=tmp_path / "store", quiet=True)
    with pytest.raises(InputError, match="there is no data set 'nowhere'"):
        prepare("nowhere", out=tmp_path / "store", quiet=True)
    (tmp_path / "mine.yaml").write_text("placement: upside down\n")
    with pytest.raises(InputError, match="placement 'upside down' is unknown"):
        prepare(tmp_path / "mine.yaml", tmp_path / "empty", tmp_path / "store", quiet=True)


@pytest.mark.real_data
@pytest.mark.filterwarnings("ignore:.*how large the screen is")
def test_a_folder_of_real_recordings_becomes_a_store(real_data, tmp_path):
    store = prepare(real_data / "recordings", out=tmp_path / "store", quiet=True)
    quality = read_json(store.path / "quality.json")["quality"]
    assert quality["total"] > len(store) > 0
    assert store.columns["has_trajectory"].all()
