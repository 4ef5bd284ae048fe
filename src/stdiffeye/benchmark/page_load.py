"""Two hundred clients at once on the page, several times: are all answers right, does its memory grow?

An answer is right when it is the one that a client alone gets, or a refusal that says when to try again. Everything
stays on this machine.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stdiffeye.benchmark.forked import Verbs, start_forked
from stdiffeye.benchmark.made_study import MadeStudy
from stdiffeye.errors import InputError
from stdiffeye.progress import track

BOUNDARY = "stdiffeye-load"
SECONDS = 300.0
BUSY = 503
SEEDS = 4


@dataclass
class LoadReport:
    """What the clients were answered, and what the server took."""

    requests: int = 0
    right: int = 0
    refused: int = 0
    """503 with Retry-After."""
    wrong: int = 0
    memory_mb: list[float] = field(default_factory=list)
    """Of the server, before the first round and after each."""


@dataclass(frozen=True)
class Call:
    """One request and how it must be answered."""

    method: str
    path: str
    body: bytes = b""
    status: int = 200


def load_page(study: MadeStudy, verbs: Verbs, clients: int = 200, rounds: int = 5, quiet: bool = False) -> LoadReport:
    """So many clients at once, so many times; the server is a process of its own."""
    ours, theirs = os.pipe()
    words = ["serve", "--port", "0", "--model", str(study.run)]
    server = start_forked(verbs, words, theirs)
    os.close(theirs)
    try:
        port = _port(ours)
        calls = _calls(study.pictures / "0.png")
        expected = [_content(_answer(port, call)) for call in calls]
        report = LoadReport(memory_mb=[_memory_mb(server)])
        with ThreadPoolExecutor(clients) as pool:
            for _ in track(range(rounds), f"rounds of {clients} clients", quiet=quiet):
                numbers = [client % len(calls) for client in range(clients)]
                answers = pool.map(lambda number: _answer(port, calls[number]), numbers)
                for number, answer in zip(numbers, answers, strict=True):
                    _count(report, answer, calls[number], expected[number])
                report.memory_mb.append(_memory_mb(server))
        return report
    finally:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
        os.close(ours)


def _port(output: int) -> int:
    with os.fdopen(os.dup(output), encoding="utf-8") as lines:
        line = lines.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
    if found is None:
        raise InputError(f"the page did not start: {line!r}")
    return int(found[1])


def _calls(picture: Path) -> list[Call]:
    generated = [Call("POST", "/api/generate", _form(picture.read_bytes(), seed)) for seed in range(SEEDS)]
    reads = [Call("GET", "/"), Call("GET", "/api/info"), Call("GET", "/static/app.js")]
    bad = [Call("GET", "/api/jobs/none", status=404), Call("POST", "/api/generate", _form(b"no picture", 0), 422)]
    return [*generated, *reads, *bad, *reads]


def _form(picture: bytes, seed: int) -> bytes:
    fields = {"samples": "1", "seconds": "0.5", "seed": str(seed)}
    parts = [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in fields.items()]
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="picture"; filename="a.png"\r\n\r\n'
    return "".join(parts).encode() + head.encode() + picture + f"\r\n--{BOUNDARY}--\r\n".encode()


Answer = tuple[int, bytes, str | None]


def _answer(port: int, call: Call) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"} if call.body else {}
    try:
        connection.request(call.method, call.path, call.body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("Retry-After")
    except (OSError, http.client.HTTPException):
        return 0, b"", None
    finally:
        connection.close()


def _content(answer: Answer) -> Any:
    """What an answer says, without the number that is drawn for each job."""
    try:
        value = json.loads(answer[1])
    except ValueError:
        return answer[1]
    return {key: one for key, one in value.items() if key != "id"} if isinstance(value, dict) else value


def _count(report: LoadReport, answer: Answer, call: Call, expected: Any) -> None:
    report.requests += 1
    if answer[0] == BUSY and answer[2] is not None:
        report.refused += 1
    elif answer[0] == call.status and _content(answer) == expected:
        report.right += 1
    else:
        report.wrong += 1


def _memory_mb(process: int) -> float:
    with open(f"/proc/{process}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
