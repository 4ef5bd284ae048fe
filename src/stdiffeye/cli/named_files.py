"""`NAME=FILE …`, as several verbs take systems."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from stdiffeye.errors import InputError


def named_files(words: Sequence[str]) -> dict[str, Path]:
    """Parse `NAME=FILE` or `FILE`, which is named after the file; a name may occur once.

    Reports among several files are passed over: `gaze/*.json` means the gaze.
    """
    from stdiffeye.io.gaze_files import report_in

    found: dict[str, Path] = {}
    for word in words:
        report = report_in(word)
        if len(words) > 1 and report is not None:
            print(f"note: {word} is {report}, no gaze: passed over", file=sys.stderr)
            continue
        name, equals, path = word.partition("=")
        if not equals or Path(word).exists():
            name, path = Path(word).stem, word
        if not (name and path):
            raise InputError(f"expected NAME=FILE, got {word!r}")
        if name in found:
            raise InputError(f"two files are called {name!r}: give each its own name with NAME=FILE")
        found[name] = Path(path)
    return found
