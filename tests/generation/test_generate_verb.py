"""The commands generate, animate and models: every kind of picture, every file, every refusal."""

from __future__ import annotations

import csv
import json
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from stdiffeye.cli import main
from stdiffeye.cli.generate import _note_of_short_gaze
from stdiffeye.data.read import read_trials
from stdiffeye.gaze.timeline import end_s


def stdiffeye(*words: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    return int(end.value.code)


def quickly(*words: object) -> int:
    return stdiffeye(*words, "--samples", 2, "--seconds", 1, "--no-plots", "--quiet")


def said(capsys) -> str:
    """The one line on standard error."""
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


def colours(width: int = 64, height: int = 48) -> Image.Image:
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(pixels).resize((width, height))


def png_header(width: int, height: int) -> bytes:
    """A PNG that promises a size and holds nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def save_kind(kind: str, folder: Path) -> tuple[Path, tuple[int, int]]:
    """A picture of an unusual kind and the size that a viewer sees."""
    turned = Image.Exif()
    turned[0x0112] = 6  # to be shown turned by 90 degrees
    if kind == "one pixel":
        colours(1, 1).save(folder / "p.png")
    elif kind == "CMYK":
        colours().convert("CMYK").save(folder / "p.jpg")
    elif kind == "16 bit":
        Image.fromarray(np.linspace(0, 65535, 48 * 64).reshape(48, 64).astype(np.uint16)).save(folder / "p.png")
    elif kind == "animated":
        colours().save(folder / "p.gif", save_all=True, append_images=[colours().rotate(90)])
    elif kind == "turned":
        colours().save(folder / "p.jpg", exif=turned)
    elif kind == "transparent":
        Image.new("RGBA", (64, 48), (255, 0, 0, 90)).save(folder / "p.png")
    elif kind == "long":
        colours(2000, 3).save(folder / "p.png")
    sizes = {"one pixel": (1, 1), "turned": (48, 64), "long": (2000, 3)}
    return next(folder.glob("p.*")), sizes.get(kind, (64, 48))


@pytest.mark.parametrize("kind", ["one pixel", "CMYK", "16 bit", "animated", "turned", "transparent", "long"])
def test_every_kind_of_picture_is_looked_at_in_its_own_pixels(run, tmp_path, kind):
    picture, size = save_kind(kind, tmp_path)
    assert quickly("generate", picture, "--model", run, "--out", tmp_path / "gaze") == 0
    trials = read_trials(tmp_path / "gaze" / "scanpaths.json")
    assert len(trials) == 2
    for trial in trials:
        assert trial.details["sampling"] == "independent"
        assert tuple(trial.frame.size_px) == size
        assert (trial.scanpath.xy_px >= 0).all()
        assert (trial.scanpath.xy_px <= size).all()


def test_pictures_that_cannot_be_looked_at_are_one_line(run, tmp_path, capsys):
    (tmp_path / "vast.png").write_bytes(png_header(20_000, 20_000))
    assert quickly("generate", tmp_path / "vast.png", "--model", run, "--out", tmp_path / "gaze") == 2
    assert "megapixels: make it smaller first" in said(capsys)
    (tmp_path / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"torn")
    assert quickly("generate", tmp_path / "torn.png", "--model", run, "--out", tmp_path / "gaze") == 2
    assert "torn.png" in said(capsys)
    assert quickly("generate", tmp_path / "none.png", "--model", run, "--out", tmp_path / "gaze") == 2
    assert "there is no picture" in said(capsys)
    assert not (tmp_path / "gaze").exists()


def test_folders_and_names(run, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert quickly("generate", tmp_path / "empty", "--model", run, "--out", tmp_path / "gaze") == 2
    assert "there is no picture in" in said(capsys)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        colours().save(tmp_path / folder / "same.png")
    colours(32, 32).save(tmp_path / "a" / "other.jpg")
    assert quickly("generate", tmp_path / "a", tmp_path / "b", "--model", run, "--out", tmp_path / "gaze") == 2
    assert "two pictures are called 'same.png': gaze is filed by name" in said(capsys)
    assert quickly("generate", tmp_path / "a", "--model", run, "--out", tmp_path / "gaze") == 0
    trials = read_trials(tmp_path / "gaze" / "scanpaths.json")
    assert [(trial.name, trial.subject) for trial in trials] == [
        (name, sample) for name in ("other.jpg", "same.png") for sample in "01"
    ]


def test_words_that_are_known_and_words_that_are_not(run, tmp_path, capsys, monkeypatch):
    from stdiffeye.encoders import word_table as words

    def missing():
        raise ImportError

    monkeypatch.setattr(words, "_sentence_encoder", missing)
    colours().save(tmp_path / "p.png")
    where = (tmp_path / "p.png", "--model", run, "--out", tmp_path / "gaze")
    assert quickly("generate", *where, "--task", "Microwave") == 0
    assert {trial.task for trial in read_trials(tmp_path / "gaze" / "scanpaths.json")} == {"Microwave"}
    assert quickly("generate", *where, "--task", "microwav", "--overwrite") == 2
    assert "the table of words has no 'microwav'; nearest in the table: microwave" in said(capsys)


def test_scanpaths_alone_are_those_of_the_trajectories(run, tmp_path):
    colours().save(tmp_path / "p.png")
    for name, flags in (("both", ()), ("alone", ("--no-trajectories",))):
        assert quickly("generate", tmp_path / "p.png", "--model", run, "--out", tmp_path / name, *flags) == 0
    both, alone = (json.loads((tmp_path / name / "scanpaths.json").read_text()) for name in ("both", "alone"))
    assert [{key: value for key, value in row.items() if key != "trajectory"} for row in both] == alone
    assert sorted(path.name for path in (tmp_path / "alone").iterdir()) == [
        "fixations.csv",
        "generation.json",
        "saccades.csv",
        "scanpaths.json",
    ]


def test_files_are_the_same_whatever_the_number_of_samples(run, tmp_path):
    colours().save(tmp_path / "p.png")
    for samples in (1, 4):
        flags = ("--samples", samples, "--seconds", 2, "--no-plots", "--quiet")
        stdiffeye("generate", tmp_path / "p.png", "--model", run, "--out", tmp_path / str(samples), *flags)
    one, four = (json.loads((tmp_path / n / "scanpaths.json").read_text()) for n in "14")
    assert one == four[:1]
    one, four = ((tmp_path / n / "trajectories.csv").read_text() for n in "14")
    assert four.startswith(one)


def test_parquet_holds_what_the_csv_holds(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    colours().save(tmp_path / "p.png")
    assert quickly("generate", tmp_path / "p.png", "--model", run, "--out", tmp_path / "gaze", "--parquet") == 0
    table = parquet.read_table(tmp_path / "gaze" / "trajectories.parquet").to_pydict()
    with (tmp_path / "gaze" / "trajectories.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert table["name"] == [row["name"] for row in rows]
    assert table["sample"] == [int(row["sample"]) for row in rows]
    assert np.allclose(table["x"], [float(row["x"]) for row in rows], atol=0.0051)


def test_bids_is_what_the_validator_expects(run, tmp_path):
    program = Path(sys.executable).with_name("bids-validator-deno")
    if not program.exists():
        pytest.skip("bids-validator-deno is not installed")
    colours().save(tmp_path / "p.png")
    colours(32, 32).save(tmp_path / "q.png")
    out = tmp_path / "gaze"
    assert quickly("generate", tmp_path / "p.png", tmp_path / "q.png", "--model", run, "--out", out, "--bids") == 0
    done = subprocess.run([program, out / "bids", "--format", "json"], capture_output=True, text=True)
    issues = json.loads(done.stdout)["issues"]["issues"]
    assert [issue for issue in issues if issue["severity"] == "error"] == []


def test_pictures_and_a_page_that_replays_the_gaze_are_drawn(run, tmp_path):
    colours().save(tmp_path / "p.png")
    where = ("--model", run, "--out", tmp_path / "gaze", "--samples", 2, "--seconds", 1, "--replay", "--quiet")
    assert stdiffeye("generate", tmp_path / "p.png", *where) == 0
    names = {path.name for path in (tmp_path / "gaze").iterdir()}
    assert {"p-scanpath.png", "p-scanpaths.png", "p-density.png", "p-trajectory.png", "p-trace.png"} <= names
    assert "<html" in (tmp_path / "gaze" / "p-replay.html").read_text().lower()


def test_flags_that_exclude_each_other_are_told(run, tmp_path, capsys):
    colours().save(tmp_path / "p.png")
    where = (tmp_path / "p.png", "--model", run, "--out", tmp_path / "gaze", "--no-trajectories")
    for flag in ("--parquet", "--bids"):
        assert quickly("generate", *where, flag) == 2
        assert "--parquet and --bids hold trajectories: leave out --no-trajectories" in said(capsys)
    assert stdiffeye("generate") == 2


def test_a_model_without_a_fine_half_draws_scanpaths_alone(run, tmp_path, capsys):
    half = tmp_path / "half"
    shutil.copytree(run, half)
    (half / "trajectory.safetensors").unlink()
    colours().save(tmp_path / "p.png")
    words = ("generate", tmp_path / "p.png", "--model", half, "--out", tmp_path / "gaze")
    assert quickly(*words) == 2
    assert "half samples scanpaths only: use --no-trajectories" in said(capsys)
    assert quickly(*words, "--no-trajectories") == 0
    assert stdiffeye("animate", tmp_path / "gaze" / "scanpaths.json", "--model", half, "--out", tmp_path / "m") == 2
    assert "has no trajectory stage: train one with `stdiffeye train coarse-to-fine" in said(capsys)
    (half / "scanpath.safetensors").unlink()
    assert quickly(*words, "--overwrite") == 2
    assert "has no weights of 'scanpath'" in said(capsys)
    assert quickly("generate", tmp_path / "p.png", "--model", "frevew", "--out", tmp_path / "gaze") == 2
    assert "there is no model 'frevew'" in said(capsys)


def test_a_peers_scanpaths_without_durations_move_only_when_typical_ones_may_be_given(run, tmp_path, capsys):
    row = {"name": "p.png", "subject": 1, "width": 64, "height": 48, "X": [10, 50], "Y": [10, 30], "T": None}
    (tmp_path / "peer.json").write_text(json.dumps([row]))
    words = ("animate", tmp_path / "peer.json", "--model", run, "--out", tmp_path / "moved", "--quiet")
    assert stdiffeye(*words) == 2
    assert "has no durations: --durations gives it typical ones" in said(capsys)
    assert stdiffeye(*words, "--durations", "--no-plots") == 0
    with (tmp_path / "moved" / "trajectories.csv").open() as file:
        assert len(list(csv.DictReader(file))) > 100
    first = (tmp_path / "moved" / "trajectories.csv").read_text()
    assert stdiffeye(*words, "--durations", "--no-plots", "--seed", "1") == 0
    assert (tmp_path / "moved" / "trajectories.csv").read_text() != first


def test_models_lists_what_is_shipped(capsys):
    assert stdiffeye("models", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert all({"name", "about", "megabytes"} <= model.keys() for model in listed)
    assert stdiffeye("models") == 0
    assert "`stdiffeye models NAME` shows a model's card" in capsys.readouterr().out
    assert stdiffeye("models", "nobody") == 2


@pytest.mark.parametrize("model", ["joint", "freeview"])
def test_gaze_lasts_as_long_as_requested(model, tmp_path, capsys):
    colours().save(tmp_path / "p.png")
    wanted = ("--model", model, "--samples", 1, "--seconds", 10, "--no-plots")
    assert stdiffeye("generate", tmp_path / "p.png", *wanted, "--out", tmp_path / "gaze") == 0
    assert "note: the gaze ends after" not in capsys.readouterr().err
    (gaze,) = read_trials(tmp_path / "gaze" / "scanpaths.json")
    assert end_s(gaze.scanpath) > 9


def test_gaze_that_ends_before_the_requested_time_is_noted(capsys):
    _note_of_short_gaze(3.0, requested_s=10.0)
    assert "note: the gaze ends after 3.0 s" in capsys.readouterr().err
