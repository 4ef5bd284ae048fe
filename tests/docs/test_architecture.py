"""The page of the architecture names what is there."""

from __future__ import annotations

import importlib
import re
from functools import reduce

import pytest
from pages import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
MOST_HOPS = 15
WAYS = {
    title: re.findall(r"(?m)^\d+\. `(\S+?)\.py: ([\w.]+)` \S", text)
    for title, text in re.findall(r"(?ms)^## (The way of a \w+)\n(.*?)(?=^## )", PAGE)
}


def test_there_are_two_ways_of_a_few_hops_each():
    assert list(WAYS) == ["The way of a picture", "The way of a recording"]
    for title, hops in WAYS.items():
        lines = re.findall(r"(?m)^\d+\. ", PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0])
        assert 5 < len(hops) == len(lines) <= MOST_HOPS


@pytest.mark.parametrize(("module", "name"), [hop for hops in WAYS.values() for hop in hops], ids=str)
def test_a_hop_is_a_function_or_class_that_can_be_imported(module, name):
    found = importlib.import_module(f"stdiffeye.{module.replace('/', '.')}")
    assert callable(reduce(getattr, name.split("."), found))
