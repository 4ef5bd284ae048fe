"""Kernels are compiled by numba, or left as Python where there is next to nothing to compute.

Compiling takes many seconds the first time on a machine (numba keeps the result beside the code). A command that judges
a few scanpaths once is done sooner without. Whether kernels are compiled is decided once per process, before the first
of them is imported: a session in Python always compiles, the command line decides by the size of its input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

MOST_INTERPRETED_PAIRS = 4000
"""Pairs of scanpaths, all metrics of each, that Python scores in about two seconds."""

Function = TypeVar("Function", bound=Callable[..., Any])


class _Decision:
    """Whether kernels are left as Python; fixed as soon as one was made."""

    interpreted = False
    made = False


def kernel(python: Callable[..., Any] | None = None, **options: Any) -> Callable[[Function], Function]:
    """Decorate a kernel, which numba compiles at its first call.

    Parameters
    ----------
    python : callable, optional
        Computes the same, sooner where nothing is compiled.
    **options
        Those of `numba.njit`.

    Returns
    -------
    callable
        The decorator.
    """

    def decorate(function: Function) -> Function:
        _Decision.made = True
        if _Decision.interpreted:
            return function if python is None else cast(Function, python)
        from numba import njit

        compiled: Function = njit(cache=True, nogil=True, **options)(function)
        return compiled

    return decorate


def interpret_small(pairs: int) -> bool:
    """Leave kernels as Python where few pairs are scored, since compilation takes longer than that.

    Parameters
    ----------
    pairs : int
        Number of pairs to score.

    Returns
    -------
    bool
        Whether they are left so; it is decided once per process.
    """
    if not _Decision.made:
        _Decision.interpreted = pairs <= MOST_INTERPRETED_PAIRS
    return _Decision.interpreted
