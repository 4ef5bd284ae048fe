"""What the viewers of one group did with the areas of one picture: measures, sequences, transitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stdiffeye.arrays import Floats, Ints
from stdiffeye.gaze import Scanpath, Trial
from stdiffeye.gaze.area_visits import MEASURES, area_visits, onsets_ms
from stdiffeye.gaze.areas import ELSEWHERE, Areas


@dataclass(frozen=True, eq=False)
class Stay:
    """One fixation of a viewer as a scarf plot shows it."""

    area: int
    """Number of the area; −1 elsewhere."""
    start_ms: float
    end_ms: float


@dataclass(frozen=True, eq=False)
class AreaGroup:
    """One group of viewers, say humans or a model, on one picture.

    Attributes
    ----------
    group : str
        Name of the group.
    name, task : str
        The stimulus.
    areas : Areas
        Its areas of interest.
    subjects : tuple of str
        The viewers.
    values : dict of str to ndarray, (V, A)
        Measure → value of each viewer and area; NaN where it is not defined.
    labels : tuple of ndarray, (M,)
        The area of each fixation of each viewer; −1 elsewhere.
    stays : tuple of tuple of Stay
        The same with times, where the data have durations; empty otherwise.
    onsets_known : bool
        Whether times are those of the data; else they are sums of durations, which leave out saccades.
    """

    group: str
    name: str
    task: str
    areas: Areas
    subjects: tuple[str, ...]
    values: dict[str, Floats]
    labels: tuple[Ints, ...]
    stays: tuple[tuple[Stay, ...], ...]
    onsets_known: bool

    @classmethod
    def of(cls, group: str, trials: Sequence[Trial], areas: Areas) -> AreaGroup:
        """Measure the trials of one stimulus, each with a scanpath."""
        paths = [trial.scanpath for trial in trials if trial.scanpath is not None]
        found = [area_visits(path, areas) for path in paths]
        labels = tuple(areas.labels(path) for path in paths)
        return cls(
            group,
            trials[0].name,
            trials[0].task,
            areas,
            tuple(trial.subject for trial in trials),
            {measure: np.stack([one[measure] for one in found]) for measure in MEASURES},
            labels,
            tuple(_stays(path, label) for path, label in zip(paths, labels, strict=True)),
            all(path.onset_ms is not None for path in paths),
        )

    @property
    def end_ms(self) -> float:
        """When the gaze ends, median over viewers; NaN without durations."""
        ends = [stays[-1].end_ms for stays in self.stays if stays]
        return float(np.median(ends)) if ends else float("nan")

    @property
    def nodes(self) -> tuple[str, ...]:
        """Rows and columns of the transition matrix: the areas, and elsewhere."""
        return (*self.areas.names, ELSEWHERE)

    @property
    def transition_counts(self) -> Ints:
        """(A + 1, A + 1) how often a fixation in the row's area was followed by one in the column's."""
        size = len(self.nodes)
        counts = np.zeros((size, size), dtype=np.int64)
        for label in self.labels:
            np.add.at(counts, (label[:-1] % size, label[1:] % size), 1)  # −1 is the last row: elsewhere
        return counts

    @property
    def transition_shares(self) -> Floats:
        """(A + 1, A + 1) the counts over their row's sum: where gaze goes next; NaN for rows without a fixation."""
        counts = self.transition_counts.astype(np.float64)
        with np.errstate(invalid="ignore"):
            return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _stays(path: Scanpath, labels: Ints) -> tuple[Stay, ...]:
    if path.duration_ms is None:
        return ()
    onset = onsets_ms(path)
    ends = onset + path.duration_ms
    return tuple(Stay(*one) for one in zip(labels.tolist(), onset.tolist(), ends.tolist(), strict=True))
