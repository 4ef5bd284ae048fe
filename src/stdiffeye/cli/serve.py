"""Serve a page in the browser: drop a picture, see how people would look at it, replay, compare, download.

The page is for this machine alone (loopback) unless --host says otherwise, and fetches nothing from anywhere. Behind
it is a JSON interface, POST /api/generate, described at /openapi.json. Needs the extra `web`.

Example: stdiffeye serve
         stdiffeye serve --port 0 --model runs/mine
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ServeArgs:
    port: int = 8642
    """Port to listen on; 0 for any that is free."""
    host: str = "127.0.0.1"
    """Address to listen on; other than loopback it can be reached from other machines."""
    model: str | None = None
    """A shipped model (see `stdiffeye models`) or a run's folder; by default freeview, and search for targets."""


def run(args: ServeArgs) -> None:
    from stdiffeye.web.server import serve

    serve(args.port, args.host, args.model)
