"""Random numbers of one training step, the same however many processes share the work.

Every process samples for the whole batch and keeps its own rows, and means are taken over the rows of all of them: two
processes with half the batch each follow the same loss curve as one with all of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class Ranks:
    """Which of how many processes this is."""

    rank: int = 0
    world: int = 1

    def mine(self, count: int) -> slice:
        """The rows of `count` that are this process's."""
        share = count // self.world
        return slice(self.rank * share, (self.rank + 1) * share)

    def total(self, value: Tensor) -> Tensor:
        """The sum over all processes."""
        if self.world > 1:
            value = value.detach().clone()
            dist.all_reduce(value)
        return value

    def gather(self, value: Tensor) -> Tensor:
        """The rows of all processes, in the order that one process would have them."""
        if self.world == 1:
            return value.detach()
        losses = [torch.empty_like(value) for _ in range(self.world)]
        dist.all_gather(losses, value.detach().contiguous())
        return torch.cat(losses)


ALONE = Ranks()


class StepRandom:
    """Noise and chances for the rows of a batch; each row has the numbers that it would have in one process."""

    def __init__(self, seed: int, step: int, ranks: Ranks = ALONE, device: torch.device | str = "cpu") -> None:
        # One seed from two numbers; odd constants keep neighbouring steps of neighbouring seeds apart.
        self._generator = torch.Generator().manual_seed((seed * 1_000_003 + step * 7919 + 1) % (2**63))
        self.ranks, self.device = ranks, device

    def normal(self, rows: int, *shape: int) -> Tensor:
        return self._mine(torch.randn(rows * self.ranks.world, *shape, generator=self._generator), rows)

    def uniform(self, rows: int, *shape: int) -> Tensor:
        return self._mine(torch.rand(rows * self.ranks.world, *shape, generator=self._generator), rows)

    def integers(self, high: int, rows: int) -> Tensor:
        return self._mine(torch.randint(high, (rows * self.ranks.world,), generator=self._generator), rows)

    def mean(self, values: Tensor, counted: Tensor) -> Tensor:
        """The mean of `values` where `counted`, over the rows of all processes (whose gradients are averaged)."""
        counted = counted.expand_as(values).to(values.dtype)
        return self.ratio(values * counted, counted)

    def ratio(self, values: Tensor, amounts: Tensor) -> Tensor:
        """The sum of `values` over that of `amounts`, taken as 1 where less, over the rows of all processes."""
        everywhere = self.ranks.total(amounts.sum()).clamp(min=1)
        return values.sum() * (self.ranks.world / everywhere)

    def _mine(self, whole: Tensor, rows: int) -> Tensor:
        return whole[self.ranks.rank * rows : (self.ranks.rank + 1) * rows].to(self.device)
