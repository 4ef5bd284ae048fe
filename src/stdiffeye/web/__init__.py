"""The page in a browser, and the JSON interface behind it: `stdiffeye serve`. Needs the extra `web`.

`serve` runs the server, `make_app` is the same as an ASGI application. A request passes four modules:

* `guard` refuses what is too large or comes from elsewhere;
* `routes` reads forms and writes JSON;
* `worker` does one thing at a time;
* `model_pool` calls what everybody can call from Python, `Model.generate`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Limits", "make_app", "serve"]


def __getattr__(name: str) -> Any:
    """Names on first use: without the extra `web` there is still `serve`, which says what is missing."""
    match name:
        case "Limits":
            from stdiffeye.web.limits import Limits

            return Limits
        case "make_app":
            from stdiffeye.web.app import make_app

            return make_app
        case "serve":
            from stdiffeye.web.server import serve

            return serve
    raise AttributeError(f"module 'stdiffeye.web' has no attribute {name!r}")
