"""Threads and processes that we take of the machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from stdiffeye.processes import LIMITS, threads_available, workers


@pytest.fixture(autouse=True)
def _no_limits(monkeypatch):
    for name in LIMITS:
        monkeypatch.delenv(name, raising=False)


def test_the_environment_limits_threads_and_one_is_the_least(monkeypatch):
    assert threads_available() == len(os.sched_getaffinity(0))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads_available() == 1
    monkeypatch.setenv("NUMBA_NUM_THREADS", "0")
    assert threads_available() == 1


def test_where_nobody_tells_which_cores_are_ours_all_are(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    assert threads_available() == os.cpu_count()


def test_fresh_workers_share_the_cores(monkeypatch):
    monkeypatch.setattr("stdiffeye.processes.threads_available", lambda: 6)
    with workers(2, fresh=True) as pool:
        assert pool.submit(os.getenv, "OMP_NUM_THREADS").result() == "3"
    assert "OMP_NUM_THREADS" not in os.environ


def test_after_an_error_nothing_more_is_begun(tmp_path):
    def broken_off() -> None:
        with workers(1) as pool:
            for name in range(50):
                pool.submit(_slow_touch, tmp_path / str(name))
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        broken_off()
    assert len(list(tmp_path.iterdir())) < 50


def _slow_touch(path) -> None:
    time.sleep(0.02)
    path.touch()


PARENT = """
import os, sys, time
from stdiffeye.processes import workers
with workers(1, fresh=sys.argv[1] == "fresh") as pool:
    print(pool.submit(os.getpid).result(), flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("kind", ["fresh", "forked"])
def test_workers_end_with_a_parent_that_is_killed(kind, tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(f"if __name__ == '__main__':\n{''.join(f'    {line}' + chr(10) for line in PARENT.splitlines())}")
    parent = subprocess.Popen([sys.executable, script, kind], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    until = time.monotonic() + 30
    while _lives(worker) and time.monotonic() < until:
        time.sleep(0.1)
    assert not _lives(worker)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{process}/stat") as file:  # one that has ended and was not asked for is a zombie
        return file.read().rpartition(")")[2].split()[0] != "Z"
