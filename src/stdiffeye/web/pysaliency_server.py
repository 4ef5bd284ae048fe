"""A model behind pysaliency's HTTP protocol (`io.pysaliency_http` describes it)."""

from __future__ import annotations

import json
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, File, Form
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame
from stdiffeye.generation.pysaliency_model import history_of
from stdiffeye.generation.trained import Model
from stdiffeye.io.pysaliency_http import DENSITY_PATH, TYPE, TYPE_PATH
from stdiffeye.version import __version__
from stdiffeye.web.app import answer_errors
from stdiffeye.web.guard import Guard, Hosts
from stdiffeye.web.limits import FORM_LIMITS, Limits
from stdiffeye.web.picture_upload import open_picture

MEGAPIXELS = 4.0  # larger pictures would be answered with tens of megabytes of numbers
MOST_FIXATIONS = 1000
ABOUT = "The density of the next fixation, by pysaliency's HTTP protocol for scanpath models."


def make_pysaliency_app(model: Model, limits: Limits | None = None, hosts: Hosts | None = None) -> FastAPI:
    """The server as an ASGI application.

    Parameters
    ----------
    model
        A loaded model.
    hosts
        How requests may call the server; by default as on loopback.
    """
    limits = limits or Limits(megapixels=MEGAPIXELS)
    app = FastAPI(title="ST-DiffEye", version=__version__, description=ABOUT, docs_url=None, redoc_url=None)
    app.add_middleware(Guard, upload_bytes=limits.upload_bytes, hosts=hosts or Hosts())
    answer_errors(app)

    @app.get(TYPE_PATH)
    async def kind() -> dict[str, str]:
        return TYPE

    @app.post(DENSITY_PATH)
    async def conditional_log_density(
        stimulus: Annotated[bytes, File()], json_data: Annotated[str, Form()]
    ) -> Response:
        content = await run_in_threadpool(lambda: as_json(_log_density(model, stimulus, json_data, limits)))
        return Response(content, media_type="application/json")

    return app


def as_json(log_density: Floats) -> str:
    """The answer; six digits after the point are as exact as any use of it."""
    rows = (",".join(f"{value:.6f}" for value in row) for row in log_density.tolist())
    return '{"log_density":[[' + "],[".join(rows) + "]]}"


def _log_density(model: Model, stimulus: bytes, json_data: str, limits: Limits) -> Floats:
    past = _fields(json_data)
    picture = open_picture(stimulus, limits)
    try:
        columns = [np.array(past.get(name) or [], dtype=np.float64) for name in ("x_hist", "y_hist", "t_hist")]
    except (TypeError, ValueError):
        raise InputError("x_hist, y_hist and t_hist must be lists of numbers") from None
    if max(map(len, columns)) > MOST_FIXATIONS:
        raise InputError(f"a history has at most {MOST_FIXATIONS} fixations")
    attributes = past.get("attributes") or {}
    task = str(attributes.get("task", "")) if isinstance(attributes, dict) else ""
    if len(task) > FORM_LIMITS["task"]["max_length"]:
        raise InputError("the task is too long")
    x, y, t = columns
    return model.log_density(picture, history_of(x, y, t, Frame(picture.width, picture.height)), task)


def _fields(json_data: str) -> dict[str, Any]:
    try:
        fields = json.loads(json_data)
    except ValueError:
        raise InputError("json_data is not JSON") from None
    if not isinstance(fields, dict):
        raise InputError("json_data must be an object with x_hist, y_hist and t_hist")
    return fields
