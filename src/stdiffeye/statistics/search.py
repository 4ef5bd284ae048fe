"""Visual search: how soon is the target fixated?

Conventions
-----------
* A fixation is on the target when it lies strictly inside the target's box, as in Yang et al. (CVPR 2020) and
  Yang et al. (HAT, CVPR 2024). Trials without a target box, and target-absent ones, do not count.
* The fixation during which the picture appears has number 0 (`initial` such fixations, 1 by default; it is central by
  the experiment's design). The viewer's own choices are 1, 2, …

Quantities
----------
* `probability` target fixation probability TFP(n): share of trials whose target was fixated by fixation n, n = 0 … N
  (N = 6). Cumulative; a scanpath that ends without finding the target counts as not found.
* `area` TFP-AUC: the sum of TFP(1) … TFP(N), in [0, N].
* `mismatch` sum over n = 1 … N of abs(TFP(n) − human TFP(n)).
* `scanpath_ratio` distance from the first fixation to the target's centre / length of the path up to the first
  fixation on the target, at most 1; mean over trials that found it within N and did not start on it.
* `fixations_to_target` mean number n of the first fixation on the target, over trials that found it within N.
* `time_to_target_ms` mean time from the first fixation's onset to the first one on the target, same trials; from
  onsets where the data have them, else from the sum of durations, which leaves out the saccades.

`average="task"` takes the mean within each target category first, then over categories, as the references do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trial

MAX_FIXATIONS = 6
AVERAGES = ("task", "trial")


@dataclass(frozen=True)
class Search:
    """Search efficiency of one side; definitions at the head of this module.

    Attributes
    ----------
    probability : ndarray, (N + 1,)
        Target fixation probability after 0 … N fixations.
    scanpath_ratio, fixations_to_target, time_to_target_ms : float
        Means over the trials that found the target within N fixations.
    trials : int
        Number of trials with a target.
    mismatch : float or None
        Distance of `probability` to the humans'; None for the humans.
    """

    probability: Floats
    scanpath_ratio: float
    fixations_to_target: float
    time_to_target_ms: float
    trials: int
    mismatch: float | None = None

    @property
    def area(self) -> float:
        """Sum of the target fixation probability after 1 … N fixations."""
        return float(self.probability[1:].sum())

    @property
    def found_share(self) -> float:
        """Share of trials that found the target within N fixations."""
        return float(self.probability[-1])

    def to_json(self) -> dict[str, Any]:
        """Return plain values; NaN as null."""
        values = {
            "tfp_auc": self.area,
            "probability_mismatch": self.mismatch,
            "found_share": self.found_share,
            "scanpath_ratio": self.scanpath_ratio,
            "fixations_to_target": self.fixations_to_target,
            "time_to_target_ms": self.time_to_target_ms,
        }
        plain = {name: None if value is None or math.isnan(value) else value for name, value in values.items()}
        return {"target_fixation_probability": self.probability.tolist(), "trials": self.trials, **plain}


def compare(
    human: Sequence[Trial],
    generated: Mapping[str, Sequence[Trial]],
    max_fixations: int = MAX_FIXATIONS,
    initial: int = 1,
    average: str = "task",
) -> dict[str, Search]:
    """Compute the search efficiency of humans and of each system.

    Parameters
    ----------
    human : sequence of Trial
        Recorded gaze with scanpaths and target boxes.
    generated : dict of str to sequence of Trial
        Gaze of each system. Trials without a target box take that of the human trials of the same (name, task).
    max_fixations : int
        N, the number of fixations that are counted.
    initial : int
        Fixations before the viewer's own choices.
    average : {"task", "trial"}
        Mean within each target category first, or over all trials.

    Returns
    -------
    dict of str to Search
        "human" and each system.

    Raises
    ------
    InputError
        When no trial of a side has a scanpath and a target box.
    """
    boxes = {trial.key: trial for trial in human if trial.target_box_px is not None}
    reference = efficiency(human, max_fixations, initial, average)
    found = {"human": reference}
    for name, trials in generated.items():
        boxed = [_with_box(trial, boxes) for trial in trials]
        one = efficiency(boxed, max_fixations, initial, average)
        gap = float(np.abs(one.probability - reference.probability)[1:].sum())
        found[name] = replace(one, mismatch=gap)
    return found


def efficiency(
    trials: Sequence[Trial], max_fixations: int = MAX_FIXATIONS, initial: int = 1, average: str = "task"
) -> Search:
    """Compute the search efficiency of one set of trials.

    Parameters
    ----------
    trials : sequence of Trial
        Those without a scanpath or a target box are not counted.
    max_fixations, initial, average
        As in `compare`.

    Returns
    -------
    Search
        Without a mismatch.

    Raises
    ------
    InputError
        For unknown settings, or when no trial has a scanpath and a target box.

    Examples
    --------
    >>> from stdiffeye import Frame
    >>> path = Scanpath([[200, 150], [300, 100], [350, 250]], Frame(400, 300))
    >>> found = efficiency([Trial("a.jpg", "1", path, task="cup", target_box_px=(320, 220, 60, 60))])
    >>> found.fixations_to_target, found.probability.tolist()
    (2.0, [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    """
    if average not in AVERAGES:
        raise InputError(f"average must be one of {', '.join(AVERAGES)}, got {average!r}")
    if max_fixations < 1 or initial < 0:
        raise InputError(f"need max_fixations ≥ 1 and initial ≥ 0, got {max_fixations} and {initial}")
    sought = [trial for trial in trials if trial.scanpath is not None and trial.target_box_px is not None]
    if not sought:
        raise InputError("none of the trials has a scanpath and a target box: visual search needs Trial.target_box_px")
    numbers = [first_on_target(trial, initial) for trial in sought]
    steps = np.arange(max_fixations + 1)
    curves = [steps >= (math.inf if number is None else number) for number in numbers]
    within = [number is not None and number <= max_fixations for number in numbers]
    hits = [(trial, number) for trial, number, good in zip(sought, numbers, within, strict=True) if good]

    def mean(values: Sequence[Any], of: Sequence[Trial]) -> Any:
        return _mean(values, [trial.task for trial in of], average)

    found = [trial for trial, _ in hits]
    return Search(
        probability=np.asarray(mean(curves, sought), dtype=np.float64),
        scanpath_ratio=float(mean([scanpath_ratio(trial) for trial in found], found)),
        fixations_to_target=float(mean([number for _, number in hits], found)),
        time_to_target_ms=float(mean([time_to_target_ms(trial) for trial in found], found)),
        trials=len(sought),
    )


def on_target(trial: Trial) -> NDArray[np.bool_]:
    """Return (M,) which fixations lie strictly inside the target's box."""
    scanpath, (left, top, width, height) = _sought(trial)
    x, y = scanpath.xy_px.T
    return (x > left) & (x < left + width) & (y > top) & (y < top + height)


def first_on_target(trial: Trial, initial: int = 1) -> int | None:
    """Return the number of the first fixation on the target, 0 for the initial one; None when there is none."""
    hits = np.flatnonzero(on_target(trial))
    return max(0, int(hits[0]) + 1 - initial) if len(hits) else None


def scanpath_ratio(trial: Trial) -> float:
    """Return direct distance to the target / length of the path to it, at most 1; NaN if it began there."""
    scanpath, (left, top, width, height) = _sought(trial)
    path = scanpath.xy_px[: int(on_target(trial).argmax()) + 1]
    taken = float(np.hypot(*np.diff(path, axis=0).T).sum())
    if taken == 0:
        return float("nan")
    straight = math.hypot(left + width / 2 - path[0, 0], top + height / 2 - path[0, 1])
    return min(straight / taken, 1.0)


def time_to_target_ms(trial: Trial) -> float:
    """Return the time from the first fixation's onset to the first one on the target; NaN where unknown."""
    scanpath, _ = _sought(trial)
    first = int(on_target(trial).argmax())
    if scanpath.onset_ms is not None:
        return float(scanpath.onset_ms[first] - scanpath.onset_ms[0])
    return float("nan") if scanpath.duration_ms is None else float(scanpath.duration_ms[:first].sum())


def _sought(trial: Trial) -> tuple[Scanpath, tuple[float, float, float, float]]:
    if trial.scanpath is None or trial.target_box_px is None:
        lacks = "scanpath" if trial.scanpath is None else "target box"
        raise InputError(f"trial {trial.name!r} of {trial.subject!r} has no {lacks}: visual search needs both")
    return trial.scanpath, trial.target_box_px


def _with_box(trial: Trial, boxes: Mapping[tuple[str, str], Trial]) -> Trial:
    if trial.target_box_px is not None or trial.key not in boxes:
        return trial
    return replace(trial, target_box_px=boxes[trial.key].rescaled(trial.frame).target_box_px)


def _mean(values: Sequence[Any], tasks: Sequence[str], average: str) -> Any:
    """Mean over trials, or of the means of tasks; NaN values are left out."""
    if not len(values):
        return float("nan")
    rows = np.asarray(values, dtype=np.float64)
    if average == "trial":
        return _nanmean(rows)
    names = np.asarray(tasks)
    return _nanmean(np.array([_nanmean(rows[names == task]) for task in np.unique(names)]))


def _nanmean(rows: Floats) -> Any:
    defined = rows[~np.isnan(rows).reshape(len(rows), -1).any(axis=1)]
    return defined.mean(axis=0) if len(defined) else np.full(rows.shape[1:], np.nan)[()]
