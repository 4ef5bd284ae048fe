"""Examples in docstrings run, and public functions of plotting and statistics are documented in full."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import stdiffeye
from stdiffeye import plotting, statistics

SOURCE = Path(stdiffeye.__file__).parent
MODULES = [
    ".".join(("stdiffeye", *path.relative_to(SOURCE).with_suffix("").parts))
    for path in sorted(SOURCE.rglob("*.py"))
    if any(">>> " in line and "+SKIP" not in line for line in path.read_text(encoding="utf-8").splitlines())
]
PUBLIC = [
    pytest.param(getattr(room, name), id=f"{room.__name__}.{name}")
    for room in (plotting, statistics)
    for name in room.__all__
    if callable(getattr(room, name))
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_give_what_they_say(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize("public", PUBLIC)
def test_a_public_name_says_what_it_takes_and_gives(public: object) -> None:
    text = inspect.getdoc(public) or ""
    if inspect.isclass(public):
        assert "Parameters\n----------" in text or "Attributes\n----------" in text
        return
    taken = [name for name in inspect.signature(public).parameters if name not in ("args", "kwargs")]
    assert "Parameters\n----------" in text
    assert "Returns\n-------" in text or inspect.signature(public).return_annotation == "None"
    section = text.split("Parameters\n----------")[1].split("\n\n")[0]
    entries = {
        name.strip(" *") for line in section.splitlines() if line[:1] != " " for name in line.split(":")[0].split(",")
    }
    assert set(taken) <= entries
