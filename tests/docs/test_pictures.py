"""The pictures of the pages are there, are small, and are made by the script that says so."""

from __future__ import annotations

import sys

import pytest
from pages import DOCS, links, page_id, pages
from PIL import Image

sys.path.insert(0, str(DOCS / "scripts"))
import pictures

LARGEST_PNG, LARGEST_IN_ALL = 150_000, 2_000_000
IMAGES = DOCS / "images"
FEW_VIEWERS = 2  # the same figures, sooner
OF_THE_PAGE = {"web.png"}  # made by docs/scripts/web_picture.py, which needs a browser


def shown() -> dict[str, str]:
    """Picture in docs/images → a page that shows it."""
    return {
        (page.parent / target).name: page_id(page)
        for page in pages()
        for target in links(page)
        if "images/" in target and (page.parent / target).resolve().parent == IMAGES
    }


def test_pictures_are_small_and_each_is_shown_somewhere():
    found = {path.name: path.stat().st_size for path in IMAGES.iterdir()}
    assert all(size <= LARGEST_PNG for name, size in found.items() if name.endswith(".png")), found
    assert sum(found.values()) <= LARGEST_IN_ALL
    assert set(found) == set(shown())


def test_the_script_makes_every_picture_again(tmp_path, capsys):
    pictures.main(tmp_path, viewers=FEW_VIEWERS)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in IMAGES.iterdir()} - OF_THE_PAGE
    for path in tmp_path.iterdir():
        with Image.open(path) as made, Image.open(IMAGES / path.name) as kept:
            assert made.size == pytest.approx(kept.size, rel=0.1), path.name
    assert str(tmp_path) in capsys.readouterr().out.splitlines()[-1]
