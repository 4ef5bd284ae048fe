"""The files that readers once choked on, replayed; files that unpack without end; and the command that finds more."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from stdiffeye.benchmark.fuzz_readers import READERS
from stdiffeye.benchmark.fuzzing import fuzz, replay
from stdiffeye.benchmark.mutations import mutated
from stdiffeye.border import reading
from stdiffeye.cli import main
from stdiffeye.encoders import load_picture
from stdiffeye.errors import InputError
from stdiffeye.io.gaze_files import read_gaze
from stdiffeye.io.predictions import read_predictions
from stdiffeye.io.recordings import read_recording

CORPUS = Path(__file__).parents[1] / "corpus"
CASES = sorted(path for path in CORPUS.rglob("*") if path.is_file())
SURROUNDED = ("bids", "sidecar", "store")  # damaged is one file of several
EXTRAS = {"hdf5": "h5py", "parquet": "pyarrow"}
ROW = {"name": "a.jpg", "subject": 1, "width": 800, "height": 600, "X": [1, 2], "Y": [3, 4], "T": [200, 300]}


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.relative_to(CORPUS).as_posix())
def test_a_file_that_once_ended_in_a_traceback_is_read_or_refused(case, tmp_path):
    name = case.parent.name
    if name in EXTRAS:
        pytest.importorskip(EXTRAS[name])
    if name in SURROUNDED:
        READERS[name].seeds(tmp_path)
    copy = tmp_path / READERS[name].name
    shutil.copyfile(case, copy)
    assert replay(READERS[name], copy) in ("taken", "refused")


@pytest.mark.parametrize("name", READERS)
def test_the_whole_files_that_damage_starts_from_are_read(name, tmp_path):
    if name in EXTRAS:
        pytest.importorskip(EXTRAS[name])
    if name == "edf":
        pytest.skip("whole EDF files are the tracker's")
    for seed in READERS[name].seeds(tmp_path):
        case = tmp_path / READERS[name].name
        case.write_bytes(seed)
        READERS[name].read(case)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"width": True}, "width"),
        ({"height": 10**400}, "height"),
        ({"name": ["a.jpg"]}, "name"),
        ({"name": "a\0.jpg"}, "name"),
        ({"subject": {"a": 1}}, "subject"),
        ({"task": "x" * 100_000}, "task"),
        ({"X": [1e300, 2]}, "px"),
        ({"X": [[1], [2]]}, "X"),
        ({"T": [1e300, 2]}, "duration"),
        ({"T": [-5, 2]}, "duration"),
        ({"onset": [0, float("inf")]}, "onset"),
        ({"bbox": [float("nan"), 1, 2, 3]}, "target_box"),
        ({"viewing_ms": -1}, "viewing time"),
        ({"viewing_ms": True}, "viewing time"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_value_that_makes_no_sense_is_refused_with_the_fields_name(change, field, tmp_path):
    path = tmp_path / "gaze.json"
    path.write_text(json.dumps([ROW | change]))
    with pytest.raises(InputError, match=field) as refused:
        read_gaze(path)
    assert len(str(refused.value)) < 300


def test_what_unpacks_without_end_is_refused_before_it_fills_memory(tmp_path):
    bomb = gzip.compress(b" " * (100 << 20))
    for name in ("a.asc.gz", "a.tsv.gz"):
        (tmp_path / name).write_bytes(bomb)
        with pytest.raises(InputError, match="unpacks to more than"):
            read_recording(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", b"\0" * (100 << 20))
    with pytest.raises(InputError, match="unpacks to more than"):
        read_predictions(tmp_path / "a.npz")


def test_an_array_that_says_it_is_vast_takes_no_memory(tmp_path):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40, 3)})
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", buffer.getvalue())
    with pytest.raises(InputError, match="says that it has"):
        read_predictions(tmp_path / "a.npz")


def test_pictures_that_are_programs_are_not_opened(tmp_path):
    program = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n"
    (tmp_path / "a.png").write_bytes(program)
    with pytest.raises(InputError, match="is not a picture"):
        load_picture(tmp_path / "a.png")


def test_the_border_shortens_what_a_parser_says_and_keeps_what_readers_say():
    with (
        pytest.raises(InputError, match=r"^f\.json cannot be read \(KeyError: 'x+\).*\?$") as refused,
        reading("f.json"),
    ):
        raise KeyError("x" * 1000)
    assert len(str(refused.value)) < 300
    with pytest.raises(InputError, match="nested too deeply"), reading("f.json"):
        raise RecursionError
    with pytest.raises(InputError, match=r"^as the reader said$"), reading("f.json"):
        raise InputError("as the reader said")
    with pytest.raises(KeyboardInterrupt), reading("f.json"):
        raise KeyboardInterrupt


def test_the_same_seed_damages_alike():
    data = json.dumps([ROW]).encode()
    one, two = (mutated(data, np.random.default_rng(3), [data]) for _ in range(2))
    assert one == two


def test_the_command_attacks_readers_and_keeps_an_account(tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["fuzz", "json", "--minutes", "0.02", "--out", str(tmp_path)])
    assert end.value.code == 0
    account = json.loads((tmp_path / "fuzz.json").read_text())
    assert account[0]["cases"] == account[0]["refused"] + account[0]["taken"] > 0
    assert "0 failures" in capsys.readouterr().out
    with pytest.raises(InputError, match="there is no reader 'pdf' to attack"):
        fuzz("pdf", out=tmp_path)
