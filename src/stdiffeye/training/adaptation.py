"""A laboratory's own viewing style: a shipped model adapted to a few recordings."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from stdiffeye.arrays import Floats
from stdiffeye.data.batches import Stimulus, stimuli_of
from stdiffeye.data.store import Store
from stdiffeye.encoders.choose import located
from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write, write_text
from stdiffeye.gaze import Trial
from stdiffeye.metrics import evaluate
from stdiffeye.metrics.bootstrap import Replicates
from stdiffeye.metrics.gap import GAP_METRICS
from stdiffeye.metrics.result import GAP
from stdiffeye.progress import track
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage
from stdiffeye.systems.cores import on_cores
from stdiffeye.systems.presets import SystemConfig, TrainConfig, to_plain
from stdiffeye.training.card import CARD_FILE
from stdiffeye.training.checkpoint import load_weights, save_weights
from stdiffeye.training.run import ENCODER_FILE, data_sources, read_run, weights_file
from stdiffeye.training.shipped import RUN_FILE, find_model
from stdiffeye.training.style_folds import STEPS, Fold, StyleLearner
from stdiffeye.training.validation import generated_for
from stdiffeye.version import __version__

FOLDS = 4
MOST_PICTURES = 60  # a style has few numbers to learn: more would cost time alone
FEWEST_PICTURES, FEWEST_TRIALS = FOLDS, 20
TEST = "test"
SAMPLES = TrainConfig(validate_samples=10)
REPLICATES = 1000


@dataclass(frozen=True)
class Gain:
    """A difference on held-out pictures, with its 95 % interval by bootstrap over pictures.

    Attributes
    ----------
    value, low, high : float
        The gain: above 0 where adapting helps; NaN where it cannot be told.
    """

    value: float
    low: float
    high: float

    def said(self) -> str:
        """In per cent with the interval."""
        if np.isnan(self.value):
            return "not defined: too few viewers of one picture"
        return f"{100 * self.value:+.1f} % ({100 * self.low:+.1f} to {100 * self.high:+.1f})"


@dataclass(frozen=True)
class Adaptation:
    """An adapted model, and what was gained on pictures that were held out.

    Attributes
    ----------
    folder : Path
        The model, for `--model`.
    style, nearest : str
        The new style, and the one that it began from.
    pictures, trials, steps : int
        What was learned from, and for how many steps; 0 where learning did not help.
    loss : Gain
        By how much the training loss is lower than with the nearest style, relative to it.
    gap : Gain
        Difference of gap closed by fair CRPS, in shares of the gap.
    """

    folder: Path
    style: str
    nearest: str
    pictures: int
    trials: int
    steps: int
    loss: Gain
    gap: Gain

    def __str__(self) -> str:
        learned = f"{self.pictures} pictures, {self.trials} trials"
        lines = [f"style {self.style!r} from {learned}; nearest of the model's styles: {self.nearest!r}"]
        if not self.steps:
            lines.append("held-out pictures gain nothing from learning: the nearest style is taken as it is")
        lines.append(f"gain on held-out pictures, loss: {self.loss.said()}")
        lines.append(f"gain on held-out pictures, gap closed by fair CRPS: {self.gap.said()}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"folder": str(self.folder)}


def adapt(
    store: str | Path,
    out: str | Path,
    model: str | Path | None = None,
    style: str | None = None,
    cache: str | Path | None = None,
    quiet: bool = False,
) -> Adaptation:
    """Adapt a model to a laboratory's own recordings, from 20 pictures or 50 trials on.

    Only the style's vector, its centre bias, the length head and the durations' outputs are learned. The test split
    of the store is left alone.

    Parameters
    ----------
    store : path
        Made by `stdiffeye prepare`.
    out : path
        Folder of the adapted model.
    model : str or path, optional
        A coarse-to-fine model to begin with; by default `freeview`, or `search` where the store has tasks.
    style : str, optional
        Name of the style; by default the store's data set.
    cache : path, optional
        Where pictures' features are kept.
    quiet : bool
        Show no progress.

    Returns
    -------
    Adaptation
        The model's folder, and the gain on held-out pictures with its interval.

    Raises
    ------
    InputError
        Where the store is too small or has no order, or the model has no scanpath stage with styles.
    """
    opened, out = Store.open(store), Path(out)
    if (out / RUN_FILE).is_file():
        raise InputError(f"{out} holds a model already: choose another --out")
    folder = find_model(model, task=next((word for word in opened.words["task"] if word), ""))
    config = read_run(folder)
    stage = _scanpath_stage(config, folder)
    chosen = _learned_from(opened)
    sources = data_sources(replace(config, encoder=located(config.encoder, folder)), [chosen], cache, True)
    learner = StyleLearner(stage, sources)
    zero_shot = learner.zero_shot()
    nearest = min(zero_shot, key=lambda name: float(zero_shot[name].mean()))
    folds = _cross_fitted(learner, zero_shot, quiet)
    best = _best_steps(folds)
    made = Adaptation(
        out,
        style or opened.dataset,
        nearest,
        len(learner.names),
        len(chosen.where()),
        STEPS[best],
        _loss_gain(folds),
        _gap_gain(learner, folds, quiet),
    )
    _write(made, learner.learned(nearest, STEPS[best]), config, folder)
    return made


def _scanpath_stage(config: SystemConfig, folder: Path) -> ScanpathStage:
    stage = config.build().get("scanpath")
    if not isinstance(stage, ScanpathStage) or not stage.config.sets:
        raise InputError(f"{folder.name} ({config.system}) has no styles to begin from: give a coarse-to-fine model")
    load_weights(weights_file(folder, "scanpath"), stage)
    return stage.eval()


def _learned_from(store: Store) -> Store:
    """The store without its test split, pictures that are missing, and all but `MOST_PICTURES` of the rest."""
    if not store.ordered:
        raise InputError(f"{store.path} has fixations in no order: a style is learned from scanpaths")
    splits = [split for split in store.words["split"] if split != TEST]
    names = sorted({s.name for split in splits for s in stimuli_of(store, split) if s.picture is not None})
    if len(names) > MOST_PICTURES:
        names = sorted(np.random.default_rng(0).choice(names, MOST_PICTURES, replace=False).tolist())
    chosen = store.without({*store.words["name"]} - {*names})
    if len(names) < FEWEST_PICTURES or len(chosen.where()) < FEWEST_TRIALS:
        raise InputError(
            f"{store.path} has {len(chosen.where())} trials on {len(names)} pictures outside the test split: "
            f"a style needs at least {FEWEST_TRIALS} trials on {FEWEST_PICTURES} pictures"
        )
    return chosen


def _cross_fitted(learner: StyleLearner, zero_shot: dict[str, Floats], quiet: bool) -> list[Fold]:
    """Each fold held out once; where it begins is chosen by the pictures of the other folds."""
    names = np.random.default_rng(0).permutation(learner.names).tolist()
    number = {name: row for row, name in enumerate(learner.names)}

    def fitted(held_out: list[str]) -> Fold:
        others = [number[name] for name in learner.names if name not in held_out]
        begin = min(zero_shot, key=lambda style: float(zero_shot[style][others].mean()))
        return learner.fold(begin, held_out)

    held_out = [names[start::FOLDS] for start in range(FOLDS)]
    return list(track(on_cores(fitted, held_out), "learning the style", FOLDS, quiet=quiet))


def _best_steps(folds: list[Fold]) -> int:
    """Number in `STEPS` with the least loss on the pictures that these folds held out."""
    return int(np.concatenate([fold.losses for fold in folds], axis=1).mean(axis=1).argmin())


def _chosen_without(folds: list[Fold], number: int) -> int:
    return _best_steps([fold for other, fold in enumerate(folds) if other != number])


def _loss_gain(folds: list[Fold]) -> Gain:
    before = np.concatenate([fold.losses[0] for fold in folds])
    after = np.concatenate([fold.losses[_chosen_without(folds, number)] for number, fold in enumerate(folds)])
    chosen = np.random.default_rng(0).integers(len(before), size=(REPLICATES, len(before)))
    replicates: Floats = (before - after)[chosen].sum(axis=1) / before[chosen].sum(axis=1)
    value = float((before - after).sum() / before.sum())
    return Gain(value, *Replicates(value, replicates).interval)


def _gap_gain(learner: StyleLearner, folds: list[Fold], quiet: bool) -> Gain:
    """Gap closed on held-out pictures, by fair CRPS of independent samples: learned minus nearest style."""
    sides: dict[str, list[Trial]] = {"learned": [], "nearest": []}
    stimuli = {(s.name, s.task): s for s in stimuli_of(learner.store, None) if s.picture is not None}
    for number, fold in enumerate(track(folds, "judging held-out pictures", quiet=quiet)):
        own = [stimulus for (name, _), stimulus in stimuli.items() if name in fold.names]
        for side, step in (("learned", _chosen_without(folds, number)), ("nearest", 0)):
            stage = learner.begun(fold.begin, fold.weights[step])
            sides[side] += _sampled(stage, learner, own)
    human = [learner.store[int(trial)] for stimulus in stimuli.values() for trial in stimulus.trials]
    settings: dict[str, Any] = {"metrics": GAP_METRICS, "protocols": ("crps",), "estimator": "fair"}
    result = evaluate(human, sides, compare=True, **settings)
    found = [one for one in result.comparisons if one.metric == GAP]
    return Gain(found[0].value, found[0].low, found[0].high) if found else Gain(*[float("nan")] * 3)


def _sampled(stage: ScanpathStage, learner: StyleLearner, stimuli: list[Stimulus]) -> list[Trial]:
    made = on_cores(lambda one: generated_for(stage, learner.sources, one, SAMPLES), stimuli)
    return [trial for trials in made for trial in trials]


def _write(made: Adaptation, stage: ScanpathStage, config: SystemConfig, folder: Path) -> None:
    """A model like a shipped one; what was not learned is copied."""
    own = replace(stage.config, sets=(made.style,))
    about = f"{folder.name}, adapted to the viewing style {made.style}."
    adapted = replace(config, about=about, default_style=made.style, stages=config.stages | {"scanpath": own})
    save_weights(made.folder / "scanpath.safetensors", stage, {"adapted_from": folder.name, "steps": made.steps})
    copies = [(ENCODER_FILE, folder / ENCODER_FILE)]
    copies += [(f"{name}.safetensors", weights_file(folder, name)) for name in config.stages if name != "scanpath"]
    for name, source in copies:
        if source.is_file():
            with atomic_write(made.folder / name) as temporary:
                shutil.copyfile(source, temporary)
    by = {"by": f"stdiffeye {__version__}", "adaptation": made.to_json() | {"folder": made.folder.name}}
    write_text(made.folder / CARD_FILE, f"# {made.folder.name}\n\n{about}\n\n{_listed(made)}\n")
    plain = to_plain(adapted) | {"made": by}
    write_text(made.folder / RUN_FILE, yaml.safe_dump(plain, sort_keys=False, allow_unicode=True))


def _listed(made: Adaptation) -> str:
    return "\n".join(f"* {line}" for line in str(made).splitlines())
