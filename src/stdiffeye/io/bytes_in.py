"""A file's bytes, decompressed within limits, with one clear sentence when they cannot be had.

What unpacks to a hundred times its size is no recording: gaze as text is about ten times as long as its gzip file.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from stdiffeye.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"
EDF_MAGIC = b"SR_RESEARCH"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
LOOKED_AT = 4096
LARGEST_BYTES = 2 << 30
UNPACKED_BYTES, UNPACKED_RATIO = 64 << 20, 100


class _Unpacked(io.RawIOBase):
    """A gzip stream that ends in an error when it grows out of proportion."""

    def __init__(self, path: Path) -> None:
        self.path, self.taken = path, 0
        self.most = min(LARGEST_BYTES, UNPACKED_BYTES + UNPACKED_RATIO * path.stat().st_size)
        self.stream = gzip.GzipFile(path, "rb")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.stream.read(len(buffer))
        self.taken += len(data)
        if self.taken > self.most:
            raise InputError(f"{self.path} unpacks to more than {self.most >> 20} MB: unpack it and look at it first")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self.stream.close()
        super().close()


@contextmanager
def open_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """A file as a stream of bytes, gunzipped when it is gzip (by content, whatever it is called)."""
    require_reasonable_size(path)
    with path.open("rb") as plain:
        packed = plain.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    try:
        if packed:
            with io.BufferedReader(_Unpacked(path), 1 << 18) as unpacked:
                yield unpacked
        else:
            with path.open("rb") as plain:
                yield plain
    except EOFError:
        raise InputError(f"{path} is cut short: the gzip stream ends too early; copy the file again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is damaged: {error}; copy the file again") from None


def require_reasonable_size(path: Path) -> None:
    """Refuse a file that is too large to be read whole, before it is opened."""
    size = path.stat().st_size
    if size > LARGEST_BYTES:
        raise InputError(f"{path} has {size / 1e9:.1f} GB, at most {LARGEST_BYTES / 1e9:.1f} are read: split it first")


def read_bytes(path: Path) -> bytes:
    """All of a file, gunzipped when it is gzip (by content, whatever it is called)."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, expected a recording's file")
    if not path.exists():
        raise InputError(f"{path} does not exist")
    with open_unpacked(path) as file:
        data = file.read()
    if not data:
        raise InputError(f"{path} is empty, expected a recording")
    return data


def text_bytes(path: Path, kind: str) -> bytes:
    """As `read_bytes`, for a file that must be text of some `kind`."""
    data = read_bytes(path)
    if data.startswith(EDF_MAGIC):
        raise InputError(f"{path} is an EyeLink EDF file, not {kind}: give it the suffix .edf")
    if data.startswith(UTF16_MARKS):  # some versions of Tobii Studio export so
        data = data.decode("utf-16", errors="replace").encode()
    if b"\0" in data[:LOOKED_AT]:
        raise InputError(f"{path} is binary, not {kind}")
    return data


def decoded(data: bytes) -> str:
    """Text in UTF-8, or in Latin-1, which older tracker software writes and which can never fail."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
