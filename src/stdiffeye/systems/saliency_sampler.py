"""A saliency sampler: fixations of our own density head, in random order, as many as viewers make.

Not a system of the literature but a yardstick: it has the density of fixations and nothing of their order, so
what a system gains over it is what order is worth. It borrows the trained density and length heads of a scanpath stage.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from stdiffeye.arrays import Floats
from stdiffeye.diffusion import categorical, noise_of
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath
from stdiffeye.model.conditions import Conditions
from stdiffeye.model.fixation_tokens import SampledScanpaths
from stdiffeye.systems.base import Batches, BatchPlan, Query, SamplingOptions, Sources, TrainableSystem, features_of
from stdiffeye.systems.baseline import in_cell
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage
from stdiffeye.systems.next_fixation import Histories, Shape, resampled
from stdiffeye.systems.step_random import StepRandom


class SaliencySampler(TrainableSystem):
    """Samples from the density head of a trained scanpath stage."""

    generates_scanpaths = True

    def __init__(self, stage: TrainableSystem) -> None:
        super().__init__()
        if not isinstance(stage, ScanpathStage) or stage.density is None:
            raise InputError(
                "a saliency sampler needs a scanpath stage with a density head (stages.scanpath.image.density)"
            )
        self.stage, self.config = stage, stage.config

    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> Batches:
        raise TypeError("a saliency sampler is not trained: it borrows a trained density head")

    def loss(self, batch: object, random: StepRandom) -> dict[str, Tensor]:
        raise TypeError("a saliency sampler is not trained: it borrows a trained density head")

    def picture_density(self, query: Query) -> Floats | None:
        return self.stage.picture_density(query)

    @torch.no_grad()
    def log_densities(self, query: Query, histories: Histories, shape: Shape) -> Floats:
        """The same density after every history."""
        density = self.stage.picture_density(query)
        assert density is not None
        return np.broadcast_to(np.log(resampled(density, shape)), (len(histories), *shape))

    @torch.no_grad()
    def scanpaths(
        self, queries: Sequence[Query], seeds: Sequence[Sequence[int]], options: SamplingOptions
    ) -> list[list[Scanpath]]:
        stage, device, samples = self.stage, self.stage.position.device, len(seeds[0])
        noise = noise_of([seed for row in seeds for seed in row], options.representative)
        style = torch.tensor([stage.style_number(query.style) for query in queries], device=device)
        features = torch.cat([features_of(query) for query in queries]).to(device)
        text = torch.cat([query.text_embedding for query in queries]).to(device)
        picture = stage.encode_image(features, text, style)
        assert picture.log_density is not None
        requested = torch.tensor(
            [np.nan if query.seconds is None else query.seconds for query in queries], device=device
        )
        rows = style.repeat_interleave(samples)
        seconds = requested.repeat_interleave(samples)
        conditions = Conditions.requested(rows, seconds, torch.zeros_like(seconds))
        length = categorical(stage.length_logits(picture, conditions), noise.uniform().to(device)) + 1
        density = picture.log_density.repeat_interleave(samples, 0)
        positions = [
            in_cell(categorical(density, noise.uniform().to(device)), noise, stage.cells)
            for _ in range(int(length.max()))
        ]
        frames = [query.frame for query in queries for _ in range(samples)]
        paths = SampledScanpaths(length, torch.stack(positions, 1)).scanpaths(frames)
        return [paths[i * samples : (i + 1) * samples] for i in range(len(queries))]
