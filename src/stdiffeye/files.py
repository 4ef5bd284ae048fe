"""Files that are either whole or not there: write to a temporary name, then rename.

A program that is killed leaves its temporary file. The name says on which machine and by which process it was made, so
that the next program that writes to the folder takes away what nobody is writing any more.
"""

from __future__ import annotations

import json
import os
import platform
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from stdiffeye.errors import InputError

_swept: set[Path] = set()


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it takes that name when the block ends well, and vanishes otherwise.

    The temporary name keeps the suffixes, so that writers which choose a format by suffix work.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent)
    prefix = f"{_mark()}{os.getpid()}-"
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix="".join(path.suffixes[-2:]))
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Take away temporary files of processes of this machine that are no more; once per folder and process."""
    if folder in _swept:
        return
    _swept.add(folder)
    mark = _mark()
    for entry in os.scandir(folder):
        number = entry.name.removeprefix(mark).partition("-")[0]
        if entry.name.startswith(mark) and number.isdecimal() and not process_lives(int(number)):
            Path(entry.path).unlink(missing_ok=True)


def process_lives(number: int) -> bool:
    """Whether a process of this machine is still there."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _mark() -> str:
    return f".stdiffeye-{re.sub('[^A-Za-z0-9]', '', platform.node())}-"


def locked(file: IO[Any]) -> bool:
    """Lock an open file for this process until it is closed; False where another process holds it.

    Where the system has no such locks, nobody is kept out.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def check_writable(folder: str | Path) -> None:
    """Refuse a folder that nothing can be written to, before work is done for it; it need not be there yet."""
    folder = Path(folder)
    existing = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not existing.is_dir():
        raise InputError(f"{existing} is no folder: choose another --out")
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise InputError(f"{existing} cannot be written to ({error.strerror}): choose another --out") from None


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, value: Any, indent: int | None = 1) -> None:
    """Write JSON, whole or not at all; NaN is an error because JSON has no word for it."""
    write_text(path, json.dumps(value, indent=indent, allow_nan=False, ensure_ascii=False) + "\n")


def read_json(path: str | Path) -> Any:
    """Read JSON, with the file's name in the error."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not JSON: {error}") from None


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
