"""Files are whole or absent, and what a killed program left is taken away."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch

from stdiffeye import files
from stdiffeye.benchmark.fuzz_readers import READERS
from stdiffeye.data.tensor_file import write_tensors
from stdiffeye.errors import DiskFull, InputError
from stdiffeye.files import process_lives, read_json, reserved, temporary_folder, write_json, write_text
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.io.gaze_files import write_gaze
from stdiffeye.plotting import draw, save
from stdiffeye.weight_files import write_weights

KILLED = """
import os, signal, sys
from stdiffeye.files import atomic_write
with atomic_write(sys.argv[1]) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_program_leaves_no_file_and_the_next_one_cleans_up(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "a.txt"], check=False)
    assert done.returncode == -9
    assert not (tmp_path / "a.txt").exists()
    assert len(list(tmp_path.iterdir())) == 1
    write_text(tmp_path / "b.txt", "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]


def test_the_temporary_file_of_a_living_program_stays(tmp_path):
    code = "import sys, time\nfrom stdiffeye.files import atomic_write\n"
    code += f"with atomic_write({str(tmp_path / 'a.txt')!r}):\n    print('ready', flush=True)\n    sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        write_text(tmp_path / "b.txt", "whole")
        assert len(list(tmp_path.iterdir())) == 2
        other.communicate(b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path):
    write_text(tmp_path / "a.txt", "before")
    with pytest.raises(InputError, match="half a character"):
        write_text(tmp_path / "a.txt", "\ud800")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


def test_a_temporary_folder_of_a_killed_program_is_taken_away_with_what_is_in_it(tmp_path):
    code = KILLED.replace("atomic_write(sys.argv[1])", "temporary_folder(Path(sys.argv[1]))")
    code = code.replace("import atomic_write", "import temporary_folder\nfrom pathlib import Path")
    code = code.replace("temporary.write_text", "(temporary / 'a').write_text")
    subprocess.run([sys.executable, "-c", code, tmp_path], check=False)
    assert [path.is_dir() for path in tmp_path.iterdir()] == [True]
    with temporary_folder(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]
    assert list(tmp_path.iterdir()) == []


@contextmanager
def files_of_at_most(count: int) -> Iterator[None]:
    """Within this block the system refuses to let a file grow further, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


WRITERS = {
    "text": lambda path: write_text(path, "x" * 100_000),
    "tensors": lambda path: write_tensors(path, {"x": np.zeros(100_000)}),
    "weights": lambda path: write_weights(path, {"x": torch.zeros(100_000)}, {}),
    "picture": lambda path: save(draw(long_gaze()[0].scanpath[:30]), path),
    **{suffix: lambda path: write_gaze(path, long_gaze()) for suffix in (".json", ".csv", ".parquet", ".h5")},
}


def long_gaze() -> list[Trial]:
    path = Scanpath(np.random.default_rng(0).uniform(0, 90, (2000, 2)), Frame(100, 100), np.full(2000, 200.0))
    return [Trial("a.png", str(number), path) for number in range(10)]


@pytest.mark.parametrize("kind", WRITERS)
def test_a_full_disk_is_one_sentence_with_path_and_space_and_leaves_nothing(tmp_path, kind):
    path = tmp_path / (f"a{kind}" if kind.startswith(".") else "a.png")
    with (
        files_of_at_most(4096),
        pytest.raises(DiskFull, match=r"a\.\w+ cannot be written \(.*; \d+ MB are free in .*") as said,
    ):
        WRITERS[kind](path)
    assert "nothing half-written is left; free some space there" in str(said.value)
    assert list(tmp_path.iterdir()) == []


def test_the_second_of_two_processes_in_one_place_is_refused_and_a_killed_one_holds_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LOCK_PATIENCE_S", 0.0)
    code = "import sys\nfrom stdiffeye.files import reserved\n"
    code += f"with reserved({str(tmp_path / 'a')!r}, 'writing'):\n    print('ready', flush=True)\n    sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with (
            pytest.raises(InputError, match=r"another process is writing into .*a: wait for it"),
            reserved(tmp_path / "a", "writing"),
        ):
            pass
        other.kill()
    with reserved(tmp_path / "a", "writing"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_no_process_has_an_impossible_number():
    assert not process_lives(2**22 + 1)


def test_a_device_is_never_replaced_by_a_file_and_a_link_stays_a_link(tmp_path):
    pipe, link = tmp_path / "pipe.json", tmp_path / "link.json"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="no ordinary file"):
        write_json(pipe, {})
    assert not pipe.is_file()
    link.symlink_to("real.json")
    write_json(link, {"a": 1})
    assert link.is_symlink()
    assert read_json(tmp_path / "real.json") == {"a": 1}


def test_a_pipe_that_nobody_writes_to_is_refused_rather_than_waited_for(tmp_path):
    for reader in READERS.values():
        path = tmp_path / reader.name
        if not path.exists():
            os.mkfifo(path)
    for reader in (
        READERS[name] for name in ("json", "csv", "predictions", "asc", "description", "picture", "backdrop")
    ):
        with pytest.raises(InputError, match="is a pipe or a device"):
            reader.read(tmp_path / reader.name)
