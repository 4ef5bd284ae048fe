"""The JSON interface: forms in, jobs, gaze, comparisons and files out."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, File, Form, Query, UploadFile
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from stdiffeye.web import downloads, limits, recording
from stdiffeye.web.limits import Limits
from stdiffeye.web.recording import Upload
from stdiffeye.web.samples import SAMPLES, sample_png
from stdiffeye.web.studio import Shown, Studio, Wish, open_upload
from stdiffeye.web.views import shown_as_json
from stdiffeye.web.worker import Job, Report, Worker

Answer = TypeVar("Answer")
GONE = "there is no such job here (any more): generate again"
JPEG_QUALITY = 90
ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"description": words, "content": {"application/json": {"example": {"error": "one sentence"}}}}
    for code, words in (
        (413, "The upload is too large."),
        (422, "Something in the request cannot be used."),
        (503, "Too much is waiting already; Retry-After says when to try again."),
    )
}


@dataclass(frozen=True)
class Desk:
    """What every route needs."""

    studio: Studio
    worker: Worker
    limits: Limits
    samples: dict[str, bytes] = field(default_factory=dict)

    async def do(self, work: Callable[[Report], Answer]) -> Answer:
        """Wait for the worker to do something that is not kept."""
        return await asyncio.wrap_future(self.worker.submit(work).future)

    def job(self, job_id: str) -> Job[Shown]:
        found = self.worker.find(job_id)
        if found is None:
            raise HTTPException(404, GONE)
        return found

    def shown(self, job_id: str) -> Shown:
        job = self.job(job_id)
        if job.state != "done":
            raise HTTPException(409, job.error or "this job is not done yet")
        return job.future.result()


@dataclass(frozen=True)
class Asked:
    """The fields of the form, checked."""

    picture: UploadFile
    fields: dict[str, Any]

    def work(self, desk: Desk, data: bytes) -> Callable[[Report], Shown]:
        name = PurePath((self.picture.filename or "picture").replace("\\", "/")).name[: limits.LONGEST_NAME]

        def work(report: Report) -> Shown:
            report(0.0, "opening the picture")
            image = open_upload(data, desk.limits)
            return desk.studio.look(Wish(image, name or "picture", **self.fields), report)

        return work


async def asked(
    picture: Annotated[UploadFile, File(description="JPEG, PNG, WebP, GIF, BMP, TIFF or AVIF")],
    task: Annotated[
        str, Form(max_length=limits.LONGEST_TASK, description="What is looked for; free viewing if empty.")
    ] = "",
    samples: Annotated[int, Form(ge=1, le=limits.MOST_VIEWERS, description="Viewers.")] = 10,
    seconds: Annotated[
        float | None, Form(ge=limits.SHORTEST_S, le=limits.LONGEST_S, description="As long as people did if absent.")
    ] = None,
    seed: Annotated[int, Form(ge=0, le=limits.LARGEST_SEED, description="The same seed gives the same gaze.")] = 0,
    manner: Annotated[
        str | None, Form(max_length=limits.LONGEST_NAME, description="One of the manners in /api/info.")
    ] = None,
    precision_deg: Annotated[
        float | None,
        Form(ge=limits.FINEST_DEG, le=limits.COARSEST_DEG, description="Tracker's precision, RMS of steps, degrees."),
    ] = None,
) -> Asked:
    """What somebody wants to see, of a multipart form."""
    fields = {"samples": samples, "seconds": seconds, "seed": seed, "precision_deg": precision_deg}
    return Asked(picture, {**fields, "task": task.strip(), "manner": manner or None})


def add_routes(app: FastAPI, desk: Desk) -> None:
    """All of /api."""
    _add_generation(app, desk)
    _add_results(app, desk)
    _add_material(app, desk)


def _add_generation(app: FastAPI, desk: Desk) -> None:
    @app.post("/api/generate", responses=ERRORS, summary="Gaze for a picture, in one call")
    async def generate(wanted: Annotated[Asked, Depends(asked)]) -> JSONResponse:
        """Wait for the gaze of all viewers: samples in px of the picture, fixations, and statistics."""
        job = desk.worker.submit(wanted.work(desk, await wanted.picture.read()), keep=True)
        shown = await asyncio.wrap_future(job.future)
        return JSONResponse({"id": job.id, **await asyncio.to_thread(shown_as_json, shown)})

    @app.post("/api/jobs", status_code=202, responses=ERRORS, summary="The same, with progress: start")
    async def start(wanted: Annotated[Asked, Depends(asked)]) -> dict[str, str]:
        """Answers at once with the job's id."""
        return {"id": desk.worker.submit(wanted.work(desk, await wanted.picture.read()), keep=True).id}

    @app.get("/api/jobs/{job_id}", summary="How far a job is")
    async def progress(job_id: str) -> dict[str, Any]:
        """`state` is waiting, running, done, failed or stopped; `share` runs from 0 to 1."""
        job = desk.job(job_id)
        return {"id": job.id, "state": job.state, "share": job.share, "doing": job.doing, "error": job.error}

    @app.delete("/api/jobs/{job_id}", status_code=202, summary="Stop a job")
    async def stop(job_id: str) -> dict[str, str]:
        desk.job(job_id).wanted = False
        return {"id": job_id}


def _add_results(app: FastAPI, desk: Desk) -> None:
    @app.get("/api/jobs/{job_id}/gaze", summary="What a finished job found")
    async def gaze(job_id: str) -> JSONResponse:
        """As /api/generate answers."""
        return JSONResponse({"id": job_id, **await asyncio.to_thread(shown_as_json, desk.shown(job_id))})

    @app.get("/api/jobs/{job_id}/picture", response_class=Response, summary="The picture as it was looked at")
    async def picture(job_id: str) -> Response:
        return Response(await asyncio.to_thread(_jpeg, desk.shown(job_id)), media_type="image/jpeg")

    @app.get("/api/jobs/{job_id}/files/{kind}", response_class=Response, responses=ERRORS, summary="A download")
    async def download(
        job_id: str, kind: str, viewer: Annotated[list[Annotated[int, Query(ge=0)]] | None, Query()] = None
    ) -> Response:
        """gaze.json, fixations.csv, samples.csv, scanpaths.png, trajectories.png, heatmap.png, replay.html, replay.gif.

        `viewer` (repeated) names the viewers to include, from 0; all without it.
        """
        if kind not in downloads.DOWNLOADS:
            raise HTTPException(404, f"there is no download {kind[:40]!r}: choose {', '.join(downloads.DOWNLOADS)}")
        shown = desk.shown(job_id)
        content, media, name = await desk.do(lambda report: downloads.make(kind, shown, viewer or []))
        return Response(content, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    @app.post("/api/jobs/{job_id}/compare", responses=ERRORS, summary="Score a job against a recording")
    async def compare(
        job_id: str,
        file: Annotated[UploadFile, File(alias="recording", description="JSON, CSV or TSV scanpaths, or EyeLink ASC")],
        stimulus: Annotated[str, Form(max_length=limits.LONGEST_NAME, description="Which picture of the file.")] = "",
    ) -> JSONResponse:
        """The recorded viewers of the picture, statistics of both sides, and scores by the metrics of `evaluate`."""
        shown = desk.shown(job_id)
        upload = Upload(await file.read(), file.filename or "", stimulus.strip())
        return JSONResponse(await desk.do(lambda report: recording.compare(shown, upload, desk.limits.trials)))


def _add_material(app: FastAPI, desk: Desk) -> None:
    @app.get("/api/info", summary="The model, and what may be asked for")
    async def info() -> dict[str, Any]:
        studio = desk.studio
        return {
            "model": studio.model.name,
            "manners": list(studio.model.manners),
            "can_search": studio.can_search,
            "words": await asyncio.to_thread(lambda: studio.words),
            "samples": [{"name": name, "about": one.about} for name, one in SAMPLES.items()],
            "limits": {
                "upload_bytes": desk.limits.upload_bytes,
                "megapixels": desk.limits.megapixels,
                "samples": limits.MOST_VIEWERS,
                "seconds": [limits.SHORTEST_S, limits.LONGEST_S],
                "precision_deg": [limits.FINEST_DEG, limits.COARSEST_DEG],
            },
            "downloads": list(downloads.DOWNLOADS),
        }

    @app.get("/api/samples/{name}", response_class=Response, summary="A picture of our own making")
    async def sample(name: str) -> Response:
        if name not in SAMPLES:
            raise HTTPException(404, f"there is no sample {name[:40]!r}: choose {', '.join(SAMPLES)}")
        if name not in desk.samples:
            desk.samples[name] = await asyncio.to_thread(sample_png, name)
        return Response(desk.samples[name], media_type="image/png", headers={"Cache-Control": "no-cache"})


def _jpeg(shown: Shown) -> bytes:
    buffer = io.BytesIO()
    shown.picture.save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()
