"""How good a model is: everything that its card states, from the stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from stdiffeye.data.batches import stimuli_of
from stdiffeye.data.store import Store
from stdiffeye.gaze import Scanpath, Trial, truncate
from stdiffeye.gaze.nouns import by_stimulus
from stdiffeye.generate.files import Wanted, wanted_of
from stdiffeye.generate.model import Model, Request
from stdiffeye.metrics import Result, evaluate, pairwise
from stdiffeye.metrics.gap import GAP_METRICS
from stdiffeye.progress import track
from stdiffeye.stats import kinematics
from stdiffeye.stats import search as search_statistics
from stdiffeye.systems.part import AS_CONFIGURED, Options

SAMPLES = 15
MAX_FIXATIONS = 16  # of a scanpath that are compared; the public files end there
WITHIN = 6  # fixations within which a target should be looked at
FAIR = """Viewers are drawn as they are by default, as a set that covers what people do; *one by one* are those of
`--independent`, as people in the reference rows are. CRPS as printed counts the distance of every sample to itself, so
it depends on how many samples there are and how well they cover: 15 are held against fewer viewers (MCS: one or two
others, which makes people look worse than they are) or more (DOVES: about 25 others, against whom even a perfect model
closes -11 % with viewers drawn one by one). Fair CRPS leaves these distances out; it is of viewers drawn one by one."""
SHOWN = 10  # people and samples side by side
MEMORY_STIMULI = 40  # training pictures on which memorisation is looked for


@dataclass
class Judgement:
    """A model on one set."""

    dataset: str
    mode: str
    result: Result
    independent: Result
    """The same for samples drawn one by one."""
    fair: Result
    """Of these, by CRPS without the diagonal, which does not depend on the number of samples."""
    diversity: float
    """Mean pairwise DTW of the samples of a picture, over that of people."""
    memory: tuple[float, float]
    """On training pictures: median DTW to the nearest training trial of the picture, of samples and of people."""
    kinematics: dict[str, float] = field(default_factory=dict)
    """KS distances to people, where there is raw gaze."""
    side_by_side: list[Trial] = field(default_factory=list)
    """Raw gaze: a person, a sample, a person, … on the same pictures; of each picture another viewer, none picked."""
    search: dict[str, float] = field(default_factory=dict)
    """Where there is a target: share that has looked at it, of samples and of people."""

    @property
    def gap(self) -> dict[str, tuple[float, float, float]]:
        """Metric → gap closed by CRPS as printed with its interval, and their mean."""
        return _gaps(self.result)

    @property
    def independent_gap(self) -> tuple[float, float, float]:
        return _gaps(self.independent)["mean"]

    @property
    def fair_gap(self) -> tuple[float, float, float]:
        return _gaps(self.fair)["mean"]


def _gaps(result: Result) -> dict[str, tuple[float, float, float]]:
    table = result.gap_closed["model"]["crps"]
    return {name: (one.value, one.low, one.high) for name, one in table.items()}


def judge(model: Model, store: Store, quiet: bool = False) -> Judgement:
    """Generate for the test split and hold it against people; DOVES by trajectories and Judd's rule on both sides."""
    raw = bool(store.columns["has_trajectory"].any())
    human = list(store.trials("test"))
    generated, independent = (
        samples_of(model, wanted_of([store.path], Request(samples=SAMPLES, options=how), "test"), raw, quiet)
        for how in (AS_CONFIGURED, Options(spread=False))
    )
    mode = "extracted" if raw else "scanpath"
    printed, alone, fair = (
        evaluate(human, {"model": trials}, metrics=GAP_METRICS, mode=mode, protocols=("crps",), estimator=estimator)
        for trials, estimator in ((generated, "printed"), (independent, "printed"), (independent, "fair"))
    )
    diversity, memory = _diversity(human, generated), _memory(model, store, quiet)
    judged = Judgement(store.dataset, mode, printed, alone, fair, diversity, memory)
    if raw:
        judged.kinematics = kinematics(generated).distance_to(kinematics(human))
        judged.side_by_side = _side_by_side(human, generated)
    if any(trial.target_box_px for trial in human):
        judged.search = _found(human, generated)
    return judged


def samples_of(model: Model, wanted: Sequence[Wanted], trajectories: bool, quiet: bool) -> list[Trial]:
    """Gaze for each, in the frame of the picture's file; trajectories end where the stores cut people's."""
    trials: list[Trial] = []
    for one in track(wanted, "looking", quiet=quiet):
        if trajectories:
            gaze = next(iter(model.generate_many([one.picture], one.request)))
            cut = [truncate(t, t.scanpath()) for t in gaze]
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
    def spread(trials: Sequence[Trial]) -> float:
        tables = [pairwise("DTW", paths) for paths in _scanpaths_of(trials).values() if len(paths) > 1]
        return float(np.mean([table[np.triu_indices(len(table), 1)].mean() for table in tables]))

    return spread(generated) / spread(human)


def _memory(model: Model, store: Store, quiet: bool) -> tuple[float, float]:
    stimuli = [stimulus for stimulus in stimuli_of(store, "train") if len(stimulus.trials) > 2]
    spread = np.linspace(0, len(stimuli) - 1, min(MEMORY_STIMULI, len(stimuli))).round().astype(int)
    chosen = {(stimuli[i].name, stimuli[i].task): stimuli[i] for i in spread}
    everything = wanted_of([store.path], Request(samples=SAMPLES), "train")
    wanted = [one for one in everything if (one.name, one.request.task) in chosen]
    generated = _scanpaths_of(samples_of(model, wanted, False, quiet))
    nearest, people = [], []
    for key, stimulus in chosen.items():
        trials = [
            path[:MAX_FIXATIONS] for path in (store[int(i)].scanpath for i in stimulus.trials) if path is not None
        ]
        nearest.append(pairwise("DTW", generated[key], trials).min(axis=1))
        among = pairwise("DTW", trials)
        np.fill_diagonal(among, np.inf)
        people.append(among.min(axis=1))
    return float(np.median(np.concatenate(nearest))), float(np.median(np.concatenate(people)))


def _found(human: Sequence[Trial], generated: Sequence[Trial]) -> dict[str, float]:
    sides = search_statistics.compare(human, {"model": generated}, max_fixations=WITHIN, average="trial")
    return {side: float(one.probability[-1]) for side, one in sides.items()}


def _side_by_side(human: Sequence[Trial], generated: Sequence[Trial]) -> list[Trial]:
    """The k-th viewer of the k-th picture: the first of each would be one person throughout."""
    people, samples = by_stimulus(human), by_stimulus(generated)
    keys = [key for key in people if key in samples][:SHOWN]
    return [side[key][k % len(side[key])] for k, key in enumerate(keys) for side in (people, samples)]


def _percent(estimate: tuple[float, float, float]) -> str:
    value, low, high = (100 * number for number in estimate)
    return f"{value:z.0f} % ({low:z.0f} to {high:z.0f})"


def report(judgements: Sequence[Judgement]) -> str:
    """The judgements as Markdown tables."""
    metrics = list(dict.fromkeys(name for one in judgements for name in one.gap if name != "mean"))
    head = ["set", "gap closed", "one by one", "fair CRPS", *metrics]
    rows = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for one in judgements:
        cells = [f"{100 * one.gap[name][0]:z.0f}" if name in one.gap else "–" for name in metrics]
        means = map(_percent, (one.gap["mean"], one.independent_gap, one.fair_gap))
        rows.append(f"| {' | '.join([one.dataset, *means, *cells])} |")
    rows += [
        "",
        FAIR,
        "",
        "| set | diversity (people = 1) | nearest training trial: samples / people (DTW, px) |",
        "|---|---|---|",
    ]
    rows += [f"| {o.dataset} | {o.diversity:.2f} | {o.memory[0]:.0f} / {o.memory[1]:.0f} |" for o in judgements]
    for one in judgements:
        if one.kinematics:
            rows += ["", f"Kinematics against people, {one.dataset}:", "", "| quantity | distance |", "|---|---|"]
            rows += [f"| {name.replace('_', ' ')} | {value:.3f} |" for name, value in one.kinematics.items()]
        if one.search:
            found = f"{100 * one.search['model']:.0f} % of samples and {100 * one.search['human']:.0f} % of people"
            rows += ["", f"Target looked at within {WITHIN} fixations, {one.dataset}: {found}."]
    return "\n".join(rows) + "\n"
