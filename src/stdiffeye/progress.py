"""Progress on anything longer than a second: a bar on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from datetime import timedelta
from typing import TypeVar

Item = TypeVar("Item")
SecondsLeft = Callable[[], float]

SECONDS_BETWEEN_LINES = 10.0


def _no_end() -> float:
    return math.inf


def track(
    items: Iterable[Item],
    label: str,
    total: int | None = None,
    start: int = 0,
    quiet: bool = False,
    at_most_s: SecondsLeft = _no_end,
) -> Iterator[Item]:
    """Yield `items` while showing on standard error how far we are and when we shall be done.

    Parameters
    ----------
    total
        Number of steps, the ones before `start` included (default: the length of `items`).
    start
        Steps that were done before, when a run is resumed.
    at_most_s
        Seconds until a budget of time is spent, which may end things before all items are done.
    """
    if total is None and isinstance(items, Sized):
        total = len(items) + start
    if quiet:
        yield from items
    elif sys.stderr.isatty():
        yield from _bar(items, label, total, start, at_most_s)
    else:
        yield from _lines(items, label, total, start, at_most_s)


def _bar(items: Iterable[Item], label: str, total: int | None, start: int, at_most_s: SecondsLeft) -> Iterator[Item]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Left(ProgressColumn):
        """The time left, by the pace so far or by the budget, whichever ends first."""

        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            left_s = min(math.inf if task.time_remaining is None else task.time_remaining, at_most_s())
            words = "-:--:--" if math.isinf(left_s) else str(timedelta(seconds=max(0, int(left_s))))
            return Text(words, style="progress.remaining")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Left())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total, completed=start)
        for item in items:
            yield item
            progress.advance(task)


def _lines(items: Iterable[Item], label: str, total: int | None, start: int, at_most_s: SecondsLeft) -> Iterator[Item]:
    began = last = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES:
            last = now
            left_s = min(((now - began) / done * (total - start - done)) if total else math.inf, at_most_s())
            left = "" if math.isinf(left_s) else f", about {max(0.0, left_s):.0f} s left"
            print(f"{label}: {start + done}{f'/{total}' if total else ''}{left}", file=sys.stderr, flush=True)
