"""Gaze and what is counted in it, as plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.gaze import Frame, Trial
from stdiffeye.plotting.playback import Playback, playbacks
from stdiffeye.statistics.quantities import Quantity, quantities, scanpaths_in
from stdiffeye.statistics.saliency import DEGREES_WIDE_IF_UNKNOWN

if TYPE_CHECKING:
    from stdiffeye.web.model_pool import JobResult

BINS = 18
FULL_CIRCLE = (-180.0, 180.0)


def result_as_json(result: JobResult) -> dict[str, Any]:
    """What the page shows and /api/generate answers."""
    request, frame = result.request, result.trials[0].frame
    return {
        "picture": {"name": result.name, "width_px": int(frame.width_px), "height_px": int(frame.height_px)},
        "model": result.model,
        "task": request.task,
        "seed": request.seed,
        "style": request.style,
        "sampling": request.sampling,
        "precision_deg": request.precision_deg,
        "notes": list(result.notes),
        "viewers": viewers_as_json(result.trials),
        "statistics": statistics({"model": result.trials}),
    }


def viewers_as_json(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """A viewer each: samples in px of the picture (null where the eye was lost), and fixations."""
    viewers, _ = playbacks(trials)
    return [_viewer(viewer) for viewer in viewers]


def statistics(sides: Mapping[str, Sequence[Trial]]) -> list[dict[str, Any]]:
    """What is counted in scanpaths: for each quantity mean, median and a histogram of every side, on common bins.

    Lengths are in degrees of a picture 30 degrees wide, as the model takes them to be.
    """
    paths = {side: scanpaths_in([_in_degrees(trial) for trial in trials], "deg") for side, trials in sides.items()}
    rows = []
    for quantity in quantities("°"):
        values = {side: quantity.pooled(several) for side, several in paths.items()}
        if all(len(some) for some in values.values()):
            rows.append(_row(quantity, values))
    return rows


def _row(quantity: Quantity, values: Mapping[str, Floats]) -> dict[str, Any]:
    edges = _edges(quantity, np.concatenate(list(values.values())))
    sides = {}
    for side, some in values.items():
        inside = np.clip(some, edges[0], edges[-1])
        one: dict[str, Any] = {"n": len(some), "shares": (np.histogram(inside, edges)[0] / len(some)).tolist()}
        if not quantity.circular:
            one |= {"mean": float(some.mean()), "median": float(np.median(some)), "sd": float(some.std())}
        sides[side] = one
    return {
        "name": quantity.name,
        "label": quantity.label,
        "unit": quantity.unit,
        "edges": edges.tolist(),
        "sides": sides,
    }


def _edges(quantity: Quantity, values: Floats) -> Floats:
    if quantity.circular:
        return np.linspace(*FULL_CIRCLE, BINS + 1)
    if quantity.whole:
        return np.arange(values.min() - 0.5, values.max() + 1.0)
    # The longest few share the last bin, so that one of them does not squeeze all others into the first.
    high = float(np.quantile(values, 0.99)) if len(values) else 0.0
    return np.linspace(0.0, high or 1.0, BINS + 1)


def _in_degrees(trial: Trial) -> Trial:
    frame = trial.frame
    seen = Frame(frame.width_px, frame.height_px, frame.width_px / DEGREES_WIDE_IF_UNKNOWN)
    path = None if trial.scanpath is None else replace(trial.scanpath, frame=seen)
    gaze = None if trial.trajectory is None else replace(trial.trajectory, frame=seen)
    return replace(trial, scanpath=path, trajectory=gaze)


def _viewer(viewer: Playback) -> dict[str, Any]:
    x, y = np.round(viewer.xy_px, 1).T.tolist()
    return {
        "name": viewer.name,
        "colour": viewer.colour,
        "start_ms": viewer.start_ms,
        "rate_hz": viewer.rate_hz,
        "x": [None if value != value else value for value in x],
        "y": [None if value != value else value for value in y],
        "fixations": [
            {"x": offset_x, "y": offset_y, "start_ms": start, "duration_ms": round(end - start, 1)}
            for offset_x, offset_y, start, end in np.round(viewer.fixations, 1).tolist()
        ],
    }
