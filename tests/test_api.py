"""Every verb of the command line is a function of the package, with the same names for the same things."""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import subprocess
import sys
import typing
from collections.abc import Callable
from typing import Any

import pytest

import stdiffeye
from stdiffeye import Frame, Scanpath, Trajectory, Trial, metrics, plotting, statistics
from stdiffeye.cli import VERBS, args_of
from stdiffeye.cli.flags import flags_of
from stdiffeye.generation.request import JudgingOptions
from stdiffeye.plotting.selection import select

NOUNS = (Frame, Scanpath, Trajectory, Trial)
# Flags about what the command prints; a function returns it.
PRINTED = {"json", "quiet"}
# Fields of QualityThresholds, under shorter names.
THRESHOLDS = (
    *("max_missing", "max_outside", "impossible_speed", "max_impossible_steps", "max_rms_deg", "max_validation_deg"),
)
# Where a function hands keywords on, whoever takes them.
# Flags that a function has no keyword for, since it takes a noun instead or returns what the command writes.
ONLY_FLAGS: dict[str, set[str]] = {
    "evaluate": {"trajectories", "save_clusters"},  # the keyword is `mode`; the result has the clusters
    "fixations": {
        "screen",
        "px_per_degree",
        "method",
        "drift_target",
        "out",
        "pictures",
        "trajectories",
        "bids",  # `write_bids` takes both, with what `read_recording` returns
        "messages",
        *THRESHOLDS,
    },  # nouns
    # Within CleaningSettings; `info` tells which files are there; a shard is no store, and has a function of its own.
    "prepare": {"rate", "check", "shard", *THRESHOLDS},
    "train": {"set", "list", "show"},  # the keyword is `changes`; the other two print presets
}
HANDED_ON: dict[str, tuple[Callable[..., Any], ...]] = {
    "evaluate": (metrics.evaluate, metrics.EvaluationSettings, JudgingOptions),
    "stats": (statistics.stats,),
    "plot": (plotting.plot, plotting.draw, plotting.multiples, select),
    "replay": (plotting.replay, select),
}


def keywords(function: Callable[..., Any]) -> set[str]:
    """Names of a function's parameters; a dataclass among them counts by its fields."""
    kinds = typing.get_type_hints(function, localns=_Names(vars(builtins) | getattr(function, "__globals__", {})))
    names: set[str] = set()
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            names |= _fields(parameter.name, kinds.get(parameter.name))
    return names


class _Unknown:
    def __class_getitem__(cls, item: Any) -> type[_Unknown]:
        return cls


class _Names(dict[str, Any]):
    """What a module knows; names that it imports for type checkers alone are anything."""

    def __missing__(self, name: str) -> Any:
        if name.startswith("__"):
            raise KeyError(name)
        return _Unknown


def _fields(name: str, kind: Any) -> set[str]:
    inner = [one for one in (kind, *typing.get_args(kind)) if isinstance(one, type) and dataclasses.is_dataclass(one)]
    options = [one for one in inner if not issubclass(one, NOUNS)]
    return {field.name for one in options for field in dataclasses.fields(one)} or {name}


def test_every_verb_is_a_function_of_the_package_and_says_what_it_does():
    for verb in VERBS:
        function = getattr(stdiffeye, verb)
        assert inspect.isfunction(function), verb
        assert function.__doc__, verb
        assert function.__name__ == verb


def test_every_public_name_is_there_and_none_is_there_twice():
    assert len(stdiffeye.__all__) == len(set(stdiffeye.__all__))
    assert all(getattr(stdiffeye, name) is not None for name in stdiffeye.__all__)
    assert sorted(stdiffeye.__all__) == dir(stdiffeye)
    with pytest.raises(AttributeError, match="module 'stdiffeye' has no attribute 'nothing'"):
        stdiffeye.nothing


@pytest.mark.parametrize("verb", VERBS)
def test_the_flags_of_a_verb_are_the_keywords_of_its_function(verb):
    known = set().union(*(keywords(one) for one in (getattr(stdiffeye, verb), *HANDED_ON.get(verb, ()))))
    flags = {flag.name for flag in flags_of(args_of(verb))} - PRINTED
    assert flags - known == ONLY_FLAGS.get(verb, set())


def test_a_verb_is_found_by_a_fresh_interpreter_at_the_first_use():
    code = f"import stdiffeye; print(all(callable(getattr(stdiffeye, verb)) for verb in {list(VERBS)!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
