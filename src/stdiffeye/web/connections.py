"""Connections that cannot be held open for nothing.

A request's headers must come within seconds. When too many connections are open, those that wait longest without a
request make room. So half-open connections never keep anybody else out.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_S = 10.0
MOST_CONNECTIONS = 256


class TimedConnection(H11Protocol):
    """HTTP with a limit on the time that a request may take to begin."""

    _deadline: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_headers()
        if len(self.connections) > MOST_CONNECTIONS:
            idle = [one for one in self.connections if isinstance(one, TimedConnection) and not one.in_request]
            min(idle, key=lambda one: one._since, default=self).transport.close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.in_request:
            self._stop_waiting()
        elif self._deadline is None and not self.transport.is_closing():
            self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    @property
    def in_request(self) -> bool:
        """Whether a request has begun that is not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_for_headers(self) -> None:
        self._since = self.loop.time()
        self._deadline = self.loop.call_later(HEADERS_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self.in_request:
            self.transport.close()
