"""The verb `evaluate`: files, trials or models in, a `Result` out; whole, in shards, or on a cluster."""

from __future__ import annotations

import dataclasses
import importlib.resources
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stdiffeye.data.read import File, Gaze
from stdiffeye.data.run_description import RUN_FILE
from stdiffeye.errors import InputError
from stdiffeye.verbs.shared_evaluation import EvaluationRequest, evaluate_on_cluster, evaluate_shard
from stdiffeye.work_shards import WorkOptions

if TYPE_CHECKING:
    from stdiffeye.generation.trained import Model
    from stdiffeye.metrics.result import Result


def evaluate(
    human: Gaze,
    generated: Mapping[str, Gaze | Model],
    out: File | None = None,
    *,
    split: str | None = None,
    split_id: str | None = None,
    per_stimulus: bool = False,
    compile_kernels: bool | None = True,
    work: WorkOptions | None = None,
    **settings: Any,
) -> Result:
    """Judge systems that generate gaze against humans.

    Files are read and scored some stimuli at a time, so that memory does not grow with them.

    Parameters
    ----------
    human : path or sequence of Trial
        Recorded gaze: trials, a gaze file or a store.
    generated : dict of str to path or sequence of Trial
        Gaze of each system, several samples per stimulus. Files may be in the layout of another program. Or a model:
        one that was loaded, a shipped one's name, a run's folder; the humans' trials must then know their pictures.
    out : path, optional
        Where to write the results as JSON; tables (.md, .tex, .csv) are written beside it.
    split : str, optional
        Only this split of the humans: "train", "validation" or "test".
    split_id : str, optional
        A frozen split as `SET@hash`: exactly its stimuli and viewers are judged, anything else is refused.
    per_stimulus : bool
        Also write the value of every stimulus.
    compile_kernels : bool or None
        None leaves the kernels of this process as Python where the input is tiny, which is sooner done than compiling.
    work : WorkOptions, optional
        A shard of the stimuli alone, or a cluster to share them; both need files, and `out`.
    **settings
        As in `stdiffeye.metrics.evaluate`: metrics, protocols, compare, mode, clusters, semantics, …; and for models
        the fields of `stdiffeye.generation.request.JudgingOptions`: likelihood, url, viewers, samples.

    Returns
    -------
    Result
        Numbers with 95 % intervals; prints as tables. Its `likelihood` is a table of its own, where asked for. Of a
        shard it is empty: `stdiffeye.join` makes the results.

    Raises
    ------
    InputError
        Where a file cannot be read, no stimulus is shared, or a setting is unknown.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath, Trial
    >>> path = Scanpath([[100, 100], [200, 100], [200, 200]], Frame(512, 384), [250, 300, 200])
    >>> human = [Trial(name, subject, path) for name in ("a.jpg", "b.jpg") for subject in "12"]
    >>> result = evaluate(human, {"ours": human}, metrics=["DTW"], protocols=["mean"])
    >>> result["ours"]["mean"]["DTW"].value
    0.0
    """
    from stdiffeye.generation.request import JudgingOptions

    known = [field.name for field in dataclasses.fields(JudgingOptions)]
    options = JudgingOptions(**{name: settings.pop(name) for name in known if name in settings})
    models: dict[str, Any] = {name: gaze for name, gaze in generated.items() if _is_model(gaze)}
    files: dict[str, Any] = {name: gaze for name, gaze in generated.items() if name not in models}
    request = EvaluationRequest(human, files, split, split_id, per_stimulus, compile_kernels, settings)
    by_model = bool(models or options.url or options.likelihood)
    if work is not None and work != WorkOptions():
        return _shared(request, by_model, out, work, options.quiet)
    if by_model:
        from stdiffeye.generation.judging import judge_models

        result = judge_models(*request.trials(), models, options, settings)
    else:
        sides = request.sides()
        from stdiffeye.metrics.evaluation import evaluate_sides

        result = evaluate_sides(sides, quiet=options.quiet, **settings)
    if split_id is not None:
        result.settings["split_id"] = split_id
    if out is not None:
        result.save(out, per_stimulus)
    return result


def _shared(request: EvaluationRequest, by_model: bool, out: File | None, work: WorkOptions, quiet: bool) -> Result:
    if by_model:
        raise InputError("shards and clusters judge files: `stdiffeye generate --cluster …` first, then give its files")
    if out is None:
        raise InputError("a shard or a cluster writes files: say where, out='results.json'")
    if work.cluster is not None:
        return evaluate_on_cluster(request, Path(out), work.cluster, quiet)
    assert work.own is not None
    evaluate_shard(request, Path(out), work.own, quiet)
    from stdiffeye.metrics.result import Result

    return Result({}, (), {}, [], [], {}, [f"shard {work.own} is scored; when all are: stdiffeye join {out}"])


def _is_model(gaze: Any) -> bool:
    """Whether this is a loaded model, a run's folder, or a shipped model's name that is no file."""
    if not isinstance(gaze, File):
        return hasattr(gaze, "log_densities")
    shipped = importlib.resources.files("stdiffeye") / "models" / str(gaze) / RUN_FILE
    return (Path(gaze) / RUN_FILE).is_file() or (not Path(gaze).exists() and shipped.is_file())
