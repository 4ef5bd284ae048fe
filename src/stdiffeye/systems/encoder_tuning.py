"""The encoder's late blocks, tuned by where viewers look and, optionally, by which object is where.

The density of fixations is learned on whole pictures and crops, with a centre bias and a temperature for each data set.
A second head learns 80 object maps from the boxes of search targets and from a detector's (`object_labels`). What comes
out is an encoder for any system (`encoder=efficientnet-lite0:FILE`). The early blocks stay as they are, so what they
compute is cached like any features.

Reference
---------
A. Linardos et al.: DeepGaze IIE. ICCV 2021 (read-outs of several networks; here one is tuned instead).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from stdiffeye.data.batches import NO_CHANGE, Augment, Choice, ScanpathBatches
from stdiffeye.data.store import Store
from stdiffeye.encoders.efficientnet import EARLY_GRID, GRID, EarlyEncoder, Late, ObjectMaps
from stdiffeye.errors import InputError
from stdiffeye.model.image import TEXT_WIDTH, DensityHead, Fusion, ImageConfig, cell_shares
from stdiffeye.systems.base import BatchPlan, Sources, TrainableSystem
from stdiffeye.systems.object_labels import ObjectLabels, object_losses
from stdiffeye.systems.step_random import StepRandom

RARE = -4.6  # logit of 1 in 100: most positions hold no object of a given category
LOCATION_WEIGHT = 0.4  # of the loss for where an object is; whether one is at a position weighs 1
SMALLEST_CROP = 0.65  # its width, as a share of the picture's
CROP_ASPECTS = 0.8, 1.15  # height of a crop over its width, both as shares of the picture's


@dataclass(frozen=True)
class EncoderTuningConfig:
    """How the late blocks are read out and what is done to pictures."""

    image: ImageConfig = field(
        default_factory=lambda: ImageConfig(
            channels=432, rows=24, columns=32, width=128, dropout=0.2, mixing=1, density=True
        )
    )
    sets: tuple[str, ...] = ()
    """Data sets whose viewing style is distinguished, in the order of their numbers."""
    objects: bool = False
    """Learn the maps of COCO's 80 categories too; the stores or `labels` must hold boxes."""
    labels: str = ""
    """File of a detector's boxes (`labels.json`, see docs/encoders.md)."""
    head_rate: float = 1.0
    """Learning rate of the heads, as a multiple of the late blocks'."""
    crop: float = 0.5
    """Chance that a picture is cropped."""
    drop_channels: float = 0.1
    """Chance that a channel of the tokens is dropped."""
    condition_dropout: float = 0.1
    """Chance that the viewing style is dropped."""


@dataclass
class PictureTensors:
    """P pictures, or crops of them."""

    early: Tensor  # (P, 3072, 40)
    style: Tensor  # (P,)
    box: Tensor  # (P, 4) left, top, width, height of the crop in [0, 1] of the picture
    density: Tensor  # (P, N) share of the crop's fixations in each cell; zeros where it is not to be learned
    objects: Tensor  # (P, 80, N) labels of the categories, or (P, 0, N) without object maps
    labelled: Tensor  # (P, 80) categories that the labels cover


class EncoderTuning(TrainableSystem):
    """p(fixation | picture) and p(object at a position | picture), by an encoder whose late blocks learn."""

    needs_order = False

    def __init__(self, config: EncoderTuningConfig) -> None:
        super().__init__()
        self.config = config
        self.late = Late()
        self.late.unfreeze()
        self.fusion = Fusion(config.image)
        self.density = DensityHead(config.image, len(config.sets))
        self.log_temperature = nn.Parameter(torch.zeros(len(config.sets) + 1))
        if config.objects:
            self.objects = ObjectMaps().requires_grad_(True)
            last = self.objects[-1]
            assert isinstance(last, nn.Conv2d)
            assert last.bias is not None
            nn.init.zeros_(last.weight)
            nn.init.constant_(last.bias, RARE)

    def parameter_groups(self) -> list[dict[str, Any]]:
        def rate(named: tuple[str, nn.Parameter]) -> float:
            return 1.0 if named[0].startswith("late.") else self.config.head_rate

        runs = groupby(self.named_parameters(), rate)
        return [{"params": [weights for _, weights in run], "rate": multiple} for multiple, run in runs]

    def batches(self, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> DensityBatches:
        if sources.features is None or sources.features.encoder.name != EarlyEncoder.name:
            raise InputError(f"this system tunes {EarlyEncoder.name}: leave the preset's encoder as it is")
        return DensityBatches(self, sources, split, plan, augment)

    def loss(self, batch: PictureTensors, random: StepRandom) -> dict[str, Tensor]:
        # The way back through strided depth-wise convolutions takes half as long again in bfloat16 on a processor.
        with torch.autocast("cpu", enabled=False):
            return self._losses(batch, random)

    def _losses(self, batch: PictureTensors, random: StepRandom) -> dict[str, Tensor]:
        config, pictures = self.config, len(batch.style)
        dropped = random.uniform(pictures, 1, config.image.channels) < config.drop_channels
        style = torch.where(random.uniform(pictures) < config.condition_dropout, 0, batch.style)
        tokens = self.tokens(batch.early, batch.box)  # (P, N, 432)
        if self.training:
            tokens = tokens.masked_fill(dropped, 0) / (1 - config.drop_channels)
        entropy = -(batch.density * self.log_density(tokens, style, batch.box)).sum(-1)  # (P,)
        density = random.mean(entropy, batch.density.sum(-1) > 0)
        if not config.objects:
            return {"density": density, "total": density}
        logits = self.objects(tokens).transpose(1, 2)  # (P, 80, N)
        detection, location = object_losses(logits, batch.objects, batch.labelled, random)
        total = density + detection + LOCATION_WEIGHT * location
        return {"density": density, "detection": detection, "location": location, "total": total}

    def tokens(self, early: Tensor, box: Tensor) -> Tensor:
        """(P, N, 432) of each crop, from what the early blocks made of its picture."""
        whole = early.transpose(1, 2).unflatten(2, EARLY_GRID)  # (P, 40, 48, 64)
        tokens: Tensor = self.late(cropped(whole, box).contiguous(memory_format=torch.channels_last))
        return tokens

    def log_density(self, tokens: Tensor, style: Tensor, box: Tensor) -> Tensor:
        """(P, N) over the cells of each crop."""
        v_joint = self.fusion(tokens, tokens.new_zeros(len(tokens), TEXT_WIDTH))  # (P, N, D)
        centre = self.density.centre_bias[style].unflatten(1, GRID)[:, None]  # (P, 1, 24, 32)
        bias = DensityHead.SCALE * cropped(centre, box).flatten(1)  # (P, N)
        sharpness = torch.exp(-self.log_temperature[style])[:, None]  # (P, 1)
        return (sharpness * self.density.mlp(v_joint)[..., 0] + bias).log_softmax(-1)


class DensityBatches:
    """Pictures of the stores, where all their free viewers fixated, and which object is where."""

    def __init__(self, system: EncoderTuning, sources: Sources, split: str, plan: BatchPlan, augment: bool) -> None:
        self.system, self.plan, self.augment = system, plan, augment
        config = system.config
        self.source = ScanpathBatches(
            sources.stores,
            split,
            plan.stimuli,
            1,
            seed=plan.seed,
            dataset_exponent=plan.dataset_exponent,
            augment=Augment(cut=0.0, later=0.0) if augment else NO_CHANGE,
            usable=lambda store: _usable(store, config.objects),
        )
        self.labels = ObjectLabels(sources.stores, split, config.labels) if config.objects else None
        if self.labels is not None and split == "train" and not any(map(self.labels.has, self.source.stimuli)):
            raise InputError(
                "no picture of the stores has the box of an object: set stages.encoder.objects=false, or name a file "
                "of boxes by stages.encoder.labels"
            )
        assert sources.features is not None
        self.features = sources.features

    def batch(self, step: int) -> PictureTensors:
        chosen = self.source.choose(step, self.plan.ranks.mine)
        boxes = np.stack([self._crop(c.rng) for c in chosen])
        early = self.features.get([c.stimulus.picture for c in chosen if c.stimulus.picture], [c.flip for c in chosen])
        style = torch.tensor([self.system.style_number(c.stimulus.dataset) for c in chosen])
        density = np.stack([self._density(c, box) for c, box in zip(chosen, boxes, strict=True)])
        objects, labelled = zip(*(self._objects(c, box) for c, box in zip(chosen, boxes, strict=True)), strict=True)
        arrays = (density, np.stack(objects), np.stack(labelled))
        tensors = (torch.from_numpy(early).float(), style, torch.from_numpy(boxes), *map(torch.from_numpy, arrays))
        return PictureTensors(*(tensor.to(self.plan.device) for tensor in tensors))

    def _crop(self, rng: np.random.Generator) -> NDArray[np.float32]:
        if not self.augment or rng.random() >= self.system.config.crop:
            return WHOLE
        width = rng.uniform(SMALLEST_CROP, 1)
        height = min(1.0, width * rng.uniform(*CROP_ASPECTS))
        left, top = rng.random(2) * (1 - width, 1 - height)
        return np.array([left, top, width, height], dtype=np.float32)

    def _density(self, choice: Choice, box: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N,) of free viewing; a search is no evidence of where viewers look without that task."""
        if choice.stimulus.task:
            return np.zeros(GRID[0] * GRID[1], dtype=np.float32)
        positions = self.source.positions(choice.stimulus, choice.flip)
        return np.asarray(cell_shares((positions - box[:2]) / box[2:], *GRID), dtype=np.float32)

    def _objects(self, choice: Choice, box: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        if self.labels is None:
            return np.zeros((0, GRID[0] * GRID[1]), dtype=np.float32), np.zeros(0, dtype=np.bool_)
        return self.labels.maps(choice.stimulus, box, choice.flip)


WHOLE = np.array([0, 0, 1, 1], dtype=np.float32)


def _usable(store: Store, objects: bool) -> NDArray[np.bool_]:
    """(n,) trials of free viewing, for their density, and of searches whose target has a box, for its object map."""
    free = np.array([not task for task in store.words["task"]])[store.columns["task_id"]]
    return np.asarray(free | (objects & np.isfinite(store.columns["box"]).all(axis=1)))


def cropped(grids: Tensor, box: Tensor) -> Tensor:
    """(P, C, R, C') maps → what lies within each (P, 4) box, stretched to the same size."""
    rows, columns = grids.shape[2:]
    y, x = torch.meshgrid(_centres(rows, grids), _centres(columns, grids), indexing="ij")
    left, top, width, height = (side[:, None, None] for side in box.unbind(1))
    where = torch.stack([(left + width * x) * 2 - 1, (top + height * y) * 2 - 1], -1)  # (P, R, C', 2)
    return F.grid_sample(grids, where, mode="bilinear", padding_mode="border", align_corners=False)


def _centres(cells: int, like: Tensor) -> Tensor:
    return (torch.arange(cells, device=like.device, dtype=like.dtype) + 0.5) / cells
