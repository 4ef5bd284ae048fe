"""A folder in which every command of the documents finds what it names, made by the project's own code."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from pages import DOCS, blocks

from stdiffeye.cli.demo_fixations import SCENES, demo, draw_scene, made_scanpath, record
from stdiffeye.data.prepare import prepare
from stdiffeye.io.descriptions import describe
from stdiffeye.io.eyelink_asc_write import write_asc
from stdiffeye.io.recording_fixations import fixations
from stdiffeye.io.scanpath_json import write_scanpaths

PICTURES = {"train": 3, "validation": 0, "test": 3}  # fewest that evaluate and train can work with
FIXATIONS = 4
TINY = [
    f"train.{part}.{change}"
    for part in ("coarse", "fine")
    for change in ("steps=1", "stimuli=1", "viewers=2", "validate_stimuli=1")
]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """demo/, sub01.asc, sub02.asc.gz, stimuli/, mydata/, own.yaml, stores/own, photo.jpg, human.json … and cache/."""
    folder = tmp_path_factory.mktemp("documents")
    demo(folder / "demo", quiet=True)
    _own_set(folder)
    _judged_gaze(folder)
    draw_scene(folder / "photo.png", SCENES["harbour.png"])
    shutil.copy(folder / "photo.png", folder / "photo.jpg")  # pictures are known by content, not by suffix
    return folder


@pytest.fixture(scope="session")
def run_of_ours(world: Path) -> Path:
    """runs/mine, trained for one step: what it draws is nonsense, but it is drawn by the whole way."""
    from stdiffeye.train.run import train

    return train("compact", [world / "stores/own"], world / "runs/mine", TINY, cache=world / "cache", quiet=True)


def _own_set(folder: Path) -> None:
    """Two viewers' recordings of our own pictures, and the store of the page `how-to/train`."""
    yaml = next(text for kind, text in blocks(DOCS / "how-to/train.md") if kind == "yaml")
    (folder / "own.yaml").write_text(yaml, encoding="utf-8")
    names = _names(folder / "own.yaml")
    for number, name in enumerate(names):
        draw_scene(folder / "stimuli" / name, list(SCENES.values())[number % len(SCENES)])
    shutil.copytree(folder / "stimuli", folder / "mydata/stimuli")
    for viewer in ("sub01", "sub02"):
        write_asc(folder / f"{viewer}.asc", _recordings(names, np.random.default_rng(sum(viewer.encode()))))
    (folder / "sub02.asc.gz").write_bytes(gzip.compress((folder / "sub02.asc").read_bytes()))
    found = fixations([folder / "sub01.asc", folder / "sub02.asc.gz"], quiet=True)
    write_scanpaths(folder / "mydata/gaze/scanpaths.json", found.trials)
    prepare(str(folder / "own.yaml"), folder / "mydata", folder / "stores/own", quiet=True)


def _names(description: Path) -> list[str]:
    """Names of pictures such that each split gets as many as it should."""
    rule = describe(str(description)).split
    chosen: dict[str, list[str]] = {split: [] for split in PICTURES}
    for number in range(500):
        name = f"p{number:03d}.png"
        split = rule.split(name, "")
        if len(chosen[split]) < PICTURES[split]:
            chosen[split].append(name)
    assert {split: len(names) for split, names in chosen.items()} == PICTURES
    return sorted(name for names in chosen.values() for name in names)


def _recordings(names: list[str], rng: np.random.Generator) -> list[object]:
    made, clock_ms = [], 1_000_000.0
    for number, name in enumerate(names):
        path = made_scanpath(list(SCENES.values())[number % len(SCENES)], rng)[:FIXATIONS]
        made.append(record(path, name, clock_ms, rng))
        clock_ms = made[-1].time_ms[-1] + 1000
    return made


def _judged_gaze(folder: Path) -> None:
    """human.json, near.json, far.json by the tutorial's own lines; ours and theirs are the last two."""
    code = next(text for kind, text in blocks(DOCS / "tutorial.md") if kind == "python" and "write_gaze(" in text)
    before = Path.cwd()
    os.chdir(folder)
    try:
        exec(compile(code, "tutorial.md", "exec"), {})
    finally:
        os.chdir(before)
    shutil.copy(folder / "near.json", folder / "ours.json")
    shutil.copy(folder / "far.json", folder / "theirs.json")
