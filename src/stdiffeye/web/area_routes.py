"""Areas of interest drawn on the page, and two pictures side by side: what generated viewers did with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import FastAPI, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from stdiffeye.gaze import Trial
from stdiffeye.gaze.area_visits import LABELS
from stdiffeye.gaze.areas import Areas
from stdiffeye.statistics.aoi import AreaReport, measure_areas
from stdiffeye.web.limits import LONGEST_NAME, MOST_AREAS
from stdiffeye.web.model_pool import JobResult
from stdiffeye.web.routes import ERRORS, AppState
from stdiffeye.web.views import statistics

GROUP = "generated"
DESIGNS = ("A", "B")
LARGEST_PX = 1e6
Coordinate = Annotated[float, Field(ge=-LARGEST_PX, le=LARGEST_PX)]
Size = Annotated[float, Field(gt=0, le=LARGEST_PX)]


class AreaBox(BaseModel):
    """An area of interest: its name, and x, y, width, height in px of the picture."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    box: tuple[Coordinate, Coordinate, Size, Size]


class PictureAreas(BaseModel):
    """The areas of one job's picture."""

    job: str
    areas: Annotated[list[AreaBox], Field(min_length=1, max_length=MOST_AREAS)]


class AreaQuery(BaseModel):
    """One picture, or two designs A and B."""

    pictures: Annotated[list[PictureAreas], Field(min_length=1, max_length=len(DESIGNS))]


def add_area_routes(app: FastAPI, state: AppState) -> None:
    """/api/areas and /api/statistics."""

    @app.post("/api/areas", responses=ERRORS, summary="What viewers did with areas of interest")
    async def areas(query: AreaQuery) -> JSONResponse:
        """Measures of every area with 95 % intervals; of two pictures also B − A where both have an area."""
        results = [state.result(one.job) for one in query.pictures]
        return JSONResponse(await state.do(lambda report: measured(results, query.pictures)))

    @app.get("/api/statistics", responses=ERRORS, summary="Distributions of one or two jobs")
    async def beside(job: Annotated[list[str], Query(min_length=1, max_length=len(DESIGNS))]) -> JSONResponse:
        """`job` (twice): the sides are called A and B; of one job it is called model."""
        names = DESIGNS if len(job) > 1 else ("model",)
        sides = {name: state.result(one).trials for name, one in zip(names, job, strict=True)}
        return JSONResponse(await state.do(lambda report: statistics(sides)))


def measured(results: Sequence[JobResult], wanted: Sequence[PictureAreas]) -> dict[str, Any]:
    """Rows of the report, under the names A and B."""
    trials: list[Trial] = []
    areas: dict[str, Areas] = {}
    for design, result, one in zip(DESIGNS, results, wanted, strict=False):
        # Viewers of two pictures are different ones, though both are numbered from 0: no paired test.
        trials += [replace(trial, name=design, task="", subject=f"{design}{trial.subject}") for trial in result.trials]
        areas[design] = Areas.boxes({area.name: area.box for area in _unique(one.areas)}, result.trials[0].frame)
    report = measure_areas({GROUP: trials}, areas)
    return {
        "measures": LABELS,
        "rows": [_plain(row) for row in report.summary()],
        "differences": _differences(report) if len(results) > 1 else [],
    }


def _unique(areas: Sequence[AreaBox]) -> list[AreaBox]:
    """Areas of the same name are told apart by a number, as on the page nobody is kept from typing it twice."""
    seen: dict[str, int] = {}
    found = []
    for area in areas:
        seen[area.name] = seen.get(area.name, 0) + 1
        number = seen[area.name]
        found.append(area if number == 1 else area.model_copy(update={"name": f"{area.name} ({number})"}))
    return found


def _differences(report: AreaReport) -> list[dict[str, Any]]:
    named = [set(group.areas.names) for group in report.groups]
    if not set.intersection(*named):
        return []
    return [
        _plain({"area": one.area, "measure": one.measure, "winner": one.winner, **vars(one.difference)})
        for one in report.designs(*DESIGNS)
    ]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """What JSON can say: no NaN."""
    return {key: None if isinstance(value, float) and value != value else value for key, value in row.items()}
