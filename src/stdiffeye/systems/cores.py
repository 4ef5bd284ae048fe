"""Work shared among the cores: one thing per core at a time.

Threads that share one small matrix product wait for each other more than they compute, most of all on a busy machine;
and what a product rounds to may depend on how many share it. One core per thing is faster, and always the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def one_core() -> Iterator[int]:
    """torch on one core, for a while; as many as it had before are free for `on_cores`."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield before
    finally:
        torch.set_num_threads(before)


def on_cores(work: Callable[[Item], Result], items: Iterable[Item], cores: int | None = None) -> Iterator[Result]:
    """`work` of each item, in order, on so many cores (as torch may use); a few items are under way at a time."""
    before = torch.get_num_threads()
    cores = cores or before
    if cores == 1:
        yield from map(work, items)
        return
    under_way: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(cores, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        try:
            for item in items:
                under_way.append(pool.submit(work, item))
                if len(under_way) == 2 * cores:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()
            torch.set_num_threads(before)  # threads that are started later take over what was set last


def shared(
    work: Callable[[list[Item]], list[Result]], items: Sequence[Item], cores: int, at_once: int | None = None
) -> list[Result]:
    """`work` of the items, an equal share of them on each of so many cores, or `at_once` of them at a time."""
    share = max(1, -(-len(items) // cores))
    shares = batched(items, share if at_once is None else min(share, at_once))
    return [one for some in on_cores(work, shares, cores) for one in some]


def batched(items: Sequence[Item], size: int) -> list[list[Item]]:
    """The items in lists of `size`, the last of what is left."""
    return [list(items[start : start + size]) for start in range(0, len(items), size)]
