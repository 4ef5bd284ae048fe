"""Verbs in forks of this process, which has loaded everything already: a hundred of them take minutes, not hours."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

Verbs = Callable[[list[str]], None]
"""`stdiffeye.cli.main`, which lies above this layer and is handed down."""

KILLED = -1


@dataclass(frozen=True)
class Ended:
    """How a fork ended: its exit code (`KILLED` when a signal ended it), and after how many seconds."""

    code: int
    seconds: float


def run_forked(
    verbs: Verbs, words: list[str], kill_after_s: float | None = None, by: signal.Signals = signal.SIGKILL
) -> Ended:
    """Run one verb in a fork, and send it a signal after some time unless it has ended before."""
    began = time.monotonic()
    child = start_forked(verbs, words)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        os.kill(child, by)  # it is ours until we wait for it, so the number cannot be another's
    _, status = os.waitpid(child, 0)
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else KILLED
    return Ended(code, time.monotonic() - began)


def start_forked(verbs: Verbs, words: list[str], standard_output: int | None = None) -> int:
    """Start one verb in a fork; the number of its process."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        silent = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(silent if number != 1 or standard_output is None else standard_output, number)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8")
        sys.stderr = os.fdopen(2, "w", encoding="utf-8")
        verbs(words)
    except SystemExit as ended:
        code = int(ended.code or 0)
        sys.stdout.flush()
    finally:
        os._exit(code)
