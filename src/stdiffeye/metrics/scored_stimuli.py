"""Scores of some stimuli, and the plan that they belong to: what an evaluation holds at a time, or a shard writes.

An evaluation is scored some stimuli at a time. What is left of them is a value per stimulus, protocol and metric, and
for KLD the scores of pairs, since its bins follow from the extremes of all. `ScoreFolders` keep that on disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.files import atomic_write
from stdiffeye.metrics.divergence import PairScores
from stdiffeye.metrics.protocols import Series
from stdiffeye.metrics.references import Row
from stdiffeye.metrics.result import Key
from stdiffeye.metrics.settings import EvaluationSettings
from stdiffeye.metrics.spec import METRICS

SUFFIX = ".npz"


@dataclass(frozen=True)
class EvaluationPlan:
    """What is evaluated: settings, rows and their metrics, stimuli."""

    settings: EvaluationSettings
    """How is evaluated."""
    metrics: tuple[str, ...]
    """Of the humans."""
    rows: dict[str, tuple[str, ...]]
    """Systems and reference rows, and the metrics of each."""
    references: tuple[str, ...]
    """Which rows are reference rows."""
    keys: list[Key]
    """(name, task) of the stimuli."""
    viewers: float
    """Human scanpaths per stimulus, on average."""
    compare: bool = False
    """Whether systems are tested against each other."""
    notes: list[str] = field(default_factory=list)
    """What was left out and why."""

    @property
    def protocols(self) -> list[str]:
        """The protocols with a value per stimulus."""
        return [protocol for protocol in self.settings.protocols if protocol != "kld"]

    def counted(self, metrics: Sequence[str]) -> list[str]:
        """The metrics whose scores KLD counts: the components of these.

        Parameters
        ----------
        metrics : sequence of str
            Metrics of a row.

        Returns
        -------
        list of str
            Their components; none without the protocol `kld`.
        """
        if "kld" not in self.settings.protocols:
            return []
        return list(dict.fromkeys(one for name in metrics for one in METRICS[name].components or (name,)))

    def to_json(self) -> dict[str, Any]:
        """Plain values.

        Returns
        -------
        dict
            Plain values.
        """
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> EvaluationPlan:
        """What `to_json` gave, also after it was written and read.

        Parameters
        ----------
        content : dict
            Plain values.

        Returns
        -------
        EvaluationPlan
            The same plan.
        """
        settings: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in content["settings"].items()
        }
        return cls(
            EvaluationSettings(**settings),
            tuple(content["metrics"]),
            {name: tuple(metrics) for name, metrics in content["rows"].items()},
            tuple(content["references"]),
            [(name, task) for name, task in content["keys"]],
            content["viewers"],
            content["compare"],
            list(content["notes"]),
        )


@dataclass(frozen=True, eq=False)
class ScoredStimuli:
    """Scores of successive stimuli.

    Attributes
    ----------
    span : range
        Numbers of the stimuli.
    human : PairScores
        Human–human scores for KLD.
    rows : dict of str to Row
        Systems and reference rows.
    centres_px : list of ndarray, (C, 2)
        Cluster centres that SS used; empty without it.
    """

    span: range
    human: PairScores
    rows: dict[str, Row]
    centres_px: list[Floats]

    def save(self, folder: Path, plan: EvaluationPlan) -> None:
        """Write one file, named by the first stimulus.

        Parameters
        ----------
        folder : Path
            Where to write.
        plan : EvaluationPlan
            What the scores belong to.
        """
        arrays: dict[str, Any] = {"span": [self.span.start, self.span.stop]}
        arrays |= _pair_arrays("human", self.human, plan.counted(plan.metrics))
        for number, (name, metrics) in enumerate(plan.rows.items()):
            row = self.rows[name]
            values = [[row.series[protocol][metric] for metric in metrics] for protocol in plan.protocols]
            arrays[f"{number}.series"] = [[(one.value, one.weight) for one in some] for some in values]
            arrays[f"{number}.undefined"] = [row.undefined[metric] for metric in metrics]
            arrays[f"{number}.ensembles"] = row.ensembles
            arrays |= _pair_arrays(f"{number}", row.pairs, plan.counted(metrics))
        arrays["centre_counts"] = [len(one) for one in self.centres_px]
        arrays["centres_px"] = np.concatenate([np.empty((0, 2)), *self.centres_px])
        with atomic_write(folder / f"{self.span.start:010d}{SUFFIX}") as temporary:
            np.savez(temporary, allow_pickle=False, **{name: np.asarray(value) for name, value in arrays.items()})

    @classmethod
    def load(cls, path: Path, plan: EvaluationPlan) -> ScoredStimuli:
        """Read what `save` wrote.

        Parameters
        ----------
        path : Path
            The file.
        plan : EvaluationPlan
            What the scores belong to.

        Returns
        -------
        ScoredStimuli
            The same scores.
        """
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        rows = {}
        for number, (name, metrics) in enumerate(plan.rows.items()):
            series = {
                protocol: {metric: Series(*both) for metric, both in zip(metrics, some, strict=True)}
                for protocol, some in zip(plan.protocols, arrays[f"{number}.series"], strict=True)
            }
            undefined = dict(zip(metrics, arrays[f"{number}.undefined"].tolist(), strict=True))
            pairs = _pairs_from(f"{number}", arrays, plan.counted(metrics))
            rows[name] = Row(series, pairs, undefined, int(arrays[f"{number}.ensembles"]))
        centres = np.split(arrays["centres_px"], np.cumsum(arrays["centre_counts"])[:-1].astype(int))
        human = _pairs_from("human", arrays, plan.counted(plan.metrics))
        return cls(range(*arrays["span"].tolist()), human, rows, centres if len(arrays["centre_counts"]) else [])


@dataclass(frozen=True)
class ScoreFolders:
    """Scores on disk, some stimuli in each file; looking through them reads one file at a time."""

    folders: Sequence[Path]
    """In the order of their stimuli."""
    plan: EvaluationPlan
    """What the scores belong to."""

    def __iter__(self) -> Iterator[ScoredStimuli]:
        for folder in self.folders:
            for path in sorted(folder.glob(f"*{SUFFIX}")):
                yield ScoredStimuli.load(path, self.plan)


def _pair_arrays(name: str, pairs: PairScores, metrics: list[str]) -> dict[str, Any]:
    return {f"{name}.stimulus": pairs.stimulus, f"{name}.scores": [pairs.values[metric] for metric in metrics]}


def _pairs_from(name: str, arrays: Mapping[str, Any], metrics: list[str]) -> PairScores:
    return PairScores(arrays[f"{name}.stimulus"], dict(zip(metrics, arrays[f"{name}.scores"], strict=True)))
