"""`evaluate`: humans and systems in, a `Result` out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial
from stdiffeye.metrics.assembly import assemble
from stdiffeye.metrics.clusters import cluster, read_clusters
from stdiffeye.metrics.paths import PackedScanpaths
from stdiffeye.metrics.references import REFERENCES, Humans
from stdiffeye.metrics.result import Key, Result
from stdiffeye.metrics.semantics import read_maps
from stdiffeye.metrics.settings import EvaluationSettings
from stdiffeye.metrics.spec import Context, MetricSpec
from stdiffeye.metrics.stimuli import Reading, check_size, grouped, matched, to_paths


def evaluate(
    human: Iterable[Trial],
    generated: Mapping[str, Iterable[Trial]],
    *,
    compare: bool = False,
    clusters: str | Path | None = None,
    semantics: str | Path | None = None,
    **settings: Any,
) -> Result:
    """Judge systems against humans on the stimuli that all of them have.

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
    **settings
        Fields of `EvaluationSettings`: metrics, protocols, estimator, mode, replicates, …

    Returns
    -------
    Result
        System → protocol → metric → `Estimate`, with reference rows and gap closed; prints as tables.

    Raises
    ------
    InputError
        For unknown settings, representative samples, when no stimulus is shared, or when the comparison would not fit
        in memory.

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
    chosen = EvaluationSettings(**{name: _tuple(value) for name, value in settings.items()})
    _check_names(generated, chosen)
    requested = chosen.specs(semantics is not None)
    human_groups = grouped(human, "the human file")
    systems = {name: grouped(_independent(trials, name), f"{name!r}") for name, trials in generated.items()}
    keys, notes = matched(human_groups, systems)
    reading = Reading(chosen.mode, chosen.max_fixations, chosen.rate_hz, chosen.compat is not None)
    paths = to_paths(human_groups, keys, reading, "the human file")
    wanted = available(requested, paths, "the humans", notes)
    context = context_of(wanted, paths, keys, clusters, semantics, notes)
    humans = Humans(paths, len(keys), context, wanted, chosen.protocols, chosen.estimator, chosen.seed, chosen.shuffles)
    rows = {}
    for name, groups in systems.items():
        ensemble = to_paths(groups, keys, reading, f"{name!r}")
        check_size(paths, ensemble, len(keys), name)
        rows[name] = humans.row([ensemble], available(wanted, ensemble, name, notes))
    references = _references(chosen, humans, notes)
    return assemble(chosen, humans, keys, rows, references, compare, notes)


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


def context_of(
    chosen: Sequence[MetricSpec],
    paths: PackedScanpaths,
    keys: list[Key],
    clusters: str | Path | None,
    semantics: str | Path | None,
    notes: list[str],
) -> Context:
    """Gather what metrics need to know about the stimuli: cluster centres for SS, semantic maps for SSS.

    Parameters
    ----------
    chosen : sequence of MetricSpec
        The metrics that will be computed.
    paths : PackedScanpaths
        Human scanpaths, to compute clusters from.
    keys : list of (str, str)
        (name, task) of the stimuli.
    clusters, semantics : path or None
        File of cluster centres, folder of semantic maps.
    notes : list of str
        Gets a sentence where semantic maps are missing.

    Returns
    -------
    Context
        By number of the stimulus; empty where no metric needs it.
    """
    centres: Sequence[Floats] = ()
    maps: Sequence[Any] = ()
    if any(spec.needs_clusters for spec in chosen):
        centres = cluster(paths, len(keys)) if clusters is None else read_clusters(clusters, keys)
    if any(spec.needs_semantics for spec in chosen) and semantics is not None:
        maps, missing = read_maps(semantics, keys)
        if missing:
            notes.append(f"{missing} of {len(keys)} stimuli have no semantic map; SSS is undefined there")
    return Context(centres, maps)


def _references(settings: EvaluationSettings, humans: Humans, notes: list[str]) -> tuple[str, ...]:
    if len(humans.paths) == humans.stimuli:
        notes.append("one viewer per stimulus: KLD, the row human and gap closed need at least two and are undefined")
    if not settings.references:
        return ()
    if humans.stimuli < 2:
        notes.append("one stimulus only: no reference rows, since shuffled humans need another picture")
        return ()
    return REFERENCES


def _independent(trials: Iterable[Trial], name: str) -> list[Trial]:
    """Refuse samples that say that they were chosen together: a score of them would be a score of the choice."""
    found = list(trials)
    if any(trial.details.get("sampling") == "representative" for trial in found):
        raise InputError(
            f"{name!r} holds representative samples, which were chosen to cover human gaze and are not scored: "
            "generate independent ones (leave out --representative)"
        )
    return found


def _check_names(generated: Mapping[str, Any], settings: EvaluationSettings) -> None:
    if not generated:
        raise InputError("there is no system to judge: give at least one NAME=FILE")
    taken = [name for name in generated if settings.references and name in REFERENCES]
    if taken:
        raise InputError(f"a system cannot be called {taken[0]!r}: that is the name of a reference row")


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple) else value
