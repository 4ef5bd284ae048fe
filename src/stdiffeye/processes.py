"""How much of the machine we take: threads of this process, and processes beside it."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

SECONDS_BETWEEN_LOOKS = 1.0
LIMITS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")


def threads_available() -> int:
    """As many threads as this process may use; NUMBA_NUM_THREADS and OMP_NUM_THREADS limit it."""
    limits = [int(os.environ[name]) for name in LIMITS if name in os.environ]
    # Only Linux tells which cores are ours; elsewhere all of them are.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([cores, *limits]))


@contextmanager
def workers(jobs: int, fresh: bool = False) -> Iterator[ProcessPoolExecutor]:
    """So many processes that end with this one, however it ends; after an error nothing more is begun.

    Parameters
    ----------
    fresh : start them anew and give each its share of the cores, as those need that compute in threads of their own
            (torch does not outlive a fork); otherwise they are forks, which start at once.
    """
    context = multiprocessing.get_context("spawn" if fresh else None)
    threads = max(1, threads_available() // jobs) if fresh else None
    with ProcessPoolExecutor(jobs, context, _begin, (os.getpid(), threads)) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _begin(parent: int, threads: int | None) -> None:
    if threads is not None:
        os.environ["OMP_NUM_THREADS"] = str(threads)

    # Workers of a killed run would wait for ever: let them look now and then whether their parent lives.
    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
