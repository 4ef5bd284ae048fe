"""Ctrl-C and SIGTERM during training: the step ends, a checkpoint is kept, then training stops."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Whether somebody asked to stop. Half a step of the optimiser is never kept: it is looked at between steps."""

    def __init__(self) -> None:
        self.wanted = False
        self._at_once = False

    @contextmanager
    def watched(self) -> Iterator[Interrupts]:
        """Within this block the first signal is noted and the second one raises."""
        if threading.current_thread() is not threading.main_thread():  # only the main thread may handle signals
            yield self
            return
        before: dict[signal.Signals, Any] = {one: signal.signal(one, self._note) for one in SIGNALS}
        try:
            yield self
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)
        if self.wanted:
            raise KeyboardInterrupt

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Within this block nothing can be torn apart: a signal raises at once."""
        if self.wanted:
            raise KeyboardInterrupt
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.wanted or self._at_once:
            raise KeyboardInterrupt
        self.wanted = True
