"""How good a model is on one set: everything that its card states, from the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from stdiffeye.benchmark.memorisation import FEWEST_TRIALS, NearestTrials, nearest_trials
from stdiffeye.data.batches import stimuli_of
from stdiffeye.data.store import Store
from stdiffeye.gaze import Scanpath, Trial, truncate
from stdiffeye.gaze.types import by_stimulus
from stdiffeye.generation.request import Request
from stdiffeye.generation.trained import Model
from stdiffeye.generation.wanted import Wanted, wanted_of
from stdiffeye.metrics import Result, evaluate, pairwise
from stdiffeye.metrics.gap import GAP_METRICS
from stdiffeye.metrics.result import Estimate
from stdiffeye.progress import track
from stdiffeye.statistics import kinematics
from stdiffeye.statistics import search as search_statistics
from stdiffeye.statistics.distances import ks

Interval = tuple[float, float, float]
Key = tuple[str, str]

MAX_FIXATIONS = 16  # of a scanpath that are compared; the public files end there
WITHIN = (1, 2, 6)  # fixations after the first one within which a target should be fixated
TEST_SPLITS = {"coco-search18-tp": "validation"}
"""Sets whose test split is not public: the split that stands for it."""
TRAINING_PICTURES = 60  # at most; as many as there are held-out ones where these are fewer
SHOWN = 10  # people and samples side by side
ROWS = ("model", "human", "shuffled")


@dataclass(frozen=True)
class ModelScores:
    """A model on one set: independent samples, fair CRPS. Intervals are value, low and high."""

    dataset: str
    split: str
    mode: str
    pictures: int
    viewers: float
    """People per picture, on average."""
    samples: int
    """Generated per picture."""
    scores: dict[str, dict[str, Interval]]
    """Row (model, human, shuffled) → metric → fair CRPS."""
    differences: dict[str, dict[str, Interval]]
    """Row (human, shuffled) → metric → model − row, paired over pictures."""
    gap: dict[str, Interval]
    """Metric → gap closed, and their mean."""
    training_gap: Interval
    """Mean gap closed on training pictures, as many as `memory_training` counts."""
    diversity: float
    """Mean pairwise DTW of the samples of a picture, over that of people."""
    fixation_count_ks: float
    duration_ks: float
    """KS distances to people; NaN where there are no durations."""
    memory_training: NearestTrials
    memory_held_out: NearestTrials
    kinematics: dict[str, float] = field(default_factory=dict)
    """KS distances to people, where there is raw gaze."""
    movement_rates: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Where there is raw gaze: shares of bent saccades, and of fixations in which gaze moves; people's, the model's."""
    search: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """Where there is a target: share of samples and of people that fixated it within `WITHIN` fixations."""

    def to_json(self) -> dict[str, Any]:
        """Plain values; NaN as null."""
        values: dict[str, Any] = _mapped(asdict(self), lambda x: None if isinstance(x, float) and np.isnan(x) else x)
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> ModelScores:
        """What `to_json` gave."""
        known = _mapped(values, lambda x: float("nan") if x is None else x)
        memory = {name: NearestTrials(**one) for name, one in known.items() if name.startswith("memory_")}
        return cls(**{**known, **memory})


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value with every number and word of it changed; sequences become tuples."""
    if isinstance(value, Mapping):
        return {key: _mapped(one, change) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_mapped(one, change) for one in value)
    return change(value)


@dataclass(frozen=True)
class Scored:
    """What scoring gives: the figures, and raw gaze to draw."""

    scores: ModelScores
    side_by_side: list[Trial] = field(default_factory=list)
    """Raw gaze: a person, a sample, a person, … on the same pictures; of each picture another viewer, none picked."""


def score_model(model: Model, store: Store, samples: int = 15, quiet: bool = False) -> Scored:
    """Generate for held-out and for training pictures and compare with people.

    Where there is raw gaze, both sides are trajectories, reduced to fixations by Judd's rule.
    """
    raw, split = bool(store.columns["has_trajectory"].any()), TEST_SPLITS.get(store.dataset, "test")
    mode = "extracted" if raw else "scanpath"
    wanted = wanted_of([store.path], Request(samples=samples), split)
    human, generated = _both(model, store, split, wanted, raw, quiet)
    fair = _fair(human, generated, mode)
    seen = _training_pictures(store, samples, len(wanted))
    seen_human, seen_generated = _both(model, store, "train", seen, raw, quiet)
    distances, rates = _movements(human, generated) if raw else ({}, {})
    scores = ModelScores(
        dataset=store.dataset,
        split=split,
        mode=mode,
        pictures=len(fair.stimuli),
        viewers=fair.viewers,
        samples=samples,
        scores={row: {name: _interval(one) for name, one in fair[row]["crps"].items()} for row in ROWS},
        differences={row: _differences(fair, row) for row in ROWS[1:]},
        gap={name: _interval(one) for name, one in fair.gap_closed["model"]["crps"].items()},
        training_gap=_interval(_fair(seen_human, seen_generated, mode).gap_closed["model"]["crps"]["mean"]),
        diversity=_diversity(human, generated),
        fixation_count_ks=ks(_counts(generated), _counts(human)),
        duration_ks=ks(_durations(generated), _durations(human)),
        memory_training=nearest_trials(_scanpaths_of(seen_generated), _scanpaths_of(seen_human)),
        memory_held_out=nearest_trials(_scanpaths_of(generated), _scanpaths_of(human)),
        kinematics=distances,
        movement_rates=rates,
        search=_found(human, generated) if any(trial.target_box_px for trial in human) else {},
    )
    return Scored(scores, _side_by_side(human, generated) if raw else [])


def _movements(
    human: Sequence[Trial], generated: Sequence[Trial]
) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """Distances of the kinematics, and rates of both sides."""
    theirs, ours = kinematics(human), kinematics(generated)
    rates = ours.rates()
    return ours.distance_to(theirs), {name: (rate, rates[name]) for name, rate in theirs.rates().items()}


def _fair(human: Sequence[Trial], generated: Sequence[Trial], mode: str) -> Result:
    return evaluate(human, {"model": generated}, metrics=GAP_METRICS, mode=mode, protocols=("crps",), estimator="fair")


def _both(
    model: Model, store: Store, split: str, wanted: Sequence[Wanted], raw: bool, quiet: bool
) -> tuple[list[Trial], list[Trial]]:
    """People and samples on the wanted pictures."""
    keys = {(one.name, one.request.task) for one in wanted}
    human = [trial for trial in store.trials(split) if trial.key in keys]
    title = f"{model.name} on {store.dataset} ({split})"
    return human, [trial for one in track(wanted, title, quiet=quiet) for trial in _samples_of(model, one, raw)]


def _samples_of(model: Model, one: Wanted, raw: bool) -> list[Trial]:
    """Gaze for a picture, in the frame of its file; trajectories end where the stores cut people's."""
    if not raw:
        paths = next(iter(model.scanpaths_of_many([one.picture], one.request)))
        return [Trial(one.name, str(k), path, None, one.request.task) for k, path in enumerate(paths)]
    cut = [truncate(gaze, gaze.scanpath) for gaze in next(iter(model.generate_many([one.picture], one.request)))]
    return [Trial(one.name, str(k), path, gaze, one.request.task) for k, (gaze, path) in enumerate(cut)]


def _training_pictures(store: Store, samples: int, held_out: int) -> list[Wanted]:
    """As many training pictures as held-out ones, up to a limit, evenly over the set."""
    stimuli = [stimulus for stimulus in stimuli_of(store, "train") if len(stimulus.trials) >= FEWEST_TRIALS]
    count = min(TRAINING_PICTURES, held_out, len(stimuli))
    chosen = {(stimuli[i].name, stimuli[i].task) for i in np.linspace(0, len(stimuli) - 1, count).round().astype(int)}
    everything = wanted_of([store.path], Request(samples=samples), "train")
    return [one for one in everything if (one.name, one.request.task) in chosen]


def _interval(one: Estimate) -> Interval:
    return one.value, one.low, one.high


def _differences(fair: Result, row: str) -> dict[str, Interval]:
    return {one.metric: (one.value, one.low, one.high) for one in fair.to_references if one.second == row}


def _scanpaths_of(trials: Sequence[Trial]) -> dict[Key, list[Scanpath]]:
    return {
        key: [trial.scanpath[:MAX_FIXATIONS] for trial in some if trial.scanpath is not None]
        for key, some in by_stimulus(trials).items()
    }


def _diversity(human: Sequence[Trial], generated: Sequence[Trial]) -> float:
    def diversity(trials: Sequence[Trial]) -> float:
        tables = [pairwise("DTW", paths) for paths in _scanpaths_of(trials).values() if len(paths) > 1]
        return float(np.mean([table[np.triu_indices(len(table), 1)].mean() for table in tables]))

    return diversity(generated) / diversity(human)


def _counts(trials: Sequence[Trial]) -> list[int]:
    return [min(len(trial.scanpath), MAX_FIXATIONS) for trial in trials if trial.scanpath is not None]


def _durations(trials: Sequence[Trial]) -> list[float]:
    paths = [trial.scanpath for trial in trials if trial.scanpath is not None]
    return [float(ms) for path in paths if path.duration_ms is not None for ms in path.duration_ms if np.isfinite(ms)]


def _found(human: Sequence[Trial], generated: Sequence[Trial]) -> dict[str, tuple[float, ...]]:
    sides = search_statistics.compare(human, {"model": generated}, max_fixations=max(WITHIN) + 1, average="trial")
    return {side: tuple(float(one.probability[n]) for n in WITHIN) for side, one in sides.items()}


def _side_by_side(human: Sequence[Trial], generated: Sequence[Trial]) -> list[Trial]:
    """The k-th viewer of the k-th picture: the first of each would be one person throughout."""
    recorded, samples = by_stimulus(human), by_stimulus(generated)
    keys = [key for key in recorded if key in samples][:SHOWN]
    return [side[key][k % len(side[key])] for k, key in enumerate(keys) for side in (recorded, samples)]
