"""Look at many pictures beforehand: the call behind the command `stdiffeye features`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stdiffeye.encoders.cache import FeatureCache
from stdiffeye.encoders.choose import picture_encoder
from stdiffeye.encoders.picture import Picture


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

    Returns
    -------
    The filled cache; its `computed` says how many features were missing, its `get(pictures)` reads them.
    """
    filled = FeatureCache(picture_encoder(encoder, download=download), cache)
    filled.fill(pictures, quiet=quiet)
    if flips:
        filled.fill(pictures, flip=True, quiet=quiet)
    return filled
