"""Each metric alone, on two scanpaths; and all pairs of two lists.

Conventions
-----------
* `a` is the human scanpath, `b` the generated one.
* Either may be a `Scanpath`, a `Trajectory` without lost samples, or an array: (n, 2) x, y in px, or (n, 3) with the
  duration in ms as third column.
* Arrays are in the 512×384 px frame; nouns of other frames are rescaled to it first.
* Metrics with durations (MM, SM†, SS†, SSS†) are NaN where either side has none.

Definitions and sources stand at the head of each metric's module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trajectory
from stdiffeye.metrics import edit, embedding, multimatch, scanmatch, warping
from stdiffeye.metrics.pairs import Pairs
from stdiffeye.metrics.paths import EVALUATION_FRAME, PackedScanpaths, pack
from stdiffeye.metrics.spec import METRICS, Context, scores, specs

Gaze = Scanpath | Trajectory | ArrayLike
_ONE_PAIR = Pairs(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))


def ld(a: Gaze, b: Gaze) -> float:
    """Levenshtein distance on a 12×8 grid, two symbols (row, column) per fixation.

    Parameters
    ----------
    a, b : Scanpath, Trajectory or array_like
        Human and generated gaze; arrays are (n, 2) px of the 512×384 frame.

    Returns
    -------
    float
        Number of symbols to insert, delete or replace; 0 for equal strings. Lower is better.

    Examples
    --------
    >>> ld([[100, 100], [200, 100]], [[100, 100], [200, 300]])
    1.0
    """
    return float(edit.score(_one(a), _one(b), _ONE_PAIR)[0, 0])


def sed(a: Gaze, b: Gaze, cells: int = 5) -> float:
    """String edit distance on a square grid, one symbol per fixation.

    Parameters
    ----------
    a, b : Scanpath, Trajectory or array_like
        Human and generated gaze; arrays are (n, 2) px of the 512×384 frame.
    cells : int
        The grid has cells × cells cells.

    Returns
    -------
    float
        Number of symbols to insert, delete or replace. Lower is better.

    Examples
    --------
    >>> sed([[100, 100], [200, 100], [300, 100]], [[100, 100], [300, 100]])
    1.0
    """
    return float(edit.score_grid(_one(a), _one(b), _ONE_PAIR, cells)[0, 0])


def dtw(a: Gaze, b: Gaze) -> float:
    """Dynamic time warping, exact, without window or normalisation.

    DTW(a, b) = min_π Σ_{(i, j) ∈ π} ‖a_i − b_j‖ over monotone alignments π from the first to the last pair of points.

    Parameters
    ----------
    a, b : Scanpath, Trajectory or array_like
        Human and generated gaze; arrays are (n, 2) px of the 512×384 frame.

    Returns
    -------
    float
        Distance in px, summed over the alignment. Lower is better.

    Examples
    --------
    >>> dtw([[100, 100], [200, 100], [200, 200]], [[100, 110], [200, 110], [200, 210]])
    30.0
    """
    return float(warping.score(_one(a), _one(b), _ONE_PAIR, want_max=False)[0, 0])


def dfd(a: Gaze, b: Gaze) -> float:
    """Discrete Fréchet distance.

    DFD(a, b) = min_π max_{(i, j) ∈ π} ‖a_i − b_j‖ over monotone alignments π from the first to the last pair of points.

    Parameters
    ----------
    a, b : Scanpath, Trajectory or array_like
        Human and generated gaze; arrays are (n, 2) px of the 512×384 frame.

    Returns
    -------
    float
        Distance in px. Lower is better.

    Examples
    --------
    >>> dfd([[100, 100], [200, 100], [200, 200]], [[100, 110], [200, 110], [200, 210]])
    10.0
    """
    return float(warping.score(_one(a), _one(b), _ONE_PAIR, want_sum=False)[0, 1])


def tde(a: Gaze, b: Gaze, k: int = embedding.WINDOW, distance: str = "frobenius") -> float:
    """Time-delay embedding distance: how far is each window of `b` from the nearest window of `a`?

    TDE(a, b) = mean_{w ∈ W(b)} min_{v ∈ W(a)} ‖w − v‖ / k, with W the windows of k consecutive fixations and
    coordinates divided by 512 px.

    Parameters
    ----------
    a, b : Scanpath, Trajectory or array_like
        Human and generated gaze; arrays are (n, 2) px of the 512×384 frame. The order matters.
    k : int
        Fixations in a window; not used by "scaled".
    distance : {"frobenius", "sum", "scaled"}
        Norm of the difference of two windows: Frobenius, the sum of point distances, or the mean of the latter over
        all window lengths.

    Returns
    -------
    float
        Distance in widths of the frame, NaN where either side has fewer than `k` fixations. Lower is better.

    Raises
    ------
    InputError
        For an unknown `distance` or `k` below 1.

    Examples
    --------
    >>> a = [[0, 0], [100, 0], [100, 100]]
    >>> tde(a, a), tde(a, [[0, 512], [100, 512], [100, 612]], distance="sum")
    (0.0, 1.0)
    """
    if distance == "scaled":
        return float(embedding.score_scaled(_one(a), _one(b), _ONE_PAIR)[0, 0])
    if distance not in ("frobenius", "sum") or k < 1:
        raise InputError(f"tde knows frobenius, sum and scaled and windows of k ≥ 1, got {distance!r} and k = {k}")
    return float(embedding.score(_one(a), _one(b), _ONE_PAIR, k, distance == "frobenius")[0, 0])


def mm(a: Gaze, b: Gaze) -> float:
    """MultiMatch without grouping: mean of its five similarities.

    Parameters
    ----------
    a, b : Scanpath or array_like
        Human and generated gaze with durations; arrays are (n, 3) px, px, ms.

    Returns
    -------
    float
        Similarity in [0, 1], NaN below three fixations or without durations. Higher is better.

    Examples
    --------
    >>> a = [[100, 100, 200], [200, 100, 300], [200, 200, 250]]
    >>> mm(a, a)
    1.0
    """
    return _named("MM", a, b)


def mm_dimensions(a: Gaze, b: Gaze) -> dict[str, float]:
    """MultiMatch's five similarities of aligned saccades.

    Parameters
    ----------
    a, b : Scanpath or array_like
        Human and generated gaze; arrays are (n, 2) px or (n, 3) px, px, ms.

    Returns
    -------
    dict of str to float
        "vector", "direction", "length", "position" and "duration", each in [0, 1] or NaN. Higher is better.

    Examples
    --------
    >>> a = [[100, 100], [200, 100], [200, 200]]
    >>> found = mm_dimensions(a, [[100, 132], [200, 132], [200, 232]])
    >>> found["vector"], found["position"], found["duration"]
    (1.0, 0.95, nan)
    """
    values = multimatch.score(_one(a), _one(b), _ONE_PAIR)[0].tolist()
    return dict(zip(multimatch.DIMENSIONS, values, strict=False))


def sm(a: Gaze, b: Gaze) -> float:
    """ScanMatch: alignment of grid cells that rewards near cells.

    Parameters
    ----------
    a, b : Scanpath, Trajectory or array_like
        Human and generated gaze; arrays are (n, 2) px of the 512×384 frame.

    Returns
    -------
    float
        Similarity, at most 1. Higher is better.

    Examples
    --------
    >>> a = [[100, 100], [200, 100], [200, 200]]
    >>> sm(a, a)
    1.0
    """
    return float(scanmatch.score(_one(a), _one(b), _ONE_PAIR)[0, 0])


def sm_dur(a: Gaze, b: Gaze) -> float:
    """ScanMatch with durations (SM†): each cell is repeated once per 50 ms.

    Parameters
    ----------
    a, b : Scanpath or array_like
        Human and generated gaze with durations; arrays are (n, 3) px, px, ms.

    Returns
    -------
    float
        Similarity, at most 1, NaN without durations. Higher is better.

    Examples
    --------
    >>> sm_dur([[100, 100, 200]], [[100, 100, 100]])
    0.5
    """
    return _named("SM_dur", a, b)


def ss(a: Gaze, b: Gaze, centres_px: ArrayLike, timed: bool = False) -> float:
    """Sequence Score: longest common subsequence of cluster letters over the longer length.

    Parameters
    ----------
    a, b : Scanpath or array_like
        Human and generated gaze; arrays are (n, 2) px, or (n, 3) px, px, ms for `timed`.
    centres_px : array_like, (C, 2)
        Cluster centres of the stimulus, px of the 512×384 frame.
    timed : bool
        Repeat each letter once per 50 ms (SS†).

    Returns
    -------
    float
        Similarity in [0, 1]. Higher is better.

    Examples
    --------
    >>> ss([[10, 10], [400, 300]], [[12, 9], [20, 15]], centres_px=[[10, 10], [400, 300]])
    0.5
    """
    context = Context(centres_px=[np.asarray(centres_px, dtype=np.float64).reshape(-1, 2)])
    return _named("SS_dur" if timed else "SS", a, b, context)


def sss(a: Gaze, b: Gaze, semantic: NDArray[np.integer[Any]], timed: bool = False) -> float:
    """Semantic Sequence Score: as `ss`, with the semantic class under each fixation as its letter.

    Parameters
    ----------
    a, b : Scanpath or array_like
        Human and generated gaze; arrays are (n, 2) px, or (n, 3) px, px, ms for `timed`.
    semantic : ndarray of int, (320, 512)
        Class of each pixel of the stimulus.
    timed : bool
        Repeat each letter once per 50 ms (SSS†).

    Returns
    -------
    float
        Similarity in [0, 1]. Higher is better.

    Examples
    --------
    >>> import numpy as np
    >>> halves = np.repeat([[0, 1]], 256, axis=1).repeat(320, axis=0)
    >>> sss([[10, 10], [400, 300]], [[200, 200], [500, 50]], halves)
    1.0
    """
    return _named("SSS_dur" if timed else "SSS", a, b, Context(maps=[np.asarray(semantic)]))


def pairwise(
    metric: str,
    a: Sequence[Gaze],
    b: Sequence[Gaze] | None = None,
    *,
    centres_px: ArrayLike | None = None,
    semantic: NDArray[np.integer[Any]] | None = None,
) -> Floats:
    """Compute a metric for all pairs of two lists.

    Parameters
    ----------
    metric : str
        A key of `METRICS`, such as "DTW" or "SM_dur".
    a, b : sequence of Scanpath, Trajectory or array_like
        Human and generated gaze; `b` defaults to `a`.
    centres_px : array_like, (C, 2), optional
        Cluster centres, which SS and SS_dur need.
    semantic : ndarray of int, (320, 512), optional
        Semantic map, which SSS and SSS_dur need.

    Returns
    -------
    ndarray, (len(a), len(b))
        The values, NaN where undefined.

    Raises
    ------
    InputError
        For an unknown metric, or one whose clusters or semantic map are missing.

    Examples
    --------
    >>> pairwise("DTW", [[[0, 0]], [[30, 40]]])
    array([[ 0., 50.],
           [50.,  0.]])
    """
    spec = specs([metric])[0]
    if spec.needs_clusters and centres_px is None:
        raise InputError(f"{metric} needs cluster centres: pairwise(…, centres_px=…)")
    if spec.needs_semantics and semantic is None:
        raise InputError(f"{metric} needs a semantic map: pairwise(…, semantic=…)")
    context = Context([] if centres_px is None else [np.asarray(centres_px, dtype=np.float64)], [semantic])
    one, other = _many(a), _many(a if b is None else b)
    rows, columns = np.divmod(np.arange(len(one) * len(other)), len(other))
    return scores([spec], one, other, Pairs(rows, columns), context)[metric].reshape(len(one), len(other))


def _named(metric: str, a: Gaze, b: Gaze, context: Context | None = None) -> float:
    values = scores([METRICS[metric]], _one(a), _one(b), _ONE_PAIR, context or Context())
    return float(values[metric][0])


def _one(path: Gaze) -> PackedScanpaths:
    return _many([path])


def _many(paths: Sequence[Gaze]) -> PackedScanpaths:
    return pack([_scanpath(path) for path in paths], np.zeros(len(paths), dtype=np.int64))


def _scanpath(path: Gaze) -> Scanpath:
    if isinstance(path, Scanpath):
        return path
    if isinstance(path, Trajectory):
        if path.lost.any():
            raise InputError(f"the trajectory has {int(path.lost.sum())} lost samples; fill or leave them out first")
        return Scanpath(path.xy_px, path.frame)
    array = np.asarray(path, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise InputError(f"a scanpath is (n, 2) px or (n, 3) px, px, ms; got shape {array.shape}")
    return Scanpath(array[:, :2], EVALUATION_FRAME, array[:, 2] if array.shape[1] == 3 else None)
