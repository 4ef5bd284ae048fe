"""Where the next fixation is, sampled from the paper's form with the tokens of the past clamped.

A history of fixations is known as tokens: fixations by themselves, or the samples of the trajectory that it is lifted
to. In a generated trajectory the next fixation is the first that begins after the history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from stdiffeye.arrays import Floats
from stdiffeye.diffusion.noise import noise_of
from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial, extract
from stdiffeye.gaze.timeline import USUAL_DURATION_MS
from stdiffeye.model.conditions import Conditions
from stdiffeye.systems.base import Query, SamplingOptions
from stdiffeye.systems.next_fixation import Histories
from stdiffeye.systems.st_diffeye.config import STDiffEyeConfig
from stdiffeye.systems.st_diffeye.data import Rows, TokenTensors, filled, in_units, sequence_of

if TYPE_CHECKING:
    from stdiffeye.systems.st_diffeye.model import STDiffEye

MOST_KNOWN = 0.75  # of the tokens; of a longer history the last fixations are known
SOON_MS = 20.0  # a fixation of the history may seem to begin a little later than it does
INDEX = 3  # column of the fixation index


@torch.inference_mode()
def next_positions(system: STDiffEye, query: Query, histories: Histories) -> Iterator[Tensor]:
    """For each history (n, 2) samples of the next fixation, in [0, 1]."""
    config, patch = system.config.next_fixation, system.config.patch
    style, image, _ = system.encode_query(query, guidance=1.0)
    options = SamplingOptions(config.steps, config.sampler, representative=True)
    for history in histories:
        rows = np.empty((0, INDEX)) if history is None else history_rows(history, system.config)
        given, noise = len(rows) // patch, noise_of(config.seeds, stratified=True)
        tokens, trials = system.sampled_trials([image], query, style.expand(config.samples), noise, more_than=given)
        if given:
            whole = system.config.max_tokens if tokens is None else float(tokens.float().mean())
            known = known_tokens(system, rows[: given * patch], given / whole)
            trials = [replace(trial, known=known) for trial in trials]
        z0 = system.sample_tokens(trials, tokens, noise, options)
        decoded = system.decode(z0).double().cpu().numpy()
        xy = np.stack([system.units.restored(one)[:, :2] for one in decoded])  # (n, T, 2)
        lengths = np.full(len(xy), xy.shape[1]) if tokens is None else tokens.cpu().numpy() * patch
        if system.config.modality != "scanpath":
            known_ms = len(rows) / system.config.rate_hz * 1000
            xy = np.stack(
                [
                    _next(one[:n], known_ms, query.frame, system.config.rate_hz)
                    for one, n in zip(xy, lengths, strict=True)
                ]
            )
        else:
            xy = xy[:, given]
        yield torch.from_numpy(xy.clip(0, 1))


def history_rows(history: Scanpath, config: STDiffEyeConfig) -> Rows:
    """(T, 3 or 4) rows of the fixations, or of the samples that they are lifted to; of a long history the last ones."""
    if history.duration_ms is None:
        history = replace(history, duration_ms=np.full(len(history), USUAL_DURATION_MS))
    most = int(MOST_KNOWN * config.max_samples)
    rows = _rows(history, config)
    while len(rows) > most and len(history) > 1:
        history = history[1:]
        rows = _rows(history, config)
    return rows[-most:]


def known_tokens(system: STDiffEye, rows: Rows, share: float) -> Tensor:
    """(1, n, Z) clean tokens of these rows, which are this share of the sequence: their index is scaled by it."""
    config, device = system.config, system.position.device
    rho = rows[:, INDEX] * share if rows.shape[1] > INDEX else np.zeros(len(rows))
    rows = np.column_stack([rows[:, :INDEX], rho]) if rows.shape[1] > INDEX else rows
    gaze = torch.from_numpy(in_units(filled(rows), config, system.units).astype(np.float32))[None].to(device)
    one, none = torch.ones(1, dtype=torch.int64, device=device), torch.empty(0, device=device)
    conditions = Conditions.requested(one, one.float(), one.float())
    index = torch.from_numpy(rho.astype(np.float32))[None].to(device)
    points, fixations = one * len(rows), one * config.max_fixations
    given = torch.ones_like(gaze, dtype=torch.bool)
    return system.encode(TokenTensors(none, none, one, none, gaze, given, index, fixations, points, conditions)).float()


def _rows(history: Scanpath, config: STDiffEyeConfig) -> Rows:
    """Lifted without noise, so that a history has one density."""
    trial = Trial("history", "", history)
    return sequence_of(trial, config, None).rows


def _next(xy: Floats, known_ms: float, frame: Frame, rate_hz: float) -> Floats:
    """(2,) the first fixation of a trajectory that begins after the history; its end where there is none."""
    path = extract(Trajectory(frame.denormalise(xy), rate_hz, frame, synthesised=True))
    assert path.onset_ms is not None
    later = np.flatnonzero(path.onset_ms > known_ms + SOON_MS) if known_ms else np.array([0])
    return np.asarray(frame.normalise(path.xy_px[later[0]]) if len(later) else xy[-1])
