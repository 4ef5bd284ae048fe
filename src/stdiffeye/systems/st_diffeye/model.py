"""The paper's form: one denoiser over the tokens of a whole trajectory (or scanpath), given picture and words.

By configuration this is ST-DiffEye with every ablation of its tables, its temporally patched form (`joint-*`), and
the two systems that it is compared with, ScanDiff (modality scanpath) and DiffEye (network unet).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from stdiffeye.diffusion import add_noise, edm_gain, estimate_z0, network_input, sample, target
from stdiffeye.diffusion.noise import NoiseSource, Trimmed, categorical, noise_of
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trajectory
from stdiffeye.gaze.extraction import extract
from stdiffeye.model.conditions import ConditionEmbedding, Conditions, LengthHead
from stdiffeye.model.denoiser import Denoiser
from stdiffeye.model.layers import AttentionGeometry, EncodedImage
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
    token_mask,
)
from stdiffeye.model.unet import UNet
from stdiffeye.systems.base import AS_CONFIGURED, BatchPlan, Query, SamplingOptions, Sources
from stdiffeye.systems.image_conditioned import ImageConditionedDenoiser, guided
from stdiffeye.systems.next_fixation import Histories
from stdiffeye.systems.noise_levels import NoiseLevel, NoiseLevels
from stdiffeye.systems.st_diffeye.config import INDEX_WIDTH, STDiffEyeConfig
from stdiffeye.systems.st_diffeye.data import TokenBatches, TokenTensors
from stdiffeye.systems.st_diffeye.generated import GeneratedSequence
from stdiffeye.systems.st_diffeye.next_position import next_positions
from stdiffeye.systems.st_diffeye.units import MILLISECONDS, Units
from stdiffeye.systems.step_random import StepRandom

TOKENS_AT_ONCE = 32_768  # bounds the memory of generating many samples


@dataclass(frozen=True)
class Trials:
    """What stays the same for B sequences from step to step."""

    picture: EncodedImage
    valid: Tensor | None = None  # (B, N) where padding is masked
    context: Tensor | None = None  # (B, D)
    added: Tensor | None = None  # (B, N, D)
    known: Tensor | None = None  # (1, n, Z) the first tokens, where these are given

    def clamped(self, z0: Tensor) -> Tensor:
        """(B, N, Z) with the tokens that are given in their place."""
        if self.known is None:
            return z0
        return torch.cat([self.known.expand(len(z0), -1, -1), z0[:, self.known.shape[1] :]], dim=1)


class STDiffEye(ImageConditionedDenoiser):
    """p(trajectory, fixation index | picture, words), or p(scanpath | picture, words)."""

    generates_scanpaths = True

    def __init__(self, config: STDiffEyeConfig) -> None:
        super().__init__()
        self.config = config
        self.generates_trajectories = config.modality != "scanpath"
        width, sets = config.image.width, len(config.sets)
        per_token = config.patch * config.channels
        self.units, self.noise = Units(config), NoiseLevels(config.noise)
        self.basis = PatchBasis(config.patch, config.rate_hz, self.units.channels) if config.cosines else None
        self._build_image_side(config.image, sets)
        if config.network == "unet":
            self.denoiser = UNet(config.unet, config.token_width, width)
        else:
            self.denoiser = Denoiser(config.denoiser)
        if config.has_index:
            self.index = IndexCode(config.encoding, INDEX_WIDTH, config.max_fixations)
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
        if config.image_dropout:
            self.null_image = nn.Parameter(torch.zeros(width))

    def _validity_head(self, per_token: int) -> nn.Module:
        config = self.config
        if config.space == "latent":
            return nn.Linear(config.latent, 2 * config.patch)
        inner = config.latent // 2
        return nn.Sequential(nn.Linear(per_token, inner), nn.ReLU(), nn.Linear(inner, 2 * config.patch))

    @property
    def std(self) -> Tensor | float:
        """Standard deviation of the numbers of a token."""
        return 1.0 if self.basis is None else self.basis.std

    def extra_state(self) -> dict[str, Tensor]:
        return {} if self.noise.steps is None else self.noise.steps.state()

    def load_extra_state(self, state: dict[str, Tensor]) -> None:
        if self.noise.steps is not None:
            self.noise.steps.load(state)

    # ---------------------------------------------------------------- training

    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> TokenBatches:
        return TokenBatches(self, sources, split, plan, augment)

    def loss(self, batch: TokenTensors, random: StepRandom) -> dict[str, Tensor]:
        config, x, b = self.config, batch, len(batch.points)
        image_dropped = random.uniform(len(x.style)) < config.image_dropout
        picture = self.encode_image(
            x.features, x.text_embedding, x.style, image_dropped if config.image_dropout else None
        )
        conditions = x.conditions.without(random.uniform(b, 2) < config.condition_dropout)
        level = self.noise.sample(random, b)
        trials, z0 = self._trials(x, picture, conditions), self.encode(x).float()  # (B, N, Z)
        # Sampled for the longest sequence that there can be: processes with shorter batches get the same numbers.
        noise = random.normal(b, config.max_tokens, config.token_width)[:, : z0.shape[1]]  # (B, N, Z)
        z = add_noise(z0, noise, level.alpha, level.sigma)
        output = self.predict(z, level, trials).float()
        z0_hat = estimate_z0(output, z, level.alpha, level.sigma, config.noise.prediction, self.std)
        error = (output - target(z0, noise, level.alpha, level.sigma, config.noise.prediction, self.std)) ** 2
        losses = {"denoise": row_mean(error, self._counted(x) * self._importance(level, z0))}
        losses |= self._decoding_losses(x, z0_hat if config.loss.decode == "predicted" else z0, z0)
        weights = {"recon": config.loss.recon, "validity": config.loss.validity, "prior": config.loss.prior}
        rows = sum((weights.get(name, 1.0) * loss for name, loss in losses.items()), torch.zeros_like(level.weight))
        if self.training:
            self.noise.learn(level, rows, random.ranks)
        means = {name: (level.weight * loss).mean() for name, loss in losses.items()}
        total = (level.weight * rows).mean()
        if config.length == "first":
            means["length"] = F.cross_entropy(self.length_logits(picture, conditions), x.conditions.length - 1)
            total = total + config.loss.length * means["length"]
        if picture.log_density is not None:
            means["density"] = random.mean(-(x.density * picture.log_density).sum(-1), ~image_dropped)
            total = total + config.loss.density * means["density"]
        return means | {"total": total}

    def _decoding_losses(self, x: TokenTensors, z0: Tensor, clean: Tensor) -> dict[str, Tensor]:
        """L_recon, L_val and L_reg of every row, those that this form has."""
        config, losses = self.config, {}
        if config.loss.recon:
            losses["recon"] = row_mean((self.decode(z0) - x.gaze).abs(), x.mask)
        if config.length == "validity" and config.loss.validity:
            logits = self.validity_logits(z0).transpose(1, 2)  # (B, 2, T)
            entropy = F.cross_entropy(logits, x.is_gaze.long(), reduction="none")  # (B, T)
            losses["validity"] = entropy.mean(1)
        if config.space == "latent" and config.loss.prior:
            losses["prior"] = (float(self.noise.schedule.alpha[-1]) * clean).square().mean((1, 2))
        return losses

    def _counted(self, x: TokenTensors) -> Tensor:
        """(B, N, Z or 1) which numbers the error of denoising is taken over."""
        valid = self._valid(x)[..., None]
        if self.config.loss.on_padding:
            return torch.ones_like(valid)
        if self.basis is not None:  # a lost sample is in every cosine of its token
            lost = to_patches(x.is_gaze[..., None] & ~x.mask, self.config.patch).any(-1, keepdim=True)
            return valid & ~lost
        return valid & to_patches(x.mask, self.config.patch) if self.config.space == "data" else valid

    def _importance(self, level: NoiseLevel, z0: Tensor) -> Tensor | float:
        """(B, 1, Z) weight of the numbers of a token: at every noise level, those that can be estimated from it."""
        return 1.0 if self.basis is None else edm_gain(level.sigma, z0, self.std)

    def _valid(self, x: TokenTensors) -> Tensor:
        """(B, N) tokens that hold any gaze, or the tokens that were sampled where length comes first."""
        first, patch = self.config.length == "first", self.config.patch
        tokens = x.conditions.length if first else (x.points + patch - 1) // patch
        return token_mask(tokens, x.gaze.shape[1] // patch)

    def _trials(self, x: TokenTensors, picture: EncodedImage, conditions: Conditions) -> Trials:
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

    def predict(self, z: Tensor, level: NoiseLevel, trials: Trials) -> Tensor:
        """The network's output for noisy tokens z (B, N, Z)."""
        where = None
        if self.config.denoiser.denoising_attention:
            # A token's position is the mean of its samples', whose noise is that much smaller.
            numbers = z.unflatten(-1, (self.config.patch, -1))[..., :2]  # (B, N, p, 2)
            token_xy = numbers.mean(2) if self.basis is None else numbers[:, :, 0] / self.config.patch**0.5  # (B, N, 2)
            where = AttentionGeometry.of(token_xy, level.alpha, level.sigma / self.config.patch**0.5, self.cell_std)
        seen = network_input(z, level.alpha, level.sigma, self.std)
        return self.denoiser(
            seen, level.time, trials.context, trials.picture, trials.valid, where=where, added=trials.added
        )

    # ---------------------------------------------------------------- generation

    def scanpaths(
        self, queries: Sequence[Query], seeds: Sequence[Sequence[int]], options: SamplingOptions
    ) -> list[list[Scanpath]]:
        """One per query and seed; those of trajectories are extracted by Judd's algorithm, as the paper does."""
        if self.generates_trajectories:
            return [[extract(one) for one in row] for row in self.trajectories(queries, seeds, options)]
        sampled = [(query, self.generate(query, row, options)) for query, row in zip(queries, seeds, strict=True)]
        return [[gaze.to_scanpath(query.frame) for gaze in row] for query, row in sampled]

    def trajectories(
        self, queries: Sequence[Query], seeds: Sequence[Sequence[int]], options: SamplingOptions
    ) -> list[list[Trajectory]]:
        """One per query and seed."""
        if not self.generates_trajectories:
            raise InputError("a system of modality scanpath samples no trajectories: `animate` makes them of scanpaths")
        sampled = [(query, self.generate(query, row, options)) for query, row in zip(queries, seeds, strict=True)]
        return [[gaze.to_trajectory(query.frame, self.config.rate_hz) for gaze in row] for query, row in sampled]

    @torch.no_grad()
    def generate(
        self, query: Query, seeds: Sequence[int], options: SamplingOptions = AS_CONFIGURED
    ) -> list[GeneratedSequence]:
        """One sequence per seed; each is the same whatever it is generated with."""
        guidance = options.guidance_or(1.0)
        if guidance != 1 and not self.config.image_dropout:
            raise InputError("guidance needs a model that was trained with image_dropout above 0")
        style, image, blank = self.encode_query(query, guidance)
        images = [image] if blank is None else [image, blank]
        at_once, done = max(1, TOKENS_AT_ONCE // self.config.max_tokens), []
        for first in range(0, len(seeds), at_once):
            done += self._sample(images, query, style, seeds[first : first + at_once], options)
        return done

    def _sample(
        self,
        images: list[EncodedImage],
        query: Query,
        style: Tensor,
        seeds: Sequence[int],
        options: SamplingOptions,
    ) -> list[GeneratedSequence]:
        noise = noise_of(seeds, options.representative)
        tokens, trials = self.sampled_trials(images, query, style.expand(len(seeds)), noise)
        z0 = self.sample_tokens(trials, tokens, noise, options)
        return self._gaze(z0, self._lengths(z0, tokens, query.seconds))

    def sample_tokens(
        self, trials: list[Trials], tokens: Tensor | None, noise: NoiseSource, options: SamplingOptions
    ) -> Tensor:
        """(B, N, Z) of what `sampled_trials` gave."""
        config, device = self.config, self.position.device
        steps = options.steps or config.sampling_steps
        schedule = self.noise.sampling_schedule(steps)

        def denoise(z: Tensor, step: int) -> Tensor:
            z, level = z.to(device), self.noise.at(schedule, step, len(z), device)
            outputs = [self.predict(z, level, each) for each in trials]
            output = outputs[0]
            if len(outputs) > 1:
                output = guided(output, outputs[1], options.guidance_or(1.0))
            z0 = estimate_z0(output, z, level.alpha, level.sigma, config.noise.prediction, self.std)
            return trials[0].clamped(z0).cpu()

        # Noise is that of whole sequences: what a sample looks like must not depend on the longest one beside it.
        longest = config.max_tokens if tokens is None else int(tokens.max())
        source, shape = Trimmed(noise, config.max_tokens, longest), (longest, config.token_width)
        return sample(options.sampler or config.sampler, denoise, schedule, source, shape, steps).to(device)

    def sampled_trials(
        self, images: list[EncodedImage], query: Query, style: Tensor, noise: NoiseSource, more_than: int = 0
    ) -> tuple[Tensor | None, list[Trials]]:
        """The number of tokens where it is sampled first, and the conditions of the denoiser, per image."""
        config, count, device = self.config, len(style), style.device
        tokens, context, valid, added = None, None, None, None
        if config.length == "first":
            seconds = torch.full((count,), float("nan") if query.seconds is None else query.seconds, device=device)
            conditions = Conditions.requested(style, seconds, torch.zeros_like(seconds))
            logits = self.length_logits(images[0], conditions)
            logits[:, :more_than] = -torch.inf
            tokens = categorical(logits, noise.uniform().to(device)) + 1
            context = self.conditions(replace(conditions, length=tokens))
            valid = token_mask(tokens, int(tokens.max()))
        if config.injection == "embedding":
            added = self._ramp(count, config.max_tokens if tokens is None else int(tokens.max()), tokens)
        return tokens, [Trials(image, valid, context, added) for image in images]

    def _ramp(self, count: int, longest: int, tokens: Tensor | None) -> Tensor:
        """The given index at sampling, where there is no scanpath: it rises evenly from 0 to 1."""
        at = torch.arange(longest * self.config.patch, device=self.position.device)
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

    def next_positions(self, query: Query, histories: Histories) -> Iterator[Tensor]:
        """For each history (n, 2) samples of the next fixation."""
        return next_positions(self, query, histories)

    def _gaze(self, z0: Tensor, points: Tensor) -> list[GeneratedSequence]:
        sequences = []
        for decoded, n in zip(self.decode(z0).cpu().double().numpy(), points.tolist(), strict=True):
            rows = self.units.restored(decoded[:n])
            if self.config.modality == "scanpath":
                duration_ms = np.clip(rows[:, 2], 1 / self.config.rate_hz, None) * MILLISECONDS
                sequences.append(GeneratedSequence(rows[:, :2].clip(0, 1), duration_ms, None))
            else:
                rho = None if self.units.index_at is None else rows[:, self.units.index_at].clip(0, 1)
                sequences.append(GeneratedSequence(rows[:, :2], None, rho))
        return sequences


def row_mean(values: Tensor, counted: Tensor) -> Tensor:
    """(B,) mean of each row's `values` (B, …) where `counted`."""
    counted = counted.expand_as(values).to(values.dtype)
    return (values * counted).flatten(1).sum(1) / counted.flatten(1).sum(1).clamp(min=1)
