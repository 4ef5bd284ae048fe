"""What the server does: open an upload, look at it with a model, and keep what came of it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError

from stdiffeye.encoders import load_picture, text_encoder
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trajectory, Trial
from stdiffeye.generate import Model, load, models
from stdiffeye.generate.model import sample_seeds
from stdiffeye.generate.shipped import DEFAULT_SEARCH
from stdiffeye.web.limits import Limits
from stdiffeye.web.worker import Report

# No formats that Pillow hands on to other programs, and none that nobody has photographs in.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "PPM")
NO_PICTURE = "that file is not a picture that can be read here: expected JPEG, PNG, WebP, GIF, BMP, TIFF or AVIF"
SHOWN_SIDE_PX = 1800  # what the page and the downloads show; gaze stays in the picture's own pixels
VIEWERS_AT_ONCE = 5
# Shares of the time that a look takes, for the bar; the rest goes to the trajectories.
ENCODED, DRAWN = 0.08, 0.35


@dataclass(frozen=True)
class Wish:
    """What somebody wants to see."""

    picture: Image.Image
    name: str
    task: str = ""
    samples: int = 10
    seconds: float | None = None
    seed: int = 0
    manner: str | None = None
    precision_deg: float | None = None


@dataclass(frozen=True)
class Shown:
    """Gaze of all viewers, with the picture at the size that it is shown at."""

    wish: Wish
    model: str
    trials: list[Trial]
    picture: Image.Image


class Studio:
    """The models that look: the one that was asked for or, by default, the shipped one that fits the task."""

    def __init__(self, model: Model | str | Path | None = None) -> None:
        self._fixed = model is not None
        self._free = model if isinstance(model, Model) else load(model)
        self._search: Model | None = None

    @property
    def model(self) -> Model:
        return self._free

    @property
    def can_search(self) -> bool:
        return self._fixed or any(one.name == DEFAULT_SEARCH for one in models())

    @property
    def words(self) -> list[str]:
        """Targets to suggest; others may be typed."""
        if not self.can_search:
            return []
        known = getattr(text_encoder(self._for("anything").config.text), "known_words", list)
        return list(known())

    def look(self, wish: Wish, report: Report) -> Shown:
        """As `Model.generate`, a few viewers at a time, so that there is progress to report."""
        model = self._for(wish.task)
        report(0.0, "looking at the picture")
        if model.first.draws_trajectories:
            gaze = model.generate(wish.picture, **_asked(wish))
            trials = [_trial(wish, k, one.scanpath(), one) for k, one in enumerate(gaze)]
        else:
            trials = self._coarse_to_fine(model, wish, report)
        report(1.0, "done")
        shown = wish.picture.copy()
        shown.thumbnail((SHOWN_SIDE_PX, SHOWN_SIDE_PX))
        return Shown(wish, model.name, trials, shown)

    def _coarse_to_fine(self, model: Model, wish: Wish, report: Report) -> list[Trial]:
        report(ENCODED, "choosing where to look")
        asked = _asked(wish)
        paths = model.scanpaths(wish.picture, **asked)
        if model.fine is None:
            return [_trial(wish, k, path, None) for k, path in enumerate(paths)]
        seeds = sample_seeds(wish.seed, wish.picture.tobytes(), wish.task, wish.samples)
        trials: list[Trial] = []
        for start in range(0, len(paths), VIEWERS_AT_ONCE):
            report(DRAWN + (1 - DRAWN) * start / len(paths), f"moving the eyes of viewer {start + 1} of {len(paths)}")
            some = slice(start, start + VIEWERS_AT_ONCE)
            moved = model.fine.animate(paths[some], seeds[some], wish.precision_deg, holes=wish.seconds is not None)
            trials += [
                _trial(wish, start + k, path, one) for k, (path, one) in enumerate(zip(paths[some], moved, strict=True))
            ]
        return trials

    def _for(self, task: str) -> Model:
        if self._fixed or not task:
            return self._free
        if self._search is None:
            self._search = load(None, task)
        return self._search


def open_upload(data: bytes, limits: Limits) -> Image.Image:
    """The picture in an upload as RGB; what is too large is refused before its pixels are decoded."""
    if not data:
        raise InputError("the picture is empty: choose a file")
    try:
        opened = Image.open(io.BytesIO(data), formats=FORMATS)
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError):
        raise InputError(NO_PICTURE) from None
    image = load_picture(opened, limits.megapixels)
    if min(image.size) < limits.smallest_side_px:
        width, height = image.size
        raise InputError(
            f"the picture has {width}×{height} px: both sides need at least {limits.smallest_side_px}, "
            "there is nothing to see in less"
        )
    return image


def _asked(wish: Wish) -> dict[str, Any]:
    names = ("task", "samples", "seconds", "seed", "manner", "precision_deg")
    return {name: getattr(wish, name) for name in names}


def _trial(wish: Wish, sample: int, path: Scanpath, gaze: Trajectory | None) -> Trial:
    return Trial(wish.name, str(sample), path, gaze, task=wish.task, details={"sample": sample})
