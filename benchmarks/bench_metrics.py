"""How much faster the metrics are than what the field runs, as ratios within one run, single thread.

The plain implementations here are written from the definitions in ordinary Python, as the reference programs are.
Prints one line per bar; exits with 1 when a bar is missed.
"""

from __future__ import annotations

import os

os.environ.update(OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import time
from collections.abc import Callable

import multimatch_gaze
import numpy as np
from dtaidistance import dtw_ndim
from fastdtw import fastdtw
from scipy.spatial.distance import euclidean

from stdiffeye.gaze import Scanpath
from stdiffeye.metrics import clusters, multimatch, scanmatch, sequence, warping
from stdiffeye.metrics.kernels import warp
from stdiffeye.metrics.pairs import Pairs
from stdiffeye.metrics.paths import EVALUATION_FRAME, pack
from stdiffeye.metrics.symbols import TIME_BIN_MS

PATHS, FIXATIONS, PLAIN_PAIRS, POINTS = 300, 10, 30, 1000
ROUNDS = 5


def main() -> int:
    rng = np.random.default_rng(0)
    scanpaths = [_scanpath(rng) for _ in range(PATHS)]
    paths = pack(scanpaths, np.zeros(PATHS, dtype=np.int64))
    one, other = np.divmod(np.arange(PATHS * PATHS), PATHS)
    pairs = Pairs(one, other)
    some = [(scanpaths[2 * i], scanpaths[2 * i + 1]) for i in range(PLAIN_PAIRS)]
    centres = [clusters.best_centres(paths.xy_px, paths.first)]
    met = [
        _row(
            "DTW + DFD vs fastdtw + recursive Fréchet",
            1000,
            _plain_warp,
            some,
            lambda: warping.score(paths, paths, pairs),
            pairs,
        ),
        _row(
            "MM vs multimatch-gaze", 1000, _plain_multimatch, some, lambda: multimatch.score(paths, paths, pairs), pairs
        ),
        _row(
            "SM† vs plain Needleman–Wunsch",
            1000,
            _plain_scanmatch,
            some,
            lambda: scanmatch.score(paths, paths, pairs, timed=True),
            pairs,
        ),
        _row(
            "SS† vs plain Needleman–Wunsch",
            1000,
            lambda a, b: _plain_sequence(a, b, centres[0]),
            some,
            lambda: sequence.score_clusters(paths, paths, pairs, centres, timed=True),
            pairs,
        ),
        _long_row(rng),
    ]
    return 0 if all(met) else 1


def _row(what: str, bar: float, plain: Callable, some: list, fast: Callable, pairs: Pairs) -> bool:  # type: ignore[type-arg]
    fast()
    ratios, plain_us, fast_us = [], [], []
    for _ in range(ROUNDS):
        began = time.process_time()
        for a, b in some:
            plain(a, b)
        plain_us.append((time.process_time() - began) / len(some) * 1e6)
        began = time.process_time()
        fast()
        fast_us.append((time.process_time() - began) / len(pairs) * 1e6)
        ratios.append(plain_us[-1] / fast_us[-1])
    return _say(what, bar, float(np.median(ratios)), min(plain_us), min(fast_us))


def _long_row(rng: np.random.Generator) -> bool:
    a, b = (np.cumsum(rng.normal(size=(POINTS, 2)), axis=0) * 5 + 200 for _ in range(2))
    theirs = dtw_ndim.distance(a, b, inner_dist="euclidean", use_c=True)
    ours = warp(a, b, True, False)[0]
    if not np.isclose(theirs, ours, rtol=1e-12):
        raise SystemExit(f"exact DTW disagrees with dtaidistance: {ours} and {theirs}")
    ratios, plain, fast = [], [], []
    for _ in range(4 * ROUNDS):
        began = time.process_time()
        dtw_ndim.distance(a, b, inner_dist="euclidean", use_c=True)
        plain.append((time.process_time() - began) * 1e6)
        began = time.process_time()
        warp(a, b, True, False)
        fast.append((time.process_time() - began) * 1e6)
        ratios.append(plain[-1] / fast[-1])
    return _say(f"exact DTW, {POINTS} points, vs dtaidistance (C)", 4, float(np.median(ratios)), min(plain), min(fast))


def _say(what: str, bar: float, ratio: float, plain_us: float, fast_us: float) -> bool:
    met = ratio >= bar
    print(
        f"{what:<46} {plain_us:10.1f} µs {fast_us:9.3f} µs  {ratio:8.1f}×  (bar {bar:g}×: {'met' if met else 'MISSED'})"
    )
    return met


def _scanpath(rng: np.random.Generator) -> Scanpath:
    xy = np.clip(rng.normal([256, 192], [100, 75], (FIXATIONS, 2)), 0, [511, 383])
    return Scanpath(xy, EVALUATION_FRAME, rng.gamma(5, 50, FIXATIONS))


def _plain_warp(a: Scanpath, b: Scanpath) -> tuple[float, float]:
    known: dict[tuple[int, int], float] = {}

    def frechet(i: int, j: int) -> float:
        if i < 0 or j < 0:
            return float("inf")
        if (i, j) not in known:
            d = euclidean(a.xy_px[i], b.xy_px[j])
            known[i, j] = d if i == j == 0 else max(d, min(frechet(i - 1, j), frechet(i - 1, j - 1), frechet(i, j - 1)))
        return known[i, j]

    return fastdtw(a.xy_px, b.xy_px, radius=1, dist=euclidean)[0], frechet(len(a) - 1, len(b) - 1)


def _plain_multimatch(a: Scanpath, b: Scanpath) -> list[float]:
    fields = [("start_x", "f8"), ("start_y", "f8"), ("duration", "f8")]
    tables = [
        np.rec.fromarrays([path.xy_px[:, 0], path.xy_px[:, 1], path.duration_ms], dtype=fields) for path in (a, b)
    ]
    return multimatch_gaze.docomparison(*tables, screensize=[512, 384])


def _plain_scanmatch(a: Scanpath, b: Scanpath) -> float:
    one, other = (_cells(path) for path in (a, b))
    return _needleman_wunsch(one, other, lambda p, q: 3.5 - ((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2) ** 0.5) / (
        3.5 * max(len(one), len(other))
    )


def _cells(path: Scanpath) -> list[tuple[int, int]]:
    assert path.duration_ms is not None
    return [
        (int(x // 32), int(y // 32))
        for (x, y), ms in zip(path.xy_px, path.duration_ms, strict=True)
        for _ in range(round(int(ms) / TIME_BIN_MS))
    ]


def _plain_sequence(a: Scanpath, b: Scanpath, centres: np.ndarray) -> float:  # type: ignore[type-arg]
    strings = []
    for path in (a, b):
        assert path.duration_ms is not None
        letters = [int(((centres - xy) ** 2).sum(axis=1).argmin()) for xy in path.xy_px]
        strings.append(
            [k for k, ms in zip(letters, path.duration_ms, strict=True) for _ in range(int(ms / TIME_BIN_MS))]
        )
    return _needleman_wunsch(*strings, lambda p, q: float(p == q)) / max(map(len, strings))


def _needleman_wunsch(one: list, other: list, reward: Callable) -> float:  # type: ignore[type-arg]
    score = np.zeros((len(one) + 1, len(other) + 1))
    for i, p in enumerate(one, start=1):
        for j, q in enumerate(other, start=1):
            score[i, j] = max(score[i - 1, j - 1] + reward(p, q), score[i - 1, j], score[i, j - 1])
    return float(score[-1, -1])


if __name__ == "__main__":
    sys.exit(main())
