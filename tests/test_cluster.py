"""Work on a cluster: in order, with the same bytes, and again elsewhere when a worker is killed."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from stdiffeye.cli.slurm import slurm
from stdiffeye.cluster import on_cluster
from stdiffeye.errors import InputError
from stdiffeye.files import write_text

distributed = pytest.importorskip("distributed")


def write_square(number: int) -> int:
    """A task that kills its worker the first time; what it writes is whole or absent."""
    once = Path(f"{number}.began")
    if number == 2 and not once.exists():
        once.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    write_text(f"{number}.txt", str(number**2))
    return number**2


def refuse(number: int) -> None:
    raise InputError(f"{number} is refused")


def test_a_killed_worker_costs_nothing_and_results_come_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert list(on_cluster(write_square, range(6), "local:2")) == [0, 1, 4, 9, 16, 25]
    assert (tmp_path / "2.began").exists()
    assert [(tmp_path / f"{number}.txt").read_text() for number in range(6)] == ["0", "1", "4", "9", "16", "25"]


@pytest.mark.parametrize("cluster", ["", "cloud", "local:0", "local:x", "slurm:-1", "udp://host:1"])
def test_a_cluster_of_another_kind_is_refused(cluster):
    with pytest.raises(InputError, match=r"there is no cluster .*: expected local, local:2, tcp://HOST:PORT, slurm"):
        list(on_cluster(refuse, [1], cluster))


def test_the_script_for_slurm_runs_every_shard_and_submits_the_join_once(tmp_path):
    script = slurm("generate 'my pictures' --out 'my gaze'", jobs=3, hours=1.5, partition="gpu")
    (tmp_path / "job.slurm").write_text(script)
    for program in ("stdiffeye", "sbatch"):
        (tmp_path / program).write_text(f'#!/bin/sh\necho {program} "$@" >> said.txt\n')
        (tmp_path / program).chmod(0o755)
    for number in (1, 2, 3):
        known = {"SLURM_ARRAY_TASK_ID": str(number), "SLURM_ARRAY_JOB_ID": "7", "PATH": f"{tmp_path}:/usr/bin:/bin"}
        subprocess.run(["bash", "job.slurm"], cwd=tmp_path, env=known, check=True)
    join, *shards = (tmp_path / "said.txt").read_text().splitlines()
    assert join == "sbatch --dependency=afterok:7 --job-name=stdiffeye-join --wrap=stdiffeye join 'my gaze'"
    assert shards == [f"stdiffeye generate my pictures --out my gaze --shard {number}/3" for number in (1, 2, 3)]
    assert "#SBATCH --time=1:30:00" in script
    assert "#SBATCH --partition=gpu" in script


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("plot gaze.json", "give a verb that can be shared, one of generate"),
        ("", "give a verb that can be shared"),
        ("generate a --shard 1/2", "the array makes the shards: leave out --shard"),
    ],
)
def test_what_cannot_be_shared_is_refused(command, message):
    with pytest.raises(InputError, match=message):
        slurm(shlex.split(command))
