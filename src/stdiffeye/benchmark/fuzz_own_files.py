"""Files that are not gaze, for `stdiffeye fuzz`: stores, weights, presets, areas, clusters, results, BIDS.

They come from colleagues and from other machines. A damaged store is signed again after the damage, as a store of
somebody else's making would be: a checksum finds accidents, not intent.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from stdiffeye.data.preparation import prepare
from stdiffeye.data.store import Store
from stdiffeye.data.store_manifest import MANIFEST, manifest_checksum
from stdiffeye.gaze import Scanpath, Trial
from stdiffeye.gaze.recording import Message, Recording
from stdiffeye.io.bids_write import Screen, write_bids
from stdiffeye.io.eyelink_asc_write import write_asc
from stdiffeye.io.recordings import read_recording
from stdiffeye.metrics.evaluation import evaluate
from stdiffeye.metrics.results_page import leaderboard

Seeds = Callable[[Path], list[bytes]]
"""Makes whole files in a folder."""

FOLDER = "bids"


def store_seeds(recording: Recording) -> Seeds:
    """A store of one recording; the damaged file is its store.json."""

    def seeds(folder: Path) -> list[bytes]:
        source = folder / "recordings"
        source.mkdir(exist_ok=True)
        write_asc(source / "a.asc", [recording])
        prepare(source, out=folder / "store", quiet=True)
        return [(folder / "store" / MANIFEST).read_bytes()]

    return seeds


def read_signed_store(path: Path) -> list[Trial]:
    """Every trial of the store whose store.json this is, under a checksum that fits it."""
    manifest = path.parent / "store" / MANIFEST
    data = path.read_bytes()
    try:
        info = json.loads(data)
        data = json.dumps(info | {"manifest_sha256": manifest_checksum(info)}).encode()
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass  # what cannot be signed is read as it is
    manifest.write_bytes(data)
    store = Store.open(manifest.parent)
    return [*store.trials(), *map(store.__getitem__, range(len(store)))]


def weight_seeds(folder: Path) -> list[bytes]:
    """A small file of weights, with its checksum and without."""
    import torch

    from stdiffeye.weight_files import write_weights

    path = folder / "seed.safetensors"
    write_weights(path, {"a": torch.ones(3, 4), "b": torch.zeros(2, dtype=torch.float16)}, {"about": "{}"})
    signed = path.read_bytes()
    return [signed, signed.replace(b"sha256", b"sha000")]


def read_weight_file(path: Path) -> Any:
    """All of its tensors."""
    from stdiffeye.weight_files import read_weights

    return read_weights(path)


def read_preset(path: Path) -> Any:
    """The configuration of a system."""
    from stdiffeye.systems.presets import load_preset

    return load_preset(path)


def preset_seeds(folder: Path) -> list[bytes]:
    """Every preset with its defaults written out, and aliases."""
    from stdiffeye.systems.presets import load_preset, presets, to_plain

    plain = [yaml.safe_dump(to_plain(load_preset(name))).encode() for name in presets()]
    return [*plain, b"about: &a ours\nsystem: coarse-to-fine\nencoder: *a\n"]


def area_seeds(folder: Path) -> list[bytes]:
    """Our own JSON, LabelMe's and COCO's."""
    own: dict[str, Any] = {"size": [1024, 768], "areas": [{"name": "logo", "box": [20, 20, 200, 80]}]}
    own["pictures"] = {"b.png": {"areas": [{"name": "c", "polygon": [[4, 1], [5, 1], [4, 2]]}]}}
    shape = {"label": "a", "points": [[1, 1], [5, 6]], "shape_type": "rectangle"}
    labelme = {"imagePath": "a.png", "imageWidth": 20, "imageHeight": 10, "shapes": [shape]}
    image = {"id": 1, "file_name": "a.png", "width": 20, "height": 10}
    pieces = [[1, 1, 5, 1, 5, 5], [7, 7, 9, 7, 9, 9]]
    marked = [{"image_id": 1, "category_id": 2, "segmentation": some} for some in (pieces, pieces[:1])]
    coco = {"images": [image], "categories": [{"id": 2, "name": "cup"}], "annotations": marked}
    return [json.dumps(one).encode() for one in (own, labelme, coco)]


def cluster_seeds(folder: Path) -> list[bytes]:
    """Clusters of two stimuli."""
    rows = [{"name": name, "task": "", "centres": [[1.5, 2.5], [3, 4]]} for name in ("0.jpg", "1.jpg")]
    return [json.dumps(rows).encode()]


def result_seeds(trials: list[Trial]) -> Seeds:
    """What `evaluate` writes; the split's name is one of our own."""

    def seeds(folder: Path) -> list[bytes]:
        human = [_seen_again(trial, number) for trial in trials for number in range(3)]
        result = evaluate(human, {"made": human[::-1]}, metrics=("DTW",))
        result.save(folder / "seed.json")
        content = json.loads((folder / "seed.json").read_bytes())
        content["settings"]["split_id"] = "set@0"
        return [json.dumps(content).encode()]

    return seeds


def _seen_again(trial: Trial, number: int) -> Trial:
    assert trial.scanpath is not None
    path = trial.scanpath
    moved = Scanpath(path.xy_px + number, path.frame, path.duration_ms, path.onset_ms)
    return Trial(trial.name, f"{trial.subject}{number}", moved)


def read_results(path: Path) -> Any:
    """The leaderboard of one file."""
    return leaderboard([path], path.parent / "leaderboard.md")


def bids_seeds(recording: Recording, suffix: str) -> Seeds:
    """One file of a data set of one run, by its suffix."""

    def seeds(folder: Path) -> list[bytes]:
        whole = folder / FOLDER
        if not whole.exists():
            said = (Message(1000.0, "PICTURE_ON a.jpg"),)
            one = replace(recording, messages=said)
            write_bids(whole, [one], Screen(0.6, 0.5, 0.3), keep_ids=True, messages=".")
        return [_bids_file(whole, suffix).read_bytes()]

    return seeds


def bids_reader(suffix: str) -> Callable[[Path], Any]:
    """Reads the data set with one of its files exchanged."""

    def read(path: Path) -> Any:
        whole = path.parent / FOLDER
        _bids_file(whole, suffix).write_bytes(path.read_bytes())
        return read_recording(whole)

    return read


def _bids_file(folder: Path, suffix: str) -> Path:
    return next(path for path in folder.rglob("sub-*") if path.name.endswith(f"_physio{suffix}"))
