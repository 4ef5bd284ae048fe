"""What any file is: a recording, a gaze file, a data set, a store, a run, in numbers and small histograms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.data.run_description import is_run, run_facts, shipped_model
from stdiffeye.data.shards import ShardReport
from stdiffeye.data.store import Store
from stdiffeye.data.store_manifest import is_store
from stdiffeye.errors import InputError
from stdiffeye.files import read_json
from stdiffeye.gaze import Frame, Trial
from stdiffeye.gaze.message_kinds import message_kinds
from stdiffeye.gaze.recording import Recording
from stdiffeye.io.descriptions import Description, check, describe
from stdiffeye.io.gaze_files import READERS, kind, read_gaze
from stdiffeye.io.recordings import read_recording

BINS = 24
MOST_KINDS = 12
GAZE_NAME = "scanpaths.json"  # in the folders that generate, animate and fixations write


@dataclass(frozen=True)
class Histogram:
    """Counts between equal edges; `unit` of the edges. The last bin also holds values beyond `high`."""

    label: str
    unit: str
    low: float
    high: float
    counts: list[int]
    largest: float = np.nan
    """Of the values; above `high` where the last bin is open."""

    @classmethod
    def of(cls, label: str, unit: str, values: NDArray[Any]) -> Histogram | None:
        """Of the finite values, up to the 99th percentile so that one outlier does not hide the rest.

        Counts have bins of whole numbers, so that none is empty because no count can fall into it. Values that are all
        the same have one bin.
        """
        finite = np.asarray(values, np.float64)
        finite = finite[np.isfinite(finite)]
        if len(finite) == 0:
            return None
        low, high, largest = float(finite.min()), float(np.percentile(finite, 99)), float(finite.max())
        high = high if high > low else largest
        if np.issubdtype(np.asarray(values).dtype, np.integer):
            wide = max(1, int(np.ceil((high - low + 1) / BINS)))
            bins = max(1, int(np.ceil((np.ceil(high) - low + 1) / wide)))
            edges = low - 0.5 + wide * np.arange(bins + 1)
            high = float(edges[-1] - 0.5)
        elif low == largest:
            edges = np.array([low, np.nextafter(low, np.inf)])
        else:
            low, high = _nice(low, high)
            edges = np.linspace(low, high, BINS + 1)
        counts, _ = np.histogram(finite.clip(edges[0], edges[-1]), edges)
        return cls(label, unit, low, high, counts.tolist(), largest)


def _nice(low: float, high: float) -> tuple[float, float]:
    """A range of round ends around the one given: from 0 where that is near, in steps of 1, 2 or 5 times ten."""
    rough = (high - low) / BINS
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(one for one in (1, 2, 5, 10) if one * power >= rough)
    start = 0.0 if 0 <= low < 0.1 * high else float(np.floor(low / step) * step)
    return start, float(np.ceil(high / step) * step)


@dataclass(frozen=True)
class Info:
    """A description of one path: facts in order, tables of counts, histograms."""

    path: str
    what: str
    facts: dict[str, Any]
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    histograms: list[Histogram] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def info(path: str | Path, source: str | Path | None = None, screen: Frame | None = None) -> Info:
    """Describe a recording, a gaze file, a data set, a store, a run or a model.

    Parameters
    ----------
    path : str or Path
        What is described; the name of a data set, or its description, when `source` is given.
    source : str or Path, optional
        The folder that is checked for the data set's files.
    screen : Frame, optional
        The screen of a recording that does not give its size.

    Returns
    -------
    Info
        Facts in order, tables of counts, histograms.

    Raises
    ------
    InputError
        When there is no such thing.

    Examples
    --------
    >>> info("osie").facts["viewing (ms)"]
    3000
    """
    if source is not None:
        return _describe_set(describe(path), Path(source))
    path = Path(path)
    if not path.exists():
        return _describe_name(path)
    if is_run(path):
        return Info(str(path), "run", run_facts(path))
    if is_store(path):
        return _describe_store(Store.open(path))
    if (path / GAZE_NAME).is_file():
        path = path / GAZE_NAME
    if path.is_file() and kind(path) in READERS:
        try:
            return _describe_gaze(path, read_gaze(path))
        except InputError:
            if kind(path) not in (".csv", ".tsv"):
                raise
    return _describe_recordings(path, read_recording(path, frame=screen))


def _describe_name(name: Path) -> Info:
    """A data set or a model of the package."""
    try:
        return _describe_set(describe(name), None)
    except InputError:
        model = shipped_model(str(name))
        if model is None:
            raise InputError(f"{name} does not exist, and no data set or model has that name") from None
        return Info(str(name), "model", run_facts(model))


def _describe_store(store: Store) -> Info:
    columns, arrays = store.columns, store.scanpath_arrays()
    quality = ShardReport.from_dict(read_json(store.path / "quality.json"))
    facts = {
        "data set": store.dataset,
        "trials": len(store),
        "stimuli": len(store.words["name"]),
        "viewers": len(store.words["subject"]),
        "tasks": len([task for task in store.words["task"] if task]),
        "pictures": len(store.pictures),
        "fixations": len(arrays.xy_px),
        "order": "as fixated" if store.ordered else "none: all viewers' fixations together, for the encoder's density",
        "with durations": _share(columns["has_durations"]),
        "with onsets": _share(columns["has_onsets"]),
        "with trajectories": _share(columns["has_trajectory"]),
        "samples": int(store.info["points"]),
        "rate (Hz)": store.rate_hz,
        "samples lost": _lost_share(store.trajectory_arrays().xy_px),
        "frame (px)": _frames(zip(columns["width"].tolist(), columns["height"].tolist(), strict=True)),
        "licence": store.info["description"]["licence"],
        "cite": store.info["description"]["citation"],
        "quality": str(quality),
    }
    counts = {"split": _split_counts(store)}
    lengths = columns["n_points"][columns["n_points"] > 0] / store.rate_hz
    histograms = _histograms(columns["n_fixations"], arrays.duration_ms, lengths)
    return Info(str(store.path), "store", facts, counts, histograms)


def _split_counts(store: Store) -> dict[str, int]:
    numbers = np.bincount(store.columns["split_id"], minlength=len(store.words["split"]))
    return dict(zip(store.words["split"], numbers.tolist(), strict=True))


def _describe_gaze(path: Path, trials: Sequence[Trial]) -> Info:
    scanpaths = [trial.scanpath for trial in trials if trial.scanpath is not None]
    trajectories = [trial.trajectory for trial in trials if trial.trajectory is not None]
    durations = [scanpath.duration_ms for scanpath in scanpaths if scanpath.duration_ms is not None]
    facts = {
        "trials": len(trials),
        "stimuli": len({trial.name for trial in trials}),
        "viewers": len({trial.subject for trial in trials}),
        "tasks": len({trial.task for trial in trials if trial.task}),
        "fixations": sum(map(len, scanpaths)),
        "with durations": len(durations) / len(trials),
        "with onsets": sum(scanpath.onset_ms is not None for scanpath in scanpaths) / len(trials),
        "with trajectories": len(trajectories) / len(trials),
        "rate (Hz)": sorted({trajectory.rate_hz for trajectory in trajectories}),
        "frame (px)": _frames((trial.frame.width_px, trial.frame.height_px) for trial in trials),
    }
    counts = {"split": dict(Counter(trial.split or "(none)" for trial in trials))}
    lengths = np.array([trajectory.duration_ms / 1000 for trajectory in trajectories])
    fixations = np.array([len(scanpath) for scanpath in scanpaths])
    return Info(str(path), "gaze file", facts, counts, _histograms(fixations, _joined(durations), lengths))


def _describe_recordings(path: Path, recordings: list[Recording]) -> Info:
    lost = np.array([recording.missing_share() for recording in recordings])
    samples = np.array([len(recording) for recording in recordings])
    events: Counter[str] = Counter(event.kind for recording in recordings for event in recording.events)
    fixation_ms = [e.duration_ms for recording in recordings for e in recording.events if e.kind == "fixation"]
    facts: dict[str, Any] = {
        "blocks": len(recordings),
        "samples": int(samples.sum()),
        "seconds": round(sum(recording.duration_ms for recording in recordings) / 1000, 3),
        "rate (Hz)": sorted({recording.rate_hz for recording in recordings}),
        "eyes": " and ".join(dict.fromkeys(eye for recording in recordings for eye in recording.eyes)),
        "samples lost": float((lost * samples).sum() / samples.sum()),
        "frame (px)": _frames((r.frame.width_px, r.frame.height_px) for r in recordings),
        "messages": sum(len(recording.messages) for recording in recordings),
        "viewers": len({recording.subject for recording in recordings}),
    }
    seconds = np.array([recording.duration_ms / 1000 for recording in recordings])
    histograms = [
        Histogram.of("seconds per block", "s", seconds),
        Histogram.of("the tracker's fixations", "ms", np.array(fixation_ms)),
    ]
    kinds = message_kinds(message for recording in recordings for message in recording.messages)
    shown = dict(list(kinds.items())[:MOST_KINDS])
    if len(kinds) > len(shown):
        facts["kinds of messages"] = f"{len(kinds)}, the {len(shown)} most frequent below"
    counts = {"events of the tracker": dict(events), "messages (# is a number)": shown}
    return Info(str(path), "recording", facts, counts, [item for item in histograms if item is not None])


def _describe_set(description: Description, source: Path | None) -> Info:
    """What is known of a data set, and which of its files are there."""
    facts: dict[str, Any] = {
        "title": description.title,
        "frame (px)": f"{description.width_px:g}×{description.height_px:g}" if description.width_px else "each its own",
        "px per degree": description.px_per_degree,
        "rate (Hz)": description.rate_hz,
        "viewing (ms)": description.viewing_ms,
        "first fixation": description.first_fixation,
        "order": "as fixated" if description.ordered else "none: all viewers' fixations together",
        "split": description.split.rule,
        "licence": description.licence,
        "cite": description.citation,
        "from": description.url,
        "notes": description.notes,
    }
    for found in check(description, source or Path()):
        state = f"{found.count} there" if found.count else "MISSING" if found.missing else "not there (optional)"
        shown = f"{found.expected.what}" if source is None else f"{state}: {found.expected.what}, {found.where}"
        facts[f"file {found.expected.path}"] = shown
    return Info(description.name, "data set", facts)


def _histograms(fixations: Any, duration_ms: Any, seconds: Any) -> list[Histogram]:
    wanted = [
        Histogram.of("fixations per trial", "", fixations),
        Histogram.of("fixation duration", "ms", duration_ms),
        Histogram.of("trajectory length", "s", seconds),
    ]
    return [item for item in wanted if item is not None]


def _joined(arrays: list[Any]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0)


def _frames(sizes: Iterable[tuple[float, float]]) -> str:
    counts = Counter(sizes)
    (width, height), _ = counts.most_common(1)[0]
    more = f" and {len(counts) - 1} more" if len(counts) > 1 else ""
    return f"{width:g}×{height:g}{more}"


def _share(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else 0.0


def _lost_share(xy_px: NDArray[Any]) -> float:
    return float(np.isnan(xy_px[:, 0]).mean()) if len(xy_px) else 0.0
