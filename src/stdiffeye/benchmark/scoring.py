"""How good a model is: everything that its card states, from the stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from stdiffeye.data.batches import stimuli_of
from stdiffeye.data.store import Store
from stdiffeye.gaze import Scanpath, Trial, truncate
from stdiffeye.gaze.types import by_stimulus
from stdiffeye.generation.request import Request
from stdiffeye.generation.trained import Model
from stdiffeye.generation.wanted import Wanted, wanted_of
from stdiffeye.metrics import Result, evaluate, pairwise
from stdiffeye.metrics.gap import GAP_METRICS
from stdiffeye.progress import track
from stdiffeye.statistics import kinematics
from stdiffeye.statistics import search as search_statistics

SAMPLES = 15
MAX_FIXATIONS = 16  # of a scanpath that are compared; the public files end there
WITHIN = (1, 2, 6)  # fixations after the first one within which a target should be fixated
DECIDABLE = 0.4  # width of the widest interval of a gap that is stated
TEST_SPLITS = {"coco-search18-tp": "validation"}
"""Sets whose test split is not public: the split that stands for it."""
TERMS = """\
Independent samples, as people are. *Fair CRPS* leaves out the distance of a sample to itself, so it does not depend on
the number of samples. *Gap closed* = (people on other pictures − model) / (people on other pictures − people), the mean
over metrics, with a 95 % bootstrap interval over pictures. Where that interval is wider than 40 points the gap is not
decidable here; the plain scores below stand for themselves."""
SHOWN = 10  # people and samples side by side
MEMORY_STIMULI = 40  # training pictures on which memorisation is looked for


@dataclass
class ModelScores:
    """A model on one set: independent samples, fair CRPS."""

    dataset: str
    split: str
    mode: str
    fair: Result
    viewers: float
    """People per picture, on average."""
    diversity: float
    """Mean pairwise DTW of the samples of a picture, over that of people."""
    memory: tuple[float, float]
    """On training pictures: median DTW to the nearest training trial of the picture, of samples and of people."""
    kinematics: dict[str, float] = field(default_factory=dict)
    """KS distances to people, where there is raw gaze."""
    side_by_side: list[Trial] = field(default_factory=list)
    """Raw gaze: a person, a sample, a person, … on the same pictures; of each picture another viewer, none picked."""
    search: dict[str, list[float]] = field(default_factory=dict)
    """Where there is a target: share of samples and of people that fixated it within `WITHIN` fixations."""

    @property
    def gap(self) -> dict[str, tuple[float, float, float]]:
        """Metric → gap closed with its interval, and their mean."""
        table = self.fair.gap_closed["model"]["crps"]
        return {name: (one.value, one.low, one.high) for name, one in table.items()}


def score_model(model: Model, store: Store, quiet: bool = False) -> ModelScores:
    """Generate for the test split and compare with people; DOVES by trajectories and Judd's rule on both sides."""
    raw, split = bool(store.columns["has_trajectory"].any()), TEST_SPLITS.get(store.dataset, "test")
    wanted = wanted_of([store.path], Request(samples=SAMPLES), split)
    keys_wanted = {(one.name, one.request.task) for one in wanted}
    human = [trial for trial in store.trials(split) if (trial.name, trial.task) in keys_wanted]
    generated = samples_of(model, wanted, raw, quiet)
    mode = "extracted" if raw else "scanpath"
    fair = evaluate(human, {"model": generated}, metrics=GAP_METRICS, mode=mode, protocols=("crps",), estimator="fair")
    diversity, memory = _diversity(human, generated), _memory(model, store, quiet)
    scores = ModelScores(store.dataset, split, mode, fair, len(human) / len(keys_wanted), diversity, memory)
    if raw:
        scores.kinematics = kinematics(generated).distance_to(kinematics(human))
        scores.side_by_side = _side_by_side(human, generated)
    if any(trial.target_box_px for trial in human):
        scores.search = _found(human, generated)
    return scores


def samples_of(model: Model, wanted: Sequence[Wanted], trajectories: bool, quiet: bool) -> list[Trial]:
    """Gaze for each, in the frame of the picture's file; trajectories end where the stores cut people's."""
    trials: list[Trial] = []
    for one in track(wanted, "generating", quiet=quiet):
        if trajectories:
            gaze = next(iter(model.generate_many([one.picture], one.request)))
            cut = [truncate(t, t.scanpath) for t in gaze]
            trials += [_trial(one, k, path, trajectory) for k, (trajectory, path) in enumerate(cut)]
        else:
            paths = next(iter(model.scanpaths_of_many([one.picture], one.request)))
            trials += [_trial(one, k, path, None) for k, path in enumerate(paths)]
    return trials


def _trial(one: Wanted, sample: int, path: Scanpath, trajectory: object) -> Trial:
    return Trial(one.name, str(sample), path, trajectory, one.request.task)  # type: ignore[arg-type]


def _scanpaths_of(trials: Sequence[Trial]) -> dict[tuple[str, str], list[Scanpath]]:
    return {
        key: [trial.scanpath[:MAX_FIXATIONS] for trial in some if trial.scanpath is not None]
        for key, some in by_stimulus(trials).items()
    }


def _diversity(human: Sequence[Trial], generated: Sequence[Trial]) -> float:
    def diversity(trials: Sequence[Trial]) -> float:
        tables = [pairwise("DTW", paths) for paths in _scanpaths_of(trials).values() if len(paths) > 1]
        return float(np.mean([table[np.triu_indices(len(table), 1)].mean() for table in tables]))

    return diversity(generated) / diversity(human)


def _memory(model: Model, store: Store, quiet: bool) -> tuple[float, float]:
    stimuli = [stimulus for stimulus in stimuli_of(store, "train") if len(stimulus.trials) > 2]
    evenly = np.linspace(0, len(stimuli) - 1, min(MEMORY_STIMULI, len(stimuli))).round().astype(int)
    chosen = {(stimuli[i].name, stimuli[i].task): stimuli[i] for i in evenly}
    everything = wanted_of([store.path], Request(samples=SAMPLES), "train")
    wanted = [one for one in everything if (one.name, one.request.task) in chosen]
    generated = _scanpaths_of(samples_of(model, wanted, False, quiet))
    nearest, human_nearest = [], []
    for key, stimulus in chosen.items():
        trials = [
            path[:MAX_FIXATIONS] for path in (store[int(i)].scanpath for i in stimulus.trials) if path is not None
        ]
        nearest.append(pairwise("DTW", generated[key], trials).min(axis=1))
        among = pairwise("DTW", trials)
        np.fill_diagonal(among, np.inf)
        human_nearest.append(among.min(axis=1))
    return float(np.median(np.concatenate(nearest))), float(np.median(np.concatenate(human_nearest)))


def _found(human: Sequence[Trial], generated: Sequence[Trial]) -> dict[str, list[float]]:
    sides = search_statistics.compare(human, {"model": generated}, max_fixations=max(WITHIN) + 1, average="trial")
    return {side: [float(one.probability[n]) for n in WITHIN] for side, one in sides.items()}


def _side_by_side(human: Sequence[Trial], generated: Sequence[Trial]) -> list[Trial]:
    """The k-th viewer of the k-th picture: the first of each would be one person throughout."""
    recorded, samples = by_stimulus(human), by_stimulus(generated)
    keys = [key for key in recorded if key in samples][:SHOWN]
    return [side[key][k % len(side[key])] for k, key in enumerate(keys) for side in (recorded, samples)]


def stated_gap(estimate: tuple[float, float, float]) -> str:
    """A gap closed in per cent with its interval, or that it cannot be decided."""
    value, low, high = estimate
    if not high - low < DECIDABLE:
        return f"not decidable here ({100 * low:z.0f} to {100 * high:z.0f} %)"
    return f"{100 * value:z.0f} % ({100 * low:z.0f} to {100 * high:z.0f})"


def report(scored: Sequence[ModelScores]) -> str:
    """The scores as Markdown tables."""
    return (
        "\n\n".join([TERMS, _gap_table(scored), _plain_scores(scored), _samples_table(scored), *_details(scored)])
        + "\n"
    )


def _gap_table(scored: Sequence[ModelScores]) -> str:
    metrics = _metrics(scored)
    rows = [["set", "split", "pictures × viewers", "gap closed, fair CRPS", *metrics]]
    for one in scored:
        cells = [f"{100 * one.gap[name][0]:z.0f}" if name in one.gap else "–" for name in metrics]
        counts = f"{len(one.fair.stimuli)} × {one.viewers:.0f}"
        rows.append([one.dataset, one.split, counts, stated_gap(one.gap["mean"]), *cells])
    return markdown_table(rows)


def _plain_scores(scored: Sequence[ModelScores]) -> str:
    """Fair CRPS of model, people and people on other pictures side by side."""
    metrics = _metrics(scored)
    rows = [["set", "fair CRPS of", *metrics]]
    for one in scored:
        for title, name in (("model", "model"), ("people", "human"), ("people on other pictures", "shuffled")):
            values = one.fair[name]["crps"]
            cells = [f"{values[metric].value:.4g}" if metric in values else "–" for metric in metrics]
            rows.append([one.dataset, title, *cells])
    return markdown_table(rows)


def _samples_table(scored: Sequence[ModelScores]) -> str:
    rows = [["set", "diversity (people = 1)", "nearest training trial: samples / people (DTW, px)"]]
    rows += [[o.dataset, f"{o.diversity:.2f}", f"{o.memory[0]:.0f} / {o.memory[1]:.0f}"] for o in scored]
    return markdown_table(rows)


def _details(scored: Sequence[ModelScores]) -> list[str]:
    """Kinematics where there is raw gaze, and search where there is a target."""
    texts = []
    for one in scored:
        if one.kinematics:
            values = [[name.replace("_", " "), f"{value:.3f}"] for name, value in one.kinematics.items()]
            texts += [f"Kinematics against people, {one.dataset}:", markdown_table([["quantity", "distance"], *values])]
        if one.search:
            titles = [f"within {n}" for n in WITHIN]
            sides = [[side, *(f"{100 * share:.0f} %" for share in shares)] for side, shares in one.search.items()]
            texts += [
                f"Target fixated within so many fixations after the first one, {one.dataset}:",
                markdown_table([["", *titles], *sides]),
            ]
    return texts


def _metrics(scored: Sequence[ModelScores]) -> list[str]:
    return list(dict.fromkeys(name for one in scored for name in one.gap if name != "mean"))


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
