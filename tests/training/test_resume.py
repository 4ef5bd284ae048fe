"""Killed at any moment, training goes on and ends with the weights that it would have had."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from blob_gaze import TINY, World
from safetensors.torch import load_file

from stdiffeye.cli import main
from stdiffeye.errors import InputError
from stdiffeye.systems.presets import TrainConfig
from stdiffeye.training import loop, run
from stdiffeye.training.run import train

STEPS = 40
CHANGES = (
    *TINY,
    "train.scanpath.stimuli=2",
    f"train.scanpath.steps={STEPS}",
    f"train.trajectory.steps={STEPS}",
    *(
        f"train.{part}.{key}"
        for part in ("scanpath", "trajectory")
        for key in ("checkpoint_every=7", "validate_every=15")
    ),
    "train.scanpath.validate_stimuli=3",
    "train.scanpath.validate_samples=2",
)
KILLED_BY = -9
PATIENCE_S = 120


def rows_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def last_step(log: Path) -> int:
    """Of a log that another process is writing."""
    try:
        return max(json.loads(line)["step"] for line in log.read_text().splitlines())
    except (FileNotFoundError, ValueError):
        return 0


def kill_after(world: World, out: Path, part: str, step: int, *flags: str) -> None:
    """Start training in a process of its own, and kill it some steps after `step` of `part` was logged."""
    command = [sys.executable, "-m", "stdiffeye", "train", "coarse-to-fine", *map(str, world.stores), "--out", str(out)]
    environment = os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    command += ["--cache", str(world.cache), "--quiet", *flags]
    process = subprocess.Popen(command, env=environment)
    until = time.monotonic() + PATIENCE_S
    while process.poll() is None and last_step(out / part / "log.jsonl") < step and time.monotonic() < until:
        time.sleep(0.005)
    process.kill()
    assert process.wait() == KILLED_BY


def test_a_run_that_was_killed_twice_ends_with_the_same_weights(world, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train("coarse-to-fine", world.stores, whole, changes=CHANGES, cache=world.cache, quiet=True)
    kill_after(world, broken, "scanpath", 20, "--set", *CHANGES)
    kill_after(world, broken, "trajectory", 20, "--resume")
    train("coarse-to-fine", world.stores, broken, resume=True, cache=world.cache, quiet=True)
    for part in ("scanpath", "trajectory"):
        for file in ("last.safetensors", "best.safetensors"):
            one, other = load_file(whole / part / file), load_file(broken / part / file)
            assert one.keys() == other.keys()
            assert all(torch.equal(one[name], other[name]) for name in one)
        for kind in ("total", "validation/score"):
            logs = [[(row["step"], row[kind]) for row in rows_of(run / part) if kind in row] for run in (whole, broken)]
            assert logs[0] == logs[1]
            steps = [step for step, _ in logs[1]]
            assert steps == sorted(set(steps))


def test_ctrl_c_keeps_a_checkpoint_and_the_printed_command_goes_on_to_the_same_weights(world, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    changes = (*CHANGES, "train.scanpath.steps=150", "train.scanpath.checkpoint_every=100000")
    changes = (*changes, "train.scanpath.validate_every=100000")
    train("coarse-to-fine", world.stores, whole, changes, only="scanpath", cache=world.cache, quiet=True)
    command = [sys.executable, "-m", "stdiffeye", "train", "coarse-to-fine", *map(str, world.stores)]
    command += ["--out", str(broken), "--cache", str(world.cache), "--only", "scanpath", "--quiet", "--set", *changes]
    environment = os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + PATIENCE_S
        while process.poll() is None and last_step(broken / "scanpath" / "log.jsonl") < 20 and time.monotonic() < until:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, said
    assert (broken / "scanpath" / "last.safetensors").is_file()
    printed = said.strip().removeprefix("stdiffeye: interrupted; a checkpoint is kept; go on with: stdiffeye ")
    assert printed.endswith("--resume")
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(printed))
    assert ended.value.code == 0
    one, other = (load_file(folder / "scanpath" / "last.safetensors") for folder in (whole, broken))
    assert all(torch.equal(one[name], other[name]) for name in one.keys() | other.keys())


def test_a_checkpoint_is_kept_at_least_every_minute(world, tmp_path, monkeypatch):
    kept = []
    ticks = itertools.count(step=25.0)
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=ticks.__next__))
    monkeypatch.setattr(loop, "save_checkpoint", lambda path, system, mean, optimiser, done: kept.append(done.step))
    changes = (*CHANGES, "train.trajectory.steps=9", "train.trajectory.checkpoint_every=1000")
    changes = (*changes, "train.trajectory.validate_every=1000")
    train("coarse-to-fine", world.stores, tmp_path, changes, only="trajectory", quiet=True)
    assert kept[:3] == [3, 6, 9]


def test_validation_that_was_broken_off_is_made_up_for(world, tmp_path, monkeypatch):
    changes, asked = (*CHANGES, "train.trajectory.steps=20"), []

    def judged(system: object) -> dict[str, float]:
        asked.append(1)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return {"score": float(len(asked))}

    monkeypatch.setattr(run, "validator", lambda *_: judged)
    with pytest.raises(KeyboardInterrupt):
        train("coarse-to-fine", world.stores, tmp_path, changes, only="trajectory", quiet=True)
    train("coarse-to-fine", world.stores, tmp_path, resume=True, only="trajectory", quiet=True)
    judged_at = [row["step"] for row in rows_of(tmp_path / "trajectory") if "validation/score" in row]
    assert judged_at == [15, 20]


def test_resuming_before_the_first_checkpoint_begins_with_the_weights_that_were_asked_for(world, tmp_path):
    few = (*CHANGES, "train.trajectory.steps=3")
    first = train("coarse-to-fine", world.stores, tmp_path / "first", few, only="trajectory", quiet=True)
    options = {"only": "trajectory", "start_from": first, "quiet": True}
    whole = train("coarse-to-fine", world.stores, tmp_path / "whole", few, **options)
    early = tmp_path / "early"
    early.mkdir()
    (early / "run.yaml").write_bytes((whole / "run.yaml").read_bytes())  # as if killed before the first checkpoint
    train("coarse-to-fine", world.stores, early, resume=True, only="trajectory", quiet=True)
    one, other = (load_file(folder / "trajectory" / "last.safetensors") for folder in (whole, early))
    assert all(torch.equal(one[name], other[name]) for name in one.keys() | other.keys())


def test_resuming_says_what_minutes_count(world, tmp_path, capsys):
    few = (*CHANGES, "train.trajectory.steps=3")
    train("coarse-to-fine", world.stores, tmp_path, few, only="trajectory", quiet=True)
    train("coarse-to-fine", world.stores, tmp_path, resume=True, minutes=2, only="trajectory")
    said = capsys.readouterr().err
    assert "trajectory goes on after step 3 and 0.0 minutes of training; its share of --minutes, 2.0, counts" in said


def train_trajectories(world: World, folder: Path, *changes: str, resume: bool = False) -> None:
    train("coarse-to-fine", world.stores, folder, changes, resume=resume, only="trajectory", quiet=True)


def test_going_on_with_a_finished_run_changes_nothing(world, tmp_path):
    changes, folder = (*CHANGES, "train.trajectory.steps=16"), tmp_path / "trajectory"
    train("coarse-to-fine", world.stores, tmp_path, changes=changes, only="trajectory", quiet=True)
    weights, log = load_file(folder / "last.safetensors"), (folder / "log.jsonl").read_text()
    train("coarse-to-fine", world.stores, tmp_path, resume=True, only="trajectory", quiet=True)
    assert (folder / "log.jsonl").read_text() == log
    again = load_file(folder / "last.safetensors")
    assert all(torch.equal(again[name], weights[name]) for name in again.keys() | weights.keys())


def test_a_finished_run_goes_on_with_more_steps(world, tmp_path):
    train_trajectories(world, tmp_path, *CHANGES, "train.trajectory.steps=10")
    train_trajectories(world, tmp_path, "train.trajectory.steps=20", resume=True)
    assert rows_of(tmp_path / "trajectory")[-1]["step"] == 20


def test_a_log_that_was_cut_short_in_the_middle_of_a_line_is_taken_up(world, tmp_path):
    train_trajectories(world, tmp_path, *CHANGES, "train.trajectory.steps=14")
    log = tmp_path / "trajectory" / "log.jsonl"
    log.write_text(log.read_text() + '{"step": 20, "sec')
    train_trajectories(world, tmp_path, "train.trajectory.steps=20", resume=True)
    assert [row["step"] for row in rows_of(tmp_path / "trajectory") if "total" in row] == [1, 20]


def test_a_budget_of_time_ends_training(world, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "LOG_EVERY", 1)
    changes = (*CHANGES, "train.trajectory.steps=100000", "train.trajectory.validate_every=1000000")
    ticks = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: 0.02 * next(ticks))  # that does not depend on how busy the machine is
    monkeypatch.setattr(run, "time", clock)
    train("coarse-to-fine", world.stores, tmp_path, changes=changes, minutes=2 / 60, only="trajectory", quiet=True)
    rows = [row for row in rows_of(tmp_path / "trajectory") if "total" in row]
    assert rows[-1]["seconds"] == pytest.approx(2, abs=0.1)
    assert rows[-1]["learning_rate"] < 0.1 * max(row["learning_rate"] for row in rows)


def test_time_spent_on_judging_is_not_taken_from_training(world, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "LOG_EVERY", 1)
    now = itertools.count(step=0.02).__next__
    judging = []

    def slow(*_: object) -> dict[str, float]:
        judging.append(100.0)
        return {"score": 0.0}

    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: now() + sum(judging)))
    monkeypatch.setattr(run, "validator", lambda *_: slow)
    changes = (*CHANGES, "train.trajectory.steps=100000")  # validated every 15 steps
    train("coarse-to-fine", world.stores, tmp_path, changes=changes, minutes=2 / 60, only="trajectory", quiet=True)
    rows = [row for row in rows_of(tmp_path / "trajectory") if "total" in row]
    assert len(judging) > 2
    assert rows[-1]["step"] > 30
    assert rows[-1]["seconds"] == pytest.approx(2, abs=0.1)


def test_the_learning_rate_rises_for_a_tenth_of_a_short_training_and_for_its_steps_in_a_long_one():
    config = TrainConfig(warm_up=100, decay_share=0.25)
    short = [loop._rate(step, step / 50, config) for step in range(50)]
    assert short[:6] == pytest.approx([0.01, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert set(short[5:38]) == {1.0}
    long = [loop._rate(step, step / 20_000, config) for step in range(200)]
    assert long[:101] == pytest.approx([min(1.0, (step + 1) / 100) for step in range(101)])


def test_a_run_is_not_overwritten_and_only_a_run_goes_on(world, tmp_path):
    (tmp_path / "run.yaml").write_text("system: compact\n")
    with pytest.raises(InputError, match="holds a run already: go on with --resume, or choose another --out"):
        train("coarse-to-fine", world.stores, tmp_path, quiet=True)
    with pytest.raises(InputError, match=r"is no run: it has no run.yaml; `stdiffeye train` makes one"):
        train("coarse-to-fine", world.stores, tmp_path / "none", resume=True, quiet=True)


def test_batches_on_several_cores_make_the_same_weights_as_one_after_the_other(world, tmp_path):
    changes = (*CHANGES, "train.scanpath.steps=6", "train.scanpath.accumulate=3")
    made = []
    for cores in (1, 2):
        torch.set_num_threads(cores)
        try:
            out = train(
                "coarse-to-fine", world.stores, tmp_path / str(cores), changes, only="scanpath", cache=world.cache
            )
        finally:
            torch.set_num_threads(1)
        made.append(load_file(out / "scanpath" / "last.safetensors"))
    assert all(torch.equal(made[0][name], made[1][name]) for name in made[0])
