"""The paper's form: one denoiser over the tokens of a whole trajectory (or scanpath), given picture and words.

By configuration this is ST-DiffEye with every ablation of its tables, its temporally patched form (`joint-*`), and
the two systems that it is compared with, ScanDiff (modality scanpath) and DiffEye (network unet).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from stdiffeye.diffusion import add_noise, edm_gain, estimate_z0, network_input, sample, target
from stdiffeye.diffusion.noise import NoiseSource, categorical, noise_of
from stdiffeye.diffusion.samplers import Callback
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory
from stdiffeye.gaze.fixations import extract
from stdiffeye.model.conditions import ConditionEmbedding, Conditions, LengthHead
from stdiffeye.model.denoiser import Denoiser
from stdiffeye.model.parts import Geometry, Picture
from stdiffeye.model.picture import DensityHead, Fusion, grid_centres
from stdiffeye.model.tokens import (
    IndexAdded,
    IndexCode,
    PatchBasis,
    change_point,
    from_patches,
    leading_run,
    to_patches,
    token_decoder,
    token_encoder,
)
from stdiffeye.model.unet import UNet
from stdiffeye.systems.coarse_data import token_mask
from stdiffeye.systems.draws import Draws
from stdiffeye.systems.levels import Level, NoiseLevels
from stdiffeye.systems.part import AS_CONFIGURED, BatchPlan, Look, Options, Part, Sources
from stdiffeye.systems.scanpath_tokens import PLACE_SPREAD, place_to_token
from stdiffeye.systems.tokens_config import TokensConfig
from stdiffeye.systems.tokens_data import TokenBatches, TokenTensors
from stdiffeye.systems.tokens_units import MILLISECONDS, Units

TOKENS_AT_ONCE = 32_768  # bounds the memory of generating many samples


@dataclass(frozen=True)
class Gaze:
    """One generated sequence of L samples, or fixations."""

    xy: NDArray[np.float64]  # (L, 2) in [0, 1] of the picture
    duration_ms: NDArray[np.float64] | None  # (L,) of fixations; None for samples
    rho: NDArray[np.float64] | None  # (L,) the generated fixation index, where it is one of the channels

    def trajectory(self, frame: Frame, rate_hz: float) -> Trajectory:
        return Trajectory(frame.denormalise(self.xy), rate_hz, frame, synthesised=True)

    def scanpath(self, frame: Frame) -> Scanpath:
        return Scanpath(frame.denormalise(self.xy), frame, self.duration_ms)


@dataclass(frozen=True)
class Trials:
    """What stays the same for B sequences from step to step."""

    picture: Picture
    valid: Tensor | None = None  # (B, N) where padding is masked
    context: Tensor | None = None  # (B, D)
    added: Tensor | None = None  # (B, N, D)


class Tokens(Part):
    """p(trajectory, fixation index | picture, words), or p(scanpath | picture, words)."""

    draws_scanpaths = True
    place: Tensor

    def __init__(self, config: TokensConfig) -> None:
        super().__init__()
        self.config = config
        self.draws_trajectories = config.modality != "scanpath"
        width, sets = config.picture.width, len(config.sets)
        per_token, cells = config.patch * config.channels, (config.picture.rows, config.picture.columns)
        self.units, self.noise = Units(config), NoiseLevels(config.noise)
        self.basis = PatchBasis(config.patch, config.rate_hz, self.units.channels) if config.cosines else None
        self.fusion = Fusion(config.picture)
        self.density = DensityHead(config.picture, sets) if config.picture.density else None
        if config.network == "unet":
            self.denoiser: Denoiser | UNet = UNet(config.unet, config.token_width, width)
        else:
            self.denoiser = Denoiser(config.denoiser)
        if config.has_index:
            self.index = IndexCode(config.encoding, config.index_width, config.max_fixations)
            if config.injection == "embedding":
                self.index_added = IndexAdded(self.index, config.patch, width)
        if config.space == "latent":
            entering = config.channels - config.decodes_index + config.code_width * config.decodes_index
            self.encoder = token_encoder(config.patch * entering, config.latent)
            self.decoder = token_decoder(config.latent, per_token)
        if config.length == "validity":
            self.validity = self._validity_head(per_token)
        elif config.length == "first":
            self.conditions = ConditionEmbedding(width, sets, config.max_tokens)
            self.length = LengthHead(width, config.max_tokens)
        if config.forget_picture:
            self.no_picture = nn.Parameter(torch.zeros(width))
        self.register_buffer("place", place_to_token(grid_centres(*cells)), persistent=False)
        # A cell is a square of even density: its standard deviation is its side / √12.
        self.cell = (1 / cells[0] + 1 / cells[1]) / 2 / PLACE_SPREAD / 12**0.5

    def _validity_head(self, per_token: int) -> nn.Module:
        config = self.config
        if config.space == "latent":
            return nn.Linear(config.latent, 2 * config.patch)
        hidden = config.latent // 2
        return nn.Sequential(nn.Linear(per_token, hidden), nn.ReLU(), nn.Linear(hidden, 2 * config.patch))

    @property
    def spread(self) -> Tensor | float:
        """Standard deviation of the numbers of a token."""
        return 1.0 if self.basis is None else self.basis.spread

    def extra_state(self) -> dict[str, Tensor]:
        return {} if self.noise.steps is None else self.noise.steps.state()

    def load_extra_state(self, state: dict[str, Tensor]) -> None:
        if self.noise.steps is not None:
            self.noise.steps.load(state)

    # ---------------------------------------------------------------- training

    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> TokenBatches:
        return TokenBatches(self, sources, split, plan, augment)

    def loss(self, batch: TokenTensors, draws: Draws) -> dict[str, Tensor]:
        config, x, b = self.config, batch, len(batch.points)
        forgotten = draws.uniform(len(x.manner)) < config.forget_picture
        picture = self.look(x.features, x.words, x.manner, forgotten if config.forget_picture else None)
        conditions = x.conditions.without(draws.uniform(b, 2) < config.forget)
        level = self.noise.draw(draws, b)
        trials, z0 = self._trials(x, picture, conditions), self.encode(x).float()  # (B, N, Z)
        # Drawn for the longest sequence that there can be: processes with shorter batches draw the same numbers.
        noise = draws.normal(b, config.max_tokens, config.token_width)[:, : z0.shape[1]]  # (B, N, Z)
        z = add_noise(z0, noise, level.alpha, level.sigma)
        output = self.predict(z, level, trials).float()
        z0_hat = estimate_z0(output, z, level.alpha, level.sigma, config.noise.prediction, self.spread)
        error = (output - target(z0, noise, level.alpha, level.sigma, config.noise.prediction, self.spread)) ** 2
        parts = {"denoise": row_mean(error, self._counted(x) * self._importance(level, z0))}
        parts |= self._decoding_losses(x, z0_hat if config.loss.decode == "predicted" else z0, z0)
        weights = {"recon": config.loss.recon, "validity": config.loss.validity, "prior": config.loss.prior}
        rows = sum((weights.get(name, 1.0) * part for name, part in parts.items()), torch.zeros_like(level.weight))
        if self.training:
            self.noise.learn(level, rows, draws.ranks)
        means = {name: (level.weight * part).mean() for name, part in parts.items()}
        total = (level.weight * rows).mean()
        if config.length == "first":
            means["length"] = F.cross_entropy(self.length_logits(picture, conditions), x.conditions.length - 1)
            total = total + config.loss.length * means["length"]
        if picture.log_density is not None:
            means["density"] = draws.mean(-(x.density * picture.log_density).sum(-1), ~forgotten)
            total = total + config.loss.density * means["density"]
        return means | {"total": total}

    def _decoding_losses(self, x: TokenTensors, z0: Tensor, clean: Tensor) -> dict[str, Tensor]:
        """L_recon, L_val and L_reg of every row, those that this form has."""
        config, parts = self.config, {}
        if config.loss.recon:
            parts["recon"] = row_mean((self.decode(z0) - x.gaze).abs(), x.known)
        if config.length == "validity" and config.loss.validity:
            logits = self.validity_logits(z0).transpose(1, 2)  # (B, 2, T)
            entropy = F.cross_entropy(logits, x.is_gaze.long(), reduction="none")  # (B, T)
            parts["validity"] = entropy.mean(1)
        if config.space == "latent" and config.loss.prior:
            parts["prior"] = (float(self.noise.schedule.alpha[-1]) * clean).square().mean((1, 2))
        return parts

    def _counted(self, x: TokenTensors) -> Tensor:
        """(B, N, Z or 1) which numbers the error of denoising is taken over."""
        valid = self._valid(x)[..., None]
        if self.config.loss.on_padding:
            return torch.ones_like(valid)
        if self.basis is not None:  # a lost sample is in every cosine of its token
            lost = to_patches(x.is_gaze[..., None] & ~x.known, self.config.patch).any(-1, keepdim=True)
            return valid & ~lost
        return valid & to_patches(x.known, self.config.patch) if self.config.space == "data" else valid

    def _importance(self, level: Level, z0: Tensor) -> Tensor | float:
        """(B, 1, Z) weight of the numbers of a token: at every noise level, those that can be told from it."""
        return 1.0 if self.basis is None else edm_gain(level.sigma, z0, self.spread)

    def _valid(self, x: TokenTensors) -> Tensor:
        """(B, N) tokens that hold any gaze, or the tokens that were drawn where length comes first."""
        first, patch = self.config.length == "first", self.config.patch
        tokens = x.conditions.length if first else (x.points + patch - 1) // patch
        return token_mask(tokens, x.gaze.shape[1] // patch)

    def _trials(self, x: TokenTensors, picture: Picture, conditions: Conditions) -> Trials:
        first = self.config.length == "first"
        added = None
        if self.config.injection == "embedding":
            added = self.index_added(x.rho, x.fixations, x.is_gaze)
        return Trials(picture, self._valid(x) if first else None, self.conditions(conditions) if first else None, added)

    # ---------------------------------------------------------------- the network

    def encode(self, x: TokenTensors) -> Tensor:
        """z0 (B, N, Z): g of the samples, their cosines, or the samples themselves."""
        config = self.config
        if config.space == "data":
            tokens = to_patches(x.gaze, config.patch)
            return tokens if self.basis is None else self.basis(tokens)
        gaze = x.gaze
        if config.decodes_index and config.encoding != "raw":
            code = self._code(x, gaze[..., :1])
            gaze = torch.cat([gaze[..., :-1], code], dim=-1)  # (B, T, C + E)
        z0 = self.encoder(to_patches(gaze, config.patch))  # (B, N, latent)
        if config.has_index and config.injection == "latent":
            z0 = torch.cat([z0, to_patches(self._code(x, gaze[..., :1]), config.patch)], dim=-1)
        return z0

    def _code(self, x: TokenTensors, padding: Tensor) -> Tensor:
        """(B, T, E) code of the index; on padding what the other channels hold there."""
        return torch.where(x.is_gaze[..., None], self.index(x.rho, x.fixations), padding)

    def decode(self, z0: Tensor) -> Tensor:
        """(B, T, C) samples in the network's units."""
        if self.basis is not None:
            return from_patches(self.basis.back(z0), self.config.patch)
        tokens = z0 if self.config.space == "data" else self.decoder(z0[..., : self.config.latent])
        return from_patches(tokens, self.config.patch)

    def validity_logits(self, z0: Tensor) -> Tensor:
        """(B, T, 2) logits of padding and of gaze."""
        tokens = z0 if self.config.space == "data" else z0[..., : self.config.latent]
        return from_patches(self.validity(tokens), self.config.patch)

    def look(self, features: Tensor, words: Tensor, manner: Tensor, forgotten: Tensor | None = None) -> Picture:
        """Everything that depends on the pictures alone."""
        v_joint = self.fusion(features, words)  # (P, N, D)
        if forgotten is not None:
            v_joint = torch.where(forgotten[:, None, None], self.no_picture, v_joint)
        log_density = None if self.density is None else self.density(v_joint, manner)  # (P, N)
        return self.denoiser.look(v_joint, self.place, log_density)

    def predict(self, z: Tensor, level: Level, trials: Trials) -> Tensor:
        """The network's output for noisy tokens z (B, N, Z)."""
        where = None
        if self.config.denoiser.denoising_attention:
            # A token's place is the mean of its samples', whose noise is that much smaller.
            numbers = z.unflatten(-1, (self.config.patch, -1))[..., :2]  # (B, N, p, 2)
            token_xy = numbers.mean(2) if self.basis is None else numbers[:, :, 0] / self.config.patch**0.5  # (B, N, 2)
            where = Geometry.of(token_xy, level.alpha, level.sigma / self.config.patch**0.5, self.cell)
        seen = network_input(z, level.alpha, level.sigma, self.spread)
        return self.denoiser(
            seen, level.time, trials.context, trials.picture, trials.valid, where=where, added=trials.added
        )

    def length_logits(self, picture: Picture, conditions: Conditions) -> Tensor:
        """(B, max) logits of 1, 2, … tokens."""
        unknown = replace(conditions, length=torch.zeros_like(conditions.length))
        return self.length.logits(picture, self.conditions(unknown))

    # ---------------------------------------------------------------- generation

    def scanpaths(
        self, looks: Sequence[Look], seeds: Sequence[Sequence[int]], options: Options
    ) -> list[list[Scanpath]]:
        """One per look and seed; those of trajectories are extracted by Judd's algorithm, as the paper does."""
        if self.draws_trajectories:
            return [[extract(one) for one in row] for row in self.trajectories(looks, seeds, options)]
        drawn = [(look, self.generate(look, row, options)) for look, row in zip(looks, seeds, strict=True)]
        return [[gaze.scanpath(look.frame) for gaze in row] for look, row in drawn]

    def trajectories(
        self, looks: Sequence[Look], seeds: Sequence[Sequence[int]], options: Options
    ) -> list[list[Trajectory]]:
        """One per look and seed."""
        if not self.draws_trajectories:
            raise InputError("a system of modality scanpath draws no trajectories: `animate` makes them of scanpaths")
        drawn = [(look, self.generate(look, row, options)) for look, row in zip(looks, seeds, strict=True)]
        return [[gaze.trajectory(look.frame, self.config.rate_hz) for gaze in row] for look, row in drawn]

    @torch.no_grad()
    def generate(
        self, look: Look, seeds: Sequence[int], options: Options = AS_CONFIGURED, callback: Callback | None = None
    ) -> list[Gaze]:
        """One sequence per seed; each is the same whatever it is generated with."""
        if look.features is None:
            raise InputError("this model looks at pictures: the stimulus has none")
        guided = options.guidance_or(1.0) != 1.0
        if guided and not self.config.forget_picture:
            raise InputError("guidance needs a model that was trained with forget_picture above 0")
        device = self.place.device
        features, words = look.features.to(device), look.words.to(device)
        manner = torch.tensor([self.manner_number(look.manner)], device=device)
        pictures = [self.look(features, words, manner)]
        if guided:
            pictures.append(self.look(features, words, manner, torch.ones(1, dtype=torch.bool, device=device)))
        at_once, done = max(1, TOKENS_AT_ONCE // self.config.max_tokens), []
        for first in range(0, len(seeds), at_once):
            done += self._draw(pictures, look, manner, seeds[first : first + at_once], options, callback)
        return done

    def _draw(
        self,
        pictures: list[Picture],
        look: Look,
        manner: Tensor,
        seeds: Sequence[int],
        options: Options,
        callback: Callback | None,
    ) -> list[Gaze]:
        config, count, device = self.config, len(seeds), self.place.device
        noise = noise_of(seeds, options.spread)
        tokens, trials = self._drawn_trials(pictures, look, manner.expand(count), noise)
        steps = options.steps or config.sampling_steps
        schedule = self.noise.sampling_schedule(steps)

        def denoise(z: Tensor, step: int) -> Tensor:
            z, level = z.to(device), self.noise.at(schedule, step, count, device)
            outputs = [self.predict(z, level, each) for each in trials]
            output = outputs[0] if len(outputs) == 1 else torch.lerp(outputs[1], outputs[0], options.guidance_or(1.0))
            return estimate_z0(output, z, level.alpha, level.sigma, config.noise.prediction, self.spread).cpu()

        z0 = sample(
            options.sampler or config.sampler,
            denoise,
            schedule,
            noise,
            (config.max_tokens, config.token_width),
            steps,
            eta=config.eta,
            trim=None if tokens is None else int(tokens.max()),
            callback=callback,
        ).to(device)
        return self._gaze(z0, self._lengths(z0, tokens, look.seconds))

    def _drawn_trials(
        self, pictures: list[Picture], look: Look, manner: Tensor, noise: NoiseSource
    ) -> tuple[Tensor | None, list[Trials]]:
        """The number of tokens where it is drawn first, and what the denoiser is told, per picture."""
        config, count, device = self.config, len(manner), manner.device
        tokens, context, valid, added = None, None, None, None
        if config.length == "first":
            seconds = torch.full((count,), float("nan") if look.seconds is None else look.seconds, device=device)
            conditions = Conditions.asked(manner, seconds, torch.zeros_like(seconds))
            tokens = categorical(self.length_logits(pictures[0], conditions), noise.uniform().to(device)) + 1
            context = self.conditions(replace(conditions, length=tokens))
            valid = token_mask(tokens, int(tokens.max()))
        if config.injection == "embedding":
            added = self._ramp(count, config.max_tokens if tokens is None else int(tokens.max()), tokens)
        return tokens, [Trials(picture, valid, context, added) for picture in pictures]

    def _ramp(self, count: int, longest: int, tokens: Tensor | None) -> Tensor:
        """The given index at sampling, where no scanpath is known: it rises evenly from 0 to 1."""
        at = torch.arange(longest * self.config.patch, device=self.place.device)
        whole = torch.full((count,), longest, device=at.device) if tokens is None else tokens
        rho = (at / (whole * self.config.patch - 1).clamp(min=1)[:, None]).clamp(max=1)  # (B, T)
        fixations = torch.full((count,), self.config.max_fixations, device=at.device)
        return self.index_added(rho, fixations, rho.new_ones(rho.shape))

    def _lengths(self, z0: Tensor, tokens: Tensor | None, seconds: float | None) -> Tensor:
        """(B,) samples of each sequence."""
        config = self.config
        if config.length == "validity":
            rule = change_point if config.length_rule == "change_point" else leading_run
            points = rule(self.validity_logits(z0))
        else:
            full = torch.full((len(z0),), config.max_tokens, device=z0.device)
            points = (full if tokens is None else tokens) * config.patch
        limit = config.max_fixations if config.modality == "scanpath" else config.max_points
        if seconds is not None and config.modality != "scanpath":
            limit = min(limit, max(1, round(seconds * config.rate_hz)))
        return points.clamp(max=limit)

    def _gaze(self, z0: Tensor, points: Tensor) -> list[Gaze]:
        sequences = []
        for decoded, n in zip(self.decode(z0).cpu().double().numpy(), points.tolist(), strict=True):
            rows = self.units.restored(decoded[:n])
            if self.config.modality == "scanpath":
                duration_ms = np.clip(rows[:, 2], 1 / self.config.rate_hz, None) * MILLISECONDS
                sequences.append(Gaze(rows[:, :2].clip(0, 1), duration_ms, None))
            else:
                rho = None if self.units.index_at is None else rows[:, self.units.index_at].clip(0, 1)
                sequences.append(Gaze(rows[:, :2], None, rho))
        return sequences


def row_mean(values: Tensor, counted: Tensor) -> Tensor:
    """(B,) mean of each row's `values` (B, …) where `counted`."""
    counted = counted.expand_as(values).to(values.dtype)
    return (values * counted).flatten(1).sum(1) / counted.flatten(1).sum(1).clamp(min=1)
