"""What docs/web.md says of the interface is so."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
import uvicorn

from stdiffeye.generation.request import Request
from stdiffeye.web import Limits, limits
from stdiffeye.web.downloads import DOWNLOADS
from stdiffeye.web.form import NOT_IN_FORM
from stdiffeye.web.server import PORT, bound

PAGE = (Path(__file__).parents[2] / "docs" / "web.md").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_call_that_is_printed_answers_as_printed(app, picture, tmp_path):
    (tmp_path / "photo.jpg").write_bytes(picture)
    command, example = re.findall(r"^```(?:shell|json)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    with bound("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        words = shlex.split(command.replace(f":{PORT}", f":{listening.getsockname()[1]}"))
        answer = subprocess.run([*words, "--silent"], cwd=tmp_path, capture_output=True, check=True, timeout=120)
        server.should_exit = True
        thread.join(30)
    found, printed = json.loads(answer.stdout), json.loads(example)
    assert found["picture"] == {"name": "photo.jpg", "width_px": 240, "height_px": 160}
    assert len(found["viewers"]) == 10
    assert printed.keys() <= found.keys()
    assert printed["viewers"][0].keys() <= found["viewers"][0].keys()
    assert printed["viewers"][0]["fixations"][0].keys() == found["viewers"][0]["fixations"][0].keys()


def test_every_call_and_limit_of_the_page_is_the_servers_own(client):
    paths = {
        path.replace("{job_id}", "ID").replace("{kind}", "KIND") for path in client.get("/openapi.json").json()["paths"]
    }
    named = set(re.findall(r"`(?:GET|POST|DELETE) (/api/[^`]+)`", PAGE))
    assert named == paths - {"/api/jobs/ID/picture", "/api/samples/{name}"}
    for name in ("samples", "seconds"):
        bounds = limits.FORM_LIMITS[name]
        assert f"`{name}` ({bounds['ge']:g} to {bounds['le']:g})" in PAGE
    fields = {field.name for field in dataclasses.fields(Request)} - NOT_IN_FORM
    (row,) = [line for line in PAGE.splitlines() if "POST /api/generate" in line]
    assert set(re.findall(r"`([a-z_]+)`", row)) == {"picture", *fields}
    assert f"up to {Limits().upload_bytes // limits.MEGABYTE} MB" in PAGE
    assert f"up to {Limits().megapixels:g} megapixels" in PAGE
    assert f"up to {Limits().trials} viewers" in PAGE
    assert (Limits().queue, Limits().results, Limits().keep_s) == (4, 12, 3600)
    assert len(DOWNLOADS) == 10
