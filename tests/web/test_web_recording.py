"""The user's own recording: read in any layout, laid on the picture, and the model scored against it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from web_files import as_json, people

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, lift
from stdiffeye.gaze.recording import Recording
from stdiffeye.io.eyelink_asc_write import write_asc
from stdiffeye.metrics import dtw
from stdiffeye.web.recording_upload import Upload, _read, scores

FRAME = Frame(240, 160)


@pytest.fixture(scope="module")
def job(client, picture) -> str:
    answer = client.post(
        "/api/generate", files={"picture": ("street.jpg", picture)}, data={"samples": 3, "seconds": 1.5, "seed": 1}
    )
    return str(answer.json()["id"])


@pytest.fixture
def compared(client, job):
    def compare(data: bytes, filename: str = "people.json", **form: str) -> Any:
        return client.post(f"/api/jobs/{job}/compare", files={"recording": (filename, data)}, data=form)

    return compare


def test_people_are_shown_counted_and_scored_beside_the_model(compared):
    found = compared(as_json(people(viewers=3))).json()
    assert [viewer["name"] for viewer in found["viewers"]] == ["0", "1", "2"]
    assert found["viewers"][0]["fixations"][1]["x"] == pytest.approx(48)
    assert [row["name"] for row in found["scores"]] == ["LD", "DFD", "DTW", "TDE", "MM", "SM", "SM_dur"]
    for row in found["scores"]:
        for protocol in ("crps", "mean", "best"):
            values = row["values"][protocol]
            assert values.keys() == {"model", "human", "centre"}
            better = min if row["better"] == "lower" else max
            # Viewers who look alike predict each other better than random weights and blind guesses do.
            assert better(values, key=values.get) == "human"
    counts = next(row for row in found["statistics"] if row["name"] == "fixation_count")
    assert counts["sides"]["human"] | {"shares": 0} == {"n": 3, "shares": 0, "mean": 4, "median": 4, "sd": 0}
    assert found["notes"] == []
    assert (found["estimator"], found["sampling"], found["counts"]) == ("fair", "independent", {"human": 3, "model": 3})
    for row in found["scores"]:
        apart, values = row["model_minus_human"]["crps"], row["values"]["crps"]
        assert apart["value"] == pytest.approx(values["model"] - values["human"])
        assert apart["low"] <= apart["value"] <= apart["high"]


def test_representative_viewers_are_shown_but_not_scored(client, picture):
    asked = {"samples": 2, "seconds": 1, "seed": 1, "representative": "true"}
    job = client.post("/api/generate", files={"picture": ("street.jpg", picture)}, data=asked).json()["id"]
    recording = {"recording": ("people.json", as_json(people(viewers=3)))}
    found = client.post(f"/api/jobs/{job}/compare", files=recording).json()
    assert len(found["viewers"]) == 3
    assert found["scores"] == []
    assert "not scored" in found["notes"][0]


def test_scores_are_those_of_the_metrics(app, compared, job):
    generated = app.state.server.result(job).trials
    recorded = as_json(people(viewers=1))
    found = {row["name"]: row["values"] for row in compared(recorded).json()["scores"]}
    human = Scanpath([[120, 80], [48, 48], [192, 56], [144, 112]], FRAME, [300, 400, 330, 360])
    frame = Frame(512, 384)
    distances = [dtw(human.rescaled(frame), one.scanpath.rescaled(frame)) for one in generated]
    assert found["DTW"]["mean"]["model"] == pytest.approx(np.mean(distances))
    assert found["DTW"]["best"]["model"] == pytest.approx(np.min(distances))
    assert "human" not in found["DTW"]["mean"]


def test_the_models_own_gaze_scores_perfectly_at_its_best(app, job):
    generated = app.state.server.result(job).trials
    result = scores([replace(one, trajectory=None) for one in generated], generated)
    assert result.value("model", "best", "DTW") == 0
    assert result.value("model", "best", "SM") == pytest.approx(1)
    assert result.value("model", "crps", "DTW") < result.value("centre", "crps", "DTW")


def test_a_table_without_frame_is_in_px_of_the_picture(compared):
    table = "name,subject,x,y,duration\nstreet,a,10,20,200\nstreet,a,100,90,300\nstreet,a,200,120,250\n"
    (viewer,) = compared(table.encode(), "mine.CSV").json()["viewers"]
    assert [(one["x"], one["y"]) for one in viewer["fixations"]] == [(10, 20), (100, 90), (200, 120)]
    assert viewer["fixations"][1]["duration_ms"] == pytest.approx(300, abs=9)


def test_gaze_on_a_screen_of_another_shape_is_taken_as_letterboxed(compared):
    rows = people(viewers=1, width=480, height=480)  # the picture is shown 480×320, 80 px from the top
    rows[0] |= {"X": [0, 240, 480], "Y": [80, 240, 400], "T": [200, 200, 200]}
    (viewer,) = compared(as_json(rows)).json()["viewers"]
    assert [(one["x"], one["y"]) for one in viewer["fixations"]] == [(0, 0), (120, 80), (240, 160)]


def test_an_eyelink_recording_goes_through_fixation_extraction(compared, tmp_path):
    screen = Frame(960, 640, 34)
    path = Scanpath([[480, 320], [200, 200], [700, 420]], screen, [400, 400, 400])
    gaze = lift(path, 1000, np.random.default_rng(0))
    time_ms = 1_000_000 + np.arange(len(gaze), dtype=float)
    write_asc(tmp_path / "a.asc", [Recording(time_ms, 1000, screen, right_px=gaze.xy_px)])
    found = compared((tmp_path / "a.asc").read_bytes(), "a.asc").json()
    (viewer,) = found["viewers"]
    assert [round(one["x"]) for one in viewer["fixations"]] == pytest.approx([120, 50, 175], abs=1)
    assert viewer["rate_hz"] == 240
    assert len(viewer["x"]) == pytest.approx(0.24 * len(gaze), abs=2)


def test_raw_samples_in_a_table_go_through_it_too(compared):
    path = Scanpath([[120, 80], [50, 50], [190, 110]], Frame(240, 160, 8), [400, 400, 400])
    gaze = lift(path, 250, np.random.default_rng(0))
    rows = [f"{4 * k},{x:.2f},{y:.2f}" for k, (x, y) in enumerate(gaze.xy_px)]
    answer = compared(("time_ms,x,y\n" + "\n".join(rows)).encode(), "raw.csv")
    assert answer.status_code == 200, answer.text
    (viewer,) = answer.json()["viewers"]
    assert [round(one["x"]) for one in viewer["fixations"]] == pytest.approx([120, 50, 190], abs=2)


def test_without_durations_their_metrics_are_absent(compared):
    found = compared(as_json(people(durations=False))).json()
    assert [row["name"] for row in found["scores"]] == ["LD", "DFD", "DTW", "TDE", "SM"]


def test_of_several_pictures_the_one_that_is_named_counts(compared):
    rows = people("one.jpg", 1) + people("two.jpg", 2)
    answer = compared(as_json(rows))
    assert answer.status_code == 422
    assert answer.json()["error"] == (
        "the recording holds 2 pictures (one.jpg, two.jpg), none called 'street.jpg': type which of them this is"
    )
    assert len(compared(as_json(rows), stimulus="two.jpg").json()["viewers"]) == 2
    assert len(compared(as_json(people("any.jpg", 3))).json()["viewers"]) == 3
    assert "none called 'three'" in compared(as_json(rows), stimulus="three").json()["error"]


@pytest.mark.parametrize(
    ("data", "filename", "words"),
    [
        (b"", "a.json", "the recording is empty: choose a file"),
        (b"x", "a.exe", "a recording ends in .json, .csv, .tsv, .asc, .txt, .edf, got '.exe'"),
        (b"x", "recording", "a recording ends in .json, .csv, .tsv, .asc, .txt, .edf, got 'a name without ending'"),
        (b"{}", "a.json", "the recording is not a list of trials: it starts with '{}', expected '['"),
        (b"a,b\n1,2\n", "a.csv", "the recording is no table of fixations: it has no column name, x_px, y_px"),
        (b"\xff\xfe\x00", "a.asc", "the recording"),
        (b"[]", "a.json", "the recording holds no trial"),
        (as_json(people(viewers=201)), "a.json", "the file holds 201 viewers of this picture; at most 200"),
    ],
    ids=["empty", "program", "no ending", "object", "wrong columns", "binary", "no trial", "too many"],
)
def test_a_recording_that_cannot_be_used_is_refused_in_one_sentence(compared, data, filename, words):
    answer = compared(data, filename)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(words)
    assert "/tmp" not in answer.json()["error"]


def looked(seconds: float, viewers: int = 2) -> list[dict[str, Any]]:
    """Viewers who fixate four times a second for some seconds."""
    rng, count = np.random.default_rng(3), round(4 * seconds)
    return [
        {"name": "street.jpg", "subject": k, "width": 240, "height": 160, "T": [250] * count}
        | {"X": rng.uniform(20, 220, count).tolist(), "Y": rng.uniform(20, 140, count).tolist()}
        | {"onset": [250 * number for number in range(count)]}
        for k in range(viewers)
    ]


def test_the_side_that_looked_longer_is_cut_to_the_time_of_the_other(compared):
    found = compared(as_json(looked(3.0))).json()  # the generated gaze lasts 1.5 s
    assert found["notes"][0].startswith(
        "Your recording lasts 3.0 s and the generated gaze 1.5 s: your recording is cut to"
    )
    assert [len(viewer["fixations"]) for viewer in found["viewers"]] == [6, 6]
    counts = next(row for row in found["statistics"] if row["name"] == "fixation_count")
    assert counts["sides"]["human"]["mean"] == 6


def test_generated_gaze_is_cut_where_people_looked_for_less(compared):
    found = compared(as_json(looked(0.75))).json()
    assert "the generated gaze is cut to 0.8 s" in found["notes"][0]
    assert [len(viewer["fixations"]) for viewer in found["viewers"]] == [3, 3]


def test_a_recording_without_durations_is_warned_of(compared):
    found = compared(as_json(people(durations=False))).json()
    assert any("has no durations, so its viewing time is unknown" in note for note in found["notes"])


def test_an_edf_file_is_taken_where_its_library_is(compared, monkeypatch):
    taken = compared(b"no EDF", "viewer.edf").json()["error"]
    assert "is not an EyeLink EDF file" in taken
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"; \.edf needs the extra 'edf' on the server"):
        _read(Upload(b"no EDF", "viewer.edf"), FRAME)
