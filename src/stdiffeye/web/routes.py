"""The JSON interface: forms in, jobs, gaze, comparisons and files out."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, File, Form, Query, UploadFile
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import Request as HTTPRequest

from stdiffeye.generation.request import Request
from stdiffeye.io.descriptions import describe, known_sets
from stdiffeye.web import downloads, limits
from stdiffeye.web.comparison_process import compare_apart
from stdiffeye.web.form import request_form
from stdiffeye.web.guard import RETRY
from stdiffeye.web.limits import Limits
from stdiffeye.web.model_pool import JobResult, ModelPool
from stdiffeye.web.picture_upload import open_picture
from stdiffeye.web.recording_upload import Upload, suffixes
from stdiffeye.web.sample_pictures import SAMPLES, sample_png
from stdiffeye.web.views import result_as_json
from stdiffeye.web.worker import Job, Report, Worker

Answer = TypeVar("Answer")
GONE = "there is no such job here (any more): generate again"
JPEG_QUALITY = 90
SECONDS_BETWEEN_LOOKS = 0.5
ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"description": words, "content": {"application/json": {"example": {"error": "one sentence"}}}}
    for code, words in (
        (413, "The upload is too large."),
        (422, "Something in the request cannot be used."),
        (408, "The request came too slowly."),
        (503, "Too much is waiting already; Retry-After says when to try again."),
    )
}


@dataclass(frozen=True)
class AppState:
    """What every route needs."""

    models: ModelPool
    worker: Worker
    limits: Limits
    samples: dict[str, bytes] = field(default_factory=dict)

    async def do(self, work: Callable[[Report], Answer], asker: HTTPRequest | None = None) -> Answer:
        """Wait for the worker to do something that is not kept."""
        return await self.wait(self.worker.submit(work), asker)

    async def wait(self, job: Job[Answer], asker: HTTPRequest | None = None) -> Answer:
        """The job's result; it is stopped when whoever asked has gone."""
        future = asyncio.wrap_future(job.future)
        while True:
            done, _ = await asyncio.wait({future}, timeout=SECONDS_BETWEEN_LOOKS)
            if done:
                return future.result()
            if asker is not None and await asker.is_disconnected():
                job.wanted = False

    def job(self, job_id: str) -> Job[JobResult]:
        found = self.worker.find(job_id)
        if found is None:
            raise HTTPException(404, GONE)
        return found

    def result(self, job_id: str) -> JobResult:
        job = self.job(job_id)
        if job.state != "done":
            raise HTTPException(409, job.error or "this job is not done yet", None if job.ended else RETRY)
        return job.future.result()

    async def submit(self, picture: UploadFile, request: Request) -> Job[JobResult]:
        """Queue the generation of gaze for an upload."""
        self.worker.require_room()
        data = await picture.read()
        name = PurePath((picture.filename or "").replace("\\", "/")).name[: limits.LONGEST_NAME] or "picture"

        def work(report: Report) -> JobResult:
            report(0.0, "opening the picture")
            return self.models.generate(open_picture(data, self.limits), name, request, report)

        return self.worker.submit(work, keep=True)


UploadedPicture = Annotated[UploadFile, File(description="JPEG, PNG, WebP, GIF, BMP, TIFF or AVIF")]
FormRequest = Annotated[Request, Depends(request_form())]


def add_routes(app: FastAPI, state: AppState) -> None:
    """All of /api."""
    _add_generation(app, state)
    _add_results(app, state)
    _add_material(app, state)


def _add_generation(app: FastAPI, state: AppState) -> None:
    @app.post("/api/generate", responses=ERRORS, summary="Gaze for a picture, in one call")
    async def generate(picture: UploadedPicture, request: FormRequest, asker: HTTPRequest) -> JSONResponse:
        """Wait for the gaze of all viewers: samples in px of the picture, fixations, and statistics."""
        job = await state.submit(picture, request)
        result = await state.wait(job, asker)
        return JSONResponse({"id": job.id, **await asyncio.to_thread(result_as_json, result)})

    @app.post("/api/jobs", status_code=202, responses=ERRORS, summary="The same, with progress: start")
    async def start(picture: UploadedPicture, request: FormRequest) -> dict[str, str]:
        """Answers at once with the job's id."""
        return {"id": (await state.submit(picture, request)).id}

    @app.get("/api/jobs/{job_id}", summary="How far a job is")
    async def progress(job_id: str) -> dict[str, Any]:
        """`state` is waiting, running, done, failed or stopped; `share` runs from 0 to 1."""
        job = state.job(job_id)
        return {"id": job.id, "state": job.state, "share": job.share, "doing": job.doing, "error": job.error}

    @app.delete("/api/jobs/{job_id}", status_code=202, summary="Stop a job")
    async def stop(job_id: str) -> dict[str, str]:
        state.job(job_id).wanted = False
        return {"id": job_id}


def _add_results(app: FastAPI, state: AppState) -> None:
    @app.get("/api/jobs/{job_id}/gaze", summary="The gaze of a finished job")
    async def gaze(job_id: str) -> JSONResponse:
        """As /api/generate answers."""
        return JSONResponse({"id": job_id, **await asyncio.to_thread(result_as_json, state.result(job_id))})

    @app.get("/api/jobs/{job_id}/picture", response_class=Response, summary="The picture as it was shown")
    async def picture(job_id: str) -> Response:
        return Response(await asyncio.to_thread(_jpeg, state.result(job_id)), media_type="image/jpeg")

    @app.get("/api/jobs/{job_id}/files/{kind}", response_class=Response, responses=ERRORS, summary="A download")
    async def download(
        job_id: str, kind: str, viewer: Annotated[list[Annotated[int, Query(ge=0)]] | None, Query()] = None
    ) -> Response:
        """`kind` is one of those that /api/info lists: gaze.json, fixations.csv, heatmap.npy, replay.html and others.

        `viewer` (repeated) names the viewers to include, from 0; all without it.
        """
        if kind not in downloads.DOWNLOADS:
            raise HTTPException(404, f"there is no download {kind[:40]!r}: choose {', '.join(downloads.DOWNLOADS)}")
        result = state.result(job_id)
        content, media, name = await state.do(lambda report: downloads.make(kind, result, viewer or []))
        return Response(content, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    @app.post("/api/jobs/{job_id}/compare", responses=ERRORS, summary="Score a job against a recording")
    async def compare(
        job_id: str,
        asker: HTTPRequest,
        file: Annotated[UploadFile, File(alias="recording", description="JSON, CSV or TSV scanpaths, or EyeLink ASC")],
        stimulus: Annotated[str, Form(max_length=limits.LONGEST_NAME, description="Which picture of the file.")] = "",
    ) -> JSONResponse:
        """The recorded viewers of the picture, statistics of both sides, and scores by the metrics of `evaluate`."""
        result = state.result(job_id)
        state.worker.require_room()
        upload = Upload(await file.read(), file.filename or "", stimulus.strip())
        most = state.limits.trials
        return JSONResponse(await state.do(lambda report: compare_apart(result, upload, most, report), asker))


def _in_words(styles: Iterable[str]) -> dict[str, str]:
    """What the viewers of each style saw, where the data set is described."""
    return {name: describe(name).in_words for name in styles if name in known_sets()}


def _add_material(app: FastAPI, state: AppState) -> None:
    @app.get("/api/info", summary="The model, and what may be asked for")
    async def info() -> dict[str, Any]:
        models = state.models
        return {
            "model": models.default.name,
            "styles": list(models.default.styles),
            "style_words": _in_words(models.default.styles),
            "can_search": models.can_search,
            "words": await asyncio.to_thread(lambda: models.targets),
            "recordings": list(suffixes()),
            "samples": [{"name": name, "about": one.about} for name, one in SAMPLES.items()],
            "limits": {
                "upload_bytes": state.limits.upload_bytes,
                "megapixels": state.limits.megapixels,
                "samples": limits.FORM_LIMITS["samples"]["le"],
                "seconds": _range("seconds"),
                "precision_deg": _range("precision_deg"),
            },
            "downloads": list(downloads.DOWNLOADS),
        }

    @app.get("/api/target", summary="How near a task is to what the model was trained on")
    async def target(task: Annotated[str, Query(min_length=1, max_length=limits.LONGEST_TASK)]) -> dict[str, str]:
        """`verdict` is trained, near, guess or unknown; `sentence` says the same for people."""
        match = await asyncio.to_thread(state.models.match, task.strip())
        return {"verdict": match.verdict if match else "unknown", "sentence": str(match or "")}

    @app.get("/api/samples/{name}", response_class=Response, summary="A picture of our own making")
    async def sample(name: str) -> Response:
        if name not in SAMPLES:
            raise HTTPException(404, f"there is no sample {name[:40]!r}: choose {', '.join(SAMPLES)}")
        if name not in state.samples:
            state.samples[name] = await asyncio.to_thread(sample_png, name)
        return Response(state.samples[name], media_type="image/png", headers={"Cache-Control": "no-cache"})


def _range(name: str) -> list[float]:
    return [limits.FORM_LIMITS[name]["ge"], limits.FORM_LIMITS[name]["le"]]


def _jpeg(result: JobResult) -> bytes:
    buffer = io.BytesIO()
    result.picture.save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()
