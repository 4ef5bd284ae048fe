"""Exact fixation index: 10,000 trials of 1500 points with 16 fixations on one core, against numpy and plain Python.

python benchmarks/bench_fixation_index.py
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from stdiffeye.gaze import Frame, Scanpath, Trajectory, anchors, fixation_index

TRIALS, POINTS, FIXATIONS = 10_000, 1500, 16
NUMPY_TRIALS, PYTHON_TRIALS = 200, 5
BUDGET_S = 10.0
FRAME = Frame(512, 384)


def numpy_anchors(xy: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The same dynamic programming, one numpy row per fixation."""
    distance = np.hypot(places[:, None, 0] - xy[:, 0], places[:, None, 1] - xy[:, 1])
    sample = np.arange(len(xy))
    nearest = np.empty(distance.shape, dtype=np.int64)
    before = np.zeros(len(xy))
    for m in range(len(places)):
        cost = distance[m] + before
        least = np.minimum.accumulate(cost)
        fresh = np.concatenate([[True], cost[1:] < least[:-1]])
        nearest[m] = np.maximum.accumulate(np.where(fresh, sample, 0))
        before = np.concatenate([[np.inf], least[:-1]])
    return backtrack(nearest)


def python_anchors(xy: list[list[float]], places: list[list[float]]) -> list[int]:
    """The same dynamic programming in plain Python."""
    before = [0.0] * len(xy)
    nearest = []
    for x, y in places:
        best, best_t, row, following = math.inf, 0, [], []
        for t, (px, py) in enumerate(xy):
            cost = math.hypot(px - x, py - y) + before[t]
            following.append(best)
            if cost < best:
                best, best_t = cost, t
            row.append(best_t)
        before = following
        nearest.append(row)
    return [int(t) for t in backtrack(np.array(nearest))]


def backtrack(nearest: np.ndarray) -> np.ndarray:
    found = np.empty(len(nearest), dtype=np.int64)
    last = nearest.shape[1] - 1
    for m in range(len(nearest) - 1, -1, -1):
        found[m] = nearest[m, last]
        last = found[m] - 1
    return found


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    rng = np.random.default_rng(0)
    pairs = []
    for _ in range(TRIALS):
        places = rng.uniform(0, 384, (FIXATIONS, 2))
        held = places[np.arange(POINTS) * FIXATIONS // POINTS] + rng.normal(0, 2, (POINTS, 2))
        pairs.append((Trajectory(held, 240, FRAME), Scanpath(places, FRAME)))
    fixation_index(*pairs[0])  # compile outside the clock
    for trajectory, scanpath in pairs[:3]:
        found = anchors(trajectory, scanpath)
        assert np.array_equal(found, numpy_anchors(trajectory.xy_px, scanpath.xy_px))
        assert found.tolist() == python_anchors(trajectory.xy_px.tolist(), scanpath.xy_px.tolist())
    ours = seconds(lambda: [fixation_index(*pair) for pair in pairs])
    only_anchors = seconds(lambda: [anchors(*pair) for pair in pairs]) / TRIALS
    by_numpy = seconds(lambda: [numpy_anchors(t.xy_px, s.xy_px) for t, s in pairs[:NUMPY_TRIALS]]) / NUMPY_TRIALS
    lists = [(t.xy_px.tolist(), s.xy_px.tolist()) for t, s in pairs[:PYTHON_TRIALS]]
    by_python = seconds(lambda: [python_anchors(*pair) for pair in lists]) / PYTHON_TRIALS
    print(f"fixation index: {TRIALS:,} trials × {POINTS} points × {FIXATIONS} fixations in {ours:.2f} s on one core")
    print(f"  {TRIALS / ours:,.0f} trials/s (budget {BUDGET_S:g} s: {'kept' if ours < BUDGET_S else 'MISSED'})")
    print(f"  anchors {1e6 * only_anchors:.0f} µs per trial")
    print(f"  numpy {1e6 * by_numpy:.0f} µs ({by_numpy / only_anchors:.1f}×)")
    print(f"  plain Python {1e3 * by_python:.1f} ms ({by_python / only_anchors:.0f}×)")


if __name__ == "__main__":
    main()
