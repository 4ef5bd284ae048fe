"""The models of the server: what generates gaze for a picture and keeps what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from stdiffeye.encoders import text_encoder
from stdiffeye.gaze import Scanpath, Trajectory, Trial
from stdiffeye.generation import Model, Request, load, models
from stdiffeye.generation.targets import TargetMatch
from stdiffeye.training.shipped import DEFAULT_SEARCH
from stdiffeye.web.worker import Report

SHOWN_SIDE_PX = 1800  # what the page and the downloads show; gaze stays in the picture's own pixels


@dataclass(frozen=True)
class JobResult:
    """Gaze of all viewers, with the picture at the size that it is shown at."""

    name: str
    request: Request
    model: str
    trials: list[Trial]
    picture: Image.Image
    notes: tuple[str, ...] = ()
    """What is worth saying: a task that the model was not trained on, a style that it lacks."""

    @property
    def held_bytes(self) -> int:
        """Memory of the picture and of the gaze."""
        width, height = self.picture.size
        gaze = (noun.xy_px.nbytes for trial in self.trials for noun in (trial.scanpath, trial.trajectory) if noun)
        return 3 * width * height + sum(gaze)


class ModelPool:
    """The model that was asked for or, by default, the shipped one that fits the task."""

    def __init__(self, model: Model | str | Path | None = None) -> None:
        self._fixed = model is not None
        self._free_viewing = model if isinstance(model, Model) else load(model)
        self._search: Model | None = None

    @property
    def default(self) -> Model:
        return self._free_viewing

    @property
    def can_search(self) -> bool:
        return self._fixed or any(one.name == DEFAULT_SEARCH for one in models())

    @property
    def targets(self) -> list[str]:
        """Words to suggest as targets, those of the training first; others may be typed."""
        if not self.can_search:
            return []
        trained = self._for("anything").targets or ()
        known = getattr(text_encoder(self._for("anything").config.text), "known_words", list)
        return list(dict.fromkeys((*trained, *known())))

    def match(self, task: str) -> TargetMatch | None:
        """How near a task is to what the model was trained on."""
        return self._for(task).match_target(task)

    def generate(self, picture: Image.Image, name: str, request: Request, report: Report) -> JobResult:
        """As `Model.generate`, with progress reported."""
        model = self._for(request.task)
        report(0.0, "encoding the picture")

        def progress(done: int, total: int) -> None:
            report(done / total, f"generating gaze of {request.samples} viewer{'s' * (request.samples > 1)}")

        gaze: Iterable[tuple[Scanpath, Trajectory | None]]
        if model.generates_trajectories:
            gaze = [(one.scanpath, one) for one in model.generate(picture, request, progress)]
        else:
            gaze = [(path, None) for path in model.scanpaths(picture, request, progress)]
        trials = [
            Trial(
                name, str(k), path, trajectory, task=request.task, details={"sample": k, "sampling": request.sampling}
            )
            for k, (path, trajectory) in enumerate(gaze)
        ]
        report(1.0, "done")
        shown = picture.copy()
        shown.thumbnail((SHOWN_SIDE_PX, SHOWN_SIDE_PX))
        return JobResult(name, request, model.name, trials, shown, _notes(model, request))

    def _for(self, task: str) -> Model:
        if self._fixed or not task:
            return self._free_viewing
        if self._search is None:
            self._search = load(None, task)
        return self._search


def _notes(model: Model, request: Request) -> tuple[str, ...]:
    found = []
    match = model.match_target(request.task) if request.task else None
    if match is not None and match.verdict != "trained":
        found.append(f"{str(match)[0].upper()}{str(match)[1:]}.")
    used = model.nearest_style(request.style)
    if request.style and used != request.style:
        found.append(f"{model.name} has no style {request.style!r}: that of {used!r} was used.")
    return tuple(found)
