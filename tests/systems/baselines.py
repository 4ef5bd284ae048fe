"""Every peer in a tiny form, batches made by hand, and a way to learn them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from stdiffeye.gaze import Frame
from stdiffeye.model.conditions import Conditions
from stdiffeye.model.fixation_tokens import to_tokens
from stdiffeye.model.image import PHASES, cell_shares
from stdiffeye.model.tokens import token_mask
from stdiffeye.systems.base import Query, SamplingOptions
from stdiffeye.systems.presets import SYSTEMS, load_preset, overlay
from stdiffeye.systems.scanpath_data import ScanpathTensors
from stdiffeye.systems.step_random import StepRandom

ROWS, COLUMNS, CHANNELS, FIXATIONS = 6, 8, 8, 6
PICTURE = {"channels": CHANNELS, "rows": ROWS, "columns": COLUMNS, "width": 32, "dropout": 0.0, "mixing": 0}
FRAME = Frame(800, 600)
SMALL: dict[str, dict[str, Any]] = {
    "deepgaze3": {},
    "tpp-gaze": {"hidden": 32},
    "hat": {"depth": 1, "coarse": 2},
    "gazeformer": {"depth": 1, "dropout": 0.0},
    "gazexplain": {"depth": 1, "dropout": 0.0},
}
PEERS = tuple(SMALL)
UNTIMED = ("deepgaze3", "hat")
TIMED = ("tpp-gaze", "gazeformer", "gazexplain")


def peer(name: str, **changes: Any) -> Any:
    """A tiny, untrained peer."""
    torch.manual_seed(0)
    tiny = {"image": PICTURE, "max_fixations": FIXATIONS, "sets": ["made"]} | SMALL[name] | changes
    return SYSTEMS[name]["scanpath"](overlay(load_preset(name).stages["scanpath"], tiny, name))


def features(pictures: int) -> torch.Tensor:
    return torch.randn(pictures, ROWS * COLUMNS, CHANNELS, generator=torch.Generator().manual_seed(1))


def batch_of(paths: list[list[tuple[np.ndarray, np.ndarray | None]]]) -> ScanpathTensors:
    """Pictures → viewers → (xy in [0, 1], durations or None), as many viewers for each picture."""
    rows = [row for viewers in paths for row in viewers]
    xy = torch.zeros(len(rows), FIXATIONS, 2)
    duration = torch.full((len(rows), FIXATIONS), torch.nan)
    for number, (places, times) in enumerate(rows):
        xy[number, : len(places)] = torch.from_numpy(places)
        if times is not None:
            duration[number, : len(places)] = torch.from_numpy(times)
    length = torch.tensor([len(places) for places, _ in rows])
    tokens, known = to_tokens(xy, duration, torch.full_like(duration, torch.nan))
    known = known & token_mask(length, FIXATIONS)[..., None]
    density = torch.stack(
        [torch.from_numpy(cell_shares(np.concatenate([xy for xy, _ in viewers]), ROWS, COLUMNS)) for viewers in paths]
    )
    style = torch.ones(len(paths), dtype=torch.int64)
    unknown = torch.full((len(rows),), torch.nan)
    asked = Conditions.requested(torch.ones(len(rows), dtype=torch.int64), unknown, torch.zeros(len(rows)))
    conditions = replace(asked, length=length)
    of_pictures = (features(len(paths)), torch.zeros(len(paths), 512), style, density)
    no_phases = torch.zeros(len(paths), len(PHASES), ROWS * COLUMNS)
    return ScanpathTensors(*of_pictures, no_phases, tokens, known, conditions)


def learn(part: Any, batch: ScanpathTensors, steps: int = 300, rate: float = 5e-3) -> Any:
    optimiser = torch.optim.AdamW(part.train().parameters(), rate, weight_decay=0.0)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 20, 3 * (1 - step / steps))
        loss = part.loss(batch, StepRandom(0, step))["total"]
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(part.parameters(), 1.0)
        optimiser.step()
    return part.eval()


def queries(pictures: int, seconds: float | None = None) -> list[Query]:
    return [Query(row[None], torch.zeros(1, 512), FRAME, seconds, "made") for row in features(pictures)]


def drawn(part: Any, pictures: int = 1, samples: int = 1, seconds: float | None = None, start: int = 0) -> list[list]:
    seeds = [list(range(start, start + samples))] * pictures
    return part.scanpaths(queries(pictures, seconds), seeds, SamplingOptions())
