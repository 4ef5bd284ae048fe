"""A request under way: its options, the cores that share its samples, and the count of those that are done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from stdiffeye.encoders.picture import Picture
from stdiffeye.errors import InputError
from stdiffeye.generation.request import Request
from stdiffeye.systems.base import SamplingOptions
from stdiffeye.systems.cores import shared

SAMPLES_PER_REPORT = 5

Item = TypeVar("Item")

ProgressCallback = Callable[[int, int], None]
"""Called with how much is done and how much there is: samples, counted once for each stage that makes them."""

BrokenPictureCallback = Callable[[Picture, InputError], None]
"""Called with a picture that cannot be read, and why."""


class Tally:
    """Counts what is done, from any thread, and reports it."""

    def __init__(self, total: int, progress: ProgressCallback | None) -> None:
        self._done, self._total, self._progress = 0, total, progress
        self._lock = Lock()

    def add(self, count: int) -> None:
        if self._progress is not None:
            with self._lock:
                self._done += count
                self._progress(self._done, self._total)

    @property
    def at_once(self) -> int | None:
        """Samples that are made between two reports; None where nobody listens."""
        return None if self._progress is None else SAMPLES_PER_REPORT


@dataclass(frozen=True)
class Sampling:
    """A request under way: the cores that the samples of one picture are shared among, and who counts them."""

    request: Request
    cores: int
    tally: Tally

    @property
    def options(self) -> SamplingOptions:
        request = self.request
        return SamplingOptions(
            request.steps,
            request.sampler,
            request.guidance,
            representative=request.sampling == "representative",
            precision_deg=request.precision_deg,
            cores=self.cores,
        )

    def share(self, work: Callable[[list[int]], list[Item]], seeds: list[int]) -> list[Item]:
        """`work` of the seeds, shared among the cores and counted."""

        def counted(some: list[int]) -> list[Item]:
            made = work(some)
            self.tally.add(len(made))
            return made

        return shared(counted, seeds, self.cores, self.tally.at_once)
