"""A file's bytes, decompressed, with one clear sentence when they cannot be had."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from stdiffeye.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"
EDF_MAGIC = b"SR_RESEARCH"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
LOOKED_AT = 4096


def read_bytes(path: Path) -> bytes:
    """All of a file, gunzipped when it is gzip (by content, whatever it is called)."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, expected a recording's file")
    if not path.exists():
        raise InputError(f"{path} does not exist")
    data = path.read_bytes()
    if data.startswith(GZIP_MAGIC):
        try:
            data = gzip.decompress(data)
        except EOFError:
            raise InputError(f"{path} is cut short: the gzip stream ends too early; copy the file again") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"{path} is damaged: {error}; copy the file again") from None
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
