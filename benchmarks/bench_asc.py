"""EyeLink ASC: samples read per second of processor time, against pymovements on the same file.

python benchmarks/bench_asc.py            one million samples (pymovements gets the same file)
"""

from __future__ import annotations

import gzip
import os
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

SAMPLES = 1_000_000
RATE_HZ = 1000
FIXATION_SAMPLES = 250
REPEATS = 3


def made_file(folder: Path, samples: int) -> Path:
    """A mono recording at 1000 Hz with an event and a message for every fixation."""
    from stdiffeye.gaze import Frame
    from stdiffeye.gaze.recording import Event, Message, Recording
    from stdiffeye.io.eyelink_asc_write import write_asc

    rng = np.random.default_rng(0)
    places = np.repeat(rng.uniform(100, 700, (-(-samples // FIXATION_SAMPLES), 2)), FIXATION_SAMPLES, axis=0)[:samples]
    xy = places + rng.normal(0, 1, places.shape)
    xy[rng.random(samples) < 0.01] = np.nan
    begin = 1_000_000.0
    starts = begin + np.arange(0, samples, FIXATION_SAMPLES)
    recording = Recording(
        begin + np.arange(samples),
        RATE_HZ,
        Frame(1024, 768, 35),
        left_px=xy,
        left_pupil=rng.uniform(800, 1200, samples),
        events=tuple(Event("fixation", "left", at, FIXATION_SAMPLES, (1.0, 2.0)) for at in starts.tolist()),
        messages=tuple(Message(at, f"TRIALID {number}") for number, at in enumerate(starts[::20].tolist())),
    )
    path = folder / "made.asc"
    write_asc(path, [recording])
    return path


def best_seconds(work) -> float:  # type: ignore[no-untyped-def]
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def main() -> None:
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    from pymovements.gaze import from_asc

    from stdiffeye.io.eyelink_asc import read_asc

    with tempfile.TemporaryDirectory() as folder:
        path = made_file(Path(folder), SAMPLES)
        size = path.stat().st_size
        began = time.process_time()
        recordings = read_asc(path)
        first = time.process_time() - began
        assert sum(map(len, recordings)) == SAMPLES
        ours = best_seconds(lambda: read_asc(path))
        packed = gzip.compress(path.read_bytes(), mtime=0)
        unpacking = best_seconds(lambda: gzip.decompress(packed))
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it misses the tracker's own set-up lines
            theirs_samples = len(from_asc(path).samples)
        theirs = time.process_time() - began
    assert theirs_samples == SAMPLES
    print(f"{SAMPLES:,} samples, {size / 1e6:.0f} MB, warm (first call, with compilation or its cache: {first:.2f} s)")
    print(f"  stdiffeye    {ours:7.2f} s   {SAMPLES / ours / 1e6:6.2f} million samples/s")
    print(f"  pymovements  {theirs:7.2f} s   {theirs_samples / theirs / 1e6:6.2f} million samples/s")
    print(f"  ratio        {theirs / ours:7.1f} ×")
    print(f"  gunzip       {unpacking:7.2f} s   comes on top for .asc.gz")


if __name__ == "__main__":
    main()
