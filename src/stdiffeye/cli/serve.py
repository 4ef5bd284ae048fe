"""Serve a page in the browser: drop a picture, see how people would look at it, replay, compare, download.

The page is for this machine alone (loopback) unless --host says otherwise, and fetches nothing from anywhere. Behind
it is a JSON interface, POST /api/generate, described at /openapi.json. Needs the extra `web`.

Example: stdiffeye serve
         stdiffeye serve --port 0 --model runs/mine
         stdiffeye serve --pysaliency freeview
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import arg


@dataclass
class ServeArgs:
    port: int = 8642
    """Port to listen on; 0 for any that is free."""
    host: str = "127.0.0.1"
    """Address to listen on; other than loopback it can be reached from other machines."""
    model: str | None = None
    """A shipped model (see `stdiffeye models`) or a run's folder; by default freeview, and search for targets."""
    pysaliency: Annotated[str | None, arg(metavar="MODEL", help_behavior_hint="")] = None
    """Serve this model's densities by pysaliency's HTTP protocol for scanpath models instead of the page."""
    names: tuple[str, ...] = ()
    """Further names that browsers may call it by, as behind a proxy."""


def run(args: ServeArgs) -> None:
    from stdiffeye.web.server import serve

    serve(args.port, args.host, args.model, pysaliency=args.pysaliency, names=args.names)
