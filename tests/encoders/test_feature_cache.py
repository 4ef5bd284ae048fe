"""The cache: content decides, files are whole, several writers do no harm."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from stdiffeye.cli import main
from stdiffeye.encoders import FeatureCache, PictureEncoder
from stdiffeye.encoders.cache import default_folder
from stdiffeye.encoders.picture import Picture, squash
from stdiffeye.errors import InputError


class Averages:
    """A real, tiny encoder: the mean colour of each of 2×3 places."""

    name = "averages"
    grid = (2, 3)
    width = 3
    input_size = (8, 12)

    def __init__(self, version: int = 1) -> None:
        self.identity = f"averages-v{version}"
        self.calls = 0

    def encode(self, pictures: Sequence[Picture], flip: bool = False) -> torch.Tensor:
        self.calls += len(pictures)
        pixels = np.stack([squash(picture, 8, 12, flip) for picture in pictures]).astype(np.float32)
        return torch.tensor(pixels.reshape(-1, 2, 4, 3, 4, 3).mean((2, 4)).reshape(-1, 6, 3))


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    rng = np.random.default_rng(0)
    paths = [tmp_path / f"{number}.png" for number in range(4)]
    for path in paths:
        Image.fromarray(rng.integers(0, 256, (8, 12, 3), dtype=np.uint8)).save(path)
    return paths


def test_features_are_computed_once_and_are_the_encoders_own(pictures, tmp_path) -> None:
    encoder = Averages()
    assert isinstance(encoder, PictureEncoder)
    cache = FeatureCache(encoder, tmp_path / "cache")
    first = cache.get(pictures)
    assert first.shape == (4, 6, 3)
    assert first.dtype == np.float16
    np.testing.assert_array_equal(first, encoder.encode(pictures).numpy().astype(np.float16))
    calls = encoder.calls
    np.testing.assert_array_equal(FeatureCache(encoder, tmp_path / "cache").get(pictures), first)
    assert encoder.calls == calls


def test_flipped_features_are_kept_beside_the_plain_ones(pictures, tmp_path) -> None:
    cache = FeatureCache(Averages(), tmp_path / "cache")
    mixed = cache.get(pictures[:2], flip=[False, True])
    np.testing.assert_array_equal(mixed[0], cache.get(pictures[:1])[0])
    np.testing.assert_array_equal(mixed[1], cache.get(pictures[1:2])[0].reshape(2, 3, 3)[:, ::-1].reshape(6, 3))
    assert cache.computed == 3


def test_other_lights_are_kept_beside_the_plain_features_and_always_the_same(pictures, tmp_path) -> None:
    cache = FeatureCache(Averages(), tmp_path / "cache")
    plain, first, second, mirrored = (
        cache.get(pictures, *view) for view in ((), (False, [1] * 4), (False, [2] * 4), (True, [1] * 4))
    )
    assert len({array.tobytes() for array in (plain, first, second, mirrored)}) == 4
    np.testing.assert_array_equal(mirrored.reshape(4, 2, 3, 3)[:, :, ::-1].reshape(4, 6, 3), first)
    np.testing.assert_array_equal(FeatureCache(Averages(), tmp_path / "elsewhere").get(pictures, False, [1] * 4), first)
    assert cache.computed == 16


def test_the_same_content_under_another_name_is_not_computed_again(pictures, tmp_path) -> None:
    cache = FeatureCache(Averages(), tmp_path / "cache")
    cache.get(pictures[:1])
    shutil.copy(pictures[0], tmp_path / "copy.png")
    cache.get([tmp_path / "copy.png"])
    assert cache.computed == 1


def test_a_changed_file_is_computed_again(pictures, tmp_path) -> None:
    cache = FeatureCache(Averages(), tmp_path / "cache")
    before = cache.get(pictures[:1])
    Image.new("RGB", (8, 12), (1, 2, 3)).save(pictures[0])
    assert not np.array_equal(before, cache.get(pictures[:1]))


def test_another_version_of_the_encoder_does_not_read_the_old_features(pictures, tmp_path) -> None:
    FeatureCache(Averages(1), tmp_path / "cache").get(pictures)
    newer = FeatureCache(Averages(2), tmp_path / "cache")
    newer.get(pictures)
    assert newer.computed == 4


def test_images_and_arrays_are_known_by_their_pixels(pictures, tmp_path) -> None:
    cache = FeatureCache(Averages(), tmp_path / "cache")
    with Image.open(pictures[0]) as image:
        first = cache.get([image, np.asarray(image)])
    np.testing.assert_array_equal(first[0], first[1])
    np.testing.assert_array_equal(first[0], cache.get(pictures[:1])[0])
    assert cache.computed == 2  # by pixels once, by the file's bytes once


def test_open_maps_the_file_read_only(pictures, tmp_path) -> None:
    mapped = FeatureCache(Averages(), tmp_path / "cache").open(pictures[0])
    assert isinstance(mapped, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        mapped[0, 0] = 1


@pytest.mark.parametrize("damage", [b"", b"not an array", None])
def test_a_damaged_file_is_computed_anew(damage: bytes | None, pictures, tmp_path) -> None:
    cache = FeatureCache(Averages(), tmp_path / "cache")
    expected = cache.get(pictures[:1])
    path = cache.path(pictures[0])
    path.write_bytes(path.read_bytes()[:-5] if damage is None else damage)
    assert not cache.has(pictures[0])
    np.testing.assert_array_equal(cache.get(pictures[:1]), expected)


def test_missing_and_broken_pictures_are_input_errors_and_leave_nothing_behind(tmp_path) -> None:
    cache = FeatureCache(Averages(), tmp_path / "cache")
    with pytest.raises(InputError, match="there is no picture"):
        cache.get([tmp_path / "missing.png"])
    with pytest.raises(InputError, match="there is no picture"):
        cache.get([tmp_path])
    (tmp_path / "text.png").write_text("words")
    with pytest.raises(InputError, match="not a picture"):
        cache.get([tmp_path / "text.png"])
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_fill_goes_on_where_it_was_broken_off(pictures, tmp_path) -> None:
    FeatureCache(Averages(), tmp_path / "cache").fill(pictures[:3], quiet=True)
    resumed = FeatureCache(Averages(), tmp_path / "cache")
    resumed.fill(pictures, quiet=True)
    assert resumed.computed == 1


def test_one_broken_picture_does_not_keep_the_others_from_being_computed(pictures, tmp_path) -> None:
    cache = FeatureCache(Averages(), tmp_path / "cache")
    pictures[1].write_text("words")
    with pytest.raises(InputError, match=r"1\.png is not a picture"):
        cache.fill(pictures, quiet=True)
    assert cache.computed == 3
    with pytest.raises(InputError, match=r"2 of 5 pictures cannot be used, the first: .*1\.png"):
        cache.fill([*pictures, tmp_path / "missing.png"], quiet=True)


def test_a_broken_picture_does_not_keep_the_flips_of_others_from_being_computed(pictures, tmp_path) -> None:
    from stdiffeye import features
    from stdiffeye.encoders import picture_encoder

    pictures[0].write_text("words")
    with pytest.raises(InputError, match=r"0\.png is not a picture"):
        features(pictures[:2], cache=tmp_path / "cache", flips=True, quiet=True)
    assert FeatureCache(picture_encoder(), tmp_path / "cache").has(pictures[1], flip=True)


def _fill(folder: Path, pictures: list[Path]) -> None:
    FeatureCache(Averages(), folder).fill(pictures, quiet=True)


def test_two_programs_may_fill_one_cache_at_once(pictures, tmp_path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_fill, args=(tmp_path / "cache", pictures)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=30)
    assert [worker.exitcode for worker in workers] == [0, 0]
    cache = FeatureCache(Averages(), tmp_path / "cache")
    np.testing.assert_array_equal(cache.get(pictures), Averages().encode(pictures).numpy().astype(np.float16))
    assert cache.computed == 0
    assert sum(path.is_file() for path in (tmp_path / "cache").rglob("*")) == len(pictures)


def test_the_folder_follows_the_environment(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("STDIFFEYE_CACHE", raising=False)
    assert default_folder() == tmp_path / "xdg" / "stdiffeye"
    monkeypatch.setenv("STDIFFEYE_CACHE", str(tmp_path / "own"))
    assert default_folder() == tmp_path / "own"
    monkeypatch.delenv("STDIFFEYE_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_folder() == Path(os.path.expanduser("~/.cache/stdiffeye"))


def _command(*words: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["features", *words])
    return int(caught.value.code or 0)


def test_the_command_fills_the_cache_and_says_where(pictures, tmp_path, capsys) -> None:
    from stdiffeye.encoders import picture_encoder

    folder = tmp_path / "cache"
    assert _command(str(pictures[0]), "--flips", "--quiet", "--json", "--cache", str(folder)) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["pictures"], told["computed"]) == (1, 2)
    cache = FeatureCache(picture_encoder(), folder)
    assert Path(told["folder"]) == cache.home
    assert cache.has(pictures[0])
    assert cache.has(pictures[0], flip=True)
    assert _command(str(pictures[0]), "--flips", "--quiet", "--cache", str(folder)) == 0
    assert capsys.readouterr().out == f"1 picture(s), 0 features computed now; all in {cache.home}\n"


def test_the_command_takes_a_folder_and_a_picture_each_once(pictures, tmp_path) -> None:
    from stdiffeye.verbs.encoding import pictures_of

    assert pictures_of([pictures[2], tmp_path]) == [pictures[2], pictures[0], pictures[1], pictures[3]]


def test_bad_input_of_the_command_is_one_line_and_exit_code_two(tmp_path, capsys) -> None:
    for words in ([str(tmp_path / "missing.png")], [], [str(tmp_path / "x.png"), "--encoder", "resnet"]):
        assert _command(*words, "--quiet", "--cache", str(tmp_path / "cache")) == 2
        error = capsys.readouterr().err
        assert error.startswith("stdiffeye: ")
        assert error.count("\n") == 1


def test_the_command_takes_a_store_and_finds_its_pictures(tmp_path) -> None:
    from stdiffeye.data.preparation import prepare
    from stdiffeye.verbs.encoding import pictures_of

    source = tmp_path / "osie"
    (source / "images").mkdir(parents=True)
    rows = []
    for name, subject in (("b.png", "1"), ("a.png", "1"), ("a.png", "2")):
        Image.new("RGB", (80, 60)).save(source / "images" / name)
        gaze = {"X": [40, 60, 20], "Y": [30, 10, 50], "T": [250, 300, 200]}
        rows.append({"name": name, "subject": subject, "width": 80, "height": 60, "split": "train", **gaze})
    (source / "osie_fixations.json").write_text(json.dumps(rows))
    prepare("osie", source, tmp_path / "store", quiet=True)
    found = pictures_of([tmp_path / "store"])
    assert sorted(path.name for path in found) == ["a.png", "b.png"]
    assert all(path.is_file() for path in found)


def test_a_folder_without_pictures_is_an_input_error(tmp_path) -> None:
    from stdiffeye.verbs.encoding import pictures_of

    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no pictures and names none"):
        pictures_of([tmp_path / "empty"])


@pytest.mark.real_data
def test_photographs_of_every_set_give_finite_features_that_tell_them_apart(real_data, tmp_path) -> None:
    from stdiffeye.encoders import picture_encoder
    from stdiffeye.encoders.picture import find_pictures

    sets = ("osie", "crowd", "scene", "figrim", "doves", "mcs")
    paths = [find_pictures(real_data / name / "images")[0] for name in sets]
    features = FeatureCache(picture_encoder(), tmp_path).get(paths).astype(np.float32)
    assert features.shape == (6, 768, 432)
    assert np.isfinite(features).all()
    queries = features.mean(1) - features.mean((0, 1))
    likeness = np.corrcoef(queries) - np.eye(6)
    assert likeness.max() < 0.9
