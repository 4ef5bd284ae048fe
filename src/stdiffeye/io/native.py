"""Files that only parsers in C and C++ read: they run in a child process, where a crash or an endless loop stays.

Time and memory are limited by the file's size, so that long recordings still fit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stdiffeye.child_process import GIGABYTE, ChildProcess, ChildTrouble
from stdiffeye.errors import InputError

SECONDS, SECONDS_PER_MEGABYTE = 8.0, 1.0
BYTES, BYTES_PER_BYTE = GIGABYTE * 3 // 4, 32

_child = ChildProcess("stdiffeye.io.native_parsers")


def parse_apart(parser: str, path: Path, what: str, **options: Any) -> Any:
    """What a parser of `native_parsers` makes of a file.

    Parameters
    ----------
    what
        The format, for errors: "a MATLAB file".

    Raises
    ------
    InputError
        When the file is refused, or crashes the parser, or takes it too much time or memory.
    """
    size = path.stat().st_size
    seconds = SECONDS + SECONDS_PER_MEGABYTE * size / 1e6
    try:
        request = {"path": str(path.absolute()), **options}
        return _child.ask(parser, request, seconds, BYTES + BYTES_PER_BYTE * size)
    except InputError as error:
        raise InputError(str(error).replace(str(path.absolute()), str(path))) from None
    except ChildTrouble as error:
        raise InputError(f"{path} cannot be read as {what}: {error}; is it damaged?") from None
