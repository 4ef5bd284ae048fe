"""Files that are either whole or not there: write to a temporary name, then rename.

A program that is killed leaves its temporary file. The name says on which machine and by which process it was made, so
that the next program that writes to the folder takes away what nobody is writing any more. A full disk is one error
with the path and the space that is left.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from stdiffeye.errors import DiskFull, InputError

LOCK_PATIENCE_S = 2.5  # workers of a killed process hold its lock until they notice, which takes them a second
# No space, no quota, and the limit that a system sets on the size of a file.
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
SHOWN = 20  # characters around one that cannot be written
_swept: set[tuple[int, Path]] = set()


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it takes that name when the block ends well, and vanishes otherwise.

    The temporary name keeps the suffixes, so that writers which choose a format by suffix work.
    """
    path = Path(path)
    if path.is_symlink():  # what it leads to is written, and the link stays
        path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():  # a device is not to be replaced by a file
        raise InputError(f"{path} is no ordinary file that could be written: choose another place")
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent)
    prefix = f"{_mark()}{os.getpid()}-"
    with disk_errors(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix="".join(path.suffixes[-2:]))
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        except UnicodeEncodeError as error:
            shown = f"{error.object[max(0, error.start - SHOWN) : error.end + SHOWN]!r}"
            raise InputError(f"{path} cannot be written: {shown} holds half a character; rename it") from error
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def temporary_folder(where: Path | None = None) -> Iterator[Path]:
    """A folder that vanishes with this block; after a kill the next program that makes one takes it away.

    Parameters
    ----------
    where
        Beside what it is for (default: the system's place for temporary files).
    """
    where = Path(tempfile.gettempdir()) if where is None else where
    where.mkdir(parents=True, exist_ok=True)
    remove_leftovers(where)
    folder = Path(tempfile.mkdtemp(dir=where, prefix=f"{_mark()}{os.getpid()}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Within this block a full disk is a `DiskFull` with the path and what is free."""
    try:
        yield
    except OSError as error:
        # Libraries in C do not always fill in the number, but quote the system's words.
        words = {one: os.strerror(one) for one in NO_SPACE}
        reason = words.get(error.errno or 0) or next((one for one in words.values() if one in str(error)), None)
        if reason is None:
            raise
        raise disk_full(path, reason) from error


def disk_full(path: Path, reason: str) -> DiskFull:
    """The error that says what could not be written, why, and where to make room."""
    there = next(folder for folder in (path.parent, *path.absolute().parents) if folder.is_dir())
    free = shutil.disk_usage(there).free / 1e6
    kept = "the file before is whole" if path.is_file() else "nothing half-written is left"
    return DiskFull(
        f"{path} cannot be written ({reason}; {free:.0f} MB are free in {there}): {kept}; free some space there, "
        "or give another place, and run the same command again"
    )


@contextmanager
def reserved(path: str | Path, what: str) -> Iterator[None]:
    """Only one process at a time is within this block for a path; the second one is refused at once.

    The lock is a hidden file beside the path. The system lets go of it when a process ends, however it ends.

    Parameters
    ----------
    what
        What the other is doing, as "preparing a store".

    Raises
    ------
    InputError
        Another process has the lock.
    """
    path = Path(path)
    lock = path.parent / f".{path.name}.stdiffeye-lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with disk_errors(lock), _only_holder(lock, f"another process is {what} into {path}: wait for it") as file:
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
            file.close()


@contextmanager
def _only_holder(lock: Path, refusal: str) -> Iterator[IO[bytes]]:
    until = time.monotonic() + LOCK_PATIENCE_S
    while True:
        with lock.open("ab") as file:
            if not locked(file):
                if time.monotonic() > until:
                    raise InputError(refusal) from None
                time.sleep(0.1)
                continue
            # Whoever had the lock before takes the file away with it: then ours is no longer the one of that name.
            if lock.exists() and os.fstat(file.fileno()).st_ino == lock.stat().st_ino:
                yield file
                return


def remove_leftovers(folder: Path) -> None:
    """Take away temporary files of processes of this machine that are no more; once per folder and process."""
    if (os.getpid(), folder) in _swept:  # a fork looks for itself
        return
    _swept.add((os.getpid(), folder))
    mark = _mark()
    for entry in os.scandir(folder):
        number = entry.name.removeprefix(mark).partition("-")[0]
        if not entry.name.startswith(mark) or not number.isdecimal() or process_lives(int(number)):
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):  # in a place that many share it may be somebody else's
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
    except RecursionError:
        raise InputError(f"{path} is not JSON that can be read: it is nested too deeply") from None
    except ValueError as error:  # also text that is not UTF-8, and integers of thousands of digits
        raise InputError(f"{path} is not JSON: {error}") from None


def read_fields(path: str | Path) -> dict[str, Any]:
    """Read JSON that must be an object: fields with their values."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise InputError(f"{path} is damaged: expected fields in braces, found {type(value).__name__}")
    return value


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
