"""Many pictures: pictures per second of `generate` on a folder, threads beside processes, in the same run.

`python benchmarks/bench_folder.py [PICTURES]`. Threads of one process share the interpreter; `--cluster local` has a
process per core. Both generate ten scanpaths a picture into files. Start-up is left out: the time of a few pictures is
taken from that of many. Ratios say more than seconds where other programs are running.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from stdiffeye.generation import generate_files
from stdiffeye.generation.request import OutputOptions, Request
from stdiffeye.work_shards import WorkOptions

FEW = 8
PLAIN = OutputOptions(trajectories=False, plots=False)


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    with tempfile.TemporaryDirectory() as folder:
        for count in (FEW, FEW + many):
            pictures(Path(folder, str(count)), count)
        rates = {}
        for name, work in (("threads", WorkOptions()), ("processes", WorkOptions(cluster="local"))):
            few, all_of_them = (seconds(Path(folder), count, name, work) for count in (FEW, FEW + many))
            rates[name] = many / (all_of_them - few)
            print(f"{name}: {rates[name]:.2f} pictures/s")
    print(f"processes are {rates['processes'] / rates['threads']:.2f} times as fast as threads")


def pictures(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        blocks = np.random.default_rng(number).integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(blocks).resize((800, 600), Image.Resampling.BICUBIC).save(folder / f"{number:04d}.jpg")


def seconds(folder: Path, count: int, name: str, work: WorkOptions) -> float:
    began = time.perf_counter()
    out = folder / f"{name}-{count}"
    generate_files(folder / str(count), out, None, Request(samples=10), PLAIN, work=work, quiet=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
