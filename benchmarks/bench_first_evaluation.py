"""A fresh user's first `stdiffeye evaluate` of a small hand-made file: processor time, against compiling first.

python benchmarks/bench_first_evaluation.py            nothing is compiled yet in either case
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PICTURES, VIEWERS, SAMPLES = ("a.jpg", "b.jpg", "c.jpg"), 8, 10
COMPILED = "import stdiffeye; stdiffeye.evaluate('human.json', {'ours': 'ours.json'}, 'compiled.json')"


def made_file(path: Path, key: str, count: int, rng: np.random.Generator) -> None:
    rows = []
    for name in PICTURES:
        for number in range(count):
            xy = rng.uniform(100, 500, (2, int(rng.integers(4, 10)))).round(1).tolist()
            gaze = {"X": xy[0], "Y": xy[1], "T": rng.integers(150, 400, len(xy[0])).tolist()}
            rows.append({"name": name, key: number, "width": 800, "height": 600, **gaze})
    path.write_text(json.dumps(rows))


def seconds(folder: Path, command: list[str]) -> float:
    """Processor seconds of a command with an empty cache of compiled kernels."""
    with tempfile.TemporaryDirectory() as cache:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        own = os.environ | {"NUMBA_CACHE_DIR": cache}
        subprocess.run(command, cwd=folder, env=own, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made_file(folder / "human.json", "subject", VIEWERS, rng)
        made_file(folder / "ours.json", "sample", SAMPLES, rng)
        command = ["-m", "stdiffeye", "evaluate", "--human", "human.json", "--generated", "ours=ours.json"]
        first = seconds(folder, [sys.executable, *command])
        compiled = seconds(folder, [sys.executable, "-c", COMPILED])
        ours, theirs = (json.loads((folder / f"{one}.json").read_text()) for one in ("results", "compiled"))
        values = [one["systems"]["ours"]["crps"]["DTW"]["value"] for one in (ours, theirs)]
    assert np.isclose(*values)
    print(f"first evaluation {first:.1f} s, compiling {compiled:.1f} s of processor time; ratio {compiled / first:.1f}")


if __name__ == "__main__":
    main()
