"""Work in a process of its own, with a limit on time and memory: what crashes or hangs there is an error here.

A child runs `python -m MODULE`, whose main part is `answer_requests`. It is started at the first request, kept for the
next, and ends with the process that started it. Requests and answers are JSON with arrays beside it; nothing that
comes from a child is executed.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from select import select
from typing import IO, Any

import numpy as np

from stdiffeye.errors import InputError

Handler = Callable[[dict[str, Any]], Any]

GIGABYTE = 1 << 30
SECONDS_TO_START = 30.0
SECONDS_BETWEEN_LOOKS = 0.2
PATIENCE = 10.0
"""Seconds of the clock per second of the processor: on a busy machine a child waits without being stuck."""
TIMES = slice(11, 15)  # of /proc/PID/stat after the name: user and system, of the process and of ended children
LARGEST_ANSWER = 16 * GIGABYTE
ARRAY_KINDS = "biufc"
# Threads of the linear algebra library would each reserve address space.
SURROUNDINGS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class ChildTrouble(Exception):
    """The child crashed, took too long, or ran out of memory; the message says which."""


class ChildProcess:
    """A process for one kind of work, one request at a time.

    Parameters
    ----------
    module
        What `python -m` runs.
    """

    def __init__(self, module: str) -> None:
        self.module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        atexit.register(self.end)
        self._lock = threading.Lock()

    def ask(
        self,
        task: str,
        request: dict[str, Any],
        seconds: float,
        extra_bytes: int,
        between: Callable[[], None] | None = None,
    ) -> Any:
        """The answer to a request.

        Parameters
        ----------
        task
            Which handler of the child.
        seconds
            Of the processor, after which the child is ended; ten times as long by the clock.
        extra_bytes
            Memory that the child may take beyond what it has.
        between
            Called a few times a second while waiting; what it raises ends the child.

        Raises
        ------
        InputError
            What the handler raised.
        ChildTrouble
            The child crashed or exceeded a limit.
        """
        with self._lock:
            process = self._running()
            assert process.stdin is not None
            try:
                _send(process.stdin, {"task": task, "request": request, "extra_bytes": extra_bytes})
                answer = _Reader(process).message(seconds, between)
            except BaseException:
                self.end()
                raise
        if "refused" in answer:
            raise InputError(answer["refused"])
        if "failed" in answer:
            raise ChildTrouble(answer["failed"])
        return answer["value"]

    def end(self) -> None:
        """End the child; the next request starts another."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _running(self) -> subprocess.Popen[bytes]:
        # After a fork the child belongs to the other process.
        if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
            self.end()
            self._owner = os.getpid()
            self._process = subprocess.Popen(
                # -P: a file called numpy.py where the command is called must not be run.
                [sys.executable, "-P", "-m", self.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **SURROUNDINGS},
                bufsize=0,
            )
            _Reader(self._process).message(SECONDS_TO_START)
        return self._process


class _Reader:
    """Reads one message of a child, with an eye on the time that it takes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        self.process, self.pipe = process, process.stdout

    def message(self, seconds: float, between: Callable[[], None] | None = None) -> dict[str, Any]:
        spent_before, until = processor_seconds(self.process.pid), time.monotonic() + PATIENCE * seconds

        def exactly(count: int) -> bytes:
            if count > LARGEST_ANSWER:
                raise ChildTrouble("its answer makes no sense")
            found = bytearray()
            while len(found) < count:
                while not _readable(self.pipe):
                    if between is not None:
                        between()
                    spent = processor_seconds(self.process.pid) - spent_before
                    if spent > seconds or time.monotonic() > until:
                        raise ChildTrouble("it took too long")
                piece = self.pipe.read(min(count - len(found), 1 << 20))
                if not piece:
                    raise ChildTrouble(_how_it_ended(self.process))
                found += piece
            return bytes(found)

        return _received(exactly)


def processor_seconds(process: int) -> float:
    """Seconds of the processor that a process and its children have taken; the clock's where nobody can tell."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()  # after the name, which may hold anything
    except OSError:
        return time.monotonic()
    own = sum(map(int, fields[TIMES])) / os.sysconf("SC_CLK_TCK")
    return own + sum(map(processor_seconds, running_children(process)))


def running_children(process: int) -> list[int]:
    """Numbers of the processes that a process has started and that still run; none where nobody can tell."""
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _readable(pipe: IO[bytes]) -> bool:
    if os.name != "posix":  # select knows only sockets there: the clock is looked at between the pieces
        return True
    return bool(select([pipe], [], [], SECONDS_BETWEEN_LOOKS)[0])


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    code = process.wait()
    return f"its reader crashed (signal {-code})" if code < 0 else f"its reader ended with code {code}"


def answer_requests(handlers: Mapping[str, Handler]) -> None:
    """The main part of a child: answer one request after the other until nobody asks any more."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    silent = os.open(os.devnull, os.O_RDWR)
    os.dup2(silent, 0)  # what a library reads or prints is no message
    os.dup2(silent, 1)
    _send(answers, {"ready": True})
    while True:
        try:
            message = _received(lambda count: _exactly(requests, count))
        except EOFError:
            return
        _send(answers, _answer(handlers[message["task"]], message))


def _answer(handler: Handler, message: dict[str, Any]) -> dict[str, Any]:
    try:
        with _memory_limit(message["extra_bytes"]):
            return {"value": handler(message["request"])}
    except InputError as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"failed": "it needs too much memory"}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:1000]}


@contextlib.contextmanager
def _memory_limit(extra_bytes: int) -> Any:
    """At most so much more address space than is taken now, where the system can limit it."""
    try:
        import resource
    except ImportError:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = _address_space() + extra_bytes
    allowed = limit if before[1] == resource.RLIM_INFINITY else min(limit, before[1])
    resource.setrlimit(resource.RLIMIT_AS, (allowed, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _address_space() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 2 * GIGABYTE


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    data = pipe.read(count)
    if len(data) < count:
        raise EOFError
    return data


def _send(pipe: IO[bytes], value: Any) -> None:
    arrays: list[bytes] = []
    tree = json.dumps(_flattened(value, arrays), allow_nan=True).encode()
    for piece in (len(tree).to_bytes(8, "little"), tree, *arrays):
        view = memoryview(piece)
        while view:
            view = view[pipe.write(view) :]
    pipe.flush()


def _received(exactly: Callable[[int], bytes]) -> dict[str, Any]:
    tree = json.loads(exactly(int.from_bytes(exactly(8), "little")))

    def restored(value: Any) -> Any:
        if isinstance(value, list):
            return [restored(one) for one in value]
        if isinstance(value, dict) and "array" in value:
            dtype, shape = np.dtype(value["array"]), tuple(value["shape"])
            data = exactly(dtype.itemsize * int(np.prod(shape, dtype=np.int64)))
            return np.frombuffer(data, dtype).reshape(shape).copy()
        return {key: restored(one) for key, one in value["object"].items()} if isinstance(value, dict) else value

    found: dict[str, Any] = restored(tree)
    return found


def _flattened(value: Any, arrays: list[bytes]) -> Any:
    """JSON with the bytes of arrays left out, in the order in which they are met; objects are marked as such."""
    if isinstance(value, Mapping):
        return {"object": {str(key): _flattened(one, arrays) for key, one in value.items()}}
    if isinstance(value, np.ndarray) and value.dtype.kind in ARRAY_KINDS:
        arrays.append(np.ascontiguousarray(value).tobytes())
        return {"array": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, np.ndarray | list | tuple):
        return [_flattened(one, arrays) for one in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a {type(value).__name__} cannot be sent")
