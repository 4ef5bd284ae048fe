"""A run of `generate`: it outlives a kill, skips what is broken, and shares no folder with another run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import stdiffeye
from stdiffeye.cli import main
from stdiffeye.errors import InputError
from stdiffeye.generation import gaze_log, generate_files, output
from stdiffeye.generation.gaze_log import GazeLog, read_log
from stdiffeye.generation.request import OutputOptions, Request
from stdiffeye.work_shards import Shard, WorkOptions

FILES = ("scanpaths.json", "trajectories.csv", "fixations.csv", "saccades.csv")
FEW = Request(samples=2, seconds=1)
PLAIN = OutputOptions(plots=False)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    for number in range(5):
        pixels = np.random.default_rng(number).integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((64, 48)).save(folder / f"{number}.png")
    return folder


@pytest.fixture(scope="module")
def whole(run, pictures, tmp_path_factory) -> dict[str, bytes]:
    """What a run that nothing happens to writes."""
    out = tmp_path_factory.mktemp("whole") / "gaze"
    report = generate_files(pictures, out, run, FEW, PLAIN, quiet=True)
    assert report.pictures == 5
    assert not (out / "unfinished").exists()
    return contents(out)


def contents(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in FILES}


def stdiffeye_command(*words: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    return int(end.value.code)


def test_a_run_that_stops_in_the_middle_goes_on_and_writes_the_same_bytes(run, pictures, whole, tmp_path, monkeypatch):
    out, write, written = tmp_path / "gaze", GazeLog.append, []

    def append(log, gaze):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(gaze.name)
        write(log, gaze)

    monkeypatch.setattr(GazeLog, "append", append)
    with pytest.raises(KeyboardInterrupt):
        generate_files(pictures, out, run, FEW, PLAIN, quiet=True)
    (partial,) = (out / "unfinished").glob("*.gaze.partial")
    with partial.open("ab") as file:
        file.write(b"torn in the middle of a record")
    monkeypatch.setattr(GazeLog, "append", lambda log, gaze: (written.append(gaze.name), write(log, gaze)))
    generate_files(pictures, out, run, FEW, PLAIN, quiet=True)
    assert written == [f"{number}.png" for number in range(5)]
    assert contents(out) == whole


def test_a_killed_process_leaves_what_the_next_goes_on_with(run, pictures, whole, tmp_path):
    out = tmp_path / "gaze"
    flags = ["--samples", "2", "--seconds", "1", "--no-plots", "--quiet"]
    command = [sys.executable, "-m", "stdiffeye", "generate", pictures, "--model", run, "--out", out, *flags]
    process = subprocess.Popen(command)
    while process.poll() is None and not any(file.stat().st_size for file in out.glob("unfinished/*.partial")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert stdiffeye_command(*command[3:]) == 0
    assert contents(out) == whole


def test_the_same_run_again_does_nothing_and_another_one_is_refused(run, pictures, whole, tmp_path, monkeypatch):
    out = tmp_path / "gaze"
    generate_files(pictures, out, run, FEW, PLAIN, quiet=True)
    monkeypatch.setattr(output, "log_gaze", lambda *_: pytest.fail("nothing is left to do"))
    again = generate_files(pictures, out, run, FEW, PLAIN, quiet=True)
    assert (again.pictures, again.first) == (5, ("0.png", ""))
    assert len(stdiffeye.generate(pictures, out, run, FEW, PLAIN, quiet=True)) == 10
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"holds generation.json of another run: choose another --out, or say --over"):
        generate_files(pictures, out, run, Request(samples=1, seconds=1), PLAIN, quiet=True)
    assert contents(out) == whole
    other = OutputOptions(plots=False, overwrite=True, bids=True)
    for _ in range(2):
        generate_files(pictures / "1.png", out, run, Request(samples=1, seconds=1), other, quiet=True)
    assert len(json.loads((out / "scanpaths.json").read_text())) == 1
    assert (out / "bids" / "participants.tsv").is_file()
    generate_files(pictures, out, run, FEW, OutputOptions(plots=False, overwrite=True), quiet=True)
    assert contents(out) == whole
    assert not (out / "bids").exists()


def test_an_unfinished_run_is_not_mixed_with_another(run, pictures, tmp_path):
    out = tmp_path / "gaze"
    generate_files(pictures, out, run, FEW, PLAIN, work=WorkOptions(shard="1/2"), quiet=True)
    with pytest.raises(InputError, match=r"a run of `generate` that is not finished and differs from this one"):
        generate_files(pictures / "1.png", out, run, FEW, PLAIN, quiet=True)


def test_a_broken_picture_is_skipped_and_named(run, pictures, whole, tmp_path, capsys):
    for number in range(5):
        os.link(pictures / f"{number}.png", tmp_path / f"{number}.png")
    (tmp_path / "3a.png").write_bytes(b"\x89PNG\r\n\x1a\n torn")
    words = ("generate", tmp_path, "--model", run, "--out", tmp_path / "gaze", "--samples", 2, "--seconds", 1)
    assert stdiffeye_command(*words, "--no-plots", "--quiet") == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("skipped 3a.png: ")
    assert second == "1 of 6 pictures have no gaze; generation.json names them"
    report = json.loads((tmp_path / "gaze" / "generation.json").read_text())
    assert [name for name, _ in report["skipped"]] == ["3a.png"]
    assert (tmp_path / "gaze" / "fixations.csv").read_bytes() == whole["fixations.csv"]


def test_a_file_name_that_is_no_utf8_is_written_as_it_can_be_and_a_pipe_is_no_picture(run, pictures, tmp_path):
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.png")).write_bytes((pictures / "0.png").read_bytes())
    os.mkfifo(folder / "pipe.png")
    report = generate_files(folder, tmp_path / "gaze", run, FEW, PLAIN, quiet=True)
    assert (report.pictures, report.skipped) == (1, [])
    rows = json.loads((tmp_path / "gaze" / "scanpaths.json").read_text())
    assert {row["name"] for row in rows} == {"caf\\udce9.png"}


def test_a_place_that_cannot_be_written_to_is_refused_before_any_work(pictures, tmp_path, monkeypatch):
    monkeypatch.setattr(output, "log_gaze", lambda *_: pytest.fail("work was begun"))
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "gaze"):
        with pytest.raises(InputError, match=r"is no folder: choose another --out"):
            generate_files(pictures, out)
    with pytest.raises(InputError, match=r"cannot be written to \(.+\): choose another --out"):
        generate_files(pictures, Path("/proc/self/gaze"))
    (tmp_path / "scanpaths.json").write_text("[]")
    with pytest.raises(InputError, match=r"holds scanpaths.json of another run"):
        generate_files(pictures, tmp_path)


def test_two_programs_do_not_write_one_log(tmp_path):
    with GazeLog(tmp_path / "a.gaze"), pytest.raises(InputError, match=r"another program is writing"):
        GazeLog(tmp_path / "a.gaze")


def test_a_flipped_bit_in_a_log_is_noticed(run, pictures, tmp_path):
    generate_files(pictures, tmp_path / "gaze", run, FEW, PLAIN, work=WorkOptions(shard="1/1"), quiet=True)
    (log,) = (tmp_path / "gaze" / "unfinished").glob("*.gaze")
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    with pytest.raises(InputError, match=r"is damaged: remove it and run the same command again"):
        list(read_log(log))
    assert gaze_log.PARTIAL not in log.name


def test_shards_that_are_joined_are_the_whole(run, pictures, whole, tmp_path, capsys):
    out = tmp_path / "gaze"
    words = ("generate", pictures, "--model", run, "--out", out, "--samples", 2, "--seconds", 1, "--no-plots")
    for number in (3, 1):
        assert stdiffeye_command(*words, "--shard", f"{number}/3") == 0
        assert f"Shard {number}/3 is done; when all are: stdiffeye join" in capsys.readouterr().out
    assert stdiffeye_command("join", out, "--quiet") == 2
    assert "1 of 3 shards are not finished yet" in capsys.readouterr().err
    assert stdiffeye_command(*words, "--shard", "2/3") == 0
    assert stdiffeye_command("join", out, "--quiet") == 0
    assert contents(out) == whole


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "1/0", "-1/2", "a/b"])
def test_a_shard_is_i_of_n(text):
    with pytest.raises(InputError, match=r"a shard is i/n with 1 ≤ i ≤ n, as 2/8; got"):
        WorkOptions(shard=text)


@pytest.mark.parametrize(("total", "count"), [(0, 3), (2, 5), (10, 3), (7, 7)])
def test_every_item_is_in_one_shard(total, count):
    spans = [Shard(number, count).span(total) for number in range(1, count + 1)]
    assert [item for span in spans for item in span] == list(range(total))
    assert max(map(len, spans)) - min(map(len, spans)) <= 1


def kill_a_worker(unfinished: Path, killed: list[int]) -> None:
    """Kill the first worker of this process's cluster as soon as one has begun a shard."""
    psutil = pytest.importorskip("psutil")
    until = time.monotonic() + 120
    while time.monotonic() < until and not any(unfinished.glob("*.gaze*")):
        time.sleep(0.01)
    workers = [one for one in psutil.Process().children(recursive=True) if "spawn_main" in " ".join(one.cmdline())]
    os.kill(workers[0].pid, signal.SIGKILL)
    left = 5 - len(list(unfinished.glob("*.gaze")))
    killed += [workers[0].pid] if left else []


def test_a_cluster_of_which_a_worker_is_killed_writes_the_bytes_of_one_machine(run, pictures, whole, tmp_path):
    pytest.importorskip("distributed")
    work, killed = WorkOptions(cluster="local:2"), list[int]()
    killer = threading.Thread(target=kill_a_worker, args=(tmp_path / "gaze" / "unfinished", killed))
    killer.start()
    report = generate_files(pictures, tmp_path / "gaze", run, FEW, PLAIN, work=work, quiet=True)
    killer.join()
    assert len(killed) == 1  # while shards were left to do
    assert report.pictures == 5
    assert contents(tmp_path / "gaze") == whole


@pytest.mark.parametrize(
    ("damage", "message"),
    [("[1, 2]", "is damaged: expected fields in braces"), ('{"plan": 3}', "of another run"), ("{", "is not JSON")],
)
def test_a_damaged_report_is_one_sentence(run, pictures, tmp_path, damage, message):
    out = tmp_path / "gaze"
    out.mkdir()
    (out / "generation.json").write_text(damage)
    with pytest.raises(InputError, match=message):
        generate_files(pictures, out, run, FEW, PLAIN, quiet=True)
