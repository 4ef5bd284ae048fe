"""Features of pictures on disk, so that each picture is encoded once.

One file per picture, named by the content: `<folder>/<encoder's identity>/<2 letters>/<hash>[-flip][-light2].npy`,
float16, (rows · columns, width), followed by a checksum of the values. One file per picture rather than one large
table because files appear whole or not at all, several programs may fill the cache at once, and adding a picture
never rewrites others; the page cache of the operating system makes random access as fast as a copy out of memory.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from stdiffeye.encoders import PictureEncoder
from stdiffeye.encoders.picture import Picture, colour_jittered, load_picture
from stdiffeye.errors import DiskFull, InputError
from stdiffeye.files import atomic_write
from stdiffeye.progress import track

Features = NDArray[np.float16]

_HASH_BYTES = 16
_CHECKSUM_BYTES = 8


def default_folder() -> Path:
    """`$STDIFFEYE_CACHE`, else `$XDG_CACHE_HOME/stdiffeye`, else `~/.cache/stdiffeye`."""
    own = os.environ.get("STDIFFEYE_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stdiffeye"


class FeatureCache:
    """Tokens of pictures by one encoder, computed when missing and kept as float16.

    Parameters
    ----------
    encoder
        Computes what is missing.
    folder
        Where the cache lives (default: `default_folder()`).

    Attributes
    ----------
    computed
        How many features this object had to compute so far.

    Notes
    -----
    A file's key is the hash of its bytes, remembered in this object as long as the file's size and time of change
    stay the same; a PIL image's or an array's key is the hash of its pixels.
    """

    def __init__(self, encoder: PictureEncoder, folder: str | Path | None = None) -> None:
        self.encoder = encoder
        self.folder = Path(folder) if folder is not None else default_folder()
        self.home = self.folder / "features" / encoder.identity
        self.shape = (encoder.grid[0] * encoder.grid[1], encoder.width)
        self.computed = 0
        self._keys: dict[tuple[str, int, int], str] = {}
        self._checked: set[tuple[str, int, int]] = set()

    def get(
        self,
        pictures: Sequence[Picture],
        flip: bool | Sequence[bool] = False,
        colour_jitter: Sequence[int] | None = None,
    ) -> Features:
        """(B, rows · columns, width) float16 in memory; what is missing is computed and kept.

        Parameters
        ----------
        flip
            Whether the picture is mirrored left to right, for all or one by one.
        colour_jitter
            One by one, 0 for the picture as it is, else the number of a change of its colours.
        """
        flips = [flip] * len(pictures) if isinstance(flip, bool) else list(flip)
        features = np.empty((len(pictures), *self.shape), dtype=np.float16)
        jitters = colour_jitter or [0] * len(pictures)
        for row, view in enumerate(zip(pictures, flips, jitters, strict=True)):
            features[row] = self.open(*view)
        return features

    def open(self, picture: Picture, flip: bool = False, colour_jitter: int = 0) -> Features:
        """(rows · columns, width) float16, read-only, mapped from the file and not yet read."""
        path = self.path(picture, flip, colour_jitter)
        stored = self._read(path)
        if stored is None:
            self._compute(picture, flip, colour_jitter, path)
            stored = self._read(path)
        if stored is None:
            raise InputError(f"{path} vanished while it was read: is another program clearing the cache?")
        return stored

    def has(self, picture: Picture, flip: bool = False) -> bool:
        """Whether the picture's features are there, whole."""
        return self._read(self.path(picture, flip)) is not None

    def fill(self, pictures: Sequence[Picture], flip: bool = False, quiet: bool = False) -> None:
        """Compute what is missing, with progress. Broken off, the same call goes on where it was.

        A picture that cannot be read does not keep the others from being computed; it is reported at the end.
        """
        troubles: list[str] = []
        for picture in track(pictures, "mirrored pictures" if flip else "pictures", quiet=quiet):
            try:
                self.open(picture, flip)
            except DiskFull:
                raise
            except InputError as error:
                troubles.append(str(error))
        if len(troubles) == 1:
            raise InputError(troubles[0])
        if troubles:
            raise InputError(f"{len(troubles)} of {len(pictures)} pictures cannot be used, the first: {troubles[0]}")

    def path(self, picture: Picture, flip: bool = False, colour_jitter: int = 0) -> Path:
        """Where the picture's features are or will be."""
        key = self._key(picture)
        view = ("-flip" if flip else "") + (f"-jitter{colour_jitter}" if colour_jitter else "")
        return self.home / key[:2] / f"{key}{view}.npy"

    def _key(self, picture: Picture) -> str:
        if isinstance(picture, Image.Image | np.ndarray):
            image = load_picture(picture)
            return _digest(f"{image.size}".encode(), image.tobytes())
        path = Path(picture)
        try:
            status = path.stat()
            stamp = (os.path.abspath(path), status.st_size, status.st_mtime_ns)
            if stamp not in self._keys:
                self._keys[stamp] = _digest(path.read_bytes())
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise InputError(f"there is no picture {path}: check the name") from None
        return self._keys[stamp]

    def _read(self, path: Path) -> Features | None:
        """What a file holds; None where it is missing, not written by us, or damaged, and is to be computed anew."""
        try:
            status = path.stat()
            stamp = (str(path), status.st_size, status.st_mtime_ns)
            if stamp not in self._checked and entry_state(path) not in ("whole", "unchecked"):
                return None
            stored = np.load(path, mmap_mode="r", allow_pickle=False)
        except FileNotFoundError:
            return None
        self._checked.add(stamp)
        return stored if stored.shape == self.shape and stored.dtype == np.float16 else None

    def _compute(self, picture: Picture, flip: bool, colour_jitter: int, path: Path) -> None:
        if colour_jitter:
            seed = [colour_jitter, int(self._key(picture), 16)]
            picture = colour_jittered(load_picture(picture), np.random.default_rng(seed))
        tokens = self.encoder.encode([picture], flip=flip)
        values = tokens[0].numpy().astype(np.float16)
        with atomic_write(path) as temporary, temporary.open("wb") as file:
            np.save(file, values, allow_pickle=False)
            file.write(_checksum(values))
        self.computed += 1


def entry_state(path: Path) -> str:
    """Of a file of the cache: "whole", "unchecked" for one of an earlier version, "damaged", or "missing"."""
    try:
        with path.open("rb") as file:
            values = np.lib.format.read_array(file, allow_pickle=False)
            rest = file.read(_CHECKSUM_BYTES + 1)
    except FileNotFoundError:
        return "missing"
    except Exception:  # NumPy reads a header as Python, so that a damaged one may raise anything
        return "damaged"
    if not rest:
        return "unchecked"
    return "whole" if rest == _checksum(values) else "damaged"


def _checksum(values: NDArray[Any]) -> bytes:
    return hashlib.blake2b(values.tobytes(), digest_size=_CHECKSUM_BYTES).digest()


def _digest(*contents: bytes) -> str:
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    for content in contents:
        digest.update(content)
    return digest.hexdigest()
