"""Densities of the next fixation for `statistics.likelihood`: of models, and of servers of pysaliency's protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.encoders import load_picture
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.gaze.types import by_stimulus
from stdiffeye.generation.request import JudgingOptions, Request
from stdiffeye.generation.trained import Model, load
from stdiffeye.io.pysaliency_http import RemoteModel
from stdiffeye.metrics import Result, evaluate
from stdiffeye.progress import track
from stdiffeye.statistics.likelihood import LikelihoodSettings, LogDensities, Shape, likelihood
from stdiffeye.systems.next_fixation import resampled


def judge_models(
    human: Sequence[Trial],
    systems: Mapping[str, Sequence[Trial]],
    models: Mapping[str, Model | str | Path],
    options: JudgingOptions,
    settings: dict[str, Any],
) -> Result:
    """Judge files and models by scanpaths that are sampled, and models also by likelihood."""
    if options.likelihood and not models and not options.url:
        raise InputError("a file of gaze has no likelihood: give a model as NAME=RUN, or --url NAME=URL")
    remote = {name: densities_at(url) for name, url in named_urls(options.url).items()}
    sampled = dict(systems) | sampled_trials(models, human, options.samples, options.quiet)
    result = evaluate(human, sampled, **settings) if sampled else Result({}, (), {}, [], [], {})
    densities = remote | ({name: densities_of(model) for name, model in models.items()} if options.likelihood else {})
    if not densities:
        return result
    chosen = LikelihoodSettings(max_fixations=settings.get("max_fixations", 16), viewers=options.viewers)
    return replace(result, likelihood=likelihood(human, densities, chosen, options.quiet))


def named_urls(words: Sequence[str]) -> dict[str, str]:
    """NAME=URL …, or URL, which is its own name."""
    pairs = [word.partition("=")[::2] if "=" in word.split("://")[0] else (word, word) for word in words]
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError("two models of --url have the same name: give each its own with NAME=URL")
    return found


def densities_of(source: Model | str | Path) -> LogDensities:
    """A model's log-densities of the next fixation."""
    model = source if isinstance(source, Model) else load(source)

    def log_densities(trial: Trial, histories: Sequence[Scanpath | None], shape: Shape) -> Floats:
        style = trial.dataset if trial.dataset in model.styles else None
        return model.log_densities(picture_of(trial), histories, trial.task, style, shape)

    return log_densities


def densities_at(url: str) -> LogDensities:
    """Those of a model behind pysaliency's HTTP protocol, whose densities are per pixel of the picture."""
    model = RemoteModel(url)

    def log_densities(trial: Trial, histories: Sequence[Scanpath | None], shape: Shape) -> Floats:
        picture = load_picture(picture_of(trial))
        frame = Frame(picture.width, picture.height)
        past = [None if history is None else history.rescaled(frame) for history in histories]
        per_pixel = [np.exp(model.log_density(picture, history, trial.task)) for history in past]
        with np.errstate(divide="ignore"):
            return np.stack([np.log(resampled(density, shape)) for density in per_pixel])

    return log_densities


def sampled_trials(
    sources: Mapping[str, Model | str | Path], human: Sequence[Trial], samples: int, quiet: bool = True
) -> dict[str, list[Trial]]:
    """Name → scanpaths of each model for the stimuli of the humans, so many independent samples of each."""
    return {name: _sampled(source, human, samples, quiet) for name, source in sources.items()}


def _sampled(source: Model | str | Path, human: Sequence[Trial], samples: int, quiet: bool) -> list[Trial]:
    model, found = source if isinstance(source, Model) else load(source), []
    stimuli = list(by_stimulus(human).values())
    for trials in track(stimuli, f"sampling {model.name}", quiet=quiet):
        one = trials[0]
        seconds = None if one.viewing_ms is None else min(one.viewing_ms / 1000, 30.0)
        style = one.dataset if one.dataset in model.styles else None
        request = Request(task=one.task, samples=samples, style=style, seconds=None if style else seconds, fill=False)
        paths = model.scanpaths(picture_of(one), request)
        found += [Trial(one.name, str(k), path, task=one.task) for k, path in enumerate(paths)]
    return found


def picture_of(trial: Trial) -> Path:
    """The picture of a trial, which must be there."""
    if trial.picture is None or not trial.picture.is_file():
        raise InputError(f"{trial.name!r} has no picture here: the likelihood of its fixations needs it; give a store")
    return trial.picture
