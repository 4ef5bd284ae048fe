"""The ASGI application: the page, its files, and the JSON interface (described at /openapi.json)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import Request

from stdiffeye.errors import InputError
from stdiffeye.generation import Model
from stdiffeye.version import __version__
from stdiffeye.web.area_routes import add_area_routes
from stdiffeye.web.guard import RETRY, Guard, Hosts
from stdiffeye.web.limits import Limits
from stdiffeye.web.model_pool import ModelPool
from stdiffeye.web.routes import AppState, add_routes
from stdiffeye.web.worker import Busy, Worker

MEDIA = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
ABOUT = "Generate how people look at a picture. The page at / uses nothing but this interface."


def make_app(
    model: Model | str | Path | None = None,
    limits: Limits | None = None,
    hosts: Hosts | None = None,
) -> FastAPI:
    """The server as an ASGI application.

    Parameters
    ----------
    model
        A loaded model, a shipped one's name or a run's folder; None for the shipped one that fits the task.
    hosts
        How requests may call the server; by default as on loopback.
    """
    limits = limits or Limits()
    worker = Worker(limits.queue, limits.results, limits.keep_s, limits.kept_bytes)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(worker.close)

    # The documentation pages of FastAPI load scripts from elsewhere, so there are none; docs/web.md explains.
    app = FastAPI(
        title="ST-DiffEye", version=__version__, description=ABOUT, docs_url=None, redoc_url=None, lifespan=lifespan
    )
    app.add_middleware(Guard, upload_bytes=limits.upload_bytes, hosts=hosts or Hosts())
    answer_errors(app)
    app.state.server = AppState(ModelPool(model), worker, limits)
    add_routes(app, app.state.server)
    add_area_routes(app, app.state.server)
    _add_page(app)
    return app


def answer_errors(app: FastAPI) -> None:
    """Every error is one sentence as {"error": …}."""

    def answer(code: int, words: Callable[[Any], str], **headers: str) -> Callable[[Request, Any], JSONResponse]:
        return lambda request, error: JSONResponse({"error": words(error)}, code, headers or None)

    busy = "the server is busy with other pictures: try again in a moment"
    app.add_exception_handler(InputError, answer(422, lambda error: " ".join(str(error).split())))
    app.add_exception_handler(RequestValidationError, answer(422, _sentence))
    app.add_exception_handler(Busy, answer(503, lambda _: busy, **RETRY))
    app.add_exception_handler(500, answer(500, lambda _: "something went wrong on the server; its log says what"))

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)


def _sentence(error: RequestValidationError) -> str:
    first = error.errors()[0]
    field = str(first["loc"][-1])
    if first["type"] == "missing":
        return f"{field} is missing"
    said = first["msg"][0].lower() + first["msg"][1:]
    given = first.get("input")
    return f"{field}: {said}, got {given[:40]!r}" if isinstance(given, str) else f"{field}: {said}"


def _add_page(app: FastAPI) -> None:
    """The files of the page, read once: a request's path is looked up among them, never opened."""
    folder = files("stdiffeye.web") / "static"
    known = {item.name: item.read_bytes() for item in folder.iterdir() if PurePath(item.name).suffix in MEDIA}

    def served(name: str) -> Response:
        return Response(known[name], media_type=MEDIA[PurePath(name).suffix], headers={"Cache-Control": "no-cache"})

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return served("index.html")

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        if name not in known:
            raise HTTPException(404, "there is no such file")
        return served(name)
