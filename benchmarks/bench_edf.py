"""EyeLink EDF: samples per second of processor time, beside taking each sample's fields one by one, in the same run.

`python benchmarks/bench_edf.py FILE.edf`; without a file, the recordings under STDIFFEYE_DATA. The plain reader takes
the same items from the same library, and asks for each value of each sample as an attribute. The library alone is what
it takes to give every item, kept by nobody: no reader that uses it is faster.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path

from stdiffeye.io.edf_library import CONSISTENCY_CHECK, LOAD_EVENTS, LOAD_SAMPLES, NO_MORE, SAMPLE, read_blocks

TURNS = 2


def main() -> None:
    folder = Path(os.environ.get("STDIFFEYE_DATA", "data")) / "recordings"
    for path in [Path(word) for word in sys.argv[1:]] or sorted(folder.glob("*.edf")):
        samples = sum(len(block["samples"]) for block in read_blocks(str(path)))
        readers = (read_blocks, one_by_one, library_alone)
        ours, plain, alone = (min(seconds(reader, str(path)) for _ in range(TURNS)) for reader in readers)
        print(f"{path.name}: {samples / ours / 1e6:.2f} M samples/s, one by one {samples / plain / 1e6:.2f}: "
              f"{plain / ours:.1f} times as fast; the library alone takes {alone / ours:.0%} of our time")  # fmt: skip


def seconds(reader, path: str) -> float:
    began = time.process_time()
    reader(path)
    return time.process_time() - began


def one_by_one(path: str) -> list[tuple[float, ...]]:
    from eyelinkio.edf import _edf2py as library

    file = library.edf_open_file(os.fsencode(path), CONSISTENCY_CHECK, LOAD_EVENTS, LOAD_SAMPLES, ctypes.c_int(1))
    rows = []
    while (code := library.edf_get_next_data(file)) != NO_MORE:
        if code == SAMPLE:
            sample = library.edf_get_float_data(file).contents.fs
            eyes = [(sample.gx[eye], sample.gy[eye], sample.pa[eye]) for eye in (0, 1)]
            rows.append((sample.time, *eyes[0], *eyes[1], (sample.rx + sample.ry) / 2))
    library.edf_close_file(file)
    return rows


def library_alone(path: str) -> int:
    from eyelinkio.edf import _edf2py as library

    file = library.edf_open_file(os.fsencode(path), CONSISTENCY_CHECK, LOAD_EVENTS, LOAD_SAMPLES, ctypes.c_int(1))
    code = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(("edf_get_next_data", library.edfapi))
    data = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(("edf_get_float_data", library.edfapi))
    handle, count = ctypes.cast(file, ctypes.c_void_p).value, 0
    while code(handle) != NO_MORE:
        data(handle)
        count += 1
    library.edf_close_file(file)
    return count


if __name__ == "__main__":
    main()
