"""How the scanpath stage samples: how many fixations, then the fixations, then scanpaths of the requested time.

A trial longer than the tokens hold, or than the recordings, goes on in a second sample that begins where the
first one ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from stdiffeye.diffusion import (
    MULTISTEP,
    Levels,
    NoiseSource,
    Prediction,
    begin,
    categorical,
    estimate_z0,
    multistep,
    noise_of,
    sample,
)
from stdiffeye.gaze import Scanpath
from stdiffeye.gaze.timeline import begun_s, clip_to, end_s, joined, onset_s, rescale_time, stretch_gaps
from stdiffeye.model.conditions import Conditions
from stdiffeye.model.fixation_tokens import CHANNELS, SampledScanpaths, from_tokens, to_tokens
from stdiffeye.model.layers import EncodedImage
from stdiffeye.model.tokens import token_mask
from stdiffeye.systems.base import Query, SamplingOptions
from stdiffeye.systems.coarse_to_fine.representatives import CANDIDATES, select_representatives
from stdiffeye.systems.cores import on_cores
from stdiffeye.systems.image_conditioned import guided

if TYPE_CHECKING:
    from stdiffeye.gaze.types import Floats
    from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage

PREDICTION: Prediction = "v"
BEYOND_S = 0.6  # human fixations end before the picture goes: a continuation requests more time, and is clipped
MOST_STRETCH = 1.6  # of a trial that must fit the requested time; a much shorter one goes on, a much longer one is cut
SHORTEST_REST_S = 0.3  # a shorter rest than one fixation is left alone
MAX_CONTINUATIONS = 8
PURE_NOISE = 1e-3  # signal below which tokens are noise: their estimate depends on the conditions alone


@dataclass(frozen=True)
class CodedScanpath:
    """A scanpath, and the further numbers of its tokens, where they have more than a fixation's four."""

    path: Scanpath
    code: Floats  # (M, C − 4)

    def joined(self, more: CodedScanpath) -> CodedScanpath:
        """A look that goes on: the first fixation of `more`, which knows what follows, is the last of this one."""
        if len(more.path) == 1:
            return self
        return CodedScanpath(joined(self.path, more.path), np.concatenate([self.code[:-1], more.code]))

    def clip_to(self, seconds: float, fill: bool) -> CodedScanpath:
        """Cut at the end of the viewing time; with `fill` the last fixation lasts until then."""
        path = clip_to(self.path, seconds, fill)
        return CodedScanpath(path, self.code[: len(path)])


def sample_scanpaths(
    stage: ScanpathStage, query: Query, seeds: Sequence[int], options: SamplingOptions
) -> list[CodedScanpath]:
    """One scanpath per seed; representative ones are chosen among the candidates that share their numbers."""
    sampler = QuerySampler(stage, query, options)
    if not options.representative or sampler.solver not in MULTISTEP:
        return sampler.independent(seeds)
    paths: list[CodedScanpath] = []
    size = stage.of_style(stage.config.candidates, query.style, CANDIDATES)
    for number, some in groupby(seeds, lambda seed: seed // size):
        candidates = range(number * size, (number + 1) * size)
        paths += sampler.representative(candidates, [seed % size for seed in some])
    return paths


@dataclass(frozen=True)
class ScanpathDenoiser:
    """ẑ0 of the noisy tokens of B scanpaths on one image."""

    stage: ScanpathStage
    image: EncodedImage
    blank: EncodedImage | None  # the same without the image, for guidance
    guidance: float
    conditions: Conditions  # B rows, with the length
    context: Tensor  # (B, D) embedded
    known: Tensor | None = None  # (B, n, C) numbers of the first tokens that are given, NaN where they are not
    cores: int = 1

    def select(self, rows: Tensor) -> ScanpathDenoiser:
        """The same for some of the scanpaths."""
        return replace(self, conditions=self.conditions.select(rows), context=self.context[rows])

    def __call__(self, z: Tensor, step: int) -> Tensor:
        device = self.context.device
        if float(self.stage.schedule.alpha[step]) < PURE_NOISE:
            rows, kind = self.conditions.kinds()
            any_noise = NoiseSource([0]).fresh(*z.shape[1:]).to(device)
            z0 = self._estimate(any_noise.expand(len(rows), -1, -1), step, rows)[kind]
        else:
            z, rows = z.to(device), torch.arange(len(z), device=device)
            shares = zip(z.chunk(self.cores), rows.chunk(self.cores), strict=True)
            z0 = torch.cat(list(on_cores(lambda some: self._estimate(some[0], step, some[1]), shares, self.cores)))
        if self.known is not None:
            given = self.known.shape[1]
            z0 = torch.cat([torch.where(self.known.isnan(), z0[:, :given], self.known), z0[:, given:]], dim=1)
        return z0.cpu()

    def _estimate(self, z: Tensor, step: int, rows: Tensor) -> Tensor:
        now = torch.full((len(z),), step, device=z.device)
        alpha, sigma = self.stage.schedule.at(now)
        context, conditions = self.context[rows], self.conditions.select(rows)
        valid = token_mask(conditions.length, z.shape[1])
        output = self.stage.predict(z, now, context, self.image, valid, conditions)
        if self.blank is not None:
            blank = self.stage.predict(z, now, context, self.blank, valid, conditions)
            output = guided(output, blank, self.guidance)
        return estimate_z0(output, z, alpha, sigma, PREDICTION)


class QuerySampler:
    """Samples scanpaths of one query."""

    def __init__(self, stage: ScanpathStage, query: Query, options: SamplingOptions) -> None:
        self.stage, self.query, self.options = stage, query, options
        self.solver = options.sampler or stage.config.sampler
        self.guidance = options.guidance_or(stage.config.guidance)
        self.style, self.image, self.blank = stage.encode_query(query, self.guidance)
        self.longest_s = stage.longest_trained_s(query.style)
        self.requested_s = stage.viewing_s(query.style) if query.seconds is None else query.seconds

    def independent(self, seeds: Sequence[int]) -> list[CodedScanpath]:
        """One scanpath per seed."""
        noise = noise_of(seeds, self.options.representative)
        denoiser = self._with_lengths(noise, np.zeros(len(seeds)))
        tokens = self._sample_tokens(denoiser, noise)
        paths = self._scanpaths(tokens, denoiser.conditions.length, self._rest_s(np.zeros(len(seeds))))
        return self._continued(paths, noise)

    def representative(self, candidates: Sequence[int], ranks: Sequence[int]) -> list[CodedScanpath]:
        """Those of `ranks` among the candidates, ordered by how well the first few stand for all of them.

        All candidates are sampled through half of the steps, where their estimates are drafts; the chosen ones go on.
        """
        noise, start_s = noise_of(candidates, True), np.zeros(len(candidates))
        denoiser = self._with_lengths(noise, start_s)
        levels = Levels.of(self.solver, self.stage.schedule, self._steps)
        corrected = self.solver == "unipc"
        at = levels.numbered(denoiser)
        state = begin(at, levels.start(noise, self._shape))
        state = multistep(at, state, levels.schedule, corrected, until=len(levels.steps) // 2)
        drafts = self._scanpaths(state.z0_hat, denoiser.conditions.length, self._rest_s(start_s))
        order = select_representatives([draft.path for draft in drafts], max(ranks) + 1)
        rows = torch.tensor([order[rank] for rank in ranks])
        noise, denoiser = noise.of(rows.tolist()), denoiser.select(rows.to(denoiser.context.device))
        state = multistep(levels.numbered(denoiser), state.select(rows), levels.schedule, corrected)
        paths = self._scanpaths(state.z0_hat, denoiser.conditions.length, self._rest_s(np.zeros(len(rows))))
        return self._continued(paths, noise)

    @property
    def _shape(self) -> tuple[int, int]:
        """Tokens, and numbers of each."""
        return self.stage.max_fixations, self.stage.config.denoiser.channels

    @property
    def _steps(self) -> int:
        return self.options.steps or self.stage.config.sampling_steps

    # ---------------------------------------------------------------- 1. how many fixations

    def _with_lengths(
        self,
        noise: NoiseSource,
        start_s: Floats,
        beyond_s: float = 0.0,
        known: Tensor | None = None,
        more_than: int = 0,
    ) -> ScanpathDenoiser:
        """Sample the number of fixations, given style and time: the denoiser of so many tokens."""
        conditions = self._conditions(self._rest_s(start_s, beyond_s), start_s)
        logits = self.stage.length_logits(self.image, conditions)
        logits[:, :more_than] = -torch.inf
        length = categorical(logits, noise.uniform().to(self.style.device)) + 1
        conditions = replace(conditions, length=length)
        context = self.stage.conditions(conditions)
        return ScanpathDenoiser(
            self.stage, self.image, self.blank, self.guidance, conditions, context, known, self.options.cores
        )

    def _conditions(self, rest_s: Floats, start_s: Floats) -> Conditions:
        """Conditions for times of any length: `rest_s` is requested, after as much as was trained on."""
        start = np.minimum(start_s, self.longest_s - np.nan_to_num(rest_s))
        until, since = (torch.from_numpy(np.asarray(v, dtype=np.float32)) for v in (start + rest_s, start))
        device = self.style.device
        return Conditions.requested(self.style.expand(len(start_s)), until.to(device), since.to(device))

    def _rest_s(self, start_s: Floats, beyond_s: float = 0.0) -> Floats:
        """Time that is left, as far as was trained on; NaN where none was requested."""
        return np.minimum(self.requested_s - start_s + beyond_s, self.longest_s)

    # ---------------------------------------------------------------- 2. the fixations

    def _sample_tokens(self, denoiser: ScanpathDenoiser, noise: NoiseSource) -> Tensor:
        """(B, M, C)."""
        return sample(self.solver, denoiser, self.stage.schedule, noise, self._shape, self._steps)

    def next_positions(self, history: Scanpath | None, seeds: Sequence[int]) -> Tensor:
        """(S, 2) where the next fixation is after these, in [0, 1], one sample per seed.

        The tokens of the past are known: their estimate is replaced at every step, so that their noise fades as that
        of the others does. Trials have at least one fixation more than the history.
        """
        noise, start_s, known = noise_of(seeds, self.options.representative), np.zeros(len(seeds)), None
        if history is not None:
            first = len(history) - self.stage.max_fixations // 2 if len(history) >= self.stage.max_fixations else 0
            start_s = np.fmin(start_s + begun_s(history, first), self.requested_s - SHORTEST_REST_S)
            known = self._known(history[first:]).expand(len(seeds), -1, -1)
        given = 0 if known is None else known.shape[1]
        denoiser = self._with_lengths(noise, start_s, known=known, more_than=given)
        return from_tokens(self._sample_tokens(denoiser, noise))[0][:, given]

    def _known(self, history: Scanpath) -> Tensor:
        """(1, n, C) tokens of a history, NaN what is not known of them."""
        unknown = np.full(len(history), np.nan)
        gap_ms = unknown if history.gap_ms is None else np.append(history.gap_ms, np.nan)
        xy, *times = (
            torch.from_numpy(np.asarray(column, dtype=np.float32))[None].to(self.style.device)
            for column in (
                self.query.frame.normalise(history.xy_px),
                unknown if history.duration_ms is None else history.duration_ms,
                gap_ms,
            )
        )
        return self._given(*to_tokens(xy, *times))

    def _given(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """The numbers of tokens that are given, and NaN for the others and for the code."""
        return F.pad(torch.where(mask, tokens, torch.nan), (0, self._shape[1] - CHANNELS), value=torch.nan)

    # ---------------------------------------------------------------- 3. scanpaths in time

    def _scanpaths(self, tokens: Tensor, length: Tensor, within_s: Floats) -> list[CodedScanpath]:
        frames = [self.query.frame] * len(tokens)
        paths = SampledScanpaths(length, *from_tokens(tokens)).scanpaths(frames)
        codes = tokens[..., CHANNELS:].double().numpy()
        return [
            CodedScanpath(self._in_time(path, seconds), code[: len(path)])
            for path, seconds, code in zip(paths, within_s.tolist(), codes, strict=True)
        ]

    def _in_time(self, path: Scanpath, seconds: float) -> Scanpath:
        """A scanpath that runs over its time is faster; one that stops short of it is slower, where it must last."""
        recorded_s = self.stage.of_style(self.stage.config.recorded_s, self.query.style, 0.0)
        until_s = min(seconds, recorded_s) if recorded_s else seconds
        over, whole = end_s(path) / until_s, len(path) < self.stage.max_fixations
        slower = recorded_s and whole and over >= 1 / MOST_STRETCH
        if 1 < over <= MOST_STRETCH or (slower and over < 1):
            path = rescale_time(path, until_s)
        # Human trials lack some of the viewing time; here it passes between the fixations.
        stretches = self.query.fill and whole and 1 < seconds / end_s(path) <= MOST_STRETCH
        return stretch_gaps(path, seconds) if stretches else path

    def _continued(self, paths: list[CodedScanpath], noise: NoiseSource) -> list[CodedScanpath]:
        """Scanpaths that were cut by the number of tokens, or by the times trained on, go on where they ended."""
        for _ in range(MAX_CONTINUATIONS):
            open_rows = [row for row, path in enumerate(paths) if self._goes_on(path.path)]
            if not open_rows:
                break
            start_s = np.array([onset_s(paths[row].path) for row in open_rows])
            last_xy = np.stack([self.query.frame.normalise(paths[row].path.xy_px[-1]) for row in open_rows])
            beyond_s, rest_noise = 0.0 if self.query.fill else BEYOND_S, noise.of(open_rows)
            first_xy = torch.from_numpy(last_xy.astype(np.float32)).to(self.style.device)
            unknown = torch.full((len(open_rows), 1), torch.nan, device=self.style.device)
            known = self._given(*to_tokens(first_xy[:, None], unknown, unknown))
            denoiser = self._with_lengths(rest_noise, start_s, beyond_s, known)
            tokens = self._sample_tokens(denoiser, rest_noise)
            rest = self._scanpaths(tokens, denoiser.conditions.length, self._rest_s(start_s, beyond_s))
            for row, more in zip(open_rows, rest, strict=True):
                paths[row] = paths[row].joined(more)
        if np.isnan(self.requested_s):
            return paths
        return [path.clip_to(self.requested_s, self.query.fill) for path in paths]

    def _goes_on(self, path: Scanpath) -> bool:
        cut = self.query.fill or len(path) >= self.stage.max_fixations or self.requested_s > self.longest_s
        return cut and self.requested_s - end_s(path) > SHORTEST_REST_S
