"""Pictures that several data sets share, found by their features.

Sets of photographs overlap: a picture that one set trains on may be another's test picture, squashed or padded, so
that no checksum tells. A picture is described by mean and standard deviation of each of its features,
whatever their position. Pictures whose descriptions point the same way are candidates; of these, the ones whose small
copies agree point by point are near-duplicates. Copies are trimmed of uniform borders and squashed to one size.

Measured on the 246 photographs that MCS and COCO-Search18 share by number, on which the thresholds were also set:
237 are candidates, 229 are found, and no other pair of the two sets is. A copy of another detail is not found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from stdiffeye.data.store import Store
from stdiffeye.encoders import FeatureCache, load_picture, picture_encoder
from stdiffeye.errors import InputError
from stdiffeye.files import read_json, write_json
from stdiffeye.progress import track

HELD_OUT = ("validation", "test")
SIMILARITY = 0.95
CANDIDATES_COSINE = 0.93  # of descriptions; 237 of 237 shared photographs reach it, and one in a thousand other pairs
COPY_SIDE = 24  # px of a small copy
LARGEST_SIDE = 160  # px that borders are looked for at
LEAST_CONTRAST = 8.0  # grey levels; rows and columns of a border have less
ROWS_AT_ONCE = 1024  # of the table of similarities


@dataclass(frozen=True)
class StorePicture:
    """A picture of a store.

    Attributes
    ----------
    dataset, name, split : str
        The store's data set, the stimulus and its split.
    """

    dataset: str
    name: str
    split: str


@dataclass(frozen=True)
class NearDuplicate:
    """Two pictures that seem to show the same photograph.

    Attributes
    ----------
    first, second : StorePicture
        The two, in the order of the stores.
    similarity : float
        Correlation of their small copies, at most 1.
    """

    first: StorePicture
    second: StorePicture
    similarity: float

    @property
    def left_out(self) -> StorePicture | None:
        """The one to leave out of training, since the other is held out; None where their splits agree."""
        for one, other in ((self.first, self.second), (self.second, self.first)):
            if one.split not in HELD_OUT and other.split in HELD_OUT:
                return one
        return None

    def __str__(self) -> str:
        sides = (f"{one.dataset} {one.name} ({one.split or 'no split'})" for one in (self.first, self.second))
        left_out = f": {self.left_out.dataset} {self.left_out.name} is left out" if self.left_out else ""
        return f"{self.similarity:.3f}  {' ~ '.join(sides)}{left_out}"


def duplicates(
    stores: Sequence[str | Path],
    out: str | Path | None = None,
    similarity: float = SIMILARITY,
    encoder: str = "efficientnet-lite0",
    cache: str | Path | None = None,
    quiet: bool = False,
) -> list[NearDuplicate]:
    """Find near-duplicate pictures within and across stores.

    Parameters
    ----------
    stores : sequence of path
        Made by `stdiffeye prepare`, with their pictures.
    out : path, optional
        JSON file of the pairs and of what to leave out of training, for `train(left_out=…)`.
    similarity : float
        Least correlation of the small copies of a pair.
    encoder : str
        As `stdiffeye features` takes it.
    cache : path, optional
        Where pictures' features are kept.
    quiet : bool
        Show no progress.

    Returns
    -------
    list of NearDuplicate
        The most similar first.

    Raises
    ------
    InputError
        Where no store has pictures, or `similarity` is not between 0 and 1.
    """
    if not 0 < similarity < 1:
        raise InputError(f"similarity must be between 0 and 1, got {similarity}")
    files = _files([Store.open(store) for store in stores])
    if not files:
        raise InputError("no store has pictures: near-duplicates are found by what pictures show")
    features = FeatureCache(picture_encoder(encoder), cache)
    paths = track(list(files), "pictures", quiet=quiet)
    table = scaled(np.stack([description(features.open(path)) for path in paths]))
    candidates = list(similar_pairs(table, CANDIDATES_COSINE))
    numbered, copy_of = list(files.items()), {}
    for number in track(sorted({one for pair in candidates for one in pair}), "small copies", quiet=quiet):
        copy_of[number] = small_copy(load_picture(numbered[number][0]))
    pairs = [(i, j, float(copy_of[i] @ copy_of[j])) for i, j in candidates]
    found = [NearDuplicate(numbered[i][1], numbered[j][1], value) for i, j, value in pairs if value >= similarity]
    found.sort(key=lambda pair: -pair.similarity)
    if out is not None:
        write_json(out, {"pairs": [asdict(pair) for pair in found], "left_out": _left_out(found)})
    return found


def description(features: NDArray[Any]) -> NDArray[np.float32]:
    """(2·C,) mean and standard deviation of each of the features (N, C) of a picture."""
    values = features.astype(np.float32)
    return np.concatenate([values.mean(axis=0), values.std(axis=0)])


def scaled(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """(P, K) descriptions of unit length, after every column was divided by its mean size over all pictures."""
    even = table / np.maximum(np.abs(table).mean(axis=0), 1e-6)
    return even / np.maximum(np.linalg.norm(even, axis=1, keepdims=True), 1e-6)


def small_copy(picture: Image.Image) -> NDArray[np.float64]:
    """(COPY_SIDE²,) a small grey copy without uniform borders, of mean 0 and length 1."""
    grey = picture.convert("L")
    grey.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    values = np.asarray(grey, dtype=np.float64)
    for axis in (0, 1):
        inside = np.flatnonzero(values.std(axis=1 - axis) > LEAST_CONTRAST)
        if len(inside):
            values = np.take(values, range(inside[0], inside[-1] + 1), axis)
    small = Image.fromarray(values.astype(np.uint8)).resize((COPY_SIDE, COPY_SIDE), Image.Resampling.BOX)
    copy = np.asarray(small, dtype=np.float64).ravel()
    copy -= copy.mean()
    return copy / max(float(np.linalg.norm(copy)), 1e-6)


def similar_pairs(table: NDArray[np.float32], least: float) -> Iterator[tuple[int, int]]:
    """(i, j) of the rows of unit length, i < j, whose cosine is at least `least`."""
    for start in range(0, len(table), ROWS_AT_ONCE):
        cosine = table[start : start + ROWS_AT_ONCE] @ table.T
        for row, column in zip(*np.nonzero(cosine >= least), strict=True):
            if start + row < column:
                yield int(start + row), int(column)


def leave_out(stores: Iterable[Store], file: str | Path | None) -> list[Store]:
    """The stores without the stimuli that a file of `duplicates` leaves out of training."""
    if file is None:
        return list(stores)
    values = read_json(Path(file))
    names = values.get("left_out") if isinstance(values, dict) else None
    if not isinstance(names, dict) or not all(isinstance(some, list) for some in names.values()):
        raise InputError(
            f"{file} says nothing of what to leave out: `stdiffeye duplicates STORE… --out FILE` makes one"
        )
    return [store.without({*map(str, names[store.dataset])}) if store.dataset in names else store for store in stores]


def _files(stores: Sequence[Store]) -> dict[Path, StorePicture]:
    """Picture file → what it is; a file that several stimuli share counts once."""
    files: dict[Path, StorePicture] = {}
    for store in stores:
        names, splits = store.columns["name_id"], store.columns["split_id"]
        split_of = dict(zip(names.tolist(), splits.tolist(), strict=True))
        numbers = {name: number for number, name in enumerate(store.words["name"])}
        for name, path in store.pictures.items():
            if path.is_file():
                split = store.words["split"][split_of[numbers[name]]]
                files.setdefault(path, StorePicture(store.dataset, name, split))
    return files


def _left_out(found: Sequence[NearDuplicate]) -> dict[str, list[str]]:
    """Data set → names of stimuli to leave out of training."""
    named: dict[str, set[str]] = {}
    for pair in found:
        if pair.left_out is not None:
            named.setdefault(pair.left_out.dataset, set()).add(pair.left_out.name)
    return {dataset: sorted(names) for dataset, names in sorted(named.items())}
