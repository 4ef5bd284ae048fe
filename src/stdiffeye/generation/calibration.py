"""Calibrate a diffusion system's density of the next fixation on validation trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import yaml

from stdiffeye.arrays import Floats
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.files import write_text
from stdiffeye.gaze import Scanpath, Trial
from stdiffeye.gaze.types import by_stimulus
from stdiffeye.generation.judging import picture_of
from stdiffeye.generation.trained import Model, load
from stdiffeye.model.image import PHASES
from stdiffeye.progress import track
from stdiffeye.systems.history_factors import TERMS, HistoryFactors, terms
from stdiffeye.systems.history_fit import RIDGE, ScoredFixations, cross_validated, fit
from stdiffeye.systems.image_conditioned import ImageConditionedDenoiser
from stdiffeye.systems.next_fixation import Shape, interpolated_log, log_densities_of
from stdiffeye.systems.presets import parse_yaml
from stdiffeye.training.shipped import RUN_FILE, find_model

Item = TypeVar("Item")

SPLIT = "validation"
PICTURES, VIEWERS = 40, 3  # of each store, by default
MOST_FIXATIONS = 16  # of a scanpath, as in the likelihood table
SAMPLED = 3  # fixations of each picture for which the next one is sampled, which takes the time
WITHOUT_SAMPLES = np.array([0.0, 1.0])
SET_RIDGE = 4 * RIDGE  # a set's weights differ from everybody's only where its fixations say so


@dataclass(frozen=True)
class LikelihoodGain:
    """What a part of the calibration is worth on pictures that it was not chosen on, in bits over a uniform density."""

    what: str
    pictures: int
    fixations: int
    before: float
    after: float

    def __str__(self) -> str:
        counts = f"{self.pictures} pictures, {self.fixations} fixations"
        return f"{self.what}: {self.before:.2f} → {self.after:.2f} bits over uniform, cross-validated ({counts})"


@dataclass(frozen=True)
class Calibration:
    """The factors of every style, and what they are worth."""

    folder: Path
    history: HistoryFactors
    gains: tuple[LikelihoodGain, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.gains))


@dataclass(frozen=True)
class _Picture:
    """A picture's fixations with their terms; some of them also with the term of samples."""

    dataset: str
    name: str
    plain: ScoredFixations
    sampled: ScoredFixations


def calibrate(
    model: str | Path,
    stores: Sequence[str | Path],
    pictures: int = PICTURES,
    viewers: int = VIEWERS,
    quiet: bool = False,
) -> Calibration:
    """Calibrate a model's density of the next fixation, and write the result into its run.yaml.

    Gaze that the model generates does not change.

    Parameters
    ----------
    model : str or path
        A run's folder, or the name of a shipped model.
    stores : sequence of path
        Their validation trials are used; a style for which there is no store has the weights of all.
    pictures : int
        Of each store, evenly chosen.
    viewers : int
        Of each picture.
    quiet : bool
        Show no progress.

    Returns
    -------
    Calibration
        The factors, and the gain on pictures that they were not chosen on.

    Raises
    ------
    InputError
        Where the model states its density exactly, or the stores have no validation trials with pictures.

    Examples
    --------
    >>> calibrate("runs/mine", ["stores/osie"])    # doctest: +SKIP
    """
    folder = find_model(model)
    found = calibrate_model(load(folder), [Store.open(store) for store in stores], pictures, viewers, quiet)
    _write(folder, found.history)
    return replace(found, folder=folder)


def calibrate_model(
    model: Model, stores: Sequence[Store], pictures: int = PICTURES, viewers: int = VIEWERS, quiet: bool = True
) -> Calibration:
    """The same for a model in memory, which is changed."""
    stage = model.first
    if not isinstance(stage, ImageConditionedDenoiser):
        raise InputError(f"{model.name} states its density exactly: there is nothing to calibrate")
    stimuli = [trials for store in stores for trials in _chosen(store, pictures, viewers)]
    scored = [_scored(model, trials) for trials in track(stimuli, "calibrating", len(stimuli), quiet=quiet)]
    if not any(len(one.sampled) for one in scored):
        raise InputError("no validation fixation of these stores is inside its picture: there is nothing to learn from")
    by_set: dict[str, list[_Picture]] = {}
    for one in scored:
        by_set.setdefault(one.dataset, []).append(one)
    start = np.concatenate([[0.0], np.ones(len(PHASES)), np.zeros(TERMS - 1 - len(PHASES))])
    everybody = fit([one.plain for one in scored], start)
    # Two numbers for all sets: the power of the samples, and that of everything else beside them.
    both = [_beside_samples(one.sampled, everybody) for one in scored]
    sampling = _gain("samples of the next fixation", scored, both, WITHOUT_SAMPLES, RIDGE)
    helpful = sampling.after > sampling.before  # on pictures that their power was not chosen on
    samples_power, rest_power = fit(both, WITHOUT_SAMPLES) if helpful else WITHOUT_SAMPLES
    sets = [fit([one.plain for one in some], everybody, SET_RIDGE) for some in by_set.values()]
    weights = rest_power * np.stack([everybody, *sets])
    weights[:, 0] = samples_power
    history = HistoryFactors.of_weights(list(by_set), weights)
    stage.config = replace(stage.config, next_fixation=replace(stage.config.next_fixation, history=history))
    gains = [_gain(name, some, [one.plain for one in some], start, RIDGE) for name, some in by_set.items()]
    return Calibration(Path(), history, (*gains, sampling))


def _chosen(store: Store, pictures: int, viewers: int) -> list[list[Trial]]:
    """Trials of so many pictures and viewers, evenly chosen."""
    if SPLIT not in store.words["split"]:
        raise InputError(f"{store.path} has no {SPLIT} split, on which a density is calibrated")
    there = [trial for trial in store.trials(SPLIT) if trial.scanpath is not None and trial.picture is not None]
    stimuli = list(by_stimulus(there).values())
    if not stimuli:
        raise InputError(f"{store.path} has no {SPLIT} trials with pictures and fixations")
    return [_evenly(trials, viewers) for trials in _evenly(stimuli, pictures)]


def _evenly(items: Sequence[Item], count: int) -> list[Item]:
    chosen = np.unique(np.linspace(0, len(items) - 1, min(count, len(items))).round().astype(int))
    return [items[number] for number in chosen.tolist()]


def _scored(model: Model, trials: Sequence[Trial]) -> _Picture:
    """The fixations of a picture's trials, on the system's own grid."""
    stage, one = model.first, trials[0]
    assert isinstance(stage, ImageConditionedDenoiser)
    shape = stage.config.image.rows, stage.config.image.columns
    query = model._query_of(picture_of(one), one.task, one.dataset if one.dataset in model.styles else None)
    histories, cells = _situations([trial.scanpath.rescaled(query.frame) for trial in trials if trial.scanpath], shape)
    situations = stage.situations(query, histories)
    plain = [terms(np.zeros(shape), _on_grid(picture, shape), now) for picture, now in situations]
    some = _evenly(range(len(histories)), SAMPLED) if histories else []
    sampled = []
    for number, xy in zip(some, stage.next_positions(query, [histories[number] for number in some]), strict=True):
        picture, now = situations[number]
        found = xy.double().cpu().numpy()
        sampled.append(terms(*log_densities_of(found, picture, shape, now.aspect, stage.config.next_fixation), now))
    return _Picture(
        one.dataset, one.name, _stacked(plain, cells), _stacked(sampled, [cells[number] for number in some])
    )


def _situations(paths: Sequence[Scanpath], shape: Shape) -> tuple[list[Scanpath | None], list[int]]:
    """The history before each fixation inside the frame, and the cell of the fixation."""
    histories: list[Scanpath | None] = []
    cells = []
    for path in paths:
        for number, (x, y) in enumerate(path.frame.normalise(path.xy_px[:MOST_FIXATIONS]).tolist()):
            if 0 <= x < 1 and 0 <= y < 1:
                histories.append(path[:number] if number else None)
                cells.append(int(y * shape[0]) * shape[1] + int(x * shape[1]))
    return histories, cells


def _beside_samples(fixations: ScoredFixations, weights: Floats) -> ScoredFixations:
    """Two terms: that of the samples, and the weighted sum of all others."""
    others = np.einsum("f,nfc->nc", weights.astype(np.float32), fixations.terms)
    return ScoredFixations(np.stack([fixations.terms[:, 0], others], axis=1), fixations.at)


def _on_grid(picture: Floats | None, shape: Shape) -> Floats | None:
    return None if picture is None else interpolated_log(picture, shape)


def _stacked(rows: Sequence[Floats], cells: Sequence[int]) -> ScoredFixations:
    empty = np.empty((0, TERMS, 1), dtype=np.float32)
    return ScoredFixations(np.stack(rows).astype(np.float32) if rows else empty, np.array(cells, dtype=np.int64))


def _gain(
    what: str, pictures: Sequence[_Picture], several: Sequence[ScoredFixations], start: Floats, ridge: float
) -> LikelihoodGain:
    several = [one for one in several if len(one)]
    together = ScoredFixations(
        np.concatenate([one.terms for one in several]), np.concatenate([one.at for one in several])
    )
    groups = [number for number, one in enumerate(several) for _ in range(len(one))]
    before, after = together.bits(start), cross_validated(together, groups, start, ridge)
    return LikelihoodGain(what, len(pictures), len(together), float(before.mean()), float(after.mean()))


class _Line(list[Any]):
    """What is written in one line."""


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(
    _Line, lambda dumper, row: dumper.represent_sequence("tag:yaml.org,2002:seq", row, flow_style=True)
)


def _write(folder: Path, history: HistoryFactors) -> None:
    """Into the configuration of the stage that takes the picture; all else stays as it is."""
    path = folder / RUN_FILE
    values = parse_yaml(path.read_text(encoding="utf-8"), str(path))
    first = next(iter(values["stages"].values()))
    rows = {
        name: [_Line(row) for row in value] if value and isinstance(value[0], tuple) else _Line(value)
        for name, value in asdict(history).items()
    }
    first["next_fixation"] = {**(first.get("next_fixation") or {}), "history": rows}
    write_text(path, yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True))
