"""Files are whole or absent, and what a killed program left is taken away."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stdiffeye.files import process_lives, write_text

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
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "a.txt", "\ud800")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


def test_no_process_has_an_impossible_number():
    assert not process_lives(2**22 + 1)
