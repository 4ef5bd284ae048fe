"""Pictures that two sets share are found though squashed and padded, and are kept out of training."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from stdiffeye.cli import main
from stdiffeye.data.preparation import prepare
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.training.near_duplicates import (
    NearDuplicate,
    StorePicture,
    duplicates,
    leave_out,
    similar_pairs,
    small_copy,
)

SPLITS = ("train", "train", "validation", "test", "train", "train")


def photograph(seed: int) -> Image.Image:
    """Soft stripes and spots of some colours: unlike any other seed's."""
    rng = np.random.default_rng(seed)
    small = rng.uniform(0, 255, (rng.integers(2, 14), rng.integers(2, 14), 3)).astype(np.uint8)
    return Image.fromarray(small).resize(
        (200, 150), int(rng.choice([Image.Resampling.NEAREST, Image.Resampling.BICUBIC]))
    )


def make_set(folder: Path, pictures: list[Image.Image], splits: tuple[str, ...]) -> Path:
    """In the layout of OSIE, with a viewer of each picture."""
    (folder / "images").mkdir(parents=True)
    rows = []
    for number, (picture, split) in enumerate(zip(pictures, splits, strict=True)):
        picture.save(folder / "images" / f"{number}.png")
        size = {"width": picture.width, "height": picture.height}
        rows.append({"name": f"{number}.png", "subject": 1, "split": split, "X": [50], "Y": [50], "T": [200]} | size)
    (folder / f"{folder.name}_fixations.json").write_text(json.dumps(rows))
    return folder


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two sets of six; the first two of the second are the third and fourth of the first, squashed."""
    home = tmp_path_factory.mktemp("sets")
    ours = [photograph(seed) for seed in range(6)]
    theirs = [one.resize((150, 150)) for one in ours[2:4]] + [photograph(seed) for seed in range(10, 14)]
    made = [make_set(home / "osie", ours, SPLITS), make_set(home / "crowd", theirs, SPLITS)]
    return [prepare(one.name, one, home / "stores" / one.name, quiet=True).path for one in made]


def test_squashed_copies_are_found_and_the_trained_ones_left_out(stores, tmp_path, capsys):
    words = ["duplicates", *map(str, stores), "--out", str(tmp_path / "d.json"), "--cache", str(tmp_path), "--quiet"]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    assert "2 pairs of near-duplicates; 2 pictures are to be left out of training" in capsys.readouterr().out
    found = json.loads((tmp_path / "d.json").read_text())
    pairs = {(pair["first"]["name"], pair["second"]["name"]) for pair in found["pairs"]}
    assert pairs == {("2.png", "0.png"), ("3.png", "1.png")}
    assert found["left_out"] == {"crowd": ["0.png", "1.png"]}
    osie, crowd = leave_out(map(Store.open, stores), tmp_path / "d.json")
    assert [crowd[int(number)].name for number in crowd.where("train")] == ["4.png", "5.png"]
    assert len(osie.where()) == 6


@pytest.mark.parametrize(
    ("first", "second", "left_out"),
    [("train", "test", 0), ("validation", "train", 1), ("train", "train", None), ("test", "validation", None)],
)
def test_what_is_left_out_is_the_one_that_is_trained_on(first, second, left_out):
    pair = NearDuplicate(StorePicture("a", "1", first), StorePicture("b", "2", second), 0.95)
    assert pair.left_out == (None if left_out is None else (pair.first, pair.second)[left_out])


def test_pairs_are_those_of_the_whole_table_once_each():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(50, 8)).astype(np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    table[7] = table[31]
    wanted = {(i, j) for i in range(50) for j in range(i + 1, 50) if table[i] @ table[j] >= 0.8}
    assert {*similar_pairs(table, 0.8)} == wanted
    assert (7, 31) in wanted


def test_a_small_copy_lacks_the_border_of_its_picture():
    picture = photograph(1)
    padded = Image.new("RGB", (300, 200))
    padded.paste(picture, (60, 20))
    assert small_copy(padded) @ small_copy(picture.resize((120, 180))) > 0.98
    assert abs(small_copy(padded) @ small_copy(photograph(2))) < 0.9


def test_bad_files_and_similarities_are_refused(stores, tmp_path):
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(InputError, match="says nothing of what to leave out"):
        leave_out([], tmp_path / "other.json")
    with pytest.raises(InputError, match="similarity must be between 0 and 1, got 2"):
        duplicates(stores, similarity=2)
