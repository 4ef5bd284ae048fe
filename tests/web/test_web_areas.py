"""Areas of interest and two pictures over the JSON interface: the report of `stdiffeye.aoi`, for generated viewers."""

from __future__ import annotations

from typing import Any

import pytest
from PIL import Image

from stdiffeye.gaze.areas import Areas
from stdiffeye.statistics.aoi import measure_areas
from stdiffeye.web import Limits
from stdiffeye.web.picture_upload import open_picture

LEFT, RIGHT = {"name": "left", "box": [0, 0, 120, 160]}, {"name": "right", "box": [120, 0, 120, 160]}


@pytest.fixture(scope="module")
def jobs(client, picture) -> list[str]:
    form = {"samples": 6, "seconds": 1.5}
    posts = [
        client.post("/api/generate", files={"picture": (name, picture)}, data=form | {"seed": seed}).json()
        for name, seed in (("a.jpg", 1), ("b.jpg", 2))
    ]
    return [str(one["id"]) for one in posts]


def measured(client, *pictures: dict[str, Any]) -> Any:
    return client.post("/api/areas", json={"pictures": pictures})


def test_areas_of_a_job_are_measured_as_the_verb_does(client, app, jobs):
    found = measured(client, {"job": jobs[0], "areas": [LEFT, RIGHT]}).json()
    trials = app.state.server.result(jobs[0]).trials
    report = measure_areas(trials, Areas.boxes({"left": LEFT["box"], "right": RIGHT["box"]}))
    ours = {(row["area"], row["measure"]): row["value"] for row in found["rows"]}
    theirs = {(row["area"], row["measure"]): row["value"] for row in report.summary()}
    assert ours == pytest.approx(theirs, nan_ok=True)
    assert found["differences"] == []
    assert found["measures"]["dwell_ms"] == "dwell time (ms)"


def test_two_pictures_are_compared_where_an_area_has_the_same_name(client, jobs):
    first, second = ({"job": job, "areas": [LEFT, RIGHT]} for job in jobs)
    found = measured(client, first, second).json()
    assert {row["name"] for row in found["rows"]} == {"A", "B"}
    hits = {(row["name"], row["area"]): row["value"] for row in found["rows"] if row["measure"] == "hit"}
    apart = {row["area"]: row["value"] for row in found["differences"] if row["measure"] == "hit"}
    assert apart["left"] == pytest.approx(hits["B", "left"] - hits["A", "left"])
    assert {row["winner"] for row in found["differences"]} <= {"A", "B", "–"}
    other = measured(client, first, second | {"areas": [LEFT | {"name": "elsewhere on it"}]}).json()
    assert other["differences"] == []


def test_a_name_that_is_used_twice_is_told_apart(client, jobs):
    found = measured(client, {"job": jobs[0], "areas": [LEFT, LEFT]}).json()
    assert {row["area"] for row in found["rows"]} == {"left", "left (2)"}


@pytest.mark.parametrize(
    "areas", [[], [{"name": "", "box": [0, 0, 1, 1]}], [{"name": "flat", "box": [0, 0, 0, 5]}], [LEFT] * 51]
)
def test_areas_that_are_none_are_refused_in_a_sentence(client, jobs, areas):
    answer = measured(client, {"job": jobs[0], "areas": areas})
    assert answer.status_code == 422
    assert answer.json().keys() == {"error"}


def test_statistics_of_two_jobs_stand_side_by_side(client, jobs):
    rows = client.get("/api/statistics", params={"job": jobs}).json()
    assert rows
    assert all(list(row["sides"]) == ["A", "B"] for row in rows)
    assert client.get("/api/statistics", params={"job": "nobody"}).status_code == 404


def test_a_task_is_held_against_the_targets(client, model, monkeypatch):
    ask = {"task": "dog"}
    assert client.get("/api/target", params=ask).json() == {"verdict": "unknown", "sentence": ""}
    monkeypatch.setattr(model, "targets", ("clock", "car"))
    found = client.get("/api/target", params=ask).json()
    assert found["verdict"] == "guess"
    assert "(clock, car); nearest is 'car'" in found["sentence"]


def test_a_style_that_the_model_lacks_is_replaced_and_said(client, picture):
    form = {"samples": 1, "seconds": 1, "style": "martian"}
    found = client.post("/api/generate", files={"picture": ("a.jpg", picture)}, data=form).json()
    assert found["notes"] == ["tiny has no style 'martian': that of 'osie' was used."]


def test_a_jpeg_beyond_the_limit_is_decoded_at_a_smaller_size(tmp_path):
    Image.new("RGB", (1600, 1200), "gray").save(tmp_path / "large.jpg")
    image = open_picture((tmp_path / "large.jpg").read_bytes(), Limits(megapixels=0.5))
    assert image.size == (800, 600)
