"""A saliency sampler: fixations of our own density head, in random order, as many as people make.

Not a system of the literature but a yardstick: it knows where people look in a picture and nothing of the order, so
what a system gains over it is what order is worth. It borrows the trained density and length heads of a coarse half.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from stdiffeye.diffusion import categorical, noise_of
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath
from stdiffeye.model.conditions import Conditions
from stdiffeye.systems.base import Batches, BatchPlan, Query, SamplingOptions, Sources, TrainableSystem
from stdiffeye.systems.baseline import Paths, features_of, in_cell
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage
from stdiffeye.systems.step_random import StepRandom


class SaliencySampler(TrainableSystem):
    """StepRandom from the density head of a trained coarse half."""

    generates_scanpaths = True

    def __init__(self, coarse: TrainableSystem) -> None:
        super().__init__()
        if not isinstance(coarse, ScanpathStage) or coarse.density is None:
            raise InputError(
                "a saliency sampler needs a coarse half with a density head (stages.scanpath.image.density)"
            )
        self.coarse, self.config = coarse, coarse.config

    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> Batches:
        raise TypeError("a saliency sampler is not trained: it borrows a trained density head")

    def loss(self, batch: object, random: StepRandom) -> dict[str, Tensor]:
        raise TypeError("a saliency sampler is not trained: it borrows a trained density head")

    @torch.no_grad()
    def scanpaths(
        self, queries: Sequence[Query], seeds: Sequence[Sequence[int]], options: SamplingOptions
    ) -> list[list[Scanpath]]:
        coarse, device, samples = self.coarse, self.coarse.position.device, len(seeds[0])
        noise = noise_of([seed for row in seeds for seed in row], options.representative)
        style = torch.tensor([coarse.style_number(query.style) for query in queries], device=device)
        features = torch.cat([features_of(query) for query in queries]).to(device)
        picture = coarse.encode_image(
            features, torch.cat([query.text_embedding for query in queries]).to(device), style
        )
        assert picture.log_density is not None
        asked = torch.tensor([np.nan if query.seconds is None else query.seconds for query in queries], device=device)
        rows = style.repeat_interleave(samples)
        seconds = asked.repeat_interleave(samples)
        conditions = Conditions.asked(rows, seconds, torch.zeros_like(seconds))
        length = categorical(coarse.length_logits(picture, conditions), noise.uniform().to(device)) + 1
        density = picture.log_density.repeat_interleave(samples, 0)
        places = [
            in_cell(categorical(density, noise.uniform().to(device)), noise, coarse.cells)
            for _ in range(int(length.max()))
        ]
        frames = [query.frame for query in queries for _ in range(samples)]
        paths = Paths(torch.stack(places, 1), length).scanpaths(frames)
        return [paths[i * samples : (i + 1) * samples] for i in range(len(queries))]
