"""Features: one file per picture as the cache has them, against one packed file with an index, in the same run.

`python benchmarks/bench_cache.py [PICTURES]` prints processor time to write and to read a picture's features in random
order (opened, memory-mapped, all values copied once), bytes and files. Values are those of the embedded encoder's size.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stdiffeye.files import atomic_write

SHAPE = (24 * 32, 432)
ROUNDS = 4


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 96
    rng = np.random.default_rng(0)
    values = rng.normal(size=SHAPE).astype(np.float16)
    order = np.concatenate([rng.permutation(count) for _ in range(ROUNDS)])
    with tempfile.TemporaryDirectory() as name:
        folder, packed = Path(name, "files"), Path(name, "packed.npy")
        folder.mkdir()
        written = {
            "files": seconds(lambda: [write_one(folder / f"{number}.npy", values) for number in range(count)]),
            "packed": seconds(lambda: write_packed(packed, values, count)),
        }
        table = np.load(packed, mmap_mode="r")
        read = {
            "files": seconds(lambda: [copied(np.load(folder / f"{k}.npy", mmap_mode="r")) for k in order]),
            "packed": seconds(lambda: [copied(table[k]) for k in order]),
        }
        size = {"files": sum(path.stat().st_size for path in folder.iterdir()), "packed": packed.stat().st_size}
    for how in written:
        per_write, per_read = 1e6 * written[how] / count, 1e6 * read[how] / len(order)
        print(f"{how}: {per_write:.0f} µs to write, {per_read:.0f} µs to read, {size[how] / count:.0f} bytes a picture")
    print(f"packed is read in {read['packed'] / read['files']:.2f} of the time, {count} files less one")


def write_one(path: Path, values: NDArray[np.float16]) -> None:
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.save(file, values, allow_pickle=False)


def write_packed(path: Path, values: NDArray[np.float16], count: int) -> None:
    table = np.lib.format.open_memmap(path, "w+", np.float16, (count, *SHAPE))
    for number in range(count):
        table[number] = values
    table.flush()


def copied(values: NDArray[np.float16]) -> float:
    return float(np.array(values)[0, 0])


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds."""
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    main()
