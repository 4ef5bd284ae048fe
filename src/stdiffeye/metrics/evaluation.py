"""`evaluate`: humans and systems in, a `Result` out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.files import temporary_folder
from stdiffeye.gaze import Trial
from stdiffeye.metrics.assembly import assemble
from stdiffeye.metrics.paths import PackedScanpaths
from stdiffeye.metrics.references import REFERENCES
from stdiffeye.metrics.result import Result
from stdiffeye.metrics.scored_stimuli import EvaluationPlan, ScoreFolders
from stdiffeye.metrics.settings import EvaluationSettings
from stdiffeye.metrics.spec import MetricSpec
from stdiffeye.metrics.stimuli import Sides, check_size, matched, packed_sides, reading_of, to_paths
from stdiffeye.metrics.stimulus_scoring import StimulusFiles, StimulusScoring
from stdiffeye.progress import track


def evaluate(
    human: Iterable[Trial],
    generated: Mapping[str, Iterable[Trial]],
    *,
    compare: bool = False,
    clusters: str | Path | None = None,
    semantics: str | Path | None = None,
    quiet: bool = True,
    **settings: Any,
) -> Result:
    """Judge systems against humans on the stimuli that all of them have.

    Some stimuli are scored at a time, and what is left of them goes to the system's place for temporary files. So
    memory does not grow with the number of stimuli.

    Parameters
    ----------
    human : iterable of Trial
        Recorded gaze.
    generated : dict of str to iterable of Trial
        Gaze of each system, any number of samples per stimulus.
    compare : bool
        Also test the systems against each other, by a paired bootstrap over stimuli.
    clusters : path, optional
        JSON of cluster centres for SS; by default they are computed from the humans.
    semantics : path, optional
        Folder of semantic maps, which SSS needs.
    quiet : bool
        Show no progress.
    **settings
        Fields of `EvaluationSettings`: metrics, protocols, estimator, mode, replicates, …

    Returns
    -------
    Result
        System → protocol → metric → `Estimate`, with reference rows and gap closed; prints as tables.

    Raises
    ------
    InputError
        For unknown settings, representative samples, when no stimulus is shared, or when the comparisons of one
        stimulus would not fit in memory.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath, Trial
    >>> def trials(x_px):
    ...     path = Scanpath([[x_px, 100], [200, 100], [200, 200]], Frame(512, 384), [250, 300, 200])
    ...     return [Trial(name, subject, path) for name in ("a.jpg", "b.jpg") for subject in ("1", "2")]
    >>> result = evaluate(trials(100), {"ours": trials(110)}, metrics=["DTW"], protocols=["mean"])
    >>> result["ours"]["mean"]["DTW"].value
    10.0
    """
    chosen = _settings(settings)
    _check_names(generated, chosen)
    chosen.specs(semantics is not None)
    sides = packed_sides(human, generated, reading_of(settings))
    return evaluate_sides(sides, compare=compare, clusters=clusters, semantics=semantics, quiet=quiet, **settings)


def evaluate_sides(sides: Sides, *, quiet: bool = True, **settings: Any) -> Result:
    """Judge trials that were packed already; settings as in `evaluate`.

    Parameters
    ----------
    sides : Sides
        The humans and the systems.
    quiet : bool
        Show no progress.
    **settings
        As in `evaluate`.

    Returns
    -------
    Result
        As that of `evaluate`.
    """
    scoring = scoring_of(sides, **settings)
    spans = list(scoring.spans(range(len(scoring.plan.keys))))
    if len(spans) == 1:
        return assemble(scoring.plan, [scoring.score(spans[0])])
    with temporary_folder() as folder:
        for span in track(spans, "scoring", quiet=quiet):
            scoring.score(span).save(folder, scoring.plan)
        return assemble(scoring.plan, ScoreFolders([folder], scoring.plan))


def scoring_of(
    sides: Sides,
    *,
    compare: bool = False,
    clusters: str | Path | None = None,
    semantics: str | Path | None = None,
    **settings: Any,
) -> StimulusScoring:
    """Match both sides and plan what is scored; settings as in `evaluate`.

    Parameters
    ----------
    sides : Sides
        The humans and the systems.
    compare, clusters, semantics
        As in `evaluate`.
    **settings
        Fields of `EvaluationSettings`.

    Returns
    -------
    StimulusScoring
        Of which any stimuli can be scored.
    """
    chosen = _settings(settings)
    _check_names(sides.systems, chosen)
    requested = chosen.specs(semantics is not None)
    keys, notes = matched(sides.human, sides.systems)
    paths = to_paths(sides.human, keys)
    wanted = available(requested, paths, "the humans", notes)
    ensembles, rows = {}, {}
    for name, side in sides.systems.items():
        ensembles[name] = to_paths(side, keys)
        check_size(paths, ensembles[name], len(keys), name)
        rows[name] = _names(available(wanted, ensembles[name], name, notes))
        _note_single_samples(chosen, ensembles[name], name, notes)
    references = _references(chosen, len(paths), len(keys), notes)
    rows |= {name: _names(wanted) for name in references}
    plan = EvaluationPlan(chosen, _names(wanted), rows, references, keys, len(paths) / len(keys), compare, notes)
    return StimulusScoring(plan, paths, ensembles, StimulusFiles.of(plan, clusters, semantics))


def available(chosen: Sequence[MetricSpec], paths: PackedScanpaths, who: str, notes: list[str]) -> list[MetricSpec]:
    """Return the metrics that are defined for these scanpaths; durations are never invented.

    Parameters
    ----------
    chosen : sequence of MetricSpec
        The metrics asked for.
    paths : PackedScanpaths
        One side's scanpaths.
    who : str
        How notes call this side.
    notes : list of str
        Gets a sentence where durations are missing.

    Returns
    -------
    list of MetricSpec
        All that were asked for, without those that need durations if no scanpath has any.
    """
    timed = paths.timed()
    absent = [spec.title for spec in chosen if spec.needs_duration]
    if not absent or timed.all():
        return list(chosen)
    if timed.any():
        notes.append(
            f"{who}: {int((~timed).sum())} of {len(timed)} scanpaths have no durations; "
            f"{', '.join(absent)} undefined there"
        )
        return list(chosen)
    notes.append(f"{who}: no durations, so {', '.join(absent)} {'is' if len(absent) == 1 else 'are'} absent")
    return [spec for spec in chosen if not spec.needs_duration]


def _note_single_samples(settings: EvaluationSettings, ensemble: PackedScanpaths, name: str, notes: list[str]) -> None:
    single = int((np.bincount(ensemble.stimulus) == 1).sum())
    if single and "crps" in settings.protocols and settings.estimator == "fair":
        notes.append(
            f"{name}: one sample only of {single} stimuli, where fair CRPS is undefined; --estimator printed is defined"
        )


def _references(settings: EvaluationSettings, viewers: int, stimuli: int, notes: list[str]) -> tuple[str, ...]:
    if viewers == stimuli:
        notes.append("one viewer per stimulus: KLD, the row human and gap closed need at least two and are undefined")
    if not settings.references:
        return ()
    if stimuli < 2:
        notes.append("one stimulus only: no reference rows, since shuffled humans need another picture")
        return ()
    return REFERENCES


def _check_names(generated: Mapping[str, Any], settings: EvaluationSettings) -> None:
    if not generated:
        raise InputError("there is no system to judge: give at least one NAME=FILE")
    taken = [name for name in generated if settings.references and name in REFERENCES]
    if taken:
        raise InputError(f"a system cannot be called {taken[0]!r}: that is the name of a reference row")


def _settings(values: Mapping[str, Any]) -> EvaluationSettings:
    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return EvaluationSettings(**plain)


def _names(chosen: Sequence[MetricSpec]) -> tuple[str, ...]:
    return tuple(spec.name for spec in chosen)
