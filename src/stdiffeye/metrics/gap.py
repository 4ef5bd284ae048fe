"""Gap closed: how much of the difference between shuffled and real viewers a model makes up for.

gap closed = (shuffled − model) / (shuffled − human), by CRPS. The row `human` is how well the other viewers of a
picture predict one viewer; the row `shuffled` is how well viewers of other pictures do. 0 means that a model uses
nothing of the picture, 1 that it is as good as another viewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial
from stdiffeye.metrics.assembly import assemble
from stdiffeye.metrics.clusters import cluster
from stdiffeye.metrics.evaluation import available
from stdiffeye.metrics.references import REFERENCES, Humans, ReferenceEnsembles, Row
from stdiffeye.metrics.result import Result
from stdiffeye.metrics.scored_stimuli import EvaluationPlan, ScoredStimuli
from stdiffeye.metrics.settings import EvaluationSettings
from stdiffeye.metrics.spec import Context
from stdiffeye.metrics.stimuli import Reading, check_size, matched, packed_trials, to_paths

GAP_METRICS = ("LD", "DFD", "DTW", "TDE", "MM", "SM", "SM_dur")


class Evaluator:
    """Humans prepared once, to judge many versions of a model on the same stimuli.

    Parameters
    ----------
    human : iterable of Trial
        Recorded gaze of at least two stimuli, with at least two viewers each.
    metrics : sequence of str
        By default the seven that need neither clusters nor semantic maps. Those that need durations are left out
        where no trial has any.
    seed : int
        Of the shuffled humans.

    Attributes
    ----------
    notes : list of str
        What was left out and why.

    Examples
    --------
    >>> import numpy as np
    >>> from stdiffeye import Frame, Scanpath, Trial
    >>> rng = np.random.default_rng(0)
    >>> def viewer(name, subject):
    ...     centre = (100, 100) if name == "a.jpg" else (400, 300)
    ...     return Trial(name, subject, Scanpath(rng.normal(centre, 20, (4, 2)), Frame(512, 384)))
    >>> human, samples = ([viewer(name, str(k)) for name in ("a.jpg", "b.jpg") for k in range(6)] for _ in range(2))
    >>> evaluator = Evaluator(human, metrics=["DTW"])
    >>> 0.8 < evaluator.gap_closed(samples)["DTW"] < 1.2
    True
    """

    def __init__(self, human: Iterable[Trial], metrics: Sequence[str] = GAP_METRICS, seed: int = 0) -> None:
        self.notes: list[str] = []
        self._settings = EvaluationSettings(metrics=tuple(metrics), protocols=("crps",), replicates=0, seed=seed)
        self._human = packed_trials(human, Reading(), "the human trials")
        self._keys = sorted(self._human.numbers)
        self._paths = to_paths(self._human, self._keys)
        self._chosen = available(self._settings.specs(semantics=False), self._paths, "the humans", self.notes)

    def evaluate(self, generated: Iterable[Trial]) -> Result:
        """Compute CRPS of a model and of the reference rows.

        Parameters
        ----------
        generated : iterable of Trial
            Samples for every stimulus of the humans.

        Returns
        -------
        Result
            Rows "model", "human", "shuffled" and "centre", without intervals.

        Raises
        ------
        InputError
            When a stimulus of the humans has no sample.
        """
        side = packed_trials(generated, Reading(), "the generated trials", self._human.numbers)
        keys, notes = matched(self._human, {"model": side})
        if keys != self._keys:
            raise InputError(
                f"the model has gaze for {len(keys)} of {len(self._keys)} stimuli; "
                "the reference rows are on all of them: make an Evaluator of the same stimuli"
            )
        ensemble = to_paths(side, keys)
        check_size(self._paths, ensemble, len(keys), "model")
        notes = [*self.notes, *notes]
        chosen = available(self._chosen, ensemble, "model", notes)
        rows = {"model": self._humans.row([ensemble], chosen), **self._references}
        names = {name: tuple(row.undefined) for name, row in rows.items()}
        metrics = tuple(spec.name for spec in self._chosen)
        viewers = len(self._paths) / len(keys)
        plan = EvaluationPlan(self._settings, metrics, names, REFERENCES, keys, viewers, notes=notes)
        return assemble(plan, [ScoredStimuli(range(len(keys)), self._humans.pairs, rows, [])])

    @cached_property
    def _humans(self) -> Humans:
        paths, stimuli = self._paths, len(self._keys)
        context = Context(cluster(paths, stimuli) if any(spec.needs_clusters for spec in self._chosen) else ())
        return Humans(paths, stimuli, context, self._chosen, ("crps",), self._settings.estimator)

    @cached_property
    def _references(self) -> dict[str, Row]:
        """The reference rows, which depend on the humans only."""
        everything = range(len(self._keys))
        others = ReferenceEnsembles(self._paths, len(everything), self._settings.seed)
        moved = {name: self._humans.row(others.of(name, everything)) for name in ("shuffled", "centre")}
        return {"human": self._humans.human_row(), **moved}

    def crps(self, generated: Iterable[Trial]) -> dict[str, float]:
        """Return the CRPS of a model.

        Parameters
        ----------
        generated : iterable of Trial
            As in `evaluate`.

        Returns
        -------
        dict of str to float
            Metric → CRPS.
        """
        return {name: one.value for name, one in self.evaluate(generated)["model"]["crps"].items()}

    def gap_closed(self, generated: Iterable[Trial]) -> dict[str, float]:
        """Return the gap that a model closes.

        Parameters
        ----------
        generated : iterable of Trial
            As in `evaluate`.

        Returns
        -------
        dict of str to float
            Metric → gap closed, and their "mean".
        """
        return {name: one.value for name, one in self.evaluate(generated).gap_closed["model"]["crps"].items()}


def gap_closed(
    human: Iterable[Trial] | Evaluator, generated: Iterable[Trial], metrics: Sequence[str] = GAP_METRICS
) -> dict[str, float]:
    """Compute (shuffled − model) / (shuffled − human) of CRPS for each metric.

    Parameters
    ----------
    human : iterable of Trial, or Evaluator
        Recorded gaze; an `Evaluator` prepares it once for many calls.
    generated : iterable of Trial
        Samples for every stimulus of the humans.
    metrics : sequence of str
        Names in `METRICS`; an `Evaluator` has its own.

    Returns
    -------
    dict of str to float
        Metric → gap closed, and "mean" over the metrics. 0 uses nothing of the picture, 1 equals another viewer.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath, Trial
    >>> corner = {"a.jpg": (100, 100), "b.jpg": (400, 300)}
    >>> def trials(offset_px):
    ...     paths = {name: Scanpath([(x + offset_px, y)], Frame(512, 384)) for name, (x, y) in corner.items()}
    ...     return [Trial(name, subject, path) for name, path in paths.items() for subject in "123"]
    >>> gap_closed(trials(0), trials(0), metrics=["DTW"])
    {'DTW': 1.0, 'mean': 1.0}
    """
    evaluator = human if isinstance(human, Evaluator) else Evaluator(human, metrics)
    return evaluator.gap_closed(generated)
