"""Public data sets described as data: `datasets/*.yaml`, and a checker that tells what is missing and where.

A description says how the files lie in a folder, what the frame is, how long a picture was seen, who is to be
cited, under which licence, and how pictures are divided into train, validation and test. A laboratory describes its
own set by a file of the same form and gives its path wherever a name is expected.
"""

from __future__ import annotations

import glob
import hashlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from stdiffeye.border import reading
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame
from stdiffeye.io.pictures import find_picture, inside
from stdiffeye.yaml_files import read_yaml

FOLDER = Path(__file__).parent.parent / "datasets"
SPLITS = ("train", "validation", "test")
RECORDINGS = "recordings"
"""Name of the description of a laboratory's own recordings, and of its reader."""
PLACEMENTS = ("", "letterbox", "centred")


@dataclass(frozen=True)
class ExpectedFile:
    """A file, or a pattern of files, that a set consists of."""

    path: str
    """Relative to the source; may hold * and ?."""
    what: str
    """What it holds, in words."""
    optional: bool = False


@dataclass(frozen=True)
class SplitRule:
    """How pictures are divided where the data do not say."""

    rule: str = "given"
    """`given` by the data, or `by-picture`: a hash of the picture's name decides."""
    validation_share: float = 0.1
    test_share: float = 0.1
    same_picture: tuple[tuple[str, ...], ...] = ()
    """Pictures that show the same photograph: the first name decides for all, so that none leaks into another split."""

    def __post_init__(self) -> None:
        if self.rule not in ("given", "by-picture"):
            raise InputError(f"split rule {self.rule!r} is unknown: expected 'given' or 'by-picture'")
        if not 0 <= self.validation_share + self.test_share < 1:
            raise InputError("validation_share + test_share must lie in [0, 1)")

    def split(self, name: str, given: str) -> str:
        """train, validation or test for a picture; `given` is what the data say ("" for nothing)."""
        if self.rule == "given" and given:
            return given
        first = next((group[0] for group in self.same_picture if name in group), name)
        share = int.from_bytes(hashlib.sha256(first.encode()).digest()[:8], "big") / 2**64
        if share < self.test_share:
            return "test"
        return "validation" if share < self.test_share + self.validation_share else "train"


@dataclass(frozen=True)
class Description:
    """One data set. Fields as in the YAML files."""

    name: str
    title: str
    reader: str
    """Which module of `io/sets` reads it."""
    files: tuple[ExpectedFile, ...]
    citation: str
    licence: str
    shows: str = ""
    """What its viewers saw and did, in a few words."""
    url: str = ""
    pictures: str = ""
    """Folder of the pictures, relative to the source; "" when they come apart."""
    picture_names: tuple[str, ...] = ("{name}",)
    """Where a picture lies in that folder, tried in order; may use {name}, {stem} and {task}."""
    width_px: float | None = None
    height_px: float | None = None
    px_per_degree: float | None = None
    rate_hz: float | None = None
    """Of the raw samples, where there are any."""
    viewing_ms: float | None = None
    """How long a picture was shown; None when the viewer ended the trial."""
    start: str | None = None
    """Of recordings: regular expression of the message that begins a trial; a group `(?P<name>…)` names it."""
    end: str | None = None
    """Of recordings: regular expression of the message that ends a trial."""
    columns: str | None = None
    """Of tables: which column is what, as `time=t,x=gx,y=gy,unit=us,lost=-1`."""
    keep_ids: bool = False
    """Of recordings: viewers keep the names that these give them, instead of pseudonyms."""
    placement: str = ""
    """How pictures lay on the recorded screen: `letterbox` (as large as fits), `centred` (at their own size); "" when
    a picture fills the screen. Gaze is then measured in the picture's px."""
    task: str = ""
    """What was looked for, when it is the same in all trials."""
    targets: tuple[str, ...] = ()
    """What was searched for in the trials, where the set is of visual search."""
    ordered: bool = True
    """False where the data say where people fixate but not in which order; only the encoder learns from such a set."""
    first_fixation: str = ""
    """What is known about the first fixation: central, missing …"""
    split: SplitRule = SplitRule()
    notes: str = ""

    def __post_init__(self) -> None:
        if self.placement not in PLACEMENTS:
            raise InputError(f"placement {self.placement!r} is unknown: expected 'letterbox' or 'centred'")

    @property
    def in_words(self) -> str:
        """What viewers saw and for how long; "" where the description says neither."""
        seconds = f"{self.viewing_ms / 1000:g} s" if self.viewing_ms else ""
        return ", ".join(words for words in (self.shows, seconds) if words)

    @property
    def frame(self) -> Frame | None:
        """Of trials that do not say their own; None when every trial must."""
        if self.width_px is None or self.height_px is None:
            return None
        return Frame(self.width_px, self.height_px, self.px_per_degree)


def known_sets() -> list[str]:
    """Names of the described public sets."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml") if path.stem != RECORDINGS)


def describe(name: str | Path) -> Description:
    """The description of a public set by its name, or of one's own by the path of its YAML file."""
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        path = FOLDER / f"{name}.yaml"
        if not path.is_file():
            known = ", ".join(known_sets())
            raise InputError(f"there is no data set {str(name)!r}: known are {known}, or give a .yaml file")
    with reading(path):
        return _read(path)


def _read(path: Path) -> Description:
    if not path.is_file():
        raise InputError(f"there is no description {path}: check the name")
    values = read_yaml(path)
    try:
        if not isinstance(values, dict):
            raise TypeError(f"expected keys and values, got {type(values).__name__}")
        if path.parent != FOLDER and values.get("reader", RECORDINGS) == RECORDINGS:
            values = _own_recordings(path.stem) | values
        return _description(values)
    except (TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path} does not describe a data set: {error}") from None


def describe_source(dataset: str | Path, source: str | Path | None = None) -> tuple[Description, Path]:
    """A data set and the folder where it lies; a folder of recordings alone is both, and so is a file of scanpaths."""
    if source is not None:
        return describe(dataset), Path(source)
    if Path(dataset).suffix == ".json" and Path(dataset).is_file():
        return _of_scanpaths(Path(dataset)), Path(dataset).parent
    if Path(dataset).suffix in (".yaml", ".yml") or not Path(dataset).exists():
        describe(dataset)
        raise InputError(f"say where {dataset} lies: stdiffeye prepare {dataset} FOLDER --out STORE")
    return describe(RECORDINGS), Path(dataset)


def _of_scanpaths(file: Path) -> Description:
    """A file of scanpaths as a data set of that name."""
    return Description(
        name=file.stem,
        title=file.name,
        reader="scanpath_rows",
        files=(ExpectedFile(glob.escape(file.name), "scanpaths of all viewers"),),
        citation="the laboratory's own",
        licence="the laboratory's own",
        split=SplitRule("by-picture"),
    )


def _description(values: dict[str, Any]) -> Description:
    unknown = set(values) - {field.name for field in fields(Description)}
    if unknown:
        raise KeyError(f"unknown keys {sorted(unknown)}")
    split = dict(values.get("split", {}))
    split["same_picture"] = tuple(map(tuple, split.get("same_picture", ())))
    values = values | {
        "files": tuple(ExpectedFile(**item) for item in values["files"]),
        "split": SplitRule(**split),
        "picture_names": tuple(values.get("picture_names", ("{name}",))),
        "targets": tuple(values.get("targets", ())),
    }
    return Description(**values)


def _own_recordings(name: str) -> dict[str, Any]:
    """What a laboratory's own description leaves out."""
    defaults: dict[str, Any] = read_yaml(FOLDER / f"{RECORDINGS}.yaml")
    return defaults | {"name": name, "title": name}


@dataclass(frozen=True)
class Found:
    """What the checker found of one expected file."""

    expected: ExpectedFile
    where: Path
    count: int

    @property
    def missing(self) -> bool:
        return self.count == 0 and not self.expected.optional


def check(description: Description, source: str | Path) -> list[Found]:
    """Look for each expected file under `source`."""
    source = Path(source)
    found = []
    for expected in description.files:
        count = sum(1 for path in source.glob(expected.path) if path.is_file()) if source.is_dir() else 0
        found.append(Found(expected, source / expected.path, count))
    return found


def require(description: Description, source: str | Path, pictures_elsewhere: bool = False) -> None:
    """Raise an error that names all that is missing, and where it is expected."""
    source = Path(source)
    if not source.is_dir():
        hint = "; of a single file, prepare takes scanpaths as .json" if source.is_file() else ""
        raise InputError(f"{source} is no folder: expected one that holds {description.title}{hint}")
    missing = [found for found in check(description, source) if found.missing]
    if pictures_elsewhere:
        missing = [found for found in missing if not found.expected.path.startswith(description.pictures + "/")]
    if missing:
        lines = "; ".join(f"{found.expected.what}, expected at {found.where}" for found in missing)
        at = f" (from {description.url})" if description.url else ""
        raise InputError(f"{description.title} is not whole{at}: missing {lines}")


def picture_path(description: Description, folder: Path, name: str, task: str) -> str | None:
    """The picture's path relative to `folder`, or None when it is not there."""
    for pattern in description.picture_names:
        relative = pattern.format(name=name, stem=Path(name).stem, task=task)
        found = inside(folder, relative)
        if found is not None and found.is_file():
            return relative
    found = find_picture(folder, name) if name else None
    return None if found is None else found.name
