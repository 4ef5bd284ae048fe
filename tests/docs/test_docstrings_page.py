"""Docstrings reach the site in a form that its parser reads."""

from __future__ import annotations

import importlib.util
import sys

import pytest
from pages import DOCS

pytest.importorskip("griffe")
spec = importlib.util.spec_from_file_location("docstrings", DOCS / "scripts/docstrings.py")
assert spec is not None
assert spec.loader is not None
docstrings = importlib.util.module_from_spec(spec)
sys.modules["docstrings"] = docstrings
spec.loader.exec_module(docstrings)


def test_names_with_meanings_become_names_with_descriptions():
    text = (
        "A noun.\n\nParameters\n----------\nxy_px : (T, 2) position,\n    NaN where lost.\na, b : two.\n\n"
        "Notes\n-----\nx : y\n"
    )
    wanted = text.replace("xy_px : ", "xy_px\n    ").replace("a, b : ", "a, b\n    ")
    assert docstrings.as_expected(text) == wanted


def test_doctests_within_the_text_are_fenced_and_those_of_a_section_are_left_alone():
    inside = "Convert.\n\n>>> f(1)\n2\n\nMore.\n"
    assert docstrings.as_expected(inside) == "Convert.\n\n```pycon\n>>> f(1)\n2\n```\n\nMore.\n"
    section = "Convert.\n\nExamples\n--------\n>>> f(1)\n2\n"
    assert docstrings.as_expected(section) == section
