"""Independent programs, and definitions computed by brute force, say the same as the compiled kernels."""

from __future__ import annotations

import math

import multimatch_gaze
import numpy as np
import pytest
import scoringrules
from dtaidistance import dtw_ndim
from rapidfuzz.distance import LCSseq, Levenshtein
from sklearn.cluster import MeanShift, estimate_bandwidth

from stdiffeye.gaze import Scanpath
from stdiffeye.metrics import dfd, dtw, ld, mm_dimensions, pairwise, sed, sm, sm_dur, ss, sss, tde
from stdiffeye.metrics.clusters import FACTORS, best_centres, mean_shift, neighbour_distance
from stdiffeye.metrics.kernels import LONG, common_subsequence, edit_distance, warp
from stdiffeye.metrics.paths import EVALUATION_FRAME, pack
from stdiffeye.metrics.protocols import compare, crps
from stdiffeye.metrics.spec import METRICS, Context


def _plain_warp(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    total = np.full((len(a) + 1, len(b) + 1), np.inf)
    worst = total.copy()
    total[0, 0] = worst[0, 0] = 0
    for i in range(len(a)):
        for j in range(len(b)):
            d = math.dist(a[i, :2], b[j, :2])
            before = [(i, j), (i, j + 1), (i + 1, j)]
            total[i + 1, j + 1] = d + min(total[cell] for cell in before)
            worst[i + 1, j + 1] = max(d, min(worst[cell] for cell in before))
    return total[-1, -1], worst[-1, -1]


def _align(a: list, b: list, reward) -> float:
    score = np.zeros((len(a) + 1, len(b) + 1))
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            score[i + 1, j + 1] = max(score[i, j] + reward(x, y), score[i, j + 1], score[i + 1, j])
    return score[-1, -1]


def _repeated(letters: list[int], duration_ms: np.ndarray, timed: bool) -> list[int]:
    times = [int(ms / 50) if timed else 1 for ms in duration_ms]
    return [letter for letter, count in zip(letters, times, strict=True) for _ in range(count)]


def test_warping_is_the_plain_recursion_on_short_and_long_paths(rng: np.random.Generator) -> None:
    for n, m in ((1, 1), (1, 9), (2, 2), (12, 7), (LONG, LONG), (LONG + 3, 2 * LONG), (2 * LONG, LONG + 1)):
        a, b = rng.normal(0, 100, (n, 2)), rng.normal(0, 100, (m, 2))
        assert warp(a, b, True, True) == pytest.approx(_plain_warp(a, b), rel=1e-12)


def test_dynamic_time_warping_is_that_of_dtaidistance(random_paths: list[np.ndarray]) -> None:
    for a, b in zip(random_paths[::2], random_paths[1::2], strict=True):
        theirs = dtw_ndim.distance(
            np.ascontiguousarray(a[:, :2]), np.ascontiguousarray(b[:, :2]), inner_dist="euclidean"
        )
        assert dtw(a, b) == pytest.approx(theirs, rel=1e-12)
        assert dfd(a, b) == pytest.approx(_plain_warp(a, b)[1], rel=1e-12)


def test_edit_distance_and_common_subsequence_are_those_of_rapidfuzz(rng: np.random.Generator) -> None:
    for n in (1, 5, 63, 64, 65, 130, 300):
        for m in (1, 31, 64, 129):
            a, b = rng.integers(0, 6, n), rng.integers(0, 6, m)
            assert edit_distance(a, b, 6) == Levenshtein.distance(a.tolist(), b.tolist())
            assert common_subsequence(a, b, 6) == LCSseq.similarity(a.tolist(), b.tolist())
    empty = np.zeros(0, dtype=np.int64)
    assert edit_distance(empty, np.arange(4), 4) == 4
    assert common_subsequence(empty, np.arange(4), 4) == 0


def test_levenshtein_counts_row_and_column_symbols(random_paths: list[np.ndarray]) -> None:
    def symbols(path: np.ndarray) -> list[str]:
        cells = [(int(x) // 42, (384 - int(y)) // 48) for x, y, _ in path]
        return [symbol for column, row in cells for symbol in (f"row {row}", f"column {column}")]

    for a, b in zip(random_paths[::2], random_paths[1::2], strict=True):
        assert ld(a, b) == Levenshtein.distance(symbols(a), symbols(b))
        for cells in (5, 10):
            grid = [
                [int(x) // (512 // cells) + int(y) // (384 // cells) * cells for x, y, _ in path] for path in (a, b)
            ]
            assert sed(a, b, cells) == Levenshtein.distance(*grid)


def test_scanmatch_is_a_plain_needleman_wunsch(random_paths: list[np.ndarray]) -> None:
    def cells(path: np.ndarray, timed: bool) -> list[tuple[int, int]]:
        inside = np.clip(path[:, :2], 0, [511, 383])
        repeats = [round(int(ms) / 50) if timed else 1 for ms in path[:, 2]]
        return [
            (int(x // 32), int(y // 32)) for (x, y), times in zip(inside, repeats, strict=True) for _ in range(times)
        ]

    for a, b in zip(random_paths[::2], random_paths[1::2], strict=True):
        for metric, timed in ((sm, False), (sm_dur, True)):
            one, other = cells(a, timed), cells(b, timed)
            score = _align(one, other, lambda p, q: 3.5 - math.dist(p, q))
            assert metric(a, b) == pytest.approx(score / (3.5 * max(len(one), len(other))), abs=1e-12)


def test_sequence_score_is_a_common_subsequence_of_the_nearest_letters(random_paths: list[np.ndarray]) -> None:
    centres = np.array([[100.0, 100], [256, 192], [400, 300], [100, 300]])
    rng = np.random.default_rng(0)
    semantic = rng.integers(0, 12, (320, 512))

    def cluster_letters(path: np.ndarray) -> list[int]:
        return [int(np.linalg.norm(centres - xy, axis=1).argmin()) for xy in path[:16, :2]]

    def classes(path: np.ndarray) -> list[int]:
        rows = np.clip((path[:16, 1] * 320 / 384).astype(int), 0, 319)
        return semantic[rows, np.clip(path[:16, 0].astype(int), 0, 511)].tolist()

    for a, b in zip(random_paths[::2], random_paths[1::2], strict=True):
        for letters, metric, material in ((cluster_letters, ss, centres), (classes, sss, semantic)):
            for timed in (False, True):
                strings = [
                    [
                        k
                        for k, ms in zip(letters(path), path[:, 2], strict=False)
                        for _ in range(int(ms / 50) if timed else 1)
                    ]
                    for path in (a, b)
                ]
                wanted = LCSseq.similarity(*strings) / max(map(len, strings))
                assert metric(a, b, material, timed) == pytest.approx(wanted, abs=1e-7)


def test_time_delay_embedding_is_the_nearest_window(random_paths: list[np.ndarray]) -> None:
    def windows(path: np.ndarray, k: int) -> list[np.ndarray]:
        return [path[i : i + k, :2] / 512 for i in range(len(path) - k + 1)]

    def plain(a: np.ndarray, b: np.ndarray, k: int, distance: str) -> float:
        def apart(u: np.ndarray, v: np.ndarray) -> float:
            return float(np.linalg.norm(u - v) if distance == "frobenius" else np.linalg.norm(u - v, axis=1).sum()) / k

        return float(np.mean([min(apart(u, v) for u in windows(a, k)) for v in windows(b, k)]))

    for a, b in zip(random_paths[::2], random_paths[1::2], strict=True):
        shorter = min(len(a), len(b))
        for distance in ("frobenius", "sum"):
            if shorter < 3:
                assert math.isnan(tde(a, b, distance=distance))
            else:
                assert tde(a, b, distance=distance) == pytest.approx(plain(a, b, 3, distance), rel=1e-9)
        scaled = np.mean([plain(a, b, k, "sum") for k in range(1, shorter + 1)])
        assert tde(a, b, distance="scaled") == pytest.approx(scaled, rel=1e-9)


def test_multimatch_is_that_of_multimatch_gaze(random_paths: list[np.ndarray]) -> None:
    fields = [("start_x", "f8"), ("start_y", "f8"), ("duration", "f8")]
    for a, b in zip(random_paths[::2], random_paths[1::2], strict=True):
        ours = list(mm_dimensions(a, b).values())
        if min(len(a), len(b)) < 3:
            assert np.isnan(ours).all()
            continue
        tables = [np.rec.fromarrays(path.T, dtype=fields) for path in (a, b)]
        theirs = multimatch_gaze.docomparison(*tables, screensize=[512, 384])
        assert ours == pytest.approx(theirs, abs=1e-6)


def test_mean_shift_and_its_bandwidth_are_those_of_scikit_learn(rng: np.random.Generator) -> None:
    points = np.concatenate([rng.normal(rng.uniform(50, 400, 2), 25, (15, 2)) for _ in range(4)])
    bandwidth = estimate_bandwidth(points, quantile=0.3)
    assert neighbour_distance(points, int(len(points) * 0.3)) == pytest.approx(bandwidth, rel=1e-12)
    for factor in FACTORS[::3]:
        theirs = MeanShift(bandwidth=factor * bandwidth).fit(points).cluster_centers_
        np.testing.assert_allclose(mean_shift(points, factor * bandwidth), theirs, atol=1e-9)


def test_the_clustering_with_most_transitions_between_clusters_is_kept(rng: np.random.Generator) -> None:
    paths = [rng.normal([[100, 100], [400, 300]] * 2, 10) for _ in range(6)]
    points, first = np.concatenate(paths), np.arange(0, 25, 4)
    bandwidth = estimate_bandwidth(points, quantile=0.3)
    best, best_score = np.empty(0), -np.inf
    for factor in FACTORS:
        fitted = MeanShift(bandwidth=factor * bandwidth).fit(points)
        steps = np.concatenate([np.diff(fitted.predict(path)) != 0 for path in paths])
        score = (steps.sum() - (~steps).sum()) / len(fitted.cluster_centers_)
        if score > best_score:
            best, best_score = fitted.cluster_centers_, score
    np.testing.assert_allclose(best_centres(points, first), best, atol=1e-9)


def test_repeated_fixations_do_not_break_clustering() -> None:
    same = np.full((9, 2), 50.0)
    assert best_centres(same, np.array([0, 4, 9])).tolist() == [[50.0, 50.0]]
    assert best_centres(np.array([[10.0, 20.0]]), np.array([0, 1])).tolist() == [[10.0, 20.0]]


def test_crps_of_a_metric_that_is_a_distance_in_space_is_the_energy_score(rng: np.random.Generator) -> None:
    """On single fixations DTW is the Euclidean distance, and CRPS is scoringrules' energy score."""
    viewers, samples = rng.uniform(0, 380, (4, 2)), rng.uniform(0, 380, (7, 2))
    human, generated = (
        pack([Scanpath([xy], EVALUATION_FRAME) for xy in side], np.zeros(len(side), dtype=np.int64))
        for side in (viewers, samples)
    )
    ensemble = compare([METRICS["DTW"]], human, generated, Context(), 1)
    for estimator, name in (("printed", "nrg"), ("fair", "fair")):
        energy = np.mean([scoringrules.es_ensemble(xy, samples, estimator=name) for xy in viewers])
        assert crps(METRICS["DTW"], ensemble, estimator).value[0] == pytest.approx(energy, rel=1e-6)


def test_all_pairs_are_the_pairs_one_by_one(random_paths: list[np.ndarray]) -> None:
    some = [path for path in random_paths if len(path) > 3][:6]
    for metric, function in (("DTW", dtw), ("LD", ld), ("SM_dur", sm_dur), ("TDE", tde)):
        matrix = pairwise(metric, some[:2], some)
        assert matrix.shape == (2, 6)
        assert matrix[1, 4] == pytest.approx(function(some[1], some[4]), rel=1e-12)
