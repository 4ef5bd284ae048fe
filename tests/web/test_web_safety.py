"""Who may talk to the server, what its answers carry, and that no name from a request is ever opened."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from web_files import as_json, people

from stdiffeye.errors import InputError
from stdiffeye.systems.presets import to_plain
from stdiffeye.training.checkpoint import save_weights
from stdiffeye.web.guard import HEADERS, name_of
from stdiffeye.web.server import bound, hosts_of

OPENED: list[str] = []
WATCHING = False


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if WATCHING and event in ("open", "os.mkdir", "os.rename", "os.remove"):
        OPENED.extend(str(one) for one in arguments if isinstance(one, str | bytes | os.PathLike))


@pytest.fixture(scope="module", autouse=True)
def _audit() -> None:
    sys.addaudithook(_watch)


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """Every path that this process opens or makes within the block."""
    global WATCHING
    OPENED.clear()
    WATCHING = True
    try:
        yield OPENED
    finally:
        WATCHING = False


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/info", "/api/jobs/none", "/nowhere", "/openapi.json"])
def test_every_answer_carries_the_headers(client, path):
    answer = client.get(path)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_the_page_has_no_inline_script_or_style_and_names_no_other_server(client):
    page = client.get("/").text
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', page)
    assert len(files) >= 4
    assert not re.search(r"<script>|<style|\sstyle=|\son\w+=", page)
    for file in {*files, *(f"/static/{name}" for name in re.findall(r'from "\./([^"]+)"', client.get(files[-1]).text))}:
        answer = client.get(file)
        assert answer.status_code == 200
        assert not re.search(r"https?://(?!www\.w3\.org)", answer.text)


STRANGE = ["", "[broken", "evil@127.0.0.1", "127.0.0.1@evil", "127.0.0.1/", "127.0.0.1:port", "localhost?", "10.0.0.1"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::2]", *STRANGE])
def test_on_loopback_other_names_are_not_answered(client, host):
    answer = client.get("/api/info", headers={"Host": host})
    assert (answer.status_code, answer.json()) == (
        421,
        {"error": f"this server answers on loopback only, not as {host!r}"},
    )


@pytest.mark.parametrize("host", ["localhost:8642", "127.0.0.1", "[::1]:8642", "127.0.0.2:80", "LocalHost"])
def test_loopback_names_are_answered(client, host):
    assert client.get("/api/info", headers={"Host": host}).status_code == 200
    assert name_of(host) in ("localhost", "127.0.0.1", "::1", "127.0.0.2")


@pytest.mark.parametrize("listening", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_every_loopback_address_refuses_other_names(listening):
    hosts = hosts_of(listening, ["mine.example"])
    assert hosts.loopback_only
    assert hosts.allow("127.0.0.2:8642")
    assert hosts.allow("mine.example")
    assert not hosts.allow("evil.example")
    assert not hosts.allow("192.168.0.7")


@pytest.mark.parametrize("listening", ["0.0.0.0", "192.168.0.7", "lab.example"])
def test_beyond_loopback_plain_addresses_and_own_names_are_answered_and_no_others(listening):
    hosts = hosts_of(listening)
    assert not hosts.loopback_only
    assert all(hosts.allow(host) for host in ("192.168.0.7:8642", "localhost", listening, socket.gethostname()))
    assert not hosts.allow("evil.example")


def test_an_origin_is_compared_whole(client, picture):
    base = str(client.base_url)
    answer = client.post("/api/jobs/none/compare", headers={"Origin": base.replace("http:", "https:")})
    assert answer.status_code == 403
    assert client.post("/api/jobs/none/compare", headers={"Origin": base.rstrip("/")}).status_code != 403
    twice = [("Origin", base.rstrip("/")), ("Origin", "https://evil.example")]
    assert client.post("/api/jobs/none/compare", headers=twice).status_code == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_a_page_from_elsewhere_may_not_use_the_server(client, picture, origin):
    answer = client.post("/api/jobs", files={"image": picture}, headers={"Origin": origin})
    assert (answer.status_code, answer.json()) == (403, {"error": "a page from elsewhere may not use this server"})


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e%2fapp.py", "/static/..%5capp.py", "/static/app.py"]
)
def test_only_the_files_of_the_page_are_served(client, path):
    assert client.get(path).status_code == 404


def test_names_given_by_users_never_reach_the_disk(client, picture):
    with opened_files() as opened:
        name = "../../tmp/evil-name.jpg"
        answer = client.post("/api/generate", files={"picture": (name, picture)}, data={"samples": 1, "seconds": 0.5})
        assert answer.json()["picture"]["name"] == "evil-name.jpg"
        where = f"/api/jobs/{answer.json()['id']}"
        files = {"recording": ("/etc/evil-name.json", as_json(people("evil-name.jpg")))}
        assert client.post(f"{where}/compare", files=files).status_code == 200
        assert client.get(f"{where}/files/replay.html").status_code == 200
    assert opened, "the recording goes through a temporary file of our own"
    assert [path for path in opened if "evil" in path or "/etc/" in path] == []
    assert list(Path(tempfile.gettempdir()).glob("stdiffeye-*/recording*")) == []


def test_a_port_in_use_or_out_of_range_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = rf"cannot serve on 127\.0\.0\.1, port {port} \(Address already in use.*\): try another one; --port 0"
        with pytest.raises(InputError, match=words):
            bound("127.0.0.1", port)
    with pytest.raises(InputError, match="a port is a number from 0 to 65535, got 70000"):
        bound("127.0.0.1", 70000)


def test_the_command_prints_its_address_warns_when_others_can_reach_it_and_stops_on_request(model, tmp_path):
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(to_plain(model.config)))
    for name, part in model.stages.items():
        save_weights(tmp_path / f"{name}.safetensors", part)
    command = [sys.executable, "-m", "stdiffeye", "serve", "--port", "0", "--host", "0.0.0.0", "--model", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            port = re.fullmatch(r"Look at http://0\.0\.0\.0:(\d+) \(Ctrl-C stops it\)\n", line)
            assert port is not None, line
            with urllib.request.urlopen(f"http://127.0.0.1:{port[1]}/api/info", timeout=60) as answer:
                assert f'"model":"{tmp_path.name}"' in answer.read().decode()
            server.send_signal(signal.SIGINT)
            _, errors = server.communicate(timeout=60)
        finally:
            server.kill()
    assert server.returncode == 0, errors
    assert errors.startswith("stdiffeye: warning: 0.0.0.0 can be reached from other machines; there is no password")
    assert "Traceback" not in errors
