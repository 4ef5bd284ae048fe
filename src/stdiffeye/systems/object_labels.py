"""Which of COCO's 80 categories is where: boxes of search targets and, optionally, those that a detector found.

A file of a detector's boxes, `labels.json`, maps a picture's name (as the store has it) to what is in it:

    {"000000012345.jpg": [["cup", 0.81, 0.40, 0.25, 0.10, 0.12], ...], "empty-room.jpg": []}

Each entry is category, score, and left, top, width and height as shares of the picture's size. A listed picture is
taken to hold nothing else. Targets of a search are certain: score 1, and the only ones of their category.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from stdiffeye.data.batches import Floats32, Stimulus
from stdiffeye.data.store import Store
from stdiffeye.encoders.efficientnet import GRID, OBJECTS
from stdiffeye.encoders.word_table import category_number
from stdiffeye.errors import InputError
from stdiffeye.files import read_json
from stdiffeye.systems.step_random import StepRandom

LOWEST_SCORE = 0.2  # of a detector's box that counts
PRESENT = 0.3  # label from which a category counts as being in the picture
ABSENT_WEIGHT = 0.3
CERTAIN = 1.0


class ObjectBox(NamedTuple):
    """An object in a picture; sides are shares of the picture's size."""

    category: int
    score: float
    left: float
    top: float
    width: float
    height: float


class ObjectLabels:
    """Labels of the objects in the pictures of a split.

    Parameters
    ----------
    stores
        Those of the batches, whose search targets are certain.
    split
        Targets of its trials alone are used.
    file
        A detector's boxes; "" for none.
    """

    def __init__(self, stores: Sequence[Store], split: str, file: str = "") -> None:
        self.detected = read_labels(Path(file)) if file else {}
        self.targets = {
            (number, name): boxes for number, store in enumerate(stores) for name, boxes in _targets(store, split)
        }

    def has(self, stimulus: Stimulus) -> bool:
        return stimulus.name in self.detected or (stimulus.store, stimulus.name) in self.targets

    def maps(self, stimulus: Stimulus, crop: Floats32, flip: bool) -> tuple[Floats32, NDArray[np.bool_]]:
        """(80, N) labels of a crop, and (80,) the categories that they cover."""
        certain = self.targets.get((stimulus.store, stimulus.name), [])
        labelled = np.full(OBJECTS, stimulus.name in self.detected)
        labelled[[box.category for box in certain]] = True
        categories = {box.category for box in certain}
        found = [box for box in self.detected.get(stimulus.name, []) if box.category not in categories]
        return object_maps([*found, *certain], crop, flip), labelled


def read_labels(path: Path) -> dict[str, list[ObjectBox]]:
    """A detector's boxes by the picture's name, those of too low a score left out."""
    if not path.is_file():
        raise InputError(f"there is no {path}: expected a file of boxes, as docs/encoders.md describes it")
    rows = read_json(path)
    if not isinstance(rows, dict):
        raise InputError(f"{path} must map pictures' names to lists of boxes")
    found = {}
    for name, boxes in rows.items():
        try:
            listed = [ObjectBox(_category(word), *map(float, numbers)) for word, *numbers in boxes]
        except (TypeError, ValueError) as error:
            raise InputError(f"{path}: the boxes of {name!r} are not [category, score, x, y, w, h]: {error}") from None
        if any(box.left + box.width > 1.01 or box.top + box.height > 1.01 for box in listed):
            raise InputError(f"{path}: a box of {name!r} leaves the picture; sides are shares of its size, 0 to 1")
        found[name] = [box for box in listed if box.score >= LOWEST_SCORE]
    return found


def _category(word: str) -> int:
    number = category_number(word)
    if number is None:
        raise ValueError(f"{word!r} is none of COCO's categories")
    return number


def _targets(store: Store, split: str) -> list[tuple[str, list[ObjectBox]]]:
    """The search targets of each picture, whose words name a category of COCO."""
    if split not in store.words["split"]:
        return []
    columns, trials = store.columns, store.where(split)
    trials = trials[np.isfinite(columns["box"][trials]).all(axis=1)]
    keys = np.stack([columns["name_id"][trials], columns["task_id"][trials]], axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    found: dict[str, list[ObjectBox]] = {}
    for trial in trials[first].tolist():
        category = category_number(store.words["task"][columns["task_id"][trial]])
        size = np.array([columns["width"][trial], columns["height"][trial]] * 2, dtype=np.float64)
        if category is not None:
            box = ObjectBox(category, CERTAIN, *(columns["box"][trial] / size).tolist())
            found.setdefault(store.words["name"][columns["name_id"][trial]], []).append(box)
    return list(found.items())


def object_maps(boxes: Sequence[ObjectBox], crop: Floats32, flip: bool) -> Floats32:
    """(80, N) labels: a box's score at its centre, falling as a Gaussian to its edge and 0 beyond; the highest counts.

    Parameters
    ----------
    crop
        Left, top, width and height, shares of the picture (of its mirror image where `flip` says so).
    """
    maps = np.zeros((OBJECTS, *GRID), dtype=np.float32)
    rows, columns = GRID
    y, x = np.meshgrid((np.arange(rows) + 0.5) / rows, (np.arange(columns) + 0.5) / columns, indexing="ij")
    y, x = crop[1] + crop[3] * y, crop[0] + crop[2] * x
    smallest = crop[2:] / (2 * np.array([columns, rows]))  # no box is missed between two cells
    for box in boxes:
        centre_x = box.left + box.width / 2
        centre_x = 1 - centre_x if flip else centre_x
        across = (x - centre_x) / max(box.width / 2, smallest[0])
        along = (y - box.top - box.height / 2) / max(box.height / 2, smallest[1])
        inside = (abs(across) <= 1) & (abs(along) <= 1)
        label = inside * box.score * np.exp(-0.5 * (across**2 + along**2))
        np.maximum(maps[box.category], label, out=maps[box.category])
    return maps.reshape(OBJECTS, -1)


def object_losses(logits: Tensor, labels: Tensor, labelled: Tensor, random: StepRandom) -> tuple[Tensor, Tensor]:
    """Whether a category is at a position (quality focal loss), and where it is if it is in the picture.

    An object counts by the root of its size, so that a mouse is not lost beside a bed.

    Parameters
    ----------
    logits, labels
        (P, 80, N).
    labelled
        (P, 80) the categories that the labels cover.

    Reference
    ---------
    X. Li et al.: Generalized Focal Loss. NeurIPS 2020.
    """
    entropy = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")  # (P, 80, N)
    focal = ((logits.sigmoid() - labels).square() * entropy).sum(-1)  # (P, 80)
    size = labels.sum(-1) * labelled  # (P, 80)
    weight = torch.where(size > 0, (size + 1).rsqrt(), ABSENT_WEIGHT) * labelled  # (P, 80)
    detection = random.ratio(weight * focal, size.sqrt())
    highest = labels.amax(-1) * labelled  # (P, 80)
    present = highest * (highest > PRESENT)  # (P, 80)
    share = labels / labels.sum(-1, keepdim=True).clamp(min=1e-9)  # (P, 80, N)
    divergence = (share * (share.clamp(min=1e-9).log() - logits.log_softmax(-1))).sum(-1)  # (P, 80)
    return detection, random.ratio(present * divergence, present)
