"""Each metric alone, on two scanpaths; and all pairs of two lists.

`a` is the human path, `b` the generated one. Either may be a `Scanpath`, a `Trajectory` without lost samples, or an
array of (n, 2) px or (n, 3) px, px, ms in the 512×384 frame. Nouns of other frames are rescaled to it first.

>>> from stdiffeye import Frame, Scanpath
>>> a = Scanpath([[100, 100], [200, 100], [200, 200]], Frame(512, 384))
>>> b = Scanpath([[100, 110], [200, 110], [200, 210]], Frame(512, 384))
>>> dtw(a, b), dfd(a, b)
(30.0, 10.0)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trajectory
from stdiffeye.metrics import edit, embedding, multimatch, scanmatch, warping
from stdiffeye.metrics.pairs import Floats, Pairs
from stdiffeye.metrics.paths import EVALUATION_FRAME, Paths, pack
from stdiffeye.metrics.spec import METRICS, Context, scores, specs

Path_ = Scanpath | Trajectory | ArrayLike
_ONE_PAIR = Pairs(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))


def ld(a: Path_, b: Path_) -> float:
    """Levenshtein distance on the 12×8 grid, two symbols per fixation (↓)."""
    return float(edit.score(_one(a), _one(b), _ONE_PAIR)[0, 0])


def sed(a: Path_, b: Path_, cells: int = 5) -> float:
    """String edit distance on a cells × cells grid (↓)."""
    return float(edit.score_grid(_one(a), _one(b), _ONE_PAIR, cells)[0, 0])


def dtw(a: Path_, b: Path_) -> float:
    """Dynamic time warping, px, exact (↓)."""
    return float(warping.score(_one(a), _one(b), _ONE_PAIR, want_max=False)[0, 0])


def dfd(a: Path_, b: Path_) -> float:
    """Discrete Fréchet distance, px (↓)."""
    return float(warping.score(_one(a), _one(b), _ONE_PAIR, want_sum=False)[0, 1])


def tde(a: Path_, b: Path_, k: int = embedding.WINDOW, distance: str = "frobenius") -> float:
    """Time-delay embedding distance on coordinates / 512 (↓); `distance` is "frobenius", "sum" or "scaled"."""
    if distance == "scaled":
        return float(embedding.score_scaled(_one(a), _one(b), _ONE_PAIR)[0, 0])
    if distance not in ("frobenius", "sum") or k < 1:
        raise InputError(f"tde knows frobenius, sum and scaled and windows of k ≥ 1, got {distance!r} and k = {k}")
    return float(embedding.score(_one(a), _one(b), _ONE_PAIR, k, distance == "frobenius")[0, 0])


def mm(a: Path_, b: Path_) -> float:
    """MultiMatch, mean of its five similarities (↑)."""
    return _named("MM", a, b)


def mm_dimensions(a: Path_, b: Path_) -> dict[str, float]:
    """MultiMatch's similarities: vector, direction, length, position, duration (↑)."""
    values = multimatch.score(_one(a), _one(b), _ONE_PAIR)[0].tolist()
    return dict(zip(multimatch.DIMENSIONS, values, strict=False))


def sm(a: Path_, b: Path_) -> float:
    """ScanMatch (↑)."""
    return float(scanmatch.score(_one(a), _one(b), _ONE_PAIR)[0, 0])


def sm_dur(a: Path_, b: Path_) -> float:
    """ScanMatch with durations, SM† (↑)."""
    return _named("SM_dur", a, b)


def ss(a: Path_, b: Path_, centres_px: ArrayLike, timed: bool = False) -> float:
    """Sequence Score on given cluster centres (C, 2), px of 512×384 (↑); `timed` is SS†."""
    context = Context(centres_px=[np.asarray(centres_px, dtype=np.float64).reshape(-1, 2)])
    return _named("SS_dur" if timed else "SS", a, b, context)


def sss(a: Path_, b: Path_, semantic: NDArray[np.integer[Any]], timed: bool = False) -> float:
    """Semantic Sequence Score on a map of classes (320, 512) (↑); `timed` is SSS†."""
    return _named("SSS_dur" if timed else "SSS", a, b, Context(maps=[np.asarray(semantic)]))


def pairwise(
    metric: str,
    a: Sequence[Path_],
    b: Sequence[Path_] | None = None,
    *,
    centres_px: ArrayLike | None = None,
    semantic: NDArray[np.integer[Any]] | None = None,
) -> Floats:
    """(len(a), len(b)) values of a metric for all pairs; `b` defaults to `a`. NaN where undefined."""
    spec = specs([metric])[0]
    if spec.needs_clusters and centres_px is None:
        raise InputError(f"{metric} needs cluster centres: pairwise(…, centres_px=…)")
    if spec.needs_semantics and semantic is None:
        raise InputError(f"{metric} needs a semantic map: pairwise(…, semantic=…)")
    context = Context([] if centres_px is None else [np.asarray(centres_px, dtype=np.float64)], [semantic])
    one, other = _many(a), _many(a if b is None else b)
    rows, columns = np.divmod(np.arange(len(one) * len(other)), len(other))
    return scores([spec], one, other, Pairs(rows, columns), context)[metric].reshape(len(one), len(other))


def _named(metric: str, a: Path_, b: Path_, context: Context | None = None) -> float:
    values = scores([METRICS[metric]], _one(a), _one(b), _ONE_PAIR, context or Context())
    return float(values[metric][0])


def _one(path: Path_) -> Paths:
    return _many([path])


def _many(paths: Sequence[Path_]) -> Paths:
    return pack([_scanpath(path) for path in paths], np.zeros(len(paths), dtype=np.int64))


def _scanpath(path: Path_) -> Scanpath:
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


__all__ = [
    "dfd",
    "dtw",
    "ld",
    "mm",
    "mm_dimensions",
    "pairwise",
    "sed",
    "sm",
    "sm_dur",
    "ss",
    "sss",
    "tde",
]
