"""Cost as the work grows: exponents of known curves, and a command that is really measured."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from stdiffeye.benchmark import scaling
from stdiffeye.benchmark.scaling import (
    COMMANDS,
    TIMES,
    CommandCost,
    exponent,
    marginal_s,
    measure,
    page,
    reproduce,
    start_s,
)
from stdiffeye.errors import InputError

SIZES = (4, 16, 64, 256)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_of_a_curve_is_found_whatever_the_start_up(power):
    costs = [CommandCost(items, 7.0 + 0.3 * items**power, 100.0) for items in SIZES]
    assert exponent(costs) == pytest.approx(power)
    assert math.isnan(exponent([CommandCost(items, 1.0, 100.0) for items in SIZES]))


def test_the_page_projects_the_cost_of_one_more_item():
    costs = [CommandCost(items, 3 + 0.36 * items, 100 + items / 64, items / 4) for items in SIZES]
    assert marginal_s(costs) == pytest.approx(0.36)
    text = page({"generate": costs, "features": costs}, load=2.5)
    assert "| `generate` | a million pictures, ten scanpaths each | 100 h | 12.5 h | 1.56 h |" in text
    assert "| 360.0 | 1.00 | 100, 100, 101, 104 MB | +1 %, +4 % | 16, 250 |" in text
    assert "2.5 programs ran or waited" in text
    assert "| disk | 250 GB of features, twice that with `--flips`; 250 GB of scanpaths |" in text
    assert "| memory | 7 GB where 64 workers share a machine" in text


def test_a_worker_needs_its_start_whatever_its_share():
    costs = [CommandCost(items, 3 + 0.0001 * items, 100.0) for items in (1000, 4000, 16_000, 64_000)]
    assert start_s(costs) == pytest.approx(3)
    assert "| `prepare` | COCO-FreeView, 60,000 trials | 9 s | 3.8 s | 3.1 s |" in page({"prepare": costs})


def test_a_command_is_measured_in_a_process_of_its_own():
    prepare = replace(next(one for one in COMMANDS if one.name == "prepare"), base=10)
    (cost,) = measure(prepare, (1,), quiet=True)
    assert cost.items == 10
    assert cost.seconds > 0
    assert cost.megabytes > 10
    assert cost.disk_megabytes > 0
    broken = replace(prepare, make=lambda folder, count: ["generate", "nothing.jpg"])
    with pytest.raises(InputError, match=r"generate nothing.jpg failed: .*there is no picture"):
        list(measure(broken, (1,), quiet=True))


def test_what_was_broken_off_goes_on_where_it_was(tmp_path, monkeypatch):
    out, measured = tmp_path / "scale.md", []

    def cost_of(command, items):
        if len(measured) == 6:
            measured.append(None)
            raise KeyboardInterrupt
        measured.append((command.name, items))
        return CommandCost(items, 3 + 0.1 * items, 100.0, 1.0)

    monkeypatch.setattr(scaling, "_cost", cost_of)
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, out, quiet=True)
    assert not out.exists()
    reproduce(tmp_path, out, quiet=True)
    assert [name for name, _ in filter(None, measured)].count("features") == len(TIMES)
    assert "| `evaluate` | 2,500, 10,000, 40,000, 160,000 pairs |" in out.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [out]
