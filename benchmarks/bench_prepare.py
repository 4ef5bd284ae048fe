"""Prepare many trials: trials per second, peak memory at N and 10 N trials, and the store against reading JSON whole.

python benchmarks/bench_prepare.py [RAW_TRIALS [SCANPATH_TRIALS]]      (default 5,000 and 100,000)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.io import savemat

RAW_TRIALS, SCANPATH_TRIALS = 5_000, 100_000
DISTINCT_FILES, PICTURES = 20, 1003
SMALLER = 10
CHILD = """
import resource, sys, time
from stdiffeye.data.preparation import prepare
begin, cpu = time.perf_counter(), time.process_time()
store = prepare(sys.argv[1], sys.argv[2], sys.argv[3], quiet=True)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(time.perf_counter() - begin, time.process_time() - cpu, len(store), peak)
"""


def gaze(rng: np.random.Generator, samples: int = 720) -> np.ndarray:
    """3 s at 240 Hz: places held for 300 ms, joined by saccades of ten samples, a little noise."""
    places = np.repeat(rng.uniform(50, 400, (samples // 72 + 1, 2)), 72, axis=0)[:samples]
    padded = np.pad(places, ((5, 4), (0, 0)), mode="edge")
    smooth = np.stack([np.convolve(column, np.ones(10) / 10, "valid") for column in padded.T], axis=1)
    return smooth + rng.normal(0, 0.2, smooth.shape)


def make_mit1003(root: Path, trials: int) -> None:
    """The layout of MIT1003, its files hard links to some distinct ones."""
    rng = np.random.default_rng(0)
    (root / "ALLSTIMULI").mkdir(parents=True)
    Image.new("RGB", (640, 480)).save(root / "picture.jpeg")
    for number in range(DISTINCT_FILES):
        data = np.zeros((1, 1), dtype=[("eyeData", object)])
        data[0, 0] = (gaze(rng),)
        savemat(root / f"{number}.mat", {"picture": {"DATA": data}})
    for number in range(trials):
        name, viewer = f"i{number % PICTURES:04d}", root / "DATA" / f"v{number // PICTURES:03d}"
        viewer.mkdir(parents=True, exist_ok=True)
        os.link(root / f"{number % DISTINCT_FILES}.mat", viewer / f"{name}.mat")
        if number < PICTURES:
            os.link(root / "picture.jpeg", root / "ALLSTIMULI" / f"{name}.jpeg")


def make_osie(root: Path, trials: int) -> None:
    rng = np.random.default_rng(0)
    root.mkdir()
    with open(root / "osie_fixations.json", "w", encoding="utf-8") as file:
        for number in range(trials):
            x, y = rng.uniform(0, 600, (2, 10)).round(1).tolist()
            row = {"name": f"{number % 600}.jpg", "subject": number // 600, "width": 800, "height": 600, "X": x, "Y": y}
            file.write(("[" if number == 0 else ",\n") + json.dumps(row | {"T": [200] * 10, "split": "train"}))
        file.write("]")


def prepared(dataset: str, source: Path, out: Path) -> tuple[float, float, int, float]:
    words = [sys.executable, "-c", CHILD, dataset, str(source), str(out)]
    seconds, cpu, trials, megabytes = map(float, subprocess.check_output(words, text=True).split())
    return seconds, cpu, int(trials), megabytes


def compare(label: str, dataset: str, make: object, trials: int, folder: Path) -> Path:
    results = []
    for count in (trials // SMALLER, trials):
        source, out = folder / f"{dataset}-{count}", folder / f"store-{dataset}-{count}"
        make(source, count)  # type: ignore[operator]
        seconds, cpu, kept, megabytes = prepared(dataset, source, out)
        results.append(megabytes)
        size = sum(path.stat().st_size for path in out.iterdir()) / 2**20
        pace = f"{kept:,} trials in {seconds:.1f} s, {kept / cpu:,.0f} per second of CPU"
        print(f"{label}: {pace}, peak {megabytes:.0f} MB, store {size:.0f} MB", flush=True)
    print(f"{label}: ten times the trials, {results[1] / results[0]:.2f} times the memory")
    return out


def against_json(store: Path, source: Path) -> None:
    from stdiffeye.data.store import Store

    begin = time.perf_counter()
    opened = Store.open(store)
    total = float(opened.scanpath_arrays().xy_px.sum())
    ours = time.perf_counter() - begin
    begin = time.perf_counter()
    rows = json.loads(source.read_text())
    plain = sum(sum(row["X"]) + sum(row["Y"]) for row in rows)
    theirs = time.perf_counter() - begin
    assert abs(total - plain) < 1e-6 * plain
    pace = f"store {ours:.3f} s, JSON {theirs:.2f} s, {theirs / ours:.0f} times faster"
    print(f"all fixations of {len(opened):,} trials: {pace}")


def main() -> None:
    given = [int(word) for word in sys.argv[1:]]
    raw, scanpaths = [*given, RAW_TRIALS, SCANPATH_TRIALS][:2] if len(given) != 1 else (given[0], SCANPATH_TRIALS)
    with tempfile.TemporaryDirectory() as folder:
        compare("raw gaze, 3 s at 240 Hz, one process", "mit1003", make_mit1003, raw, Path(folder))
        store = compare("scanpaths, one process", "osie", make_osie, scanpaths, Path(folder))
        against_json(store, Path(folder) / f"osie-{scanpaths}" / "osie_fixations.json")


if __name__ == "__main__":
    main()
