"""Areas of interest from files: our JSON, LabelMe's, COCO's annotations, and label masks.

Our JSON names areas for all pictures alike, or for each picture:

    {"size": [1024, 768],
     "areas": [{"name": "logo", "box": [20, 20, 200, 80]},
               {"name": "face", "polygon": [[400, 100], [500, 100], [450, 220]]}],
     "pictures": {"b.png": {"areas": [{"mask": "b-labels.png", "names": {"1": "sky"}}]}}}

`size` is the size of the picture that the coordinates are px of; without it they are px of the gaze's frame. A mask is
a picture whose values are areas (0 is none); colours of an RGB mask are areas of their own. `names` gives values
names. Paths of masks start from the JSON file. LabelMe: `shapes` of polygons and rectangles. COCO: `images`,
`annotations` with a polygon or a box, `categories`; several annotations of a category are numbered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from stdiffeye.border import reading
from stdiffeye.errors import InputError
from stdiffeye.files import read_json
from stdiffeye.gaze import Frame
from stdiffeye.gaze.areas import ALL_PICTURES, Area, Areas
from stdiffeye.io.pictures import LONGEST_SHOWN, PICTURE_FORMATS, PICTURE_SUFFIXES, check_picture, inside

MOST_LABELS = 100  # of a mask: a photograph given by mistake has thousands of colours


def read_areas(path: str | Path) -> dict[str, Areas]:
    """Areas of interest of pictures.

    Parameters
    ----------
    path : str or Path
        JSON (ours, LabelMe's or COCO's), a label mask (PNG), or a folder of JSON files and masks that are named after
        their pictures.

    Returns
    -------
    dict of str to Areas
        By the picture's name; "*" stands for every picture that is not named.

    Raises
    ------
    InputError
        Where the file is not there, has no area, or an area has no shape.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(one for one in path.iterdir() if one.suffix.lower() in (".json", ".png"))
        if not files:
            raise InputError(f"{path} holds no areas of interest: expected JSON files or masks named after pictures")
        return {one.stem: next(iter(read_areas(one).values())) for one in files}
    if not path.is_file():
        raise InputError(f"{path} does not exist: areas of interest are a JSON file, a mask or a folder of these")
    if path.suffix.lower() in PICTURE_SUFFIXES:
        return {ALL_PICTURES: _of_mask(path, {})}
    content = read_json(path)
    if not isinstance(content, dict):
        raise InputError(f"{path} holds {type(content).__name__}, expected an object with 'areas'")
    with reading(path):
        if "annotations" in content:
            return _of_coco(content)
        if "shapes" in content:
            return {Path(content.get("imagePath") or ALL_PICTURES).name: _of_labelme(content)}
        return _own(content, path)


def _own(content: Mapping[str, Any], path: Path) -> dict[str, Areas]:
    found = {}
    if content.get("areas"):
        found[ALL_PICTURES] = _areas(content["areas"], _size(content), path)
    for name, of_picture in content.get("pictures", {}).items():
        rows = of_picture["areas"] if isinstance(of_picture, Mapping) else of_picture
        size = _size(of_picture) if isinstance(of_picture, Mapping) else None
        found[name] = _areas(rows, size or _size(content), path)
    if not found:
        raise InputError(f"{path} names no area: expected 'areas' or 'pictures', got {', '.join(content) or 'nothing'}")
    return found


def _size(content: Mapping[str, Any]) -> Frame | None:
    return None if content.get("size") is None else Frame(*content["size"])


def _areas(rows: Sequence[Mapping[str, Any]], size: Frame | None, path: Path) -> Areas:
    areas: list[Area] = []
    for row in rows:
        if "mask" in row:
            areas += _of_mask(_beside(path, row["mask"]), row.get("names", {}), row.get("name"))
        elif "box" in row:
            areas.append(Area.box(row["name"], *map(float, row["box"])))
        elif "polygon" in row:
            areas.append(Area(row["name"], row["polygon"]))
        else:
            raise InputError(f"area {row.get('name')!r} of {path} needs 'box', 'polygon' or 'mask'")
    return Areas(areas, size)


def _beside(path: Path, word: str) -> Path:
    """The mask that a file names: in its own folder or below it."""
    mask = inside(path.parent, word)
    if mask is None:
        raise InputError(f"{path} names a mask outside its folder ({word[:LONGEST_SHOWN]}): put it beside the file")
    return mask


def _of_mask(path: Path, names: Mapping[Any, str], only: str | None = None) -> Areas:
    """Areas of a mask; with a name, all that is set is one area of that name."""
    labels, colours = _labels(path)
    if only is not None:
        return Areas([Area(only, mask=labels != 0)])
    known = colours | {int(value): name for value, name in names.items()}
    return Areas.of_labels(labels, known)


def _labels(path: Path) -> tuple[NDArray[np.int64], dict[int, str]]:
    """(H, W) labels of a mask, and names of the colours of a colour mask."""
    check_picture(path)
    with Image.open(path, formats=PICTURE_FORMATS) as image:
        grey = image.mode in ("1", "L", "P", "I", "I;16")
        pixels = np.asarray(image.convert("L") if image.mode == "1" else image if grey else image.convert("RGB"))
    values = pixels.astype(np.int64)
    names: dict[int, str] = {}
    if not grey:
        values = values @ np.array([1 << 16, 1 << 8, 1])
        names = {int(value): f"#{value:06x}" for value in np.unique(values)}
    if len(np.unique(values)) > MOST_LABELS:
        raise InputError(f"{path} has more than {MOST_LABELS} values: is it a label mask, or a photograph?")
    return values, names


def _of_labelme(content: Mapping[str, Any]) -> Areas:
    size = Frame(content["imageWidth"], content["imageHeight"]) if content.get("imageWidth") else None
    names = _numbered([shape["label"] for shape in content["shapes"]])
    areas = []
    for name, shape in zip(names, content["shapes"], strict=True):
        points = np.array(shape["points"], dtype=np.float64)
        if shape.get("shape_type", "polygon") == "rectangle":
            corner, far = points.min(axis=0), points.max(axis=0)
            areas.append(Area.box(name, *corner, *(far - corner)))
        else:
            areas.append(Area(name, points))
    return Areas(areas, size)


def _of_coco(content: Mapping[str, Any]) -> dict[str, Areas]:
    categories = {one["id"]: one["name"] for one in content["categories"]}
    found = {}
    for image in content["images"]:
        own = [one for one in content["annotations"] if one["image_id"] == image["id"]]
        names = _numbered([categories[one["category_id"]] for one in own])
        if own:
            size = Frame(image["width"], image["height"])
            areas = [_of_annotation(name, one, size) for name, one in zip(names, own, strict=True)]
            found[image["file_name"]] = Areas(areas, size)
    return found


def _of_annotation(name: str, annotation: Mapping[str, Any], size: Frame) -> Area:
    """The outline; an object in several pieces becomes a mask, one with run lengths its box."""
    outlines = annotation.get("segmentation")
    if not isinstance(outlines, list) or not outlines:
        return Area.box(name, *map(float, annotation["bbox"]))
    if len(outlines) == 1:
        return Area(name, np.reshape(np.asarray(outlines[0], dtype=np.float64), (-1, 2)))
    mask = Image.new("1", (round(size.width_px), round(size.height_px)))
    for outline in outlines:
        ImageDraw.Draw(mask).polygon(list(map(float, outline)), fill=1)
    return Area(name, mask=np.asarray(mask))


def _numbered(names: Sequence[str]) -> list[str]:
    """Names made unique: person, person 2, person 3."""
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return unique
