"""Progress on anything longer than a second: a bar on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

Item = TypeVar("Item")

SECONDS_BETWEEN_LINES = 10.0


def track(
    items: Iterable[Item], label: str, total: int | None = None, start: int = 0, quiet: bool = False
) -> Iterator[Item]:
    """Yield `items` while showing on standard error how far we are and when we shall be done.

    Parameters
    ----------
    total : number of steps, the ones before `start` included (default: the length of `items`).
    start : steps that were done before, when a run is resumed.
    """
    if total is None and isinstance(items, Sized):
        total = len(items) + start
    if quiet:
        yield from items
    elif sys.stderr.isatty():
        yield from _bar(items, label, total, start)
    else:
        yield from _lines(items, label, total, start)


def _bar(items: Iterable[Item], label: str, total: int | None, start: int) -> Iterator[Item]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total, completed=start)
        for item in items:
            yield item
            progress.advance(task)


def _lines(items: Iterable[Item], label: str, total: int | None, start: int) -> Iterator[Item]:
    began = last = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES:
            last = now
            per_item = (now - began) / done
            left = f", about {per_item * (total - start - done):.0f} s left" if total else ""
            print(f"{label}: {start + done}{f'/{total}' if total else ''}{left}", file=sys.stderr, flush=True)
