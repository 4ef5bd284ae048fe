"""Sets that say where people fixate but not in which order: they are prepared whole, and used for density alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

import stdiffeye
from stdiffeye.data.description import info
from stdiffeye.data.preparation import prepare
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.io.sets.fixation_maps import SAMPLES, fixated_pixels, sample_map
from stdiffeye.training.run import train

FIXATED = [(3, 7), (20, 40), (30, 63)]  # row, column


def save_picture(path: Path, pixels: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def mask(*positions: tuple[int, int]) -> np.ndarray:
    pixels = np.zeros((48, 64), np.uint8)
    for row, column in positions:
        pixels[row, column] = 255
    return pixels


def make_salicon(root: Path, folders: bool = False) -> Path:
    rng = np.random.default_rng(0)
    for split, names in {"train": ["COCO_train2014_1", "COCO_train2014_2"], "val": ["COCO_val2014_1"]}.items():
        for name in names:
            folder = root / "images" / (split if folders else "")
            save_picture(folder / f"{name}.jpg", rng.integers(0, 256, (48, 64, 3), dtype=np.uint8))
            save_picture(root / "fixations" / split / f"{name}.png", mask(*FIXATED))
    return root


def make_cat2000(root: Path) -> Path:
    for name in ("Action/001", "Art/001", "Art/002"):
        save_picture(root / "images" / f"{name}.jpg", np.full((48, 64, 3), 99, np.uint8))
    smooth = np.zeros((48, 64), np.uint8)
    smooth[:, 48:] = 200
    save_picture(root / "saliency map" / "Action" / "001.jpg", smooth)
    (root / "FIXATIONLOCS" / "Art").mkdir(parents=True)
    savemat(root / "FIXATIONLOCS" / "Art" / "001.mat", {"fixLocs": mask(*FIXATED) > 0})
    return root


@pytest.fixture(scope="module")
def salicon(tmp_path_factory) -> Store:
    folder = tmp_path_factory.mktemp("salicon")
    return prepare("salicon", make_salicon(folder / "source"), folder / "store", quiet=True)


@pytest.mark.parametrize("folders", [False, True])
def test_every_non_zero_pixel_of_salicon_is_a_fixation(tmp_path, folders):
    store = prepare("salicon", make_salicon(tmp_path / "source", folders), tmp_path / "store", quiet=True)
    assert len(store) == len(store.pictures) == 3
    trial = store[0]
    assert trial.name == "COCO_train2014_1.jpg"
    assert trial.scanpath.duration_ms is None
    assert trial.scanpath.xy_px.tolist() == [[column + 0.5, row + 0.5] for row, column in FIXATED]
    assert [store[number].split for number in range(3)] == ["train", "train", "validation"]


def test_cat2000_takes_fixations_first_then_the_map_and_drops_a_picture_with_neither(tmp_path):
    store = prepare("cat2000", make_cat2000(tmp_path / "source"), tmp_path / "store", quiet=True)
    assert store.words["name"] == ["Action/001.jpg", "Art/001.jpg"]
    assert set(store.pictures) == {"Action/001.jpg", "Art/001.jpg"}
    sampled, fixated = store[0].scanpath, store[1].scanpath
    assert len(sampled) == SAMPLES
    assert (sampled.xy_px[:, 0] > 46).mean() > 0.97  # JPEG blurs the edge of the map
    assert fixated.xy_px.tolist() == [[column + 0.5, row + 0.5] for row, column in FIXATED]
    assert "dropped 1" in info(store.path).facts["quality"]


def test_more_fixations_than_a_scanpath_may_have_are_all_kept(tmp_path):
    make_salicon(tmp_path / "source")
    save_picture(tmp_path / "source" / "fixations" / "train" / "COCO_train2014_1.png", np.full((48, 64), 1, np.uint8))
    store = prepare("salicon", tmp_path / "source", tmp_path / "store", quiet=True)
    assert len(store[0].scanpath) == 48 * 64


def test_samples_of_a_map_follow_it_and_are_always_the_same():
    density = np.zeros((10, 20))
    density[2, 3], density[7, 15] = 1, 3
    xy_px = sample_map(density, 400)
    np.testing.assert_array_equal(xy_px, sample_map(density, 400))
    positions, counts = np.unique(xy_px, axis=0, return_counts=True)
    assert positions.tolist() == [[3.5, 2.5], [15.5, 7.5]]
    assert counts.tolist() == [100, 300]
    assert len(sample_map(np.zeros((4, 4)))) == len(fixated_pixels(np.zeros((4, 4)))) == 0


def test_a_mat_file_that_is_not_cat2000_is_refused(tmp_path):
    root = make_cat2000(tmp_path)
    savemat(root / "FIXATIONLOCS" / "Art" / "001.mat", {"other": 1})
    with pytest.raises(InputError, match="holds no map fixLocs"):
        prepare("cat2000", root, tmp_path / "store", quiet=True)


def test_a_map_in_a_folder_of_no_split_is_refused(tmp_path):
    root = make_salicon(tmp_path)
    save_picture(root / "fixations" / "more" / "COCO_train2014_1.png", mask((1, 1)))
    with pytest.raises(InputError, match="expected a folder train, val, test"):
        prepare("salicon", root, tmp_path / "store", quiet=True)


def test_info_says_that_there_is_no_order(salicon):
    facts = info(salicon.path).facts
    assert facts["order"].startswith("none")
    assert (facts["pictures"], facts["fixations"]) == (3, 3 * len(FIXATED))
    assert info("cat2000").facts["order"].startswith("none")
    assert info("osie").facts["order"] == "as fixated"


def test_what_scores_order_refuses_the_store(salicon):
    for verb in (stdiffeye.read_trials, stdiffeye.stats):
        with pytest.raises(InputError, match="in no order"):
            verb(salicon.path)
    with pytest.raises(InputError, match="in no order"):
        stdiffeye.evaluate(salicon.path, {"itself": salicon.path})


@pytest.mark.parametrize("preset", ["coarse-to-fine", "joint", "deepgaze3"])
def test_what_learns_order_refuses_to_learn_from_nothing_else(salicon, tmp_path, preset):
    with pytest.raises(InputError, match="learns the order of fixations, which salicon lacks"):
        train(preset, [salicon.path], tmp_path / "run", quiet=True)
