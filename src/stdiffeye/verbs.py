"""The verbs that judge and show gaze, given nouns or files: `evaluate`, `stats`, `plot`, `replay`; and `features`.

The rooms `metrics`, `statistics` and `plotting` compute with nouns only. Here files and stores are read for them, and
results are written; the command line is a thin layer above.
"""

from __future__ import annotations

import dataclasses
import importlib.resources
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stdiffeye.errors import InputError
from stdiffeye.gaze import Scanpath, Trajectory, Trial
from stdiffeye.work_shards import WorkOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from stdiffeye.encoders.cache import FeatureCache
    from stdiffeye.generation.trained import Model
    from stdiffeye.metrics.result import Result
    from stdiffeye.statistics import Statistics

File = str | Path
Noun = Scanpath | Trajectory | Trial

REPLAYED_VIEWERS = 15  # of a file, where nobody says how many


def evaluate(
    human: File | Sequence[Trial],
    generated: Mapping[str, File | Model | Sequence[Trial]],
    out: File | None = None,
    *,
    split: str | None = None,
    split_id: str | None = None,
    per_stimulus: bool = False,
    compile_kernels: bool | None = True,
    **settings: Any,
) -> Result:
    """Judge systems that generate gaze against humans.

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
    **settings
        As in `stdiffeye.metrics.evaluate`: metrics, protocols, compare, mode, clusters, semantics, …; and for models
        the fields of `stdiffeye.generation.request.JudgingOptions`: likelihood, url, viewers, samples.

    Returns
    -------
    Result
        Numbers with 95 % intervals; prints as tables. Its `likelihood` is a table of its own, where asked for.

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
    human_trials = read(human, split=split)
    models: dict[str, Any] = {name: gaze for name, gaze in generated.items() if _is_model(gaze)}
    files: dict[str, Any] = {name: gaze for name, gaze in generated.items() if name not in models}
    systems = {name: read(gaze, human_trials) for name, gaze in files.items()}
    if split_id is not None:
        from stdiffeye.data.frozen_splits import frozen_split

        frozen = frozen_split(split_id)
        human_trials = frozen.humans(human_trials)
        systems = {name: frozen.submission(gaze, name) for name, gaze in systems.items()}
    if models or options.url or options.likelihood:
        from stdiffeye.generation.judging import judge_models

        result = judge_models(human_trials, systems, models, options, settings)
    else:
        result = _judge(human_trials, systems, compile_kernels, settings)
    if split_id is not None:
        result.settings["split_id"] = split_id
    if out is not None:
        result.save(out, per_stimulus)
    return result


def _is_model(gaze: Any) -> bool:
    """Whether this is a loaded model, a run's folder, or a shipped model's name that is no file."""
    if not isinstance(gaze, File):
        return hasattr(gaze, "log_densities")
    shipped = importlib.resources.files("stdiffeye") / "models" / str(gaze) / "run.yaml"
    return (Path(gaze) / "run.yaml").is_file() or (not Path(gaze).exists() and shipped.is_file())


def _judge(
    human: Sequence[Trial],
    systems: Mapping[str, Sequence[Trial]],
    compile_kernels: bool | None,
    settings: Mapping[str, Any],
) -> Result:
    """Judge files; whether kernels are compiled must be decided before the first of them is imported."""
    if compile_kernels is None:
        from stdiffeye.metrics.compiled import interpret_small

        interpret_small(_pairs(human, systems))
    from stdiffeye import metrics

    result: Result = metrics.evaluate(human, systems, **settings)
    return result


def stats(
    human: File | Sequence[Trial],
    generated: Mapping[str, File | Sequence[Trial]] | None = None,
    out: File | None = None,
    *,
    split: str | None = None,
    **settings: Any,
) -> Statistics:
    """Compare the distributions of gaze of humans and systems.

    Parameters
    ----------
    human, generated, split
        As in `evaluate`.
    out : path, optional
        Folder for statistics.json, statistics.md and the figures (PNG and PDF).
    **settings
        As in `stdiffeye.statistics.stats`: unit, kinematics, search, saliency, skip_first.

    Returns
    -------
    Statistics
        Distributions, and where the data allow it kinematics and visual search; prints as tables.

    Raises
    ------
    InputError
        Where a file cannot be read, or what was asked for needs data that are not there.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath, Trial
    >>> path = Scanpath([[100, 100], [200, 100]], Frame(512, 384), [250, 300])
    >>> stats([Trial("a.jpg", "1", path)]).distributions["fixation_duration"].values["human"]
    array([250., 300.])
    """
    from stdiffeye import statistics

    human_trials = read(human, split=split)
    systems = {name: read(gaze, human_trials) for name, gaze in (generated or {}).items()}
    found = statistics.stats(human_trials, systems, **settings)
    if out is not None:
        _write_statistics(found, Path(out))
    return found


def plot(
    gaze: File | Noun | Sequence[Noun] | Mapping[str, File | Sequence[Trial]],
    picture: Any = None,
    out: File | None = None,
    *,
    split: str | None = None,
    dpi: float | None = None,
    **options: Any,
) -> Figure:
    """Draw gaze over its picture, as a density, over time, or several systems side by side.

    Parameters
    ----------
    gaze : path, noun, sequence of nouns, or dict of str to path or sequence of Trial
        A file or store, gaze in memory, or several systems by name. Of a file one viewer is shown, for a density all.
    picture : path, PIL image or array, optional
        The picture, or a folder of pictures named like the stimuli; by default the trials' own.
    out : path, optional
        File to write: .png, .pdf or .svg.
    split : str, optional
        Only this split of the files.
    dpi : float, optional
        Resolution of PNG; 150 by default.
    **options
        As in `stdiffeye.plotting.plot`: kind, name, task, subject, viewers, colour, fit, …

    Returns
    -------
    matplotlib.figure.Figure
        The figure, also when it was written.

    Raises
    ------
    InputError
        Where a file cannot be read or nothing fits the selection.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath
    >>> figure = plot(Scanpath([[20, 30], [70, 50]], Frame(100, 80)))
    """
    from stdiffeye import plotting

    shown: Any = gaze
    if isinstance(gaze, File):
        whole = options.get("kind") in ("density", "multiples") or options.get("subject")
        options["viewers"] = options.get("viewers") or (None if whole else 1)
        shown = read(gaze, split=split)
    elif isinstance(gaze, Mapping):
        shown = {name: read(one, split=split) for name, one in gaze.items()}
    figure = plotting.plot(shown, picture, **options)
    if out is not None:
        plotting.save(figure, out, *([] if dpi is None else [dpi]))
    return figure


def replay(
    gaze: File | Noun | Sequence[Noun],
    picture: Any = None,
    out: File = "replay.html",
    *,
    split: str | None = None,
    **options: Any,
) -> Path:
    """Replay gaze over its picture in real time, as a page, a GIF or a film.

    Parameters
    ----------
    gaze : path, noun or sequence of nouns
        A file or store, or gaze in memory: one viewer or several of one picture.
    picture : path, PIL image or array, optional
        The picture, or a folder of pictures named like the stimuli; by default the trials' own.
    out : path
        File to write: .html, .gif or .mp4.
    split : str, optional
        Only this split of a file.
    **options
        As in `stdiffeye.plotting.replay`: speed, tail_ms, dim, fit, title, quiet. And which trials, as in
        `stdiffeye.plotting.selection.select`: name, task, viewers, subject. Of a file the first stimulus and its first
        15 viewers are shown by default.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    InputError
        Where a file cannot be read, nothing fits the selection, or the suffix of `out` is unknown.

    Examples
    --------
    >>> replay("gaze.json", "photo.jpg", "slow.gif", speed=0.5)  # doctest: +SKIP
    """
    from stdiffeye import plotting
    from stdiffeye.plotting.multiples import picture_of
    from stdiffeye.plotting.selection import select

    shown: Any = gaze
    wanted = {key: options.pop(key) for key in ("name", "task", "viewers", "subject") if key in options}
    if isinstance(gaze, File):
        wanted["viewers"] = wanted.get("viewers") or REPLAYED_VIEWERS
        shown = read(gaze, split=split)
    if wanted:
        shown = select(shown, **wanted)
        picture = picture_of(picture, shown[0].name)
    return plotting.replay(shown, picture, out, **options)


def features(
    sources: File | Sequence[File],
    encoder: str = "efficientnet-lite0",
    cache: File | None = None,
    flips: bool = False,
    download: bool = False,
    quiet: bool = False,
    work: WorkOptions | None = None,
) -> FeatureCache:
    """Encode pictures once and keep their features, so that training and generation need not encode them again.

    Parameters
    ----------
    sources : path or sequence of paths
        Pictures, folders of pictures, stores, or gaze files that name their pictures.
    encoder : str
        "efficientnet-lite0", "dinov2:FOLDER" or "dinov2:HUB_ID".
    cache : path, optional
        Where features are kept; by default `stdiffeye.encoders.cache.default_folder()`.
    flips : bool
        Also encode the pictures mirrored left to right, which training uses.
    download : bool
        Allow a hub id to be fetched from the network.
    quiet : bool
        Show no progress.
    work : WorkOptions, optional
        A shard of the pictures alone, or a cluster to share them; all fill one cache.

    Returns
    -------
    FeatureCache
        `get(pictures)` reads the features; `computed` says how many were missing, `home` where they are.

    Raises
    ------
    InputError
        Where no picture is found, or some cannot be read, after all others were encoded.
    """
    from stdiffeye.encoders.feature_files import features as encode

    return encode(pictures_of(sources), encoder, cache, flips, download, quiet, work)


def pictures_of(sources: File | Sequence[File]) -> list[Path]:
    """The picture files that files, folders and stores stand for, each once, in order."""
    paths = [sources] if isinstance(sources, File) else sources
    found = dict.fromkeys(picture for source in paths for picture in _pictures_of_one(Path(source)))
    if not found:
        raise InputError("no pictures were given: name pictures, folders of pictures, or stores")
    return list(found)


def _pictures_of_one(source: Path) -> list[Path]:
    from stdiffeye.data.store import Store
    from stdiffeye.data.store_manifest import is_store
    from stdiffeye.encoders.picture import find_pictures
    from stdiffeye.io.pictures import PICTURE_SUFFIXES

    if source.suffix.lower() in PICTURE_SUFFIXES:
        return [source]
    if is_store(source):
        pictures = list(Store.open(source).pictures.values())
    elif source.is_dir():
        pictures = find_pictures(source)
    else:
        from stdiffeye.data.read import read_trials

        pictures = [trial.picture for trial in read_trials(source) if trial.picture is not None]
    if not pictures:
        raise InputError(f"{source} holds no pictures and names none: give the folder of its pictures instead")
    return pictures


def read(gaze: File | Sequence[Trial], human: Sequence[Trial] = (), split: str | None = None) -> Sequence[Trial]:
    """Read trials from a store or any gaze file; given the humans, also other programs' predictions."""
    if not isinstance(gaze, File):
        chosen = [trial for trial in gaze if split in (None, trial.split)]
        if split is not None and not chosen:
            raise InputError(f"there is no trial of the split {split!r}")
        return chosen
    from stdiffeye.data.read import read_trials
    from stdiffeye.io.predictions import is_prediction_file, read_predictions

    return read_predictions(gaze, human) if human and is_prediction_file(gaze) else read_trials(gaze, split)


def _pairs(human: Sequence[Trial], systems: Mapping[str, Sequence[Trial]]) -> int:
    """About how many pairs of scanpaths an evaluation scores: humans shuffled eight times are most of them."""
    from stdiffeye.gaze.types import by_stimulus

    viewers = {key: len(some) for key, some in by_stimulus(human).items()}
    own = sum(14 * count**2 for count in viewers.values())
    samples = [(viewers.get(key, 0), len(some)) for one in systems.values() for key, some in by_stimulus(one).items()]
    return own + sum(count * n + n**2 // 2 for count, n in samples)


def _write_statistics(found: Statistics, out: Path) -> None:
    from stdiffeye.files import write_json, write_text
    from stdiffeye.plotting import save, statistics_figures

    write_json(out / "statistics.json", found.to_json())
    write_text(out / "statistics.md", found.to_markdown() + "\n")
    for name, figure in statistics_figures(found).items():
        for suffix in (".png", ".pdf"):
            save(figure, out / f"{name}{suffix}")
