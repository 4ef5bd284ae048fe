"""The whole evaluation, end to end from JSON files on two cores: eleven metrics × four protocols × 1000 draws.

500 stimuli × (10 people + 10 samples), semantic maps included, reference rows included. Also how long the command takes
to answer on 10 stimuli, which is mostly start-up. Prints time and memory of the command as a user runs it, and exits
with 1 when a bar is missed. Beside the wall clock the processor time is printed, since other work on the machine slows
the former only.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

STIMULI, PEOPLE, SAMPLES = 500, 10, 10
BAR_S, BAR_MB, BAR_START_S = 15.0, 1024, 3.0
CORES = 2


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small"), Path(folder, "large")
        make(small, 10)
        make(large, STIMULI)
        run(small)  # fills the cache of compiled kernels
        start_s, start_cpu_s, _ = run(small)
        whole_s, whole_cpu_s, megabytes = run(large)
    met = [
        say("10 stimuli, warm", start_s, start_cpu_s, BAR_START_S),
        say(f"{STIMULI} stimuli × ({PEOPLE} + {SAMPLES}), 11 metrics × 4 protocols", whole_s, whole_cpu_s, BAR_S),
    ]
    print(f"peak memory {megabytes:.0f} MB (bar {BAR_MB} MB: {'met' if megabytes <= BAR_MB else 'MISSED'})")
    return 0 if all(met) and megabytes <= BAR_MB else 1


def make(folder: Path, stimuli: int) -> None:
    """People and samples around the same five places of each stimulus, and maps of eleven classes."""
    (folder / "maps").mkdir(parents=True)
    rng = np.random.default_rng(0)
    rows: dict[str, list[dict]] = {"subject": [], "sample": []}
    for stimulus in range(stimuli):
        places = rng.uniform([150, 120], [1500, 900], (5, 2))
        np.save(folder / "maps" / f"{stimulus:04d}.npy", rng.integers(0, 11, (8, 8)).repeat(40, 0).repeat(64, 1))
        for who, count in (("subject", PEOPLE), ("sample", SAMPLES)):
            for number in range(count):
                length = int(np.clip(rng.normal(10, 2.5), 3, 16))
                xy = places[rng.integers(5, size=length)] + rng.normal(0, 60, (length, 2))
                x, y, ms = xy[:, 0], xy[:, 1], rng.gamma(5, 50, length)
                row = {"name": f"{stimulus:04d}.jpg", who: number, "task": "cup", "width": 1680, "height": 1050}
                rows[who].append(row | {k: v.round(1).tolist() for k, v in (("X", x), ("Y", y), ("T", ms))})
    (folder / "human.json").write_text(json.dumps(rows["subject"]))
    (folder / "samples.json").write_text(json.dumps(rows["sample"]))


def run(folder: Path) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak megabytes of the command."""
    command = [sys.executable, "-m", "stdiffeye", "evaluate", "--human", "human.json"]
    command += ["--generated", "ours=samples.json", "--semantics", "maps", "--quiet"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(["taskset", "-c", f"0-{CORES - 1}", *command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, after.ru_maxrss / 1024


def say(what: str, wall: float, cpu: float, bar: float) -> bool:
    met = wall <= bar
    print(f"{what}: {wall:.1f} s wall, {cpu:.1f} s processor (bar {bar:g} s: {'met' if met else 'MISSED'})")
    return met


if __name__ == "__main__":
    sys.exit(main())
