"""Where people look, learned by the encoder itself: its late blocks are tuned by the density of fixations.

Only the density is learned, of whole pictures and of crops; what comes out is an encoder for any system
(`encoder=efficientnet-lite0:FILE`). The early blocks stay as they are, so what they see is cached like any features.

Reference
---------
A. Linardos et al.: DeepGaze IIE. ICCV 2021 (read-outs of several networks; here one is tuned instead).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from stdiffeye.data.batches import NO_CHANGE, Augment, ScanpathBatches
from stdiffeye.encoders.efficientnet import EARLY_GRID, GRID, EarlyEncoder, Late
from stdiffeye.errors import InputError
from stdiffeye.model.picture import DensityHead, Fusion, PictureConfig
from stdiffeye.systems.coarse_data import cell_shares
from stdiffeye.systems.draws import Draws
from stdiffeye.systems.part import BatchPlan, Part, Sources


@dataclass(frozen=True)
class LookingConfig:
    """How the late blocks are read out and what is done to pictures."""

    picture: PictureConfig = field(
        default_factory=lambda: PictureConfig(
            channels=432, rows=24, columns=32, width=192, dropout=0.2, mixing=1, density=True
        )
    )
    sets: tuple[str, ...] = ()
    """Data sets whose manner of viewing is told apart, in the order of their numbers."""
    crop: float = 0.5
    """Chance that a batch is of crops."""
    smallest_crop: float = 0.65
    """Width and height of the smallest crop, as shares of the picture's."""
    drop_channels: float = 0.1
    """Chance that a channel of the tokens is hidden."""
    forget: float = 0.1
    """Chance that the manner of viewing is hidden."""


@dataclass
class PictureTensors:
    """P pictures, or crops of them."""

    early: Tensor  # (P, 3072, 40)
    manner: Tensor  # (P,)
    box: Tensor  # (P, 4) left, top, width, height of the crop in [0, 1] of the picture
    density: Tensor  # (P, N) share of the crop's fixations in each cell


class Looking(Part):
    """p(fixation | picture) on a grid, by an encoder whose late blocks learn."""

    def __init__(self, config: LookingConfig) -> None:
        super().__init__()
        self.config = config
        self.late = Late()
        self.late.unfreeze()
        self.fusion = Fusion(config.picture)
        self.density = DensityHead(config.picture, len(config.sets))

    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> LookingBatches:
        if sources.features is None or sources.features.encoder.name != EarlyEncoder.name:
            raise InputError(f"this part tunes {EarlyEncoder.name}: leave the preset's encoder as it is")
        return LookingBatches(self, sources, split, plan, augment)

    def loss(self, batch: PictureTensors, draws: Draws) -> dict[str, Tensor]:
        config, pictures = self.config, len(batch.manner)
        hidden = draws.uniform(pictures, 1, config.picture.channels) < config.drop_channels
        manner = torch.where(draws.uniform(pictures) < config.forget, 0, batch.manner)
        log_density = self.log_density(batch.early, manner, batch.box, hidden if self.training else None)
        entropy = -(batch.density * log_density).sum(-1)
        density = draws.mean(entropy, batch.density.sum(-1) > 0)
        return {"density": density, "total": density}

    def log_density(self, early: Tensor, manner: Tensor, box: Tensor, hidden: Tensor | None = None) -> Tensor:
        """(P, N) over the cells of each crop."""
        whole = early.transpose(1, 2).unflatten(2, EARLY_GRID)  # (P, 40, 48, 64)
        tokens = self.late(cropped(whole, box).contiguous(memory_format=torch.channels_last))  # (P, N, 432)
        if hidden is not None:
            tokens = tokens.masked_fill(hidden, 0) / (1 - self.config.drop_channels)
        v_joint = self.fusion(tokens, tokens.new_zeros(len(tokens), 512))  # (P, N, D)
        centre = self.density.centre_bias[manner].unflatten(1, GRID)[:, None]  # (P, 1, 24, 32)
        bias = DensityHead.SCALE * cropped(centre, box).flatten(1)  # (P, N)
        return (self.density.read(v_joint)[..., 0] + bias).log_softmax(-1)


class LookingBatches:
    """Pictures of the stores and where all their viewers looked."""

    def __init__(self, part: Looking, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> None:
        self.part, self.plan, self.augment = part, plan, augment
        change = Augment(cut=0.0, later=0.0) if augment else NO_CHANGE
        self.source = ScanpathBatches(
            sources.stores, split, plan.stimuli, 1, seed=plan.seed, balance=plan.balance, augment=change
        )
        assert sources.features is not None
        self.features = sources.features

    def batch(self, step: int) -> PictureTensors:
        chosen = self.source.choose(step, self.plan.ranks.mine)
        crops = self.augment and np.random.default_rng([self.plan.seed, step, 1]).random() < self.part.config.crop
        boxes = np.stack([self._box(c.rng) if crops else WHOLE for c in chosen])
        early = self.features.get([c.stimulus.picture for c in chosen if c.stimulus.picture], [c.flip for c in chosen])
        shares = [
            self._shares(self.source.places(c.stimulus, c.flip), box) for c, box in zip(chosen, boxes, strict=True)
        ]
        manner = [self.part.manner_number(c.stimulus.dataset) for c in chosen]
        tensors = (torch.from_numpy(early).float(), torch.tensor(manner), torch.from_numpy(boxes), torch.stack(shares))
        return PictureTensors(*(tensor.to(self.plan.device) for tensor in tensors))

    def _box(self, rng: np.random.Generator) -> NDArray[np.float32]:
        width = rng.uniform(self.part.config.smallest_crop, 1)
        height = min(1.0, width * rng.uniform(0.9, 1.1))
        left, top = rng.random(2) * (1 - width, 1 - height)
        return np.array([left, top, width, height], dtype=np.float32)

    def _shares(self, places: NDArray[np.float32], box: NDArray[np.float32]) -> Tensor:
        return torch.from_numpy(cell_shares((places - box[:2]) / box[2:], *GRID))


WHOLE = np.array([0, 0, 1, 1], dtype=np.float32)


def cropped(grids: Tensor, box: Tensor) -> Tensor:
    """(P, C, R, C') maps → the part within each (P, 4) box, stretched to the same size."""
    rows, columns = grids.shape[2:]
    y, x = torch.meshgrid(_centres(rows, grids), _centres(columns, grids), indexing="ij")
    left, top, width, height = (side[:, None, None] for side in box.unbind(1))
    where = torch.stack([(left + width * x) * 2 - 1, (top + height * y) * 2 - 1], -1)  # (P, R, C', 2)
    return F.grid_sample(grids, where, mode="bilinear", padding_mode="border", align_corners=False)


def _centres(cells: int, like: Tensor) -> Tensor:
    return (torch.arange(cells, device=like.device, dtype=like.dtype) + 0.5) / cells
