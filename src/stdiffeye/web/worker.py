"""One worker that does one thing at a time, a queue of bounded length before it, and results kept for a while."""

from __future__ import annotations

import logging
import queue
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from stdiffeye.errors import InputError

State = Literal["waiting", "running", "done", "failed", "stopped"]
Result = TypeVar("Result")
Report = Callable[[float, str], None]
"""Called with the share done and what is being done; raises `Stopped` when nobody wants it any more."""

log = logging.getLogger(__name__)


class Busy(Exception):
    """The queue is full."""


class Stopped(Exception):
    """The job is not wanted any more."""


@dataclass(eq=False)
class Job(Generic[Result]):
    """Something to be done once, and how far it is."""

    work: Callable[[Report], Result] | None
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    state: State = "waiting"
    share: float = 0.0
    doing: str = "waiting for its turn"
    error: str = ""
    future: Future[Result] = field(default_factory=Future)
    ended: float | None = None
    wanted: bool = True

    def report(self, share: float, doing: str) -> None:
        if not self.wanted:
            raise Stopped
        self.share, self.doing = share, doing

    def run(self) -> None:
        """Do it; whatever happens ends up in `future`."""
        try:
            self.report(0.0, "starting")
            self.state = "running"
            work, self.work = self.work, None  # it holds the upload, which nobody needs afterwards
            assert work is not None
            result = work(self.report)
            del work
        except Stopped:
            self._end("stopped", "it was stopped")
            self.future.set_exception(InputError(self.error))
        except InputError as error:
            self._end("failed", " ".join(str(error).split()))
            self.future.set_exception(error)
        except Exception as error:
            # The worker must outlive whatever goes wrong, and the person must not be shown our insides.
            log.exception("a job failed")
            self._end("failed", "something went wrong on the server; its log says what")
            self.future.set_exception(error)
        else:
            self._end("done", "")
            self.future.set_result(result)

    @property
    def held_bytes(self) -> int:
        """What the result takes in memory, as far as it says so."""
        return int(getattr(self.future.result(), "held_bytes", 0)) if self.future.done() and self.state == "done" else 0

    def _end(self, state: State, error: str) -> None:
        self.error, self.ended = error, time.monotonic()
        self.share = 1.0 if state == "done" else self.share
        self.state = state


class Worker:
    """A thread with a queue.

    Parameters
    ----------
    waiting
        Jobs that may wait behind the running one.
    results, kept_bytes
        Finished jobs that are kept and what they may hold, each for at most `keep_s` seconds.
    """

    def __init__(self, waiting: int, results: int, keep_s: float, kept_bytes: int) -> None:
        self._queue: queue.Queue[Job[Any] | None] = queue.Queue()
        self._waiting, self._results, self._keep_s, self._kept_bytes = waiting, results, keep_s, kept_bytes
        self._kept: dict[str, Job[Any]] = {}
        self._current: Job[Any] | None = None
        self._unfinished = 0
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="stdiffeye-worker", daemon=True)
        self._thread.start()

    def require_room(self) -> None:
        """Raises `Busy` when too much waits already, before anything large is read for a job."""
        with self._lock:
            if self._unfinished > self._waiting:
                raise Busy

    def submit(self, work: Callable[[Report], Result], keep: bool = False) -> Job[Result]:
        """Queue some work; `keep` makes it findable by its id. Raises `Busy` when too much waits already."""
        job = Job(work)
        with self._lock:
            if self._unfinished > self._waiting:
                raise Busy
            self._unfinished += 1
            if keep:
                self._forget()
                self._kept[job.id] = job
            self._queue.put(job)
        return job

    def find(self, job_id: str) -> Job[Any] | None:
        with self._lock:
            self._forget()
            return self._kept.get(job_id)

    def close(self, patience_s: float = 10.0) -> None:
        """Stop what runs at its next report, and end the thread."""
        with self._lock:
            for job in (self._current, *self._queue.queue):
                if job is not None:
                    job.wanted = False
        self._queue.put(None)
        self._thread.join(patience_s)

    def _forget(self) -> None:
        """Let go of the oldest results: those beyond their time, their number, or their memory."""
        now = time.monotonic()
        ended = [job for job in self._kept.values() if job.ended is not None]
        held = 0
        for newer, job in enumerate(reversed(ended)):
            held += job.held_bytes
            assert job.ended is not None
            too_old = now - job.ended > self._keep_s
            if too_old or newer >= self._results or (newer > 0 and held > self._kept_bytes):
                del self._kept[job.id]

    def _work(self) -> None:
        while True:
            job = self._queue.get()
            if job is None:
                return
            with self._lock:
                self._current = job
            try:
                job.run()
            finally:
                with self._lock:
                    self._current, self._unfinished = None, self._unfinished - 1
