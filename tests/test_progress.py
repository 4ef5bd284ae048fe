"""The time that is left follows the pace, or the budget where that ends things first."""

from __future__ import annotations

import pytest

from stdiffeye import progress
from stdiffeye.progress import track


@pytest.mark.parametrize(("at_most_s", "left"), [(7.4, "about 7 s left"), (1e9, "about 180 s left")])
def test_the_time_left_is_that_of_the_budget_where_it_is_shorter(at_most_s, left, monkeypatch, capsys):
    clock = iter(range(0, 10_000, 20))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    seen = list(track(range(10), "training", at_most_s=lambda: at_most_s))
    assert seen == list(range(10))
    assert capsys.readouterr().err.splitlines()[0] == f"training: 1/10, {left}"


def test_nothing_is_said_of_the_time_left_where_nobody_knows(monkeypatch, capsys):
    clock = iter(range(0, 10_000, 20))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    list(track(iter("ab"), "reading"))
    assert capsys.readouterr().err.splitlines()[0] == "reading: 1"
