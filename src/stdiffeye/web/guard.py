"""What every request passes before anything else, and the headers that every answer carries.

* Host: only known names and plain addresses are answered, on loopback only loopback ones, so that no web page can
  reach the server by a name of its own that it lets point here (DNS rebinding).
* Origin: what changes something must come from the page itself: scheme, name and port.
* Size and time: a body is counted while it streams in, whatever its Content-Length says, and must not dawdle.
* Number: when too many requests are under way, further ones are told to come again.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import time
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stdiffeye.web.limits import MEGABYTE

RETRY_AFTER_S = 5
MOST_REQUESTS = 64
PIECE_S, BODY_S, SEND_S = 15.0, 120.0, 60.0  # between two pieces of a body, for all of it, and for a piece of an answer
HOST = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<name>[A-Za-z0-9_.-]+))(?::[0-9]{1,5})?")
SAFE_METHODS = frozenset({"GET", "HEAD"})
CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob: data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True)
class Hosts:
    """How requests may call the server.

    Parameters
    ----------
    names
        Names in lower case.
    loopback_only
        Of plain addresses only those of this machine; otherwise any, since no name points elsewhere then.
    """

    names: frozenset[str] = frozenset({"localhost"})
    loopback_only: bool = True

    def allow(self, header: str) -> bool:
        name = name_of(header)
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return name in self.names
        return address.is_loopback or not self.loopback_only


class Guard:
    """ASGI middleware.

    Parameters
    ----------
    upload_bytes
        Largest body.
    hosts
        What the Host header may hold.
    """

    def __init__(self, app: ASGIApp, upload_bytes: int, hosts: Hosts) -> None:
        self.app, self.upload_bytes, self.hosts = app, upload_bytes, hosts
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await asyncio.wait_for(send(message), SEND_S)

        refused = self._refusal(scope)
        if refused is not None:
            await refused(scope, receive, send_with_headers)
            return
        self._under_way += 1
        try:
            await self.app(scope, self._counted(receive), send_with_headers)
        finally:
            self._under_way -= 1

    def _refusal(self, scope: MutableMapping[str, Any]) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if len(headers.getlist("host")) > 1 or not self.hosts.allow(host):
            where = "answers on loopback only, not as" if self.hosts.loopback_only else "is not called"
            return _sorry(f"this server {where} {host!r}", 421)
        origin = ", ".join(headers.getlist("origin")) or None
        own = f"{scope['scheme']}://{host}".lower()
        if scope["method"] not in SAFE_METHODS and origin is not None and origin.lower() != own:
            return _sorry("a page from elsewhere may not use this server", 403)
        if self._under_way >= MOST_REQUESTS:
            return _sorry("the server is busy: try again in a moment", 503)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.upload_bytes:
            return _sorry(self._too_large, 413)
        return None

    def _counted(self, receive: Receive) -> Receive:
        taken, whole, until = 0, False, time.monotonic() + BODY_S

        async def counted() -> Message:
            nonlocal taken, whole
            if whole:  # what comes now is that the other side has gone, whenever that is
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), min(PIECE_S, max(0.0, until - time.monotonic())))
            except TimeoutError:
                raise HTTPException(408, "the request came too slowly: send it again", RETRY) from None
            taken += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if taken > self.upload_bytes:
                raise HTTPException(413, self._too_large)
            return message

        return counted

    @property
    def _too_large(self) -> str:
        return f"the upload is larger than {self.upload_bytes / MEGABYTE:g} MB: make the file smaller"


def name_of(host: str) -> str:
    """The name in a Host header, in lower case, without port and brackets; "" for what is no name or address."""
    found = HOST.fullmatch(host)
    return "" if found is None else (found["six"] or found["name"]).lower()


RETRY = {"Retry-After": str(RETRY_AFTER_S)}


def _sorry(words: str, code: int) -> JSONResponse:
    return JSONResponse({"error": words}, code, RETRY if code == 503 else None)
