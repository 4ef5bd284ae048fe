"""Work in a child process: answers come whole, and a crash, a hang or a greedy request there is an error here."""

from __future__ import annotations

import os

import numpy as np
import pytest

from stdiffeye.child_process import ChildProcess, ChildTrouble
from stdiffeye.errors import InputError

WORKER = """
import os, signal, time
import numpy as np
from stdiffeye.child_process import answer_requests
from stdiffeye.errors import InputError

def refuse(request):
    raise InputError("no such file")

def spin(request):
    while True:
        pass

answer_requests({
    "echo": lambda request: request,
    "crash": lambda request: os.kill(os.getpid(), signal.SIGSEGV),
    "hang": lambda request: time.sleep(600),
    "spin": spin,
    "wait": lambda request: time.sleep(1) or "done",
    "greed": lambda request: np.ones(1 << 28).sum(),
    "refuse": refuse,
    "print": lambda request: print("words of a library") or 1,
})
"""
MEGABYTE = 1 << 20


@pytest.fixture
def child(tmp_path, monkeypatch):
    (tmp_path / "worker_of_test.py").write_text(WORKER)
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    monkeypatch.setenv("PYTHONPATH", path)
    child = ChildProcess("worker_of_test")
    yield child
    child.end()


def ask(child, task, seconds=60.0, **request):
    return child.ask(task, request, seconds, 256 * MEGABYTE)


def test_values_and_arrays_come_back_as_they_went(child):
    sent = {"array": np.arange(6.0).reshape(2, 3), "deep": [{"a": np.zeros((0, 2), np.int32)}, "é", None, 1.5, True]}
    got = ask(child, "echo", **sent)
    assert np.array_equal(got["array"], sent["array"])
    assert got["deep"][0]["a"].shape == (0, 2)
    assert got["deep"][1:] == sent["deep"][1:]


@pytest.mark.parametrize(
    ("task", "seconds", "message"),
    [
        ("crash", 60, "crashed"),
        ("hang", 0.05, "took too long"),
        ("spin", 0.3, "took too long"),
        ("greed", 60, "too much memory"),
    ],
)
def test_what_ends_or_exceeds_the_child_is_an_error_and_the_next_request_is_answered(child, task, seconds, message):
    with pytest.raises(ChildTrouble, match=message):
        ask(child, task, seconds)
    assert ask(child, "echo", a=1) == {"a": 1}


def test_a_child_that_has_to_wait_for_its_turn_is_not_ended(child):
    """A second of sleep stands for a busy machine: the limit counts the processor's time."""
    assert ask(child, "wait", 0.5) == "done"


def test_an_input_error_of_the_child_is_one_here(child):
    with pytest.raises(InputError, match="no such file"):
        ask(child, "refuse")


def test_what_a_library_prints_is_no_answer(child):
    assert ask(child, "print") == 1


def test_who_waits_may_stop_the_child(child):
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        child.ask("hang", {}, 60, MEGABYTE, between=stop)
    assert ask(child, "echo", a=2) == {"a": 2}


def test_files_of_the_working_directory_are_not_imported(child, tmp_path, monkeypatch):
    elsewhere = tmp_path / "downloads"
    elsewhere.mkdir()
    for name in ("numpy", "types", "stdiffeye"):
        (elsewhere / f"{name}.py").write_text(f"open({str(tmp_path / 'was-run')!r}, 'w')")
    monkeypatch.chdir(elsewhere)
    assert child.ask("echo", 5, 60, MEGABYTE) == 5
    assert not (tmp_path / "was-run").exists()
