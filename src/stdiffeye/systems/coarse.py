"""The coarse half: a scanpath, given the picture, the words and the viewing time.

The number of fixations is drawn first; the denoiser then sees exactly that many tokens. Its attention to the picture
is a denoising attention (see `model.parts.Geometry`), fed by a density of where people look that is learned along.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from stdiffeye.data.batches import NO_CHANGE, Augment
from stdiffeye.diffusion import (
    MULTISTEP,
    NoiseSource,
    add_noise,
    categorical,
    estimate_z0,
    make_schedule,
    noise_of,
    sample,
    target,
)
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath
from stdiffeye.gaze.timeline import end_s, joined, lasting, onset_s, paced, until
from stdiffeye.model.conditions import ConditionEmbedding, Conditions, LengthHead
from stdiffeye.model.denoiser import Denoiser
from stdiffeye.model.parts import Geometry, Picture
from stdiffeye.model.picture import DensityHead, Fusion, grid_centres
from stdiffeye.systems.coarse_config import CoarseConfig
from stdiffeye.systems.coarse_data import CoarseBatches, ScanpathTensors, token_mask
from stdiffeye.systems.cores import on_cores
from stdiffeye.systems.draws import Draws
from stdiffeye.systems.part import BatchPlan, Look, Options, Part, Sources
from stdiffeye.systems.scanpath_tokens import (
    CHANNELS,
    PLACE_SPREAD,
    Drawn,
    from_tokens,
    neighbourhood,
    place_to_token,
)
from stdiffeye.systems.seating import POOL, seats

LONGEST_TRAINED_S = 5.0  # longest viewing time of the public sets
BEYOND_S = 0.6  # people's last fixations end before the picture goes: a look that goes on is asked for more, and cut
MOST_STRETCH = 1.6  # of a look that must fit the time asked for; one that ends much earlier goes on, much later is cut
SHORTEST_REST_S = 0.3  # a shorter rest than one fixation is left alone
MAX_CONTINUATIONS = 8
NOTHING_TOLD = 1e-3  # signal below which tokens are noise: all that can be said of them is the same for every viewer

Value = TypeVar("Value")


class Coarse(Part):
    """p(scanpath | picture, words, viewing time)."""

    draws_scanpaths = True
    draws_pools = True
    place: Tensor

    def __init__(self, config: CoarseConfig) -> None:
        super().__init__()
        self.config = config
        width, cells = config.denoiser.width, self.cells
        self.fusion = Fusion(config.picture)
        self.density = DensityHead(config.picture, len(config.sets)) if config.picture.density else None
        self.conditions = ConditionEmbedding(width, len(config.sets), config.denoiser.max_tokens)
        self.length = LengthHead(width, config.denoiser.max_tokens)
        self.denoiser = Denoiser(config.denoiser)
        self.no_picture = nn.Parameter(torch.zeros(width))
        self.schedule = make_schedule(config.schedule, config.diffusion_steps)
        self.register_buffer("place", place_to_token(grid_centres(*cells)), persistent=False)
        # A cell is a square of even density: its standard deviation is its side / √12.
        self.cell = (1 / cells[0] + 1 / cells[1]) / 2 / PLACE_SPREAD / 12**0.5

    @property
    def max_fixations(self) -> int:
        return self.config.denoiser.max_tokens

    @property
    def cells(self) -> tuple[int, int]:
        return self.config.picture.rows, self.config.picture.columns

    def longest_trained_s(self, dataset: str) -> float:
        """How long people looked in a data set that was trained on."""
        usual = self._usual_s(dataset)
        return LONGEST_TRAINED_S if np.isnan(usual) else usual

    def _usual_s(self, dataset: str) -> float:
        """The same, NaN where it is not known."""
        return self._of_set(self.config.viewing_s, dataset, np.nan)

    def _of_set(self, values: Sequence[Value], dataset: str, otherwise: Value) -> Value:
        return dict(zip(self.config.sets, values, strict=False)).get(dataset, otherwise)

    # ---------------------------------------------------------------- training

    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> CoarseBatches:
        return CoarseBatches(self, sources, split, plan, Augment(relit=self.config.relit) if augment else NO_CHANGE)

    def loss(self, batch: ScanpathTensors, draws: Draws) -> dict[str, Tensor]:
        config, x, (b, m, _) = self.config, batch, batch.tokens.shape
        forgotten = draws.uniform(len(x.manner)) < config.forget_picture
        conditions = x.conditions.without(draws.uniform(b, 2) < config.forget)
        picture = self.look(x.features, x.words, x.manner, forgotten)
        step = (draws.uniform(b) ** config.low_noise * config.diffusion_steps).long()
        noise = draws.normal(b, m, CHANNELS)
        # What the data do not say is pure noise at every level, as it will look to the sampler.
        z0 = torch.where(x.known, x.tokens, draws.normal(b, m, CHANNELS))
        alpha, sigma = self.schedule.at(step)
        valid = token_mask(x.conditions.length, m)
        noisy, context, mirrored = add_noise(z0, noise, alpha, sigma), self.conditions(conditions), conditions.mirrored
        output = self.predict(noisy, step, context, picture, valid, mirrored)
        error = (output - target(z0, noise, alpha, sigma, config.prediction)) ** 2
        if config.prediction == "z0":
            error = error * (alpha / sigma).square().clamp(*config.snr_clamp)[:, None, None]
        parts = {"denoise": draws.mean(error, x.known)}
        parts["length"] = F.cross_entropy(self.length_logits(picture, conditions), x.conditions.length - 1)
        total = parts["denoise"] + config.length_weight * parts["length"]
        if picture.log_density is not None:
            entropy = -(x.density * picture.log_density).sum(-1)
            parts["density"] = draws.mean(entropy, ~forgotten)
            total = total + config.density_weight * parts["density"]
        return parts | {"total": total}

    # ---------------------------------------------------------------- the network

    def look(self, features: Tensor, words: Tensor, manner: Tensor, forgotten: Tensor | None = None) -> Picture:
        """Everything that depends on the pictures alone; hidden ones are a blank with their centre bias."""
        v_joint = self.fusion(features, words)  # (P, N, D)
        if forgotten is not None:
            v_joint = torch.where(forgotten[:, None, None], self.no_picture, v_joint)
        log_density = None if self.density is None else self.density(v_joint, manner)  # (P, N)
        return self.denoiser.look(v_joint, self.place, log_density)

    def predict(
        self,
        z: Tensor,
        step: Tensor,
        context: Tensor,
        picture: Picture,
        valid: Tensor,
        mirrored: Tensor | None = None,
    ) -> Tensor:
        """The network's output for noisy tokens z (B, M, 4) at `step` (B,)."""
        alpha, sigma = self.schedule.at(step)
        where = Geometry.of(z[..., :2], alpha, sigma, self.cell)
        time = step.float() * (1000 / self.config.diffusion_steps)
        near = neighbourhood(z[..., :2], valid, alpha, sigma) if self.config.denoiser.known else None
        return self.denoiser(z, time, context, picture, valid, near, where, mirrored)

    def length_logits(self, picture: Picture, conditions: Conditions) -> Tensor:
        """(B, max) logits of 1, 2, … fixations."""
        unknown = replace(conditions, length=torch.zeros_like(conditions.length))
        return self.length.logits(picture, self.conditions(unknown))

    # ---------------------------------------------------------------- generation

    @torch.inference_mode()
    def scanpaths(
        self, looks: Sequence[Look], seeds: Sequence[Sequence[int]], options: Options
    ) -> list[list[Scanpath]]:
        """A look longer than the tokens hold goes on in a second draw that begins where the first one ended."""
        # One picture at a time: a core is busy with ten viewers, and what they see does not depend on other pictures.
        return [self._scanpaths(look, row, options) for look, row in zip(looks, seeds, strict=True)]

    def _scanpaths(self, look: Look, seeds: Sequence[int], options: Options) -> list[Scanpath]:
        """Of viewers that are spread, whole pools are drawn, as far as it takes to know who sits where."""
        if not options.spread or (options.sampler or self.config.sampler) not in MULTISTEP:
            return self._looked(look, seeds, options)
        paths, size = [], self._of_set(self.config.pools, look.manner, POOL)
        for number, some in groupby(seeds, lambda seed: seed // size):
            pool = range(number * size, (number + 1) * size)
            paths += self._looked(look, pool, options, [seed % size for seed in some])
        return paths

    def _looked(
        self, look: Look, seeds: Sequence[int], options: Options, places: Sequence[int] | None = None
    ) -> list[Scanpath]:
        """Scanpaths of the viewers with these seeds, or of those of them who are seated at `places`."""
        manner = torch.tensor([self.manner_number(look.manner)], device=self.place.device)
        picture, blank = self._look_at(look, manner, options)
        noise, longest_s = noise_of(seeds, options.spread), self.longest_trained_s(look.manner)
        asked_s = self._usual_s(look.manner) if look.seconds is None else look.seconds

        def seat(drafts: Drawn) -> list[int]:
            nonlocal noise
            assert places is not None
            order = seats(finished(drafts, rest_s(start_s)), max(places) + 1)
            chosen = [order[place] for place in places]
            noise = noise.of(chosen)
            return chosen

        def rest_s(start_s: np.ndarray, beyond_s: float = 0.0) -> np.ndarray:
            return np.minimum(asked_s - start_s + beyond_s, longest_s)

        def finished(drawn: Drawn, within_s: np.ndarray) -> list[Scanpath]:
            drafts = drawn.scanpaths([look.frame] * len(drawn.length))
            recorded_s = self._of_set(self.config.recorded_s, look.manner, 0.0)
            paths = [self._in_time(path, s, recorded_s) for path, s in zip(drafts, within_s.tolist(), strict=True)]
            return self._filled(paths, within_s) if look.fill else paths

        start_s = np.zeros(len(seeds))
        begun = self._asked(manner, rest_s(start_s), start_s, longest_s)
        first = self.draw(picture, begun, noise, options, blank, choose=None if places is None else seat)
        paths = finished(first, rest_s(np.zeros(len(first.length))))
        for _ in range(MAX_CONTINUATIONS):
            going_on = [k for k, path in enumerate(paths) if self._goes_on(path, asked_s, longest_s, look.fill)]
            if not going_on:
                break
            start_s = np.array([onset_s(paths[k]) for k in going_on])
            last_xy = np.stack([look.frame.normalise(paths[k].xy_px[-1]) for k in going_on]).astype(np.float32)
            within_s = rest_s(start_s, beyond_s=0.0 if look.fill else BEYOND_S)
            later = self._asked(manner, within_s, start_s, longest_s)
            place = torch.from_numpy(last_xy).to(manner.device)
            rest = self.draw(picture, later, noise.of(going_on), options, blank, place)
            for k, more in zip(going_on, finished(rest, within_s), strict=True):
                paths[k] = joined(paths[k], more)
        return paths if np.isnan(asked_s) else [until(path, asked_s, look.fill) for path in paths]

    def _in_time(self, path: Scanpath, seconds: float, recorded_s: float) -> Scanpath:
        """A look that runs over its time is faster; one that stops short of it is slower where looks are recorded."""
        until_s = min(seconds, recorded_s) if recorded_s else seconds
        over = end_s(path) / until_s
        slower = recorded_s and len(path) < self.max_fixations and over >= 1 / MOST_STRETCH
        return paced(path, until_s) if 1 < over <= MOST_STRETCH or (slower and over < 1) else path

    def _filled(self, paths: list[Scanpath], seconds: np.ndarray) -> list[Scanpath]:
        """People's trials lack some of the time that they looked for; here it passes between the fixations."""
        return [
            lasting(path, s) if len(path) < self.max_fixations and 1 < s / end_s(path) <= MOST_STRETCH else path
            for path, s in zip(paths, seconds.tolist(), strict=True)
        ]

    def _goes_on(self, path: Scanpath, asked_s: float, longest_s: float, fill: bool) -> bool:
        """Whether the look was cut by the number of tokens or the times trained on, not by its own length."""
        cut = fill or len(path) >= self.config.denoiser.max_tokens or asked_s > longest_s
        return cut and asked_s - end_s(path) > SHORTEST_REST_S

    def _look_at(self, look: Look, manner: Tensor, options: Options) -> tuple[Picture, Picture | None]:
        device = self.place.device
        features, words = _required(look.features).to(device), look.words.to(device)
        everything = torch.ones(1, dtype=torch.bool, device=device)
        blank = (
            self.look(features, words, manner, everything) if options.guidance_or(self.config.guidance) != 1 else None
        )
        return self.look(features, words, manner), blank

    def _asked(self, manner: Tensor, rest_s: np.ndarray, start_s: np.ndarray, longest_s: float) -> Conditions:
        """Conditions for times of any length: `rest_s` is asked for, after as much as was trained on."""
        start = np.minimum(start_s, longest_s - np.nan_to_num(rest_s))
        row = [torch.from_numpy(np.asarray(v, dtype=np.float32)).to(manner.device) for v in (start + rest_s, start)]
        return Conditions.asked(manner.expand(len(start_s)), row[0], row[1])

    @torch.no_grad()
    def draw(
        self,
        picture: Picture,
        conditions: Conditions,
        noise: NoiseSource,
        options: Options,
        blank: Picture | None = None,
        first_xy: Tensor | None = None,
        choose: Callable[[Drawn], list[int]] | None = None,
    ) -> Drawn:
        """Scanpaths for P pictures, as many rows of `conditions` for each.

        Parameters
        ----------
        blank : the same with the pictures hidden, for guidance.
        first_xy : (B, 2) in [0, 1], where the first fixation is (a look that goes on), or None.
        choose : given drafts of all, which rows to go on with, in their new order; None for all.
        """
        config, device = self.config, self.place.device
        length = categorical(self.length_logits(picture, conditions), noise.uniform().to(device)) + 1
        known = replace(conditions, length=length)
        context = self.conditions(known)
        m = config.denoiser.max_tokens
        valid = token_mask(length, m)
        given = None if first_xy is None else place_to_token(first_xy)

        def estimate(z: Tensor, step: int, rows: Tensor) -> Tensor:
            now = torch.full((len(z),), step, device=device)
            alpha, sigma = self.schedule.at(now)
            output = self.predict(z, now, context[rows], picture, valid[rows])
            if blank is not None:
                without = self.predict(z, now, context[rows], blank, valid[rows])
                output = without + options.guidance_or(self.config.guidance) * (output - without)
            return estimate_z0(output, z, alpha, sigma, config.prediction)

        def denoise(z: Tensor, step: int) -> Tensor:
            if float(self.schedule.alpha[step]) < NOTHING_TOLD:
                rows, alike = known.kinds()
                any_noise = NoiseSource([0]).fresh(m, CHANNELS).to(device)
                z0 = estimate(any_noise.expand(len(rows), -1, -1), step, rows)[alike]
            else:
                z, rows = z.to(device), torch.arange(len(z), device=device)
                shares = zip(z.chunk(options.cores), rows.chunk(options.cores), strict=True)
                z0 = torch.cat(list(on_cores(lambda some: estimate(some[0], step, some[1]), shares, options.cores)))
            if given is not None:
                z0 = torch.cat([torch.cat([given, z0[:, 0, 2:]], -1)[:, None], z0[:, 1:]], dim=1)
            return z0.cpu()

        def go_on_with(z0: Tensor) -> Tensor:
            nonlocal length, context, valid
            assert choose is not None
            rows = torch.tensor(choose(Drawn(*from_tokens(z0), length)))
            length, context, valid = (every[rows.to(device)] for every in (length, context, valid))
            return rows

        tokens = sample(
            options.sampler or config.sampler,
            denoise,
            self.schedule,
            noise,
            (m, CHANNELS),
            options.steps or config.sampling_steps,
            eta=config.eta,
            choose=None if choose is None else go_on_with,
        )
        return Drawn(*from_tokens(tokens), length)


def _required(features: Tensor | None) -> Tensor:
    if features is None:
        raise InputError("this model looks at pictures: the stimulus has none")
    return features
