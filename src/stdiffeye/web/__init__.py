"""The page in a browser, and the JSON interface behind it: `stdiffeye serve`. Needs the extra `web`.

`serve` runs the server, `make_app` is the same as an ASGI application. A request walks guard → routes → worker →
studio: the guard refuses what is too large or comes from elsewhere, the routes read forms and write JSON, one worker
does one thing at a time, and the studio calls what everybody can call from Python: `Model`, `evaluate`, `plot`.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {"serve": "stdiffeye.web.server", "make_app": "stdiffeye.web.app", "Limits": "stdiffeye.web.limits"}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'stdiffeye.web' has no attribute {name!r}")
