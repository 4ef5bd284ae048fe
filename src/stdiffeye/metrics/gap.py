"""How much of the way from a stranger's gaze to a viewer's a model goes; made to be called again and again.

>>> judge = Referee(validation_trials)                         # doctest: +SKIP
>>> judge.gap_closed(samples)["mean"]                          # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial
from stdiffeye.metrics.evaluation import Settings, assemble, available, context_of
from stdiffeye.metrics.references import REFERENCES, Humans
from stdiffeye.metrics.result import Result
from stdiffeye.metrics.stimuli import Reading, check_size, grouped, matched, to_paths

GAP_METRICS = ("LD", "DFD", "DTW", "TDE", "MM", "SM", "SM_dur")


class Referee:
    """Humans prepared once, to judge many versions of a model on the same stimuli.

    Parameters
    ----------
    human : trials of people.
    metrics : by default the seven that need neither clusters nor maps; those needing durations drop out without them.
    """

    def __init__(self, human: Iterable[Trial], metrics: Sequence[str] = GAP_METRICS, seed: int = 0) -> None:
        self.notes: list[str] = []
        self._groups = grouped(human, "the human trials")
        self._keys = sorted(self._groups)
        self._reading = Reading()
        self._settings = Settings(metrics=tuple(metrics), protocols=("crps",), draws=0, seed=seed)
        paths = to_paths(self._groups, self._keys, self._reading, "the human trials")
        chosen = available(self._settings.specs(semantics=False), paths, "the humans", self.notes)
        context = context_of(chosen, paths, self._keys, None, None, self.notes)
        self._humans = Humans(paths, len(self._keys), context, chosen, ("crps",), seed=seed)

    def judge(self, generated: Iterable[Trial]) -> Result:
        """CRPS of the model and of the reference rows; every human stimulus must have been generated."""
        groups = grouped(generated, "the generated trials")
        keys, notes = matched(self._groups, {"model": groups})
        if keys != self._keys:
            raise InputError(
                f"the model has gaze for {len(keys)} of {len(self._keys)} stimuli; "
                "the rows it is held against are on all of them: prepare a Referee with the same stimuli"
            )
        ensemble = to_paths(groups, keys, self._reading, "the generated trials")
        check_size(self._humans.paths, ensemble, len(keys), "model")
        notes = [*self.notes, *notes]
        row = self._humans.row([ensemble], available(self._humans.chosen, ensemble, "model", notes))
        return assemble(self._settings, self._humans, keys, {"model": row}, REFERENCES, False, notes)

    def crps(self, generated: Iterable[Trial]) -> dict[str, float]:
        """Metric → CRPS of the model."""
        return {name: one.value for name, one in self.judge(generated)["model"]["crps"].items()}

    def gap_closed(self, generated: Iterable[Trial]) -> dict[str, float]:
        """Metric → gap closed, and their "mean"."""
        return {name: one.value for name, one in self.judge(generated).gap_closed["model"]["crps"].items()}


def gap_closed(
    human: Iterable[Trial] | Referee, generated: Iterable[Trial], metrics: Sequence[str] = GAP_METRICS
) -> dict[str, float]:
    """Metric → (shuffled − model) / (shuffled − human) of CRPS, and "mean"; give a `Referee` to prepare humans once."""
    referee = human if isinstance(human, Referee) else Referee(human, metrics)
    return referee.gap_closed(generated)
