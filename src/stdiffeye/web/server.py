"""`serve`: the page on this machine, until it is stopped."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stdiffeye.errors import InputError
from stdiffeye.web.limits import Limits

if TYPE_CHECKING:
    from stdiffeye.web.guard import Hosts

PORT = 8642
NEED = "the page needs the extra 'web': pip install 'stdiffeye[web]'"
EXPOSED = (
    "stdiffeye: warning: {host} can be reached from other machines; there is no password, "
    "so whoever reaches it can use it"
)


def serve(
    port: int = PORT,
    host: str = "127.0.0.1",
    model: str | Path | None = None,
    limits: Limits | None = None,
    pysaliency: str | Path | None = None,
    names: Sequence[str] = (),
) -> None:
    """Serve the page until Ctrl-C, or a model for pysaliency.

    Parameters
    ----------
    port : int
        0 for any that is free; the address is printed.
    host : str
        Loopback by default; anything else can be reached from other machines, and is warned of.
    model : str or path, optional
        A shipped model or a run's folder; None for the shipped ones.
    limits : Limits, optional
        What a visitor may use; by default those of `Limits`.
    pysaliency : str or path, optional
        A shipped model or a run's folder, whose densities are served by pysaliency's HTTP protocol; no page.
    names : sequence of str
        Names that browsers may call the server by, besides its address and this machine's name.
    """
    try:
        import uvicorn

        from stdiffeye.generation.trained import load
        from stdiffeye.web.app import make_app
        from stdiffeye.web.connections import TimedConnection
        from stdiffeye.web.pysaliency_server import make_pysaliency_app
    except ImportError as error:
        raise InputError(NEED) from error
    hosts = hosts_of(host, names)
    with bound(host, port) as listening:
        if pysaliency is None:
            app = make_app(model, limits, hosts)
        else:
            app = make_pysaliency_app(load(pysaliency), limits, hosts)
        if not hosts.loopback_only:
            print(EXPOSED.format(host=host), file=sys.stderr, flush=True)
        shown = f"[{host}]" if ":" in host else host
        verb = "Look at" if pysaliency is None else "HTTPScanpathModel at"
        print(f"{verb} http://{shown}:{listening.getsockname()[1]} (Ctrl-C stops it)", flush=True)
        config = uvicorn.Config(app, log_level="warning", server_header=False, http=TimedConnection)
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


def hosts_of(host: str, names: Sequence[str] = ()) -> Hosts:
    """How a server that listens on `host` may be called."""
    from stdiffeye.web.guard import Hosts

    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host.lower() == "localhost"
    own = {"localhost", *names, *(() if loopback else (host, socket.gethostname()))}
    return Hosts(frozenset(name.lower() for name in own), loopback_only=loopback)


def bound(host: str, port: int) -> socket.socket:
    """A listening socket, or one sentence on why not; bound before the model is loaded, which takes a while."""
    if not 0 <= port <= 65535:
        raise InputError(f"a port is a number from 0 to 65535, got {port}")
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        reason = f"cannot serve on {host}, port {port} ({error.strerror or error})"
        raise InputError(f"{reason}: try another one; --port 0 finds a free port") from None
