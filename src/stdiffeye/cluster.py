"""Work shared among machines by Dask: one task each, in order, and again elsewhere when a worker dies.

Tasks write files that are whole or absent, so that one which is done twice does no harm.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from stdiffeye.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

KINDS = "local, local:2, tcp://HOST:PORT, slurm or slurm:16"
NEEDS = "--cluster needs the extra 'cluster': pip install 'stdiffeye[cluster]'"
SLURM_JOBS = 8
TASKS_UNDER_WAY = 256


def on_cluster(work: Callable[[Item], Result], items: Iterable[Item], cluster: str) -> Iterator[Result]:
    """`work` of each item, in order; a limited number of items is under way at a time.

    Parameters
    ----------
    work
        A function of a module, which workers import; it finds this process's working folder.
    cluster
        "local" for a worker per core, "local:2", the address of a scheduler "tcp://HOST:PORT", or "slurm" with the
        number of jobs, "slurm:16". Slurm's queue, memory and time are those of Dask's jobqueue.yaml.
    """
    with _client(cluster) as client:
        here, under_way = os.getcwd(), deque[Any]()
        for item in items:
            under_way.append(client.submit(_in_folder, here, work, item, pure=False))
            if len(under_way) == TASKS_UNDER_WAY:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


def _in_folder(folder: str, work: Callable[[Item], Result], item: Item) -> Result:
    with contextlib.chdir(folder):
        return work(item)


@contextlib.contextmanager
def _client(cluster: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(NEEDS) from None
    kind, _, count = cluster.partition(":")
    if kind == "tcp" and count.startswith("//"):
        try:
            client = Client(cluster, timeout="10s")
        except OSError:
            raise InputError(f"no scheduler answers at {cluster}: `dask scheduler` starts one") from None
        with client:
            yield client
        return
    if kind not in ("local", "slurm") or (count and not (count.isdecimal() and int(count) > 0)):
        raise InputError(f"there is no cluster {cluster!r:.60}: expected {KINDS}")
    with (_local if kind == "local" else _slurm)(int(count or 0)) as workers, Client(workers) as client:
        yield client


def _local(count: int) -> Any:
    from distributed import LocalCluster

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return LocalCluster(n_workers=count or cores, threads_per_worker=1, dashboard_address=None)


def _slurm(count: int) -> Any:
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError:
        raise InputError(NEEDS) from None
    cluster = SLURMCluster()
    cluster.scale(jobs=count or SLURM_JOBS)
    return cluster
