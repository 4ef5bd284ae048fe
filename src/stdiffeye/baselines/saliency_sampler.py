"""A saliency sampler: fixations of our own density head, in random order, as many as people make.

Not a system of the literature but a yardstick: it knows where people look in a picture and nothing of the order, so
what a system gains over it is what order is worth. It borrows the trained density and length heads of a coarse half.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from stdiffeye.baselines.shared import Paths, in_cell, pictured
from stdiffeye.diffusion import categorical, noise_of
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath
from stdiffeye.model.conditions import Conditions
from stdiffeye.systems.coarse import Coarse
from stdiffeye.systems.draws import Draws
from stdiffeye.systems.part import Batches, BatchPlan, Look, Options, Part, Sources


class SaliencySampler(Part):
    """Draws from the density head of a trained coarse half."""

    draws_scanpaths = True

    def __init__(self, coarse: Part) -> None:
        super().__init__()
        if not isinstance(coarse, Coarse) or coarse.density is None:
            raise InputError(
                "a saliency sampler needs a coarse half with a density head (parts.coarse.picture.density)"
            )
        self.coarse, self.config = coarse, coarse.config

    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> Batches:
        raise TypeError("a saliency sampler is not trained: it borrows a trained density head")

    def loss(self, batch: object, draws: Draws) -> dict[str, Tensor]:
        raise TypeError("a saliency sampler is not trained: it borrows a trained density head")

    @torch.no_grad()
    def scanpaths(
        self, looks: Sequence[Look], seeds: Sequence[Sequence[int]], options: Options
    ) -> list[list[Scanpath]]:
        coarse, device, samples = self.coarse, self.coarse.place.device, len(seeds[0])
        noise = noise_of([seed for row in seeds for seed in row], options.spread)
        manner = torch.tensor([coarse.manner_number(look.manner) for look in looks], device=device)
        features = torch.cat([pictured(look) for look in looks]).to(device)
        picture = coarse.look(features, torch.cat([look.words for look in looks]).to(device), manner)
        assert picture.log_density is not None
        asked = torch.tensor([np.nan if look.seconds is None else look.seconds for look in looks], device=device)
        rows = manner.repeat_interleave(samples)
        seconds = asked.repeat_interleave(samples)
        conditions = Conditions.asked(rows, seconds, torch.zeros_like(seconds))
        length = categorical(coarse.length_logits(picture, conditions), noise.uniform().to(device)) + 1
        density = picture.log_density.repeat_interleave(samples, 0)
        places = [
            in_cell(categorical(density, noise.uniform().to(device)), noise, coarse.cells)
            for _ in range(int(length.max()))
        ]
        frames = [look.frame for look in looks for _ in range(samples)]
        paths = Paths(torch.stack(places, 1), length).scanpaths(frames)
        return [paths[i * samples : (i + 1) * samples] for i in range(len(looks))]
