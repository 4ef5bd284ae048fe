"""Encode many pictures beforehand: the call behind the command `stdiffeye features`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stdiffeye.encoders.cache import FeatureCache
from stdiffeye.encoders.choose import picture_encoder
from stdiffeye.encoders.picture import Picture
from stdiffeye.errors import InputError


def features(
    pictures: Sequence[Picture],
    encoder: str = "efficientnet-lite0",
    cache: str | Path | None = None,
    flips: bool = False,
    download: bool = False,
    quiet: bool = False,
) -> FeatureCache:
    """Compute the features of pictures that the cache does not hold yet.

    Parameters
    ----------
    encoder, download : as in `picture_encoder`.
    cache : folder (default: `stdiffeye.encoders.cache.default_folder()`).
    flips : also the pictures mirrored left to right.

    Raises
    ------
    InputError : when some pictures cannot be read, after all others were computed.

    Returns
    -------
    The filled cache; its `computed` says how many features were missing, its `get(pictures)` reads them.
    """
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
