"""The verb `features`: pictures of files, folders and stores, encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stdiffeye.data.read import File
from stdiffeye.errors import InputError
from stdiffeye.work_shards import WorkOptions

if TYPE_CHECKING:
    from stdiffeye.encoders.cache import FeatureCache


def features(
    sources: File | Sequence[File],
    encoder: str = "efficientnet-lite0",
    cache: File | None = None,
    flips: bool = False,
    download: bool = False,
    quiet: bool = False,
    work: WorkOptions | None = None,
) -> FeatureCache:
    """Encode pictures once and keep their features, so that training and generation need not encode them again.

    Parameters
    ----------
    sources : path or sequence of paths
        Pictures, folders of pictures, stores, or gaze files that name their pictures.
    encoder : str
        "efficientnet-lite0", "dinov2:FOLDER" or "dinov2:HUB_ID".
    cache : path, optional
        Where features are kept; by default `stdiffeye.encoders.cache.default_folder()`.
    flips : bool
        Also encode the pictures mirrored left to right, which training uses.
    download : bool
        Allow a hub id to be fetched from the network.
    quiet : bool
        Show no progress.
    work : WorkOptions, optional
        A shard of the pictures alone, or a cluster to share them; all fill one cache.

    Returns
    -------
    FeatureCache
        `get(pictures)` reads the features; `computed` says how many were missing, `home` where they are.

    Raises
    ------
    InputError
        Where no picture is found, or some cannot be read, after all others were encoded.
    """
    from stdiffeye.encoders.feature_files import features as encode

    return encode(pictures_of(sources), encoder, cache, flips, download, quiet, work)


def pictures_of(sources: File | Sequence[File]) -> list[Path]:
    """The picture files that files, folders and stores stand for, each once, in order."""
    paths = [sources] if isinstance(sources, File) else sources
    found = dict.fromkeys(picture for source in paths for picture in _pictures_of_one(Path(source)))
    if not found:
        raise InputError("no pictures were given: name pictures, folders of pictures, or stores")
    return list(found)


def _pictures_of_one(source: Path) -> list[Path]:
    from stdiffeye.data.store import Store
    from stdiffeye.data.store_manifest import is_store
    from stdiffeye.encoders.picture import find_pictures
    from stdiffeye.io.pictures import PICTURE_SUFFIXES

    if source.suffix.lower() in PICTURE_SUFFIXES:
        return [source]
    if is_store(source):
        pictures = list(Store.open(source).pictures.values())
    elif source.is_dir():
        pictures = find_pictures(source)
    else:
        from stdiffeye.data.read import read_trials

        pictures = [trial.picture for trial in read_trials(source) if trial.picture is not None]
    if not pictures:
        raise InputError(f"{source} holds no pictures and names none: give the folder of its pictures instead")
    return pictures
