"""Shards of work: which of its items a process does, so that many machines share one command.

Shard i of n is the i-th of n runs of items in their own order. So shards that are put one after the other are the
whole, whoever made them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from stdiffeye.errors import InputError

Item = TypeVar("Item")


@dataclass(frozen=True)
class Shard:
    """Shard `number` (from 1) of `count`.

    Examples
    --------
    >>> [Shard(number, 3).of("abcdefgh") for number in (1, 2, 3)]
    ['ab', 'cde', 'fgh']
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise InputError(f"a shard is i/n with 1 ≤ i ≤ n, as 2/8; got {self.number}/{self.count}")

    @classmethod
    def parse(cls, text: str) -> Shard:
        """`2/8` is the second of eight."""
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text.strip())
        if not found:
            raise InputError(f"a shard is i/n with 1 ≤ i ≤ n, as 2/8; got {text!r:.40}")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def stem(self) -> str:
        """What files of this shard are called."""
        return f"shard-{self.number:05d}-of-{self.count:05d}"

    def span(self, total: int) -> range:
        """Numbers (from 0) of the items that are its own."""
        return range((self.number - 1) * total // self.count, self.number * total // self.count)

    def of(self, items: Sequence[Item]) -> Sequence[Item]:
        """The items that are its own."""
        span = self.span(len(items))
        return items[span.start : span.stop]

    @property
    def all(self) -> list[Shard]:
        """Every shard of as many."""
        return [Shard(number, self.count) for number in range(1, self.count + 1)]


WHOLE = Shard(1, 1)


@dataclass(frozen=True)
class WorkOptions:
    """Where the work is done: here, in part, or on a cluster."""

    shard: str | None = None
    """Do only shard i of n, as 2/8; `stdiffeye join` puts them together."""
    cluster: str | None = None
    """Share the work: local, tcp://HOST:PORT of a Dask scheduler, or slurm."""

    def __post_init__(self) -> None:
        if self.shard is not None:
            Shard.parse(self.shard)
        if self.shard is not None and self.cluster is not None:
            raise InputError("--cluster makes shards of its own: leave out --shard")

    @property
    def own(self) -> Shard | None:
        """The shard that was asked for; None for all of the work."""
        return None if self.shard is None else Shard.parse(self.shard)
