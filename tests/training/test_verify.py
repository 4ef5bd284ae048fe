"""A flipped bit is never other gaze: it is found in stores, weights, checkpoints and cached features."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import stdiffeye
from stdiffeye.cli import main
from stdiffeye.data.store import Store
from stdiffeye.encoders.cache import FeatureCache
from stdiffeye.errors import InputError
from stdiffeye.weight_files import read_weights, write_weights

FLIPS = 40


def flipped(path: Path, rng: np.random.Generator) -> None:
    data = bytearray(path.read_bytes())
    data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    path.write_bytes(data)


def all_gaze(store: Store) -> list[str]:
    return [repr((trial, trial.scanpath.xy_px.tolist(), trial.task)) for trial in store.trials()]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    rows = [
        {"name": f"{k % 3}.jpg", "subject": k, "width": 640, "height": 480, "X": [9, k], "Y": [8, 7], "T": [200, 300]}
        for k in range(30)
    ]
    (folder / "own.json").write_text(json.dumps(rows))
    (folder / "own.yaml").write_text(
        "name: own\ntitle: ours\nreader: scanpath_rows\nfiles: [{path: own.json, what: fixations}]\n"
        "citation: none\nlicence: MIT\nsplit: {rule: by-picture}\n"
    )
    stdiffeye.prepare(folder / "own.yaml", folder, folder / "store", quiet=True)
    return folder / "store"


def test_a_flipped_bit_anywhere_in_a_store_is_refused_when_it_is_read(store, tmp_path):
    rng, whole = np.random.default_rng(0), all_gaze(Store.open(store))
    names = sorted(path.name for path in store.iterdir() if path.name != "quality.json")
    for number in range(FLIPS):
        copy = tmp_path / str(number)
        shutil.copytree(store, copy)
        flipped(copy / names[number % len(names)], rng)
        try:
            read = all_gaze(Store.open(copy))
        except InputError:
            continue
        assert read == whole
        assert any(file.state == "damaged" for file in stdiffeye.verify(copy, quiet=True))


def test_a_flipped_bit_in_weights_is_refused(tmp_path):
    rng, path = np.random.default_rng(1), tmp_path / "a.safetensors"
    weights = {"a": torch.arange(50.0), "b": torch.ones(3, 4, dtype=torch.bfloat16), "n": torch.tensor(3)}
    write_weights(path, weights, {"about": "a test"})
    read, about = read_weights(path)
    assert about == {"about": "a test"}
    assert all(torch.equal(read[name], weights[name]) for name in weights)
    whole = path.read_bytes()
    for _ in range(FLIPS):
        path.write_bytes(whole)
        flipped(path, rng)
        try:
            read, about = read_weights(path)
        except InputError:
            continue
        # What is left is a flip in the word "sha256" itself: the weights are what they were.
        assert all(torch.equal(read[name], weights[name]) for name in weights)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(value, tmp_path):
    write_weights(tmp_path / "a.safetensors", {"layer.weight": torch.tensor([1.0, value])}, {})
    with pytest.raises(InputError, match=r"holds NaN or infinity in layer\.weight"):
        read_weights(tmp_path / "a.safetensors")


class Constant:
    """An encoder that sees the same in every picture."""

    name = identity = "constant"
    grid, width, input_size = (2, 3), 4, (8, 8)

    def encode(self, pictures, flip=False):
        return torch.arange(24.0).reshape(1, 6, 4).repeat(len(pictures), 1, 1)


def test_a_damaged_entry_of_the_cache_is_computed_anew(tmp_path):
    rng, picture = np.random.default_rng(2), np.zeros((8, 8, 3), np.uint8)
    first = FeatureCache(Constant(), tmp_path)
    expected, path = first.get([picture]), first.path(picture)
    for _ in range(FLIPS):
        flipped(path, rng)
        cache = FeatureCache(Constant(), tmp_path)
        assert np.array_equal(cache.get([picture]), expected)
        assert cache.computed == 1


def test_an_entry_of_an_earlier_version_is_used(tmp_path):
    picture, cache = np.zeros((8, 8, 3), np.uint8), FeatureCache(Constant(), tmp_path)
    path = cache.path(picture)
    path.parent.mkdir(parents=True)
    np.save(path, np.ones((6, 4), np.float16))
    assert cache.get([picture]).sum() == 24
    assert cache.computed == 0


def test_the_command_says_which_file_is_damaged(store, tmp_path, capsys):
    def verify(*words: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as end:
            main(["verify", *map(str, words)])
        return int(end.value.code or 0), capsys.readouterr().out

    assert verify(store.parent) == (0, "5 files: 5 whole, 0 damaged, 0 without a checksum\n")
    shutil.copytree(store, tmp_path / "store")
    gaze = tmp_path / "store" / "scanpaths.safetensors"
    data = bytearray(gaze.read_bytes())
    data[-1] ^= 1
    gaze.write_bytes(data)
    code, said = verify(tmp_path)
    assert code == 1
    assert "scanpaths.safetensors is damaged: its SHA-256 is" in said
    code, said = verify()
    assert (code, " 0 damaged" in said) == (0, True)
    with pytest.raises(SystemExit):
        main(["verify", str(tmp_path / "store" / "trials.jsonl")])
    assert "has no checksum" in capsys.readouterr().err
