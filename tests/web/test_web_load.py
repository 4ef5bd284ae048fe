"""Slow, idle and many clients: nobody keeps the others out, and memory does not grow."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from fastapi.testclient import TestClient
from web_files import as_json, people

from stdiffeye.errors import InputError
from stdiffeye.web import Limits, comparison_process, connections, guard, make_app
from stdiffeye.web.recording_upload import Upload, compare
from stdiffeye.web.worker import Job, Stopped, Worker

QUIET_S = 0.5


@pytest.fixture
def address(model, monkeypatch) -> Iterator[tuple[str, int]]:
    """A real server that waits for half a second only."""
    monkeypatch.setattr(connections, "HEADERS_S", QUIET_S)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 20)
    monkeypatch.setattr(guard, "PIECE_S", QUIET_S)
    config = uvicorn.Config(make_app(model), log_level="error", http=connections.TimedConnection)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        yield listening.getsockname()
        server.should_exit = True
        thread.join()


def answer_to(address: tuple[str, int], request: bytes, timeout_s: float = 60.0) -> bytes:
    with socket.create_connection(address, timeout_s) as connection:
        connection.sendall(request)
        said = connection.recv(100_000)
        head, _, body = said.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        missing = int(length.group(1)) - len(body) if length else 0
        while missing > 0 and (more := connection.recv(missing)):  # the body may come after the head
            said, missing = said + more, missing - len(more)
        return said


def is_closed(connection: socket.socket) -> bool:
    connection.settimeout(60)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_half_open_connections_keep_nobody_out_and_are_closed(address):
    half = [socket.create_connection(address) for _ in range(70)]
    for one in half[::2]:
        one.sendall(b"GET /api/info HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    assert answer_to(address, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").startswith(
        b"HTTP/1.1 200"
    )
    assert all(map(is_closed, half))


def test_headers_that_trickle_in_do_not_renew_the_time_limit(address):
    with socket.create_connection(address) as slow:
        began = time.monotonic()
        with pytest.raises(OSError):  # noqa: PT012 - when it is refused depends on the clock
            while time.monotonic() - began < 60:
                slow.sendall(b"X")
                time.sleep(0.1)
        assert time.monotonic() - began < 30


def test_a_body_that_does_not_come_is_answered_with_408_and_when_to_try_again(address):
    head = b"POST /api/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    said = answer_to(address, head + b"Content-Length: 1000\r\n\r\n--b\r\n")
    assert said.startswith(b"HTTP/1.1 408")
    assert b"retry-after: 5" in said.lower()
    assert b"the request came too slowly: send it again" in said


def test_too_many_requests_at_once_are_told_when_to_try_again(client, monkeypatch):
    monkeypatch.setattr(guard, "MOST_REQUESTS", 0)
    answer = client.get("/api/info")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json() == {"error": "the server is busy: try again in a moment"}


def test_results_are_kept_within_a_limit_of_memory_and_uploads_are_let_go():
    class Large:
        held_bytes = 40

    worker = Worker(waiting=10, results=10, keep_s=60.0, kept_bytes=100)
    jobs = [worker.submit(lambda report: Large(), keep=True) for _ in range(4)]
    for job in jobs:
        job.future.result(60)
    assert [worker.find(job.id) is not None for job in jobs] == [False, False, True, True]
    assert {job.work for job in jobs} == {None}
    worker.close()


def test_a_full_queue_is_noticed_before_an_upload_is_read(model, picture):
    app = make_app(model, Limits(queue=0))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        going = threading.Event()
        state = app.state.server
        held: Job[bool] = state.worker.submit(lambda report: going.wait(60))
        answer = client.post("/api/jobs", files={"picture": ("a.jpg", picture)})
        going.set()
        held.future.result(60)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


@pytest.fixture(scope="module")
def result(app, client, picture):
    files, form = {"picture": ("street.jpg", picture)}, {"samples": 2, "seconds": 1, "seed": 1}
    job = client.post("/api/generate", files=files, data=form).json()["id"]
    return app.state.server.result(job)


def test_a_comparison_in_a_child_process_says_the_same(result):
    upload = Upload(as_json(people(viewers=3)), "people.json")
    apart = comparison_process.compare_apart(result, upload, 10, lambda share, doing: None)
    assert apart == json.loads(json.dumps(compare(result, upload, 10)))


def test_a_comparison_that_takes_too_long_is_ended_and_one_that_nobody_wants_too(result, monkeypatch):
    many = Upload(as_json(people(viewers=150)), "people.json")

    def unwanted(share: float, doing: str) -> None:
        raise Stopped

    monkeypatch.setattr(comparison_process, "SECONDS", 0.0)
    with pytest.raises(InputError, match=r"the recording cannot be compared \(it took too long\)"):
        comparison_process.compare_apart(result, many, 200, lambda share, doing: time.sleep(0.01))
    with pytest.raises(Stopped):
        comparison_process.compare_apart(result, many, 200, unwanted)
