"""The table of metrics: what each is called, which way is better, what it needs. Everything else reads it here."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.metrics import edit, embedding, multimatch, scanmatch, sequence, warping
from stdiffeye.metrics.pairs import Floats, Pairs
from stdiffeye.metrics.paths import Paths

Direction = Literal["lower", "higher"]


@dataclass(frozen=True)
class Context:
    """What belongs to the stimuli: clusters of human fixations and semantic maps, by number of the stimulus."""

    centres_px: Sequence[Floats] = ()
    maps: Sequence[NDArray[np.integer[Any]] | None] = ()


Score = Callable[[Paths, Paths, Pairs, Context], Floats]


@dataclass(frozen=True)
class MetricSpec:
    """One metric.

    Parameters
    ----------
    name : its key in results; `title` is how tables print it.
    direction : which values are better.
    group, column : metrics of one group are computed together, each a column of what `score` returns.
    parts : the metrics whose KLDs are averaged to make this one's (MultiMatch's dimensions).
    symmetric : whether d(a, b) = d(b, a), so that half of the pairs within an ensemble suffice.
    on_samples : whether it makes sense on raw samples.
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
    parts: tuple[str, ...] = ()

    @property
    def arrow(self) -> str:
        return "↓" if self.direction == "lower" else "↑"


def _plain(function: Callable[..., Floats], **options: object) -> Score:
    return lambda a, b, pairs, context: function(a, b, pairs, **options)


def _clusters(a: Paths, b: Paths, pairs: Pairs, context: Context, timed: bool) -> Floats:
    return sequence.score_clusters(a, b, pairs, context.centres_px, timed)


def _semantics(a: Paths, b: Paths, pairs: Pairs, context: Context, timed: bool) -> Floats:
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
    MetricSpec("MM", "MM", "higher", "MM", _multimatch, 5, needs_duration=True, symmetric=False, parts=_DIMENSIONS),
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
    MetricSpec("sed-5", "SED 5×5", "lower", "sed-5", _plain(edit.score_grid, cells=5), on_samples=True),
    MetricSpec("sed-10", "SED 10×10", "lower", "sed-10", _plain(edit.score_grid, cells=10), on_samples=True),
    MetricSpec("TDE_sum", "TDE sum", "lower", "TDE_sum", _plain(embedding.score, frobenius=False), symmetric=False),
    MetricSpec("TDE_scaled", "TDE scaled", "lower", "TDE_scaled", _scaled, symmetric=False),
    MetricSpec("TDE_scaled_similarity", "TDE sim.", "higher", "TDE_scaled", _scaled, column=1, symmetric=False),
    MetricSpec("MM4", "MM4", "higher", "MM", _multimatch, 6, symmetric=False, parts=_DIMENSIONS[:4]),
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


def specs(names: Iterable[str]) -> list[MetricSpec]:
    """The metrics of these names, in this order, each once."""
    chosen: dict[str, MetricSpec] = {}
    for name in names:
        if name not in METRICS:
            near = difflib.get_close_matches(name.replace("†", "_dur"), METRICS, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise InputError(f"there is no metric {name!r}: {hint}known are {', '.join(METRICS)}")
        chosen[name] = METRICS[name]
    if not chosen:
        raise InputError(f"no metric was chosen; known are {', '.join(METRICS)}")
    return list(chosen.values())


def with_parts(chosen: Iterable[MetricSpec]) -> list[MetricSpec]:
    """The metrics and those that their KLDs are made of."""
    every: dict[str, MetricSpec] = {}
    for spec in chosen:
        every[spec.name] = spec
        every.update({part: METRICS[part] for part in spec.parts})
    return list(every.values())


def scores(chosen: Iterable[MetricSpec], a: Paths, b: Paths, pairs: Pairs, context: Context) -> dict[str, Floats]:
    """Metric → (pairs,) values; NaN where undefined. Each group of metrics is computed once."""
    timed = a.timed()[pairs.a] & b.timed()[pairs.b]
    groups: dict[str, Floats] = {}
    values = {}
    for spec in chosen:
        if spec.group not in groups:
            groups[spec.group] = spec.score(a, b, pairs, context)
        column = groups[spec.group][:, spec.column]
        values[spec.name] = np.where(timed, column, np.nan) if spec.needs_duration else np.ascontiguousarray(column)
    return values
