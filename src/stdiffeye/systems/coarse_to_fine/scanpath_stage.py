"""The scanpath stage: a scanpath, given the picture, the task and the viewing time.

The number of fixations is sampled first; the denoiser then sees exactly that many tokens. Its cross-attention to the
image is a denoising attention (`model.layers.AttentionGeometry`), with a density of fixations that is learned along.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from stdiffeye.data.batches import NO_CHANGE, Augment
from stdiffeye.diffusion import add_noise, make_schedule, target
from stdiffeye.gaze import Scanpath
from stdiffeye.model.conditions import ConditionEmbedding, Conditions, LengthHead
from stdiffeye.model.denoiser import Denoiser
from stdiffeye.model.fixation_tokens import neighbourhood
from stdiffeye.model.image import TEXT_WIDTH, phase_of
from stdiffeye.model.layers import AttentionGeometry, EncodedImage
from stdiffeye.model.tokens import token_mask
from stdiffeye.systems.base import BatchPlan, Query, SamplingOptions, Sources
from stdiffeye.systems.coarse_to_fine.scanpath_config import ScanpathStageConfig
from stdiffeye.systems.coarse_to_fine.scanpath_sampling import PREDICTION, QuerySampler, sample_scanpaths
from stdiffeye.systems.cores import one_core
from stdiffeye.systems.image_conditioned import ImageConditionedDenoiser
from stdiffeye.systems.next_fixation import Histories
from stdiffeye.systems.scanpath_data import PooledBatches, PooledTensors, ScanpathTensorBatches, ScanpathTensors
from stdiffeye.systems.step_random import StepRandom

LENGTH_WEIGHT = 0.05
FIXATIONS_PER_SECOND = 3.2  # of free viewing
LONGEST_TRAINED_S = 5.0  # where the viewing time of a data set is not recorded

Value = TypeVar("Value")


@dataclass
class StageBatch:
    """What a step learns from: scanpaths and, where there are sets without order, densities."""

    scanpaths: ScanpathTensors
    pooled: PooledTensors | None = None


@dataclass
class StageBatches:
    """The batches of both kinds."""

    scanpaths: ScanpathTensorBatches
    pooled: PooledBatches | None = None

    def batch(self, step: int) -> StageBatch:
        return StageBatch(self.scanpaths.batch(step), None if self.pooled is None else self.pooled.batch(step))


class ScanpathStage(ImageConditionedDenoiser):
    """p(scanpath | picture, task, viewing time)."""

    generates_scanpaths = True
    shares_samples_among_cores = True
    learns_density = True

    def __init__(self, config: ScanpathStageConfig) -> None:
        super().__init__()
        self.config = config
        width, styles, longest = config.denoiser.width, len(config.sets), config.denoiser.max_tokens
        self._build_image_side(config.image, styles, len(config.density_sets))
        self.conditions = ConditionEmbedding(width, styles, longest)
        self.length = LengthHead(width, longest)
        self.denoiser = Denoiser(config.denoiser)
        self.null_image = nn.Parameter(torch.zeros(width))
        self.schedule = make_schedule(config.schedule, config.diffusion_steps)

    @property
    def max_fixations(self) -> int:
        return self.config.denoiser.max_tokens

    @property
    def cells(self) -> tuple[int, int]:
        return self.config.image.rows, self.config.image.columns

    def viewing_s(self, dataset: str) -> float:
        """Viewing time of a data set that was trained on; NaN where it is not recorded."""
        return self.of_style(self.config.viewing_s, dataset, np.nan)

    def longest_trained_s(self, dataset: str) -> float:
        """The same, with a usual value where it is not recorded."""
        viewing_s = self.viewing_s(dataset)
        return LONGEST_TRAINED_S if np.isnan(viewing_s) else viewing_s

    def of_style(self, values: Sequence[Value], dataset: str, otherwise: Value) -> Value:
        """The value that the configuration has for a data set."""
        return dict(zip(self.config.sets, values, strict=False)).get(dataset, otherwise)

    # ---------------------------------------------------------------- training

    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> StageBatches:
        change = Augment(colour_jitter=self.config.colour_jitter) if augment else NO_CHANGE
        scanpaths, sets = self._scanpath_batches(sources, split, plan, change), self.config.density_sets
        if not augment or self.density is None or all(store.ordered for store in sources.stores):
            return StageBatches(scanpaths)
        fewer = replace(plan, stimuli=self.config.density_stimuli)
        return StageBatches(scanpaths, PooledBatches(sources, sets, self.cells, split, fewer))

    def _scanpath_batches(
        self, sources: Sources, split: str, plan: BatchPlan, change: Augment
    ) -> ScanpathTensorBatches:
        return ScanpathTensorBatches(self, sources, split, plan, change)

    def loss(self, batch: StageBatch, random: StepRandom) -> dict[str, Tensor]:
        losses = self._scanpath_loss(batch.scanpaths, random)
        if batch.pooled is not None:
            x, density = batch.pooled, self.density
            assert density is not None
            no_task = x.features.new_zeros(len(x.features), TEXT_WIDTH)
            log_density = density.pooled(self.fusion(x.features, no_task), x.number)
            losses["pooled_density"] = -(x.density * log_density).sum(-1).mean()
            losses["total"] = losses["total"] + self.config.density_weight * losses["pooled_density"]
        return losses

    def _scanpath_loss(self, batch: ScanpathTensors, random: StepRandom) -> dict[str, Tensor]:
        config, x, (b, m, channels) = self.config, batch, batch.tokens.shape
        image_dropped = random.uniform(len(x.style)) < config.image_dropout
        conditions = x.conditions.without(random.uniform(b, 2) < config.condition_dropout)
        picture = self.encode_image(x.features, x.text_embedding, x.style, image_dropped)
        step = (random.uniform(b) ** config.timestep_power * config.diffusion_steps).long()
        noise = random.normal(b, m, channels)
        # What the data do not say is pure noise at every level, as it will be in sampling.
        z0 = torch.where(x.mask, x.tokens, random.normal(b, m, channels))
        alpha, sigma = self.schedule.at(step)
        valid = token_mask(x.conditions.length, m)
        seen = self._denoiser_conditions(x, conditions, random)
        noisy, context = add_noise(z0, noise, alpha, sigma), self.conditions(seen)
        output = self.predict(noisy, step, context, picture, valid, conditions)
        error = (output - target(z0, noise, alpha, sigma, PREDICTION)) ** 2
        losses = self._denoising_losses(error, x, seen, random)
        total = torch.stack(list(losses.values())).sum()
        losses["length"] = F.cross_entropy(self.length_logits(picture, conditions), x.conditions.length - 1)
        total = total + LENGTH_WEIGHT * losses["length"]
        if picture.log_density is not None:
            entropy = -(x.density * picture.log_density).sum(-1)
            losses["density"] = random.mean(entropy, ~image_dropped)
            total = total + config.density_weight * losses["density"]
        if picture.phase_log_density is not None:
            entropy = -(x.phase_density * picture.phase_log_density).sum(-1)  # (P, K)
            given = (x.phase_density.sum(-1) > 0) & ~image_dropped[:, None]
            losses["phase_density"] = random.mean(entropy, given)
            total = total + config.density_weight * losses["phase_density"]
        return losses | {"total": total}

    def _denoiser_conditions(self, x: ScanpathTensors, conditions: Conditions, random: StepRandom) -> Conditions:
        """The conditions under which the denoiser sees the trials."""
        return conditions

    def _denoising_losses(
        self, error: Tensor, x: ScanpathTensors, conditions: Conditions, random: StepRandom
    ) -> dict[str, Tensor]:
        """The mean of the squared error (B, M, C), in as many terms as are weighed apart."""
        return {"denoise": random.mean(error, x.mask)}

    # ---------------------------------------------------------------- the network

    def predict(
        self,
        z: Tensor,
        step: Tensor,
        context: Tensor,
        picture: EncodedImage,
        valid: Tensor,
        conditions: Conditions,
    ) -> Tensor:
        """The network's output for noisy tokens z (B, M, C) at `step` (B,); `context` (B, D) embeds `conditions`."""
        alpha, sigma = self.schedule.at(step)
        phase = None if picture.phase_log_density is None else self._phase(conditions, z.shape[1])
        where = AttentionGeometry.of(z[..., :2], alpha, sigma, self.cell_std, phase)
        time = step.float() * (1000 / self.config.diffusion_steps)
        near = neighbourhood(z[..., :2], valid, alpha, sigma) if self.config.denoiser.condition_channels else None
        return self.denoiser(z, time, context, picture, valid, near, where, conditions.mirrored)

    def _phase(self, conditions: Conditions, tokens: int) -> Tensor:
        """(B, M) phase of viewing of each token; of fixations before these only the time is known."""
        before = (conditions.start_s * FIXATIONS_PER_SECOND).ceil()  # (B,)
        return phase_of(before[:, None] + torch.arange(tokens, device=before.device))

    # ---------------------------------------------------------------- generation

    @torch.inference_mode()
    def scanpaths(
        self, queries: Sequence[Query], seeds: Sequence[Sequence[int]], options: SamplingOptions
    ) -> list[list[Scanpath]]:
        """For each query one scanpath per seed."""
        # One picture at a time: a core is busy with ten viewers, and theirs do not depend on other pictures.
        return [
            [one.path for one in sample_scanpaths(self, query, row, options)]
            for query, row in zip(queries, seeds, strict=True)
        ]

    @torch.inference_mode()
    def next_positions(self, query: Query, histories: Histories) -> Iterator[Tensor]:
        """For each history (n, 2) samples of the next fixation."""
        config = self.config.next_fixation
        with one_core() as cores:  # which share the samples, not the matrix products
            # The density is calibrated as it is, without guidance.
            options = SamplingOptions(config.steps, config.sampler, guidance=1.0, representative=True, cores=cores)
            sampler = QuerySampler(self, query, options)
        for history in histories:
            with one_core():
                positions = sampler.next_positions(history, config.seeds)
            yield positions
