"""The small forms of ScanDiff and DiffEye learn what they are shown: places, order, durations, and where to stop."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from stdiffeye.gaze import Frame
from stdiffeye.model.conditions import Conditions
from stdiffeye.model.tokens import PAD
from stdiffeye.systems.base import Query, SamplingOptions
from stdiffeye.systems.presets import load_preset, overlay
from stdiffeye.systems.st_diffeye.data import TokenTensors
from stdiffeye.systems.st_diffeye.model import STDiffEye
from stdiffeye.systems.step_random import StepRandom

ROWS, COLUMNS, CHANNELS, VIEWERS = 6, 8, 8, 8
FRAME = Frame(800, 600)
CELL_PX = np.hypot(FRAME.width_px / COLUMNS, FRAME.height_px / ROWS)
PLACES = [
    np.array([[0.45, 0.55], [0.1, 0.1], [0.9, 0.85], [0.2, 0.8]]),
    np.array([[0.8, 0.3], [0.3, 0.35], [0.6, 0.9]]),
]
TIMES_S = [np.array([0.2, 0.3, 0.15, 0.4]), np.array([0.5, 0.12, 0.25])]
POINTS = 96
PICTURE = {"channels": CHANNELS, "rows": ROWS, "columns": COLUMNS, "width": 32}
SMALL = {
    "scandiff-small": {
        "image": PICTURE,
        "denoiser": {"width": 32, "depth": 2, "heads": 4, "feedforward": 64, "hidden": 32},
        "max_fixations": 6,
    },
    "diffeye-small": {
        "image": PICTURE,
        "unet": {"width": 16, "multipliers": [1, 2, 2], "groups": 4, "cross_attention_from": 1},
        "max_points": POINTS,
    },
}


def features() -> torch.Tensor:
    return torch.randn(len(PLACES), ROWS * COLUMNS, CHANNELS, generator=torch.Generator().manual_seed(1))


def batch_of(part: STDiffEye, sequences: list[np.ndarray]) -> TokenTensors:
    """One sequence of rows for each picture, seen by all its viewers."""
    full, count = part.config.max_samples, len(sequences)
    gaze = torch.full((count, full, sequences[0].shape[1]), PAD)
    for number, rows in enumerate(sequences):
        gaze[number, : len(rows)] = torch.from_numpy(part.units.scaled(rows))
    points = torch.tensor([len(rows) for rows in sequences])
    known = (torch.arange(full) < points[:, None])[..., None].expand_as(gaze)
    gaze, known, points = (each.repeat_interleave(VIEWERS, 0) for each in (gaze, known, points))
    nothing, style = torch.zeros(len(points), full), torch.zeros(count, dtype=torch.long)
    unknown = torch.full((len(points),), torch.nan)
    conditions = Conditions.requested(style.repeat_interleave(VIEWERS), unknown, torch.zeros(len(points)))
    density = torch.full((count, ROWS * COLUMNS), 1 / (ROWS * COLUMNS))
    text_embedding = torch.zeros(count, 512)
    return TokenTensors(features(), text_embedding, style, density, gaze, known, nothing, points, points, conditions)


def learned(name: str, sequences: list[np.ndarray], steps: int, rate: float = 3e-3) -> STDiffEye:
    torch.manual_seed(0)
    part = STDiffEye(overlay(load_preset(name).stages["gaze"], SMALL[name], name))
    batch = batch_of(part, sequences)
    optimiser = torch.optim.AdamW(part.train().parameters(), rate, weight_decay=0.0)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 20, 3 * (1 - step / steps))
        optimiser.zero_grad()
        part.loss(batch, StepRandom(0, step))["total"].backward()
        torch.nn.utils.clip_grad_norm_(part.parameters(), 1.0)
        optimiser.step()
    return part.eval()


def queries() -> list[Query]:
    return [Query(row[None], torch.zeros(1, 512), FRAME) for row in features()]


def apart_px(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.hypot(*(one - other).T).mean())


def test_scandiffs_form_learns_the_scanpath_of_each_picture_by_heart():
    rows = [np.column_stack(each) for each in zip(PLACES, TIMES_S, strict=True)]
    part = learned("scandiff-small", rows, steps=400)
    drawn = part.scanpaths(queries(), [range(12)] * 2, SamplingOptions())
    for paths, xy, times_s in zip(drawn, PLACES, TIMES_S, strict=True):
        right = [path for path in paths if len(path) == len(xy)]
        assert len(right) >= 10
        assert np.median([apart_px(path.xy_px, FRAME.denormalise(xy)) for path in right]) < 0.7 * CELL_PX
        assert np.median([path.duration_ms for path in right], axis=0) == pytest.approx(1000 * times_s, rel=0.2)


def test_diffeyes_form_learns_the_trajectory_of_each_picture_by_heart():
    resting = [xy.repeat(POINTS // len(xy), axis=0) for xy in PLACES]
    part = learned("diffeye-small", resting, steps=400)
    drawn = part.trajectories(queries(), [range(6)] * 2, SamplingOptions())
    ways = [FRAME.denormalise(xy) for xy in resting]
    for paths, way, other in zip(drawn, ways, reversed(ways), strict=True):
        assert np.median([apart_px(path.xy_px, way) for path in paths]) < 0.7 * CELL_PX < apart_px(way, other)
