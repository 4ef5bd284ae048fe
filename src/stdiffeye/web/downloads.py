"""What can be taken home: gaze as files, pictures of it, and its replay."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.csv_cells import CsvWriter
from stdiffeye.errors import InputError
from stdiffeye.files import temporary_folder
from stdiffeye.gaze import Trial
from stdiffeye.io.gaze_files import write_gaze
from stdiffeye.io.scanpath_json import row_from_trial
from stdiffeye.plotting import draw, replay
from stdiffeye.plotting.canvas import DPI, png_bytes
from stdiffeye.plotting.heatmap_files import grey_picture, heatmap
from stdiffeye.web.model_pool import JobResult

MOST_IN_REPLAY = 64


@dataclass(frozen=True)
class Download:
    """One kind of file: how it is called after the picture's name, its media type, and how it is made."""

    ending: str
    media: str
    make: Callable[[JobResult, Sequence[Trial]], bytes]


def make(kind: str, result: JobResult, viewers: Sequence[int]) -> tuple[bytes, str, str]:
    """Content, media type and file name of a download with the gaze of some viewers (all when none is named)."""
    wrong = [number for number in viewers if number >= len(result.trials)]
    if wrong:
        raise InputError(f"there is no viewer {wrong[0]}: they are numbered from 0 to {len(result.trials) - 1}")
    chosen = [result.trials[number] for number in viewers] or result.trials
    found = DOWNLOADS[kind]
    stem = "".join(c if c.isalnum() and c.isascii() else "-" for c in PurePath(result.name).stem).strip("-")
    return found.make(result, chosen), found.media, f"{stem or 'gaze'}-{found.ending}"


def _json(result: JobResult, trials: Sequence[Trial]) -> bytes:
    rows = [json.dumps(row_from_trial(trial), allow_nan=False, ensure_ascii=False) for trial in trials]
    return ("[\n" + ",\n".join(rows) + "\n]\n").encode()


def _fixations_csv(result: JobResult, trials: Sequence[Trial]) -> bytes:
    with temporary_folder() as folder:
        path = folder / "fixations.csv"
        write_gaze(path, trials)
        return path.read_bytes()


def _samples_csv(result: JobResult, trials: Sequence[Trial]) -> bytes:
    text = io.StringIO()
    rows = CsvWriter(text)
    rows.row(["name", "task", "sample", "time_ms", "x", "y", "sampling"])
    for trial in trials:
        if trial.trajectory is None:
            raise InputError(f"{result.model} generates scanpaths only: there are no samples to write")
        sampling = trial.details.get("sampling", "")
        words = (trial.name, trial.task, trial.subject)
        for time_ms, (x, y) in zip(trial.trajectory.time_ms.tolist(), trial.trajectory.xy_px.tolist(), strict=True):
            cells = [*words, f"{time_ms:.2f}", f"{x:.2f}", f"{y:.2f}", sampling]
            rows.row(cells)
    return text.getvalue().encode()


def _drawn(kind: str) -> Callable[[JobResult, Sequence[Trial]], bytes]:
    def drawn(result: JobResult, trials: Sequence[Trial]) -> bytes:
        return png_bytes(draw(list(trials), result.picture, kind=kind), DPI)

    return drawn


def _heatmap_npy(result: JobResult, trials: Sequence[Trial]) -> bytes:
    """(H, W) float32, a value per pixel of the picture, which sum to 1."""
    buffer = io.BytesIO()
    np.save(buffer, _density(trials).astype(np.float32), allow_pickle=False)
    return buffer.getvalue()


def _heatmap_grey(result: JobResult, trials: Sequence[Trial]) -> bytes:
    buffer = io.BytesIO()
    grey_picture(_density(trials)).save(buffer, "PNG")
    return buffer.getvalue()


def _density(trials: Sequence[Trial]) -> Floats:
    return heatmap([trial.scanpath for trial in trials if trial.scanpath is not None])


def _replay(suffix: str) -> Callable[[JobResult, Sequence[Trial]], bytes]:
    def moving(result: JobResult, trials: Sequence[Trial]) -> bytes:
        if len(trials) > MOST_IN_REPLAY:
            raise InputError(f"a replay shows at most {MOST_IN_REPLAY} viewers, got {len(trials)}: switch some off")
        named = [replace(trial, subject=f"viewer {int(trial.subject) + 1}") for trial in trials]
        with temporary_folder() as folder:
            return replay(named, result.picture, folder / f"replay{suffix}", title=_title(result)).read_bytes()

    return moving


def _title(result: JobResult) -> str:
    task = f", looking for {result.request.task}" if result.request.task else ""
    return f"{result.name}{task} (generated gaze)"


DOWNLOADS = {
    "gaze.json": Download("gaze.json", "application/json", _json),
    "fixations.csv": Download("fixations.csv", "text/csv; charset=utf-8", _fixations_csv),
    "samples.csv": Download("samples.csv", "text/csv; charset=utf-8", _samples_csv),
    "scanpaths.png": Download("scanpaths.png", "image/png", _drawn("scanpath")),
    "trajectories.png": Download("trajectories.png", "image/png", _drawn("trajectory")),
    "heatmap.png": Download("heatmap.png", "image/png", _drawn("density")),
    "heatmap.npy": Download("heatmap.npy", "application/octet-stream", _heatmap_npy),
    "heatmap-grey.png": Download("heatmap-grey.png", "image/png", _heatmap_grey),
    "replay.html": Download("replay.html", "text/html; charset=utf-8", _replay(".html")),
    "replay.gif": Download("replay.gif", "image/gif", _replay(".gif")),
}
