"""The one error that means "your input, not our code".

The command line prints it in one line and exits with 2; everything else is a bug and keeps its traceback.
"""

from __future__ import annotations


class InputError(ValueError):
    """Bad input: says what was wrong, what was expected, the value, and the next thing to try."""


class DiskFull(InputError):
    """A file could not be written for want of space; no other file will fare better, so nobody goes on after it."""
