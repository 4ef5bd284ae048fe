"""Files of areas of interest, each made here in exactly its layout."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from stdiffeye import Frame, InputError, Scanpath
from stdiffeye.io.area_files import read_areas

FRAME = Frame(100, 80)
BOX = {"name": "logo", "box": [10, 10, 20, 20]}


def write(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_our_json_names_areas_for_all_pictures_and_for_one(tmp_path):
    own = {"size": [200, 160], "areas": [{"name": "sky", "polygon": [[0, 0], [200, 0], [200, 80]]}]}
    found = read_areas(write(tmp_path / "areas.json", {"areas": [BOX], "pictures": {"b.png": own, "c.png": [BOX]}}))
    assert {name: areas.names for name, areas in found.items()} == {
        "*": ("logo",),
        "b.png": ("sky",),
        "c.png": ("logo",),
    }
    assert found["*"].frame is None
    assert found["b.png"].frame == Frame(200, 160)
    assert found["b.png"].labels(Scanpath([[99, 1], [1, 70]], FRAME)).tolist() == [0, -1]


def test_masks_are_grey_levels_or_colours_and_one_name_makes_one_area(tmp_path):
    grey = np.zeros((8, 10), np.uint8)
    grey[:, 5:] = 7
    Image.fromarray(grey).save(tmp_path / "grey.png")
    Image.fromarray(np.stack([grey, grey * 0, grey * 0], axis=2)).save(tmp_path / "colour.png")
    rows = [{"mask": "grey.png", "names": {"7": "right"}}, {"mask": "grey.png", "name": "whole"}]
    found = read_areas(write(tmp_path / "areas.json", {"areas": rows}))["*"]
    assert found.names == ("right", "whole")
    assert found.inside(Scanpath([[60, 5], [40, 5]], FRAME)).tolist() == [[True, True], [False, False]]
    assert read_areas(tmp_path / "grey.png")["*"].names == ("7",)
    assert read_areas(tmp_path / "colour.png")["*"].names == ("#070000",)


def test_a_folder_holds_a_file_for_each_picture(tmp_path):
    write(tmp_path / "a.json", {"areas": [BOX]})
    assert read_areas(tmp_path)["a"].names == ("logo",)


def test_labelme_has_polygons_and_rectangles_with_repeated_labels(tmp_path):
    shapes = [
        {"label": "dog", "points": [[30, 40], [10, 20]], "shape_type": "rectangle"},
        {"label": "dog", "points": [[0, 0], [10, 0], [0, 10]], "shape_type": "polygon"},
    ]
    content = {"shapes": shapes, "imagePath": "../stimuli/park.jpg", "imageWidth": 100, "imageHeight": 80}
    areas = read_areas(write(tmp_path / "labelme.json", content))["park.jpg"]
    assert areas.names == ("dog", "dog 2")
    assert areas.inside(Scanpath([[20, 30], [2, 2]], FRAME)).tolist() == [[True, False], [False, True]]


def test_coco_has_outlines_in_pieces_and_boxes(tmp_path):
    annotations = [
        {"image_id": 5, "category_id": 1, "segmentation": [[0, 0, 10, 0, 10, 10, 0, 10]], "bbox": [0, 0, 10, 10]},
        {"image_id": 5, "category_id": 2, "segmentation": [[20, 0, 30, 0, 30, 9], [60, 0, 90, 0, 90, 40]]},
        {"image_id": 5, "category_id": 2, "segmentation": {"counts": "", "size": [80, 100]}, "bbox": [0, 60, 9, 9]},
    ]
    content = {
        "images": [{"id": 5, "file_name": "a.jpg", "width": 100, "height": 80}, {"id": 6, "file_name": "b.jpg"}],
        "annotations": annotations,
        "categories": [{"id": 1, "name": "cup"}, {"id": 2, "name": "fork"}],
    }
    areas = read_areas(write(tmp_path / "coco.json", content))
    assert list(areas) == ["a.jpg"]
    assert areas["a.jpg"].names == ("cup", "fork", "fork 2")
    assert areas["a.jpg"].labels(Scanpath([[5, 5], [28, 3], [88, 20], [4, 65], [50, 70]], FRAME)).tolist() == [
        0,
        1,
        1,
        2,
        -1,
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1], "holds list, expected an object"),
        ({}, "names no area"),
        ({"areas": [{"name": "a"}]}, "needs 'box', 'polygon' or 'mask'"),
        ({"areas": [{"mask": "../secret.png"}]}, "names a mask outside its folder"),
        ({"areas": [{"mask": "/etc/secret.png"}]}, "names a mask outside its folder"),
        ({"areas": [{"box": [0, 0, 1, 1]}]}, "cannot be read \\(KeyError: 'name'"),
        ({"areas": [{"name": "a", "box": [0, 0, 1]}]}, "cannot be read \\(TypeError"),
    ],
)
def test_a_file_without_areas_is_refused_in_words(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read_areas(write(tmp_path / "areas.json", content))


def test_a_photograph_is_no_label_mask_and_a_missing_file_is_named(tmp_path):
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 40), dtype=np.uint8)).save(tmp_path / "photo.png")
    with pytest.raises(InputError, match="label mask, or a photograph"):
        read_areas(tmp_path / "photo.png")
    with pytest.raises(InputError, match="does not exist"):
        read_areas(tmp_path / "none.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no areas"):
        read_areas(tmp_path / "empty")
