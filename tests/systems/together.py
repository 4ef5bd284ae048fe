"""Two processes played by two threads that exchange their numbers for real."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from stdiffeye.systems.step_random import Ranks


@dataclass
class Meeting:
    """Where the threads leave a tensor each and take all of them."""

    world: int
    barrier: threading.Barrier = field(init=False)
    left: dict[int, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.barrier = threading.Barrier(self.world, timeout=30)

    def exchange(self, rank: int, value: Tensor) -> list[Tensor]:
        self.left[rank] = value.detach().clone()
        self.barrier.wait()
        everything = [self.left[i] for i in range(self.world)]
        self.barrier.wait()
        return everything


@dataclass(frozen=True)
class ThreadRanks(Ranks):
    """Ranks that meet in memory instead of over a network."""

    meeting: Any = None

    def total(self, value: Tensor) -> Tensor:
        return torch.stack(self.meeting.exchange(self.rank, value)).sum(0)

    def gather(self, value: Tensor) -> Tensor:
        return torch.cat(self.meeting.exchange(self.rank, value))


def together(world: int, work: Callable[[Ranks], Any]) -> list[Any]:
    """What `work` returns on each rank."""
    meeting, results = Meeting(world), {}

    def run(rank: int) -> None:
        results[rank] = work(ThreadRanks(rank, world, meeting))

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(world)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [results[rank] for rank in range(world)]
