"""The report of a batch: one page that holds everything and fetches nothing."""

from __future__ import annotations

import re

import numpy as np
import pytest
from PIL import Image

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.gaze.areas import Areas
from stdiffeye.generation.request import OutputOptions
from stdiffeye.plotting.html_page import table
from stdiffeye.plotting.report_page import write_report

FRAME = Frame(160, 120, 8)


def block(folder, name: str) -> list[Trial]:
    Image.new("RGB", (160, 120), "teal").save(folder / name)
    rng = np.random.default_rng(len(name))
    return [
        Trial(
            name,
            str(k),
            Scanpath(rng.uniform(10, 110, (4, 2)), FRAME, [200] * 4, [0, 250, 500, 750]),
            picture=folder / name,
        )
        for k in range(6)
    ]


def test_a_report_holds_every_picture_its_viewers_areas_and_settings(tmp_path):
    blocks = [block(tmp_path, "a.png"), block(tmp_path, "<b>.png")]
    areas = {"*": Areas.boxes({"left": (0, 0, 80, 120), "right": (80, 0, 80, 120)}, FRAME)}
    settings = {"model": "freeview", "seed": 0, "task": "", "steps": None}
    page = write_report(tmp_path / "report.html", blocks, settings, areas, "Batch").read_text(encoding="utf-8")
    assert page.count("<section") == 3
    assert "&lt;b&gt;.png" in page
    assert "<b>" not in page
    assert page.count('src="data:image/png;base64,') == 8
    assert re.search(r"<dt>model</dt><dd>freeview</dd><dt>seed</dt><dd>0</dd></dl>", page)
    assert page.count("<td>200</td>") == 12, "a mean duration per viewer"
    assert page.count('<td class="word">left</td>') == 2
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", page)
    assert "<script" not in page


def test_pictures_without_areas_of_their_own_have_no_table_of_areas(tmp_path):
    areas = {"other.png": Areas.boxes({"left": (0, 0, 80, 120)}, FRAME)}
    page = write_report(tmp_path / "report.html", [block(tmp_path, "a.png")], None, areas).read_text()
    assert "Areas of interest" not in page
    assert "Settings" not in page


def test_cells_are_escaped_rounded_and_say_what_is_unknown():
    text = table([{"name": "<i>", "value": 1.23456, "other": None}], {"value": 2})
    assert '<td class="word">&lt;i&gt;</td><td>1.23</td><td>–</td>' in text


def test_areas_without_a_report_are_refused():
    with pytest.raises(InputError, match="--areas is for the report"):
        OutputOptions(areas="areas.json")
