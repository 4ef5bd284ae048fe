"""SHA-256 of files, and the refusal of those that are not what they were."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from stdiffeye.errors import InputError

_REMEMBERED = 256


def file_sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file; remembered while size and time of change stay the same."""
    status = path.stat()
    return _sha256(str(path.absolute()), status.st_size, status.st_mtime_ns)


def require_sha256(path: Path, expected: str, advice: str) -> None:
    """Refuse a file with another checksum.

    Parameters
    ----------
    advice
        What to do then, as "prepare it again".
    """
    found = file_sha256(path)
    if found != expected:
        raise InputError(f"{path} is damaged: its SHA-256 is {found[:12]}…, expected {expected[:12]}…; {advice}")


@lru_cache(maxsize=_REMEMBERED)
def _sha256(path: str, size: int, mtime_ns: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
