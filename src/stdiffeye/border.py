"""The border that every file passes: whatever a parser raises inside it is bad input, told in one short sentence.

Readers need not foresee what a damaged file makes a parser raise. Where they do, their own sentence is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stdiffeye.errors import InputError

LONGEST_MESSAGE = 300
LONGEST_REASON = 120
# NUL ends a word for other programs, a carriage return ends a row of CSV, and half a surrogate pair cannot be written.
NO_TEXT = re.compile("[\0\r\ud800-\udfff]")


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Within this block everything that goes wrong is the file's fault.

    Raises
    ------
    InputError
        With the file's name and the reason, under 300 characters however much of the file an error quotes.
    """
    try:
        refuse_pipe(path)
        yield
    except InputError as error:
        if str(error) == shortened(str(error)):
            raise
        raise InputError(shortened(str(error))) from error
    except RecursionError as error:
        raise InputError(_sentence(path, "it is nested too deeply")) from error
    except MemoryError as error:
        raise InputError(_sentence(path, "it needs more memory than there is")) from error
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_REASON]
        raise InputError(_sentence(path, reason)) from error


def shortened(message: str) -> str:
    """A message under 300 characters: its beginning, which names the file, and its end, which says what to try."""
    message = " ".join(message.replace("\0", "␀").split())
    if len(message) < LONGEST_MESSAGE:
        return message
    end = LONGEST_MESSAGE // 3
    return f"{message[: LONGEST_MESSAGE - end - 2]}…{message[-end:]}"


def refuse_pipe(path: str | Path) -> None:
    """Refuse a pipe or a device: it may have no end, or nobody who ever writes to it."""
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is a pipe or a device: save what comes of it as a file first")


def printable(word: str) -> str:
    """A word as it can be written: bytes of a file's name that are no UTF-8 become \\udcXX.

    >>> printable("caf\\udce9.png"), printable("café.png")
    ('caf\\\\udce9.png', 'café.png')
    """
    return word.encode("utf-8", "backslashreplace").decode("utf-8")


def _sentence(path: str | Path, reason: str) -> str:
    return shortened(f"{path} cannot be read ({reason}): is it damaged, or another kind of file?")
