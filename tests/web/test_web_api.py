"""The JSON interface: gaze by seed, limits, bad input in one sentence, downloads, and a worker that outlives all."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from PIL import Image

from stdiffeye.errors import InputError
from stdiffeye.generation import Model, Request
from stdiffeye.io.gaze_files import read_gaze
from stdiffeye.web import Limits, downloads
from stdiffeye.web.form import NOT_IN_FORM
from stdiffeye.web.picture_upload import NO_PICTURE
from stdiffeye.web.sample_pictures import SAMPLES, sample_png
from stdiffeye.web.worker import Worker

QUICK = {"samples": 2, "seconds": 1, "seed": 5}


def post(client: TestClient, picture: bytes, path: str = "/api/generate", name: str = "street.jpg", **form: Any) -> Any:
    return client.post(path, files={"picture": (name, picture)}, data={**QUICK, **form})


@pytest.fixture(scope="module")
def found(client: TestClient, picture: bytes) -> dict[str, Any]:
    """What the server answers to a plain request."""
    answer = post(client, picture)
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


def test_the_gaze_is_what_the_model_gives_in_python(found, model: Model, picture):
    wanted = model.generate(Image.open(io.BytesIO(picture)), samples=2, seconds=1, seed=5)
    assert found["picture"] == {"name": "street.jpg", "width_px": 240, "height_px": 160}
    assert found["model"] == "tiny"
    for viewer, gaze in zip(found["viewers"], wanted, strict=True):
        assert viewer["rate_hz"] == 240
        np.testing.assert_allclose(np.column_stack([viewer["x"], viewer["y"]]), gaze.xy_px, atol=0.11)
        path = gaze.scanpath
        assert [one["duration_ms"] for one in viewer["fixations"]] == pytest.approx(path.duration_ms.tolist(), abs=0.2)


def test_the_same_seed_gives_the_same_gaze_whatever_the_number_of_viewers(client, picture, found):
    again = post(client, picture, samples=7).json()
    for one, other in zip(found["viewers"], again["viewers"], strict=False):
        np.testing.assert_allclose(one["x"], other["x"], atol=0.11)
    assert post(client, picture, seed=6).json()["viewers"][0]["x"] != found["viewers"][0]["x"]


def test_style_precision_and_task_reach_the_model(client, picture, found):
    plain = found["viewers"][0]["fixations"]
    assert post(client, picture, style="doves").json()["viewers"][0]["fixations"] != plain
    assert post(client, picture, task="stop sign").json()["viewers"][0]["fixations"] != plain

    def roughness(precision_deg: float) -> float:
        viewer = post(client, picture, precision_deg=precision_deg).json()["viewers"][0]
        return float(np.median(np.abs(np.diff(viewer["x"], 2))))

    assert roughness(0.02) > 4 * roughness(0.002)


def test_every_field_of_a_request_can_be_asked_for_in_the_form(app, client, picture, model):
    wanted = Request("cup", 3, 1.5, 7, "doves", 0.01, 20.0, steps=3, sampler="ddim", guidance=1.5, representative=True)
    asked = {name: value for name, value in dataclasses.asdict(wanted).items() if name not in NOT_IN_FORM}
    answer = post(client, picture, **asked).json()
    assert app.state.server.result(answer["id"]).request == wanted
    paths = model.generate(Image.open(io.BytesIO(picture)), wanted)
    assert [len(viewer["fixations"]) for viewer in answer["viewers"]] == [len(gaze.scanpath) for gaze in paths]


def test_statistics_count_what_is_in_the_gaze(found):
    rows = {row["name"]: row for row in found["statistics"]}
    counts = [len(viewer["fixations"]) for viewer in found["viewers"]]
    assert rows["fixation_count"]["sides"]["model"]["mean"] == pytest.approx(np.mean(counts))
    durations = [one["duration_ms"] for viewer in found["viewers"] for one in viewer["fixations"]]
    assert rows["fixation_duration"]["sides"]["model"]["median"] == pytest.approx(np.median(durations), abs=0.2)
    assert all(sum(row["sides"]["model"]["shares"]) == pytest.approx(1) for row in rows.values())
    steps = [
        np.hypot(b["x"] - a["x"], b["y"] - a["y"]) / 8  # 240 px seen 30 degrees wide
        for viewer in found["viewers"]
        for a, b in zip(viewer["fixations"], viewer["fixations"][1:], strict=False)
    ]
    assert rows["saccade_amplitude"]["sides"]["model"]["mean"] == pytest.approx(np.mean(steps), abs=0.02)


def test_a_job_tells_its_progress_and_then_its_gaze(client, picture, found):
    started = post(client, picture, "/api/jobs")
    assert started.status_code == 202
    where, seen = f"/api/jobs/{started.json()['id']}", []
    while (state := client.get(where).json())["state"] in ("waiting", "running"):
        seen.append(state["share"])
        time.sleep(0.005)
    assert state | {"id": ""} == {"id": "", "state": "done", "share": 1.0, "doing": "done", "error": ""}
    assert seen == sorted(seen)
    assert client.get(f"{where}/gaze").json()["viewers"] == found["viewers"]
    with Image.open(io.BytesIO(client.get(f"{where}/picture").content)) as shown:
        assert shown.size == (240, 160)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"samples": 0}, "samples: input should be greater than or equal to 1, got '0'"),
        ({"samples": 101}, "samples: input should be less than or equal to 100, got '101'"),
        ({"samples": "many"}, "samples: input should be a valid integer, unable to parse string as an integer"),
        ({"seconds": 0.1}, "seconds: input should be greater than or equal to 0.2"),
        ({"seconds": 1e9}, "seconds: input should be less than or equal to 30"),
        ({"seconds": "nan"}, "seconds: input should be "),
        ({"seed": -1}, "seed: input should be greater than or equal to 0"),
        ({"seed": 2**53}, "seed: input should be less than or equal to 9007199254740991"),
        ({"precision_deg": 0}, "precision_deg: input should be greater than or equal to 0.001"),
        ({"task": "x" * 101}, "task: string should have at most 100 characters"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_bad_numbers_and_words_are_answered_in_one_sentence(client, picture, form, words):
    answer = post(client, picture, **form)
    assert answer.status_code == 422
    assert answer.json().keys() == {"error"}
    assert answer.json()["error"].startswith(words)
    assert "\n" not in answer.json()["error"]


def header_of_a_huge_png() -> bytes:
    chunk = b"IHDR" + struct.pack(">IIBBBBB", 30000, 30000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))


def png(width: int, height: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height)).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the picture is empty"),
        (b"hello", NO_PICTURE),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 99 99\n", NO_PICTURE),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", NO_PICTURE),
        (png(64, 64)[:60], "the picture"),
        (png(9, 64), "the picture has 9×64 px: both sides need at least 16"),
        (png(2100, 2000), "the picture has 2100×2000 px"),
        (header_of_a_huge_png(), NO_PICTURE),
    ],
    ids=["empty", "text", "postscript", "svg", "cut short", "tiny", "too many px", "bomb"],
)
def test_what_is_no_good_picture_is_refused_in_one_sentence(client, data, words):
    answer = post(client, data)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(words)


def test_a_form_without_picture_says_so(client):
    answer = client.post("/api/generate", data=QUICK)
    assert (answer.status_code, answer.json()) == (422, {"error": "picture is missing"})


def test_an_upload_too_large_is_refused_by_its_length_and_while_it_streams(client):
    words = {"error": "the upload is larger than 2 MB: make the file smaller"}
    answer = post(client, b"\0" * 2_100_000)
    assert (answer.status_code, answer.json()) == (413, words)
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="picture"; filename="a.png"\r\n\r\n'
        for _ in range(400):
            sent += 1
            yield b"\0" * 10_000

    answer = client.post(
        "/api/generate", content=endless(), headers={"Content-Type": "multipart/form-data; boundary=b"}
    )
    assert (answer.status_code, answer.json()) == (413, words)


@contextmanager
def occupied(app: FastAPI) -> Iterator[None]:
    """The one worker held up by something that takes long."""
    gate, begun = threading.Event(), threading.Event()

    def work(report: Callable[[float, str], None]) -> None:
        begun.set()
        gate.wait(30)

    job = app.state.server.worker.submit(work)
    assert begun.wait(30)
    try:
        yield
    finally:
        gate.set()
        job.future.result(30)


def test_when_too_much_waits_the_answer_is_busy_and_when_to_come_back(app, client, picture):
    with occupied(app):
        waiting = post(client, picture, "/api/jobs").json()["id"]
        assert client.get(f"/api/jobs/{waiting}").json()["state"] == "waiting"
        assert client.get(f"/api/jobs/{waiting}/gaze").status_code == 409
        answer = post(client, picture)
        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "5"
        assert answer.json() == {"error": "the server is busy with other pictures: try again in a moment"}
        assert client.delete(f"/api/jobs/{waiting}").status_code == 202
    assert post(client, picture).status_code == 200
    stopped = client.get(f"/api/jobs/{waiting}").json()
    assert (stopped["state"], stopped["error"]) == ("stopped", "it was stopped")


def test_what_is_not_there_is_404_and_old_results_are_forgotten(client, picture, found):
    for path in ("/api/jobs/nothing", "/api/jobs/nothing/gaze", "/api/jobs/nothing/files/gaze.json"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["error"][:26]) == (404, "there is no such job here ")
    first = post(client, picture, "/api/jobs").json()["id"]
    for _ in range(7):
        post(client, picture, samples=1, seconds=0.3)
    assert client.get(f"/api/jobs/{first}").status_code == 404


@pytest.fixture
def job(client, picture) -> str:
    return str(post(client, picture).json()["id"])


def test_downloads_hold_the_gaze_that_was_shown(client, job, found, tmp_path):
    def got(kind: str, **query: Any) -> bytes:
        answer = client.get(f"/api/jobs/{job}/files/{kind}", params=query)
        assert answer.status_code == 200, answer.text
        assert answer.headers["Content-Disposition"] == f'attachment; filename="street-{kind}"'
        return bytes(answer.content)

    for kind in ("gaze.json", "fixations.csv"):
        (tmp_path / kind).write_bytes(got(kind))
        trials = read_gaze(tmp_path / kind)
        for trial, viewer in zip(trials, found["viewers"], strict=True):
            assert trial.scanpath.xy_px[:, 0].tolist() == pytest.approx([f["x"] for f in viewer["fixations"]], abs=0.06)
    (only,) = json.loads(got("gaze.json", viewer=1))
    assert only["trajectory"]["X"] == pytest.approx(found["viewers"][1]["x"], abs=0.06)
    rows = list(csv.DictReader(io.StringIO(got("samples.csv").decode())))
    assert [float(row["x"]) for row in rows if row["sample"] == "0"] == pytest.approx(found["viewers"][0]["x"], abs=0.1)
    for kind in ("scanpaths.png", "trajectories.png", "heatmap.png"):
        with Image.open(io.BytesIO(got(kind))) as drawing:
            assert drawing.width > 800
    page = got("replay.html").decode()
    assert "viewer 2" in page
    assert "https:" not in page
    with Image.open(io.BytesIO(got("replay.gif", viewer=0))) as film:
        assert film.n_frames == pytest.approx(20 * 1.0, abs=3)


def test_a_download_that_cannot_be_says_why(app, client, job):
    answer = client.get(f"/api/jobs/{job}/files/secrets.txt")
    assert answer.status_code == 404
    assert answer.json()["error"].startswith("there is no download 'secrets.txt': choose gaze.json, fixations.csv")
    answer = client.get(f"/api/jobs/{job}/files/gaze.json", params={"viewer": 2})
    assert (answer.status_code, answer.json()["error"]) == (422, "there is no viewer 2: they are numbered from 0 to 1")
    shown = app.state.server.result(job)
    many = replace(shown, trials=shown.trials * 33)
    with pytest.raises(InputError, match="a replay shows at most 64 viewers, got 66: switch some off"):
        downloads.make("replay.gif", many, [])


def test_info_names_model_manners_words_samples_and_limits(client):
    info = client.get("/api/info").json()
    assert (info["model"], info["styles"], info["can_search"]) == ("tiny", ["osie", "doves"], True)
    assert info["style_words"]["osie"] == "photographs with several objects, 3 s"
    assert "stop sign" in info["words"]
    assert info["limits"]["upload_bytes"] == 2_000_000
    for sample in info["samples"]:
        answer = client.get(f"/api/samples/{sample['name']}")
        assert answer.content == sample_png(sample["name"])
    assert len(info["samples"]) == len(SAMPLES) >= 3
    assert client.get("/api/samples/..%2Fapp.py").status_code == 404


def test_the_interface_describes_itself_and_asks_no_other_server(client):
    described = client.get("/openapi.json").json()
    assert {"/api/generate", "/api/jobs/{job_id}/compare", "/api/info"} <= set(described["paths"])
    form = described["components"]["schemas"]["Body_generate_api_generate_post"]["properties"]
    assert {"picture", "task", "samples", "seconds", "seed"} <= set(form)
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404


def test_the_worker_outlives_a_fault_and_tells_nothing_of_our_insides(caplog):
    worker = Worker(waiting=2, results=2, keep_s=60, kept_bytes=1 << 20)

    def fault(report: object) -> None:
        raise ZeroDivisionError("secret")

    broken = worker.submit(fault, keep=True)
    with pytest.raises(ZeroDivisionError):
        broken.future.result(10)
    assert (broken.state, broken.error) == ("failed", "something went wrong on the server; its log says what")
    assert "secret" in caplog.text
    assert worker.submit(lambda report: 7).future.result(10) == 7
    worker.close()


def test_closing_stops_what_runs_at_its_next_report():
    worker, begun = Worker(waiting=2, results=2, keep_s=60, kept_bytes=1 << 20), threading.Event()

    def endless(report: Callable[[float, str], None]) -> None:
        while True:
            report(0.5, "turning")
            begun.set()
            time.sleep(0.01)

    job = worker.submit(endless)
    assert begun.wait(10)
    worker.close()
    assert job.state == "stopped"


def test_limits_by_default_are_those_of_the_documentation():
    assert (Limits().upload_bytes, Limits().megapixels, Limits().queue) == (20_000_000, 50.0, 4)
