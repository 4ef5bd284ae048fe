"""Scoring some stimuli at a time, so that memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.metrics.bootstrap import STIMULI_PER_BLOCK
from stdiffeye.metrics.clusters import cluster, read_clusters
from stdiffeye.metrics.paths import PackedScanpaths
from stdiffeye.metrics.references import Humans, ReferenceEnsembles
from stdiffeye.metrics.scored_stimuli import EvaluationPlan, ScoredStimuli
from stdiffeye.metrics.semantics import find_maps, read_map
from stdiffeye.metrics.spec import Context, specs

PAIRS_AT_ONCE = 1 << 13  # about so many comparisons of a system's samples with viewers are held, of every metric


@dataclass(frozen=True, eq=False)
class StimulusFiles:
    """What metrics need to know about the stimuli, read when it is needed.

    Attributes
    ----------
    centres_px : list of ndarray, (C, 2), or None
        Cluster centres of each stimulus; None computes them from the humans.
    maps : list of Path or None
        Semantic map of each stimulus; empty without.
    """

    centres_px: list[Floats] | None = None
    maps: Sequence[Path | None] = ()

    @classmethod
    def of(cls, plan: EvaluationPlan, clusters: str | Path | None, semantics: str | Path | None) -> StimulusFiles:
        """Find what the metrics of a plan need; adds a note to the plan where semantic maps are missing.

        Parameters
        ----------
        plan : EvaluationPlan
            What is evaluated.
        clusters, semantics : path or None
            File of cluster centres, folder of semantic maps.

        Returns
        -------
        StimulusFiles
            What was found.
        """
        chosen = specs(plan.metrics)
        centres, maps = None, list[Path | None]()
        if clusters is not None and any(spec.needs_clusters for spec in chosen):
            centres = read_clusters(clusters, plan.keys)
        if semantics is not None and any(spec.needs_semantics for spec in chosen):
            maps, missing = find_maps(semantics, plan.keys)
            if missing:
                plan.notes.append(f"{missing} of {len(plan.keys)} stimuli have no semantic map; SSS is undefined there")
        return cls(centres, maps)

    def context(self, paths: PackedScanpaths, span: range, needs_clusters: bool) -> Context:
        """Clusters and maps of a span of stimuli, whose human scanpaths are `paths`.

        Parameters
        ----------
        paths : PackedScanpaths
            Human scanpaths of the span, to compute clusters from.
        span : range
            Numbers of the stimuli.
        needs_clusters : bool
            Whether a metric needs clusters.

        Returns
        -------
        Context
            By number of the stimulus, from 0.
        """
        centres: Sequence[Floats] = ()
        if needs_clusters:
            given = self.centres_px
            centres = cluster(paths, len(span)) if given is None else given[span.start : span.stop]
        found = self.maps[span.start : span.stop]
        read = {path: read_map(path) for path in set(found) if path is not None}
        return Context(centres, [None if path is None else read[path] for path in found])


@dataclass(eq=False)
class StimulusScoring:
    """Both sides of an evaluation, of which any span of stimuli can be scored.

    Parameters
    ----------
    plan : EvaluationPlan
        What is evaluated.
    human : PackedScanpaths
        Human scanpaths, sorted by stimulus.
    systems : dict of str to PackedScanpaths
        Scanpaths of each system, sorted by stimulus.
    files : StimulusFiles
        Clusters and semantic maps.
    """

    plan: EvaluationPlan
    human: PackedScanpaths
    systems: Mapping[str, PackedScanpaths]
    files: StimulusFiles

    def spans(self, among: range) -> Iterator[range]:
        """Cut a span of stimuli into such that are scored at a time; none crosses a block of the bootstrap.

        Parameters
        ----------
        among : range
            Numbers of the stimuli.

        Yields
        ------
        range
            Stimuli to score at a time.
        """
        stimuli = len(self.plan.keys)
        viewers = np.bincount(self.human.stimulus, minlength=stimuli)
        others = [np.bincount(one.stimulus, minlength=stimuli) for one in self.systems.values()]
        most = np.max([viewers, *others], axis=0)
        start, held = among.start, 0
        for stimulus in among:
            held += int(most[stimulus] ** 2)
            if held >= PAIRS_AT_ONCE or stimulus + 1 == among.stop or (stimulus + 1) % STIMULI_PER_BLOCK == 0:
                yield range(start, stimulus + 1)
                start, held = stimulus + 1, 0

    def score(self, span: range) -> ScoredStimuli:
        """Score all rows on a span of stimuli.

        Parameters
        ----------
        span : range
            Numbers of the stimuli.

        Returns
        -------
        ScoredStimuli
            Of all rows.
        """
        plan, chosen = self.plan, specs(self.plan.metrics)
        paths = self.human.span(span)
        context = self.files.context(paths, span, any(spec.needs_clusters for spec in chosen))
        humans = Humans(paths, len(span), context, chosen, plan.settings.protocols, plan.settings.estimator)
        rows = {name: humans.row([one.span(span)], specs(plan.rows[name])) for name, one in self.systems.items()}
        for name in plan.references:
            rows[name] = humans.human_row() if name == "human" else humans.row(self.references.of(name, span))
        return ScoredStimuli(span, humans.pairs, rows, list(context.centres_px))

    @cached_property
    def references(self) -> ReferenceEnsembles:
        """Scanpaths of the reference rows."""
        settings = self.plan.settings
        return ReferenceEnsembles(self.human, len(self.plan.keys), settings.seed, settings.shuffles)
