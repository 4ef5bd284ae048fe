"""Encode many pictures beforehand: the call behind the command `stdiffeye features`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from stdiffeye.cluster import on_cluster
from stdiffeye.encoders import PictureEncoder
from stdiffeye.encoders.cache import FeatureCache
from stdiffeye.encoders.choose import picture_encoder
from stdiffeye.encoders.picture import Picture
from stdiffeye.errors import InputError
from stdiffeye.progress import track
from stdiffeye.work_shards import WorkOptions

PICTURES_PER_TASK = 32


@dataclass(frozen=True)
class FeatureTask:
    """Some of the pictures, as a worker of a cluster gets them."""

    pictures: Sequence[Picture]
    encoder: str
    cache: str | Path | None
    flips: bool


def features_task(task: FeatureTask) -> None:
    """Fill the cache with some pictures. What cannot be read is told by the process that shares them, in its turn."""
    filled = FeatureCache(_kept_encoder(task.encoder), task.cache)
    for flip in (False, True) if task.flips else (False,):
        with contextlib.suppress(InputError):
            filled.fill(task.pictures, flip=flip, quiet=True)


@lru_cache(maxsize=1)
def _kept_encoder(name: str) -> PictureEncoder:
    return picture_encoder(name)


def batches(pictures: Sequence[Picture], size: int) -> list[Sequence[Picture]]:
    """The pictures in their order, so many at a time."""
    return [pictures[start : start + size] for start in range(0, len(pictures), size)]


def features(
    pictures: Sequence[Picture],
    encoder: str = "efficientnet-lite0",
    cache: str | Path | None = None,
    flips: bool = False,
    download: bool = False,
    quiet: bool = False,
    work: WorkOptions | None = None,
) -> FeatureCache:
    """Compute the features of pictures that the cache does not hold yet.

    Parameters
    ----------
    encoder, download
        As in `picture_encoder`.
    cache
        Folder (default: `stdiffeye.encoders.cache.default_folder()`).
    flips
        Also the pictures mirrored left to right.
    work
        A shard of the pictures alone, or a cluster to share them; all fill one cache.

    Raises
    ------
    InputError
        When some pictures cannot be read, after all others were computed.

    Returns
    -------
    FeatureCache
        The filled cache; its `computed` says how many features were missing, its `get(pictures)` reads them.
    """
    work = work or WorkOptions()
    if work.own is not None:
        pictures = work.own.of(pictures)
    if work.cluster is not None:
        tasks = [FeatureTask(some, encoder, cache, flips) for some in batches(pictures, PICTURES_PER_TASK)]
        for _ in track(
            on_cluster(features_task, tasks, work.cluster), "pictures, by 32", total=len(tasks), quiet=quiet
        ):
            pass
    filled = FeatureCache(picture_encoder(encoder, download=download), cache)
    trouble: InputError | None = None
    for flip in (False, True) if flips else (False,):
        try:
            filled.fill(pictures, flip=flip, quiet=quiet)
        except InputError as error:
            trouble = error
    if trouble is not None:
        raise trouble
    return filled
