"""The table of metrics: what each is called, which direction is better, what it needs.

Protocols, tables, intervals and the command follow from this table.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.metrics import edit, embedding, kernel_distance, multimatch, scanmatch, sequence, warping
from stdiffeye.metrics.pairs import Pairs
from stdiffeye.metrics.paths import PackedScanpaths

Direction = Literal["lower", "higher"]


@dataclass(frozen=True)
class Context:
    """What metrics need to know about the stimuli, by number of the stimulus.

    Attributes
    ----------
    centres_px : sequence of ndarray, (C, 2)
        Cluster centres of human fixations, px of the 512×384 frame.
    maps : sequence of ndarray, (320, 512), or None
        Semantic maps, None where a stimulus has none.
    """

    centres_px: Sequence[Floats] = ()
    maps: Sequence[NDArray[np.integer[Any]] | None] = ()


Score = Callable[[PackedScanpaths, PackedScanpaths, Pairs, Context], Floats]


@dataclass(frozen=True)
class MetricSpec:
    """One metric.

    Attributes
    ----------
    name, title : str
        Its key in results, and how tables print it.
    direction : {"lower", "higher"}
        Which values are better.
    group : str
        Metrics of one group are computed together.
    score : callable
        (a, b, pairs, context) → (pairs, columns) values of the group.
    column : int
        This metric's column of what `score` returns.
    needs_duration, needs_semantics, needs_clusters : bool
        What it is undefined without.
    symmetric : bool
        Whether d(a, b) = d(b, a), so that half of the pairs within an ensemble suffice.
    on_samples : bool
        Whether it is defined on raw samples.
    components : tuple of str
        Metrics whose KLDs are averaged to make this one's (the dimensions of MultiMatch).

    Examples
    --------
    >>> METRICS["SM_dur"].title, METRICS["SM_dur"].arrow
    ('SM†', '↑')
    """

    name: str
    title: str
    direction: Direction
    group: str
    score: Score
    column: int = 0
    needs_duration: bool = False
    needs_semantics: bool = False
    needs_clusters: bool = False
    symmetric: bool = True
    on_samples: bool = False
    components: tuple[str, ...] = ()

    @property
    def arrow(self) -> str:
        """The direction as tables print it."""
        return "↓" if self.direction == "lower" else "↑"


def _plain(function: Callable[..., Floats], **options: object) -> Score:
    return lambda a, b, pairs, context: function(a, b, pairs, **options)


def _clusters(a: PackedScanpaths, b: PackedScanpaths, pairs: Pairs, context: Context, timed: bool) -> Floats:
    return sequence.score_clusters(a, b, pairs, context.centres_px, timed)


def _semantics(a: PackedScanpaths, b: PackedScanpaths, pairs: Pairs, context: Context, timed: bool) -> Floats:
    return sequence.score_semantics(a, b, pairs, context.maps, timed)


_warp = _plain(warping.score)
_multimatch = _plain(multimatch.score)
_scaled = _plain(embedding.score_scaled)
_DIMENSIONS = tuple(f"MM_{dimension}" for dimension in multimatch.DIMENSIONS)

_ALL = [
    MetricSpec("LD", "LD", "lower", "LD", _plain(edit.score), on_samples=True),
    MetricSpec("DFD", "DFD", "lower", "warp", _warp, column=1, on_samples=True),
    MetricSpec("DTW", "DTW", "lower", "warp", _warp, on_samples=True),
    MetricSpec("TDE", "TDE", "lower", "TDE", _plain(embedding.score), symmetric=False, on_samples=True),
    MetricSpec(
        "MM", "MM", "higher", "MM", _multimatch, 5, needs_duration=True, symmetric=False, components=_DIMENSIONS
    ),
    MetricSpec("SM", "SM", "higher", "SM", _plain(scanmatch.score)),
    MetricSpec("SM_dur", "SM†", "higher", "SM_dur", _plain(scanmatch.score, timed=True), needs_duration=True),
    MetricSpec("SS", "SS", "higher", "SS", partial(_clusters, timed=False), needs_clusters=True),
    MetricSpec(
        "SS_dur", "SS†", "higher", "SS_dur", partial(_clusters, timed=True), needs_duration=True, needs_clusters=True
    ),
    MetricSpec("SSS", "SSS", "higher", "SSS", partial(_semantics, timed=False), needs_semantics=True),
    MetricSpec(
        "SSS_dur",
        "SSS†",
        "higher",
        "SSS_dur",
        partial(_semantics, timed=True),
        needs_duration=True,
        needs_semantics=True,
    ),
    MetricSpec("KTD", "KTD", "lower", "KTD", _plain(kernel_distance.score)),
    MetricSpec("sed-5", "SED 5×5", "lower", "sed-5", _plain(edit.score_grid, cells=5), on_samples=True),
    MetricSpec("sed-10", "SED 10×10", "lower", "sed-10", _plain(edit.score_grid, cells=10), on_samples=True),
    MetricSpec("TDE_sum", "TDE sum", "lower", "TDE_sum", _plain(embedding.score, frobenius=False), symmetric=False),
    MetricSpec("TDE_scaled", "TDE scaled", "lower", "TDE_scaled", _scaled, symmetric=False),
    MetricSpec("TDE_scaled_similarity", "TDE sim.", "higher", "TDE_scaled", _scaled, column=1, symmetric=False),
    MetricSpec("MM4", "MM4", "higher", "MM", _multimatch, 6, symmetric=False, components=_DIMENSIONS[:4]),
    *(
        MetricSpec(
            name,
            name.replace("_", " "),
            "higher",
            "MM",
            _multimatch,
            column,
            needs_duration=name == "MM_duration",
            symmetric=False,
        )
        for column, name in enumerate(_DIMENSIONS)
    ),
]

METRICS: dict[str, MetricSpec] = {spec.name: spec for spec in _ALL}
MAIN_METRICS = ("LD", "DFD", "DTW", "TDE", "MM", "SM", "SM_dur", "SS", "SS_dur", "SSS", "SSS_dur")
PROPER_METRICS = ("KTD",)
"""Metrics under which CRPS is proper by construction; reported beside the main ones."""


def specs(names: Iterable[str]) -> list[MetricSpec]:
    """Look up metrics by name.

    Parameters
    ----------
    names : iterable of str
        Keys of `METRICS`.

    Returns
    -------
    list of MetricSpec
        In the order given, each once.

    Raises
    ------
    InputError
        For an unknown name, with the nearest one as a hint, or for none at all.

    Examples
    --------
    >>> [spec.title for spec in specs(["DTW", "SM_dur", "DTW"])]
    ['DTW', 'SM†']
    """
    chosen: dict[str, MetricSpec] = {}
    for name in names:
        if name not in METRICS:
            near = difflib.get_close_matches(name.replace("†", "_dur"), METRICS, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise InputError(f"there is no metric {name!r}: {hint}there are {', '.join(METRICS)}")
        chosen[name] = METRICS[name]
    if not chosen:
        raise InputError(f"no metric was chosen; there are {', '.join(METRICS)}")
    return list(chosen.values())


def with_components(chosen: Iterable[MetricSpec]) -> list[MetricSpec]:
    """Add the metrics that the KLDs of the chosen ones are made of.

    Parameters
    ----------
    chosen : iterable of MetricSpec
        Metrics.

    Returns
    -------
    list of MetricSpec
        The same with their components, each once.

    Examples
    --------
    >>> [spec.name for spec in with_components(specs(["MM4"]))]
    ['MM4', 'MM_vector', 'MM_direction', 'MM_length', 'MM_position']
    """
    every: dict[str, MetricSpec] = {}
    for spec in chosen:
        every[spec.name] = spec
        every.update({name: METRICS[name] for name in spec.components})
    return list(every.values())


def scores(
    chosen: Iterable[MetricSpec], a: PackedScanpaths, b: PackedScanpaths, pairs: Pairs, context: Context
) -> dict[str, Floats]:
    """Compute metrics for pairs of scanpaths; each group of metrics is computed once.

    Parameters
    ----------
    chosen : iterable of MetricSpec
        Which metrics.
    a, b : PackedScanpaths
        Human and generated scanpaths.
    pairs : Pairs
        Which scanpath of `a` is compared with which of `b`.
    context : Context
        Clusters and semantic maps of the stimuli.

    Returns
    -------
    dict of str to ndarray, (pairs,)
        Metric → values, NaN where undefined.
    """
    timed = a.timed()[pairs.a] & b.timed()[pairs.b]
    groups: dict[str, Floats] = {}
    values = {}
    for spec in chosen:
        if spec.group not in groups:
            groups[spec.group] = spec.score(a, b, pairs, context)
        column = groups[spec.group][:, spec.column]
        values[spec.name] = np.where(timed, column, np.nan) if spec.needs_duration else np.ascontiguousarray(column)
    return values
