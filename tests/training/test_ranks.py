"""Several processes with a part of the batch each follow the loss curve of one with all of it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from blob_gaze import TINY, World

from stdiffeye.errors import InputError
from stdiffeye.systems.step_random import Ranks
from stdiffeye.training import loop, run
from stdiffeye.training.run import train

CHANGES = (*TINY, "train.scanpath.steps=6", "train.trajectory.steps=12", "train.scanpath.validate_stimuli=3")
# Each process logs every step and runs the command as torchrun and `accelerate launch` start it.
PROGRAM = """
import sys
from stdiffeye.cli import main
from stdiffeye.training import loop
loop.LOG_EVERY = 1
main(sys.argv[1:])
"""


def curve(folder: Path) -> list[dict[str, float]]:
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def launch(world: World, out: Path, processes: int) -> None:
    command = [sys.executable, "-c", PROGRAM, "train", "coarse-to-fine", *map(str, world.stores), "--out", str(out)]
    command += ["--cache", str(world.cache), "--quiet", "--set", *CHANGES]
    shared = {"WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    started = [
        subprocess.Popen(
            command, env=os.environ | shared | {"RANK": str(r), "LOCAL_RANK": str(r), "OMP_NUM_THREADS": "1"}
        )
        for r in range(processes)
    ]
    assert [process.wait(timeout=300) for process in started] == [0] * processes


def test_two_processes_follow_the_curve_of_one(world, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "LOG_EVERY", 1)
    train("coarse-to-fine", world.stores, tmp_path / "one", changes=CHANGES, cache=world.cache, quiet=True)
    launch(world, tmp_path / "two", processes=2)
    for part in ("scanpath", "trajectory"):
        alone, shared = curve(tmp_path / "one" / part), curve(tmp_path / "two" / part)
        assert len(alone) == len(shared)
        for one, two in zip(alone, shared, strict=True):
            scores = {key for key in one if key.startswith("validation/")}
            # bfloat16 where there is some; and weights that differ a little may seat other viewers first.
            assert two == pytest.approx(one, rel=0.2 if scores else 1e-3)


def test_processes_that_cannot_share_the_stimuli_evenly_are_told(world, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "_join_ranks", lambda: Ranks(0, 3))
    expected = "3 processes cannot share 4 stimuli evenly: set train.scanpath.stimuli to a multiple of 3"
    with pytest.raises(InputError, match=expected):
        train("coarse-to-fine", world.stores, tmp_path, changes=CHANGES, cache=world.cache, quiet=True)


def test_without_a_launcher_there_is_one_process(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert run._join_ranks() == Ranks(0, 1)
