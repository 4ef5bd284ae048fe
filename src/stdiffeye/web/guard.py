"""What every request passes before anything else, and the headers that every answer carries.

* Host: on loopback only loopback names are answered, so that no web page can reach the server by a name of its own
  that it lets point to 127.0.0.1 (DNS rebinding).
* Origin: what changes something must come from the page itself.
* Size: a body is counted while it streams in, whatever its Content-Length says.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stdiffeye.web.limits import MEGABYTE

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
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


class Guard:
    """ASGI middleware.

    Parameters
    ----------
    upload_bytes : largest body.
    hosts : names that the Host header may hold; None for any.
    """

    def __init__(self, app: ASGIApp, upload_bytes: int, hosts: frozenset[str] | None) -> None:
        self.app, self.upload_bytes, self.hosts = app, upload_bytes, hosts

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
            await send(message)

        refused = self._refusal(scope)
        if refused is not None:
            await refused(scope, receive, send_with_headers)
        else:
            await self.app(scope, self._counted(receive), send_with_headers)

    def _refusal(self, scope: MutableMapping[str, Any]) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self.hosts is not None and name_of(host) not in self.hosts:
            return _sorry(f"this server answers on loopback only, not as {host!r}", 421)
        origin = headers.get("origin")
        if scope["method"] not in SAFE_METHODS and origin is not None and urlsplit(origin).netloc != host:
            return _sorry("a page from elsewhere may not use this server", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.upload_bytes:
            return _sorry(self._too_large, 413)
        return None

    def _counted(self, receive: Receive) -> Receive:
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self.upload_bytes:
                raise HTTPException(413, self._too_large)
            return message

        return counted

    @property
    def _too_large(self) -> str:
        return f"the upload is larger than {self.upload_bytes / MEGABYTE:g} MB: make the file smaller"


def name_of(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _sorry(words: str, code: int) -> JSONResponse:
    return JSONResponse({"error": words}, code)
