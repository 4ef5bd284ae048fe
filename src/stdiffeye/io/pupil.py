"""Export folders of Pupil Labs: Pupil Core (Pupil Player), Neon and Invisible (Pupil Cloud, Neon Player).

| tracker | gaze | other files that are read |
|---|---|---|
| Core | `gaze_positions.csv`: seconds, shares of the scene from the bottom left, confidence | `blinks.csv`, |
| | or each `surfaces/gaze_positions_on_surface_NAME.csv`, a recording called NAME | `annotations.csv` |
| Neon, Invisible | `gaze.csv`: ns, px of the scene camera, `worn` | `events.csv`, `blinks.csv`, `fixations.csv`, |
| | | `scene_camera.json` (px per degree), `info.json` (viewer) |

Gaze of Core with a confidence below 0.6 is lost, as Pupil Player advises. Core's shares need the size of the scene, or
of the surface (`--screen`). Both eyes make one point of gaze, which is kept as the left eye's.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import Event, Message, Recording
from stdiffeye.io.bytes_in import decoded, text_bytes
from stdiffeye.io.table import Table, rate_of

CORE, NEON = "gaze_positions.csv", "gaze.csv"
SURFACES = "surfaces/gaze_positions_on_surface_*.csv"
MIN_CONFIDENCE = 0.6
NEON_SCENE, INVISIBLE_SCENE = Frame(1600, 1200), Frame(1088, 1080)
NEON_COLUMNS = ("timestamp [ns]", "gaze x [px]", "gaze y [px]")
MS_PER_NS, MS_PER_S = 1e-6, 1000.0
TRUE = ("true", "1", "1.0")


def is_pupil(path: Path) -> bool:
    """Whether a folder is an export of Pupil Core, Neon or Invisible."""
    return path.is_dir() and (_is_core(path) or _is_neon(path))


def read_pupil(path: str | Path, frame: Frame | None = None) -> list[Recording]:
    """The recordings of an export folder: one, or one per surface.

    Parameters
    ----------
    frame
        The scene camera's picture, or the surface; Neon's and Invisible's are known.
    """
    path = Path(path)
    return _neon(path, frame) if _is_neon(path) else _core(path, frame)


def _is_core(path: Path) -> bool:
    return (path / CORE).is_file() or any(path.glob(SURFACES))


def _is_neon(path: Path) -> bool:
    if not (path / NEON).is_file():
        return False
    try:
        return set(NEON_COLUMNS) <= set(Table.header_of(path / NEON))
    except InputError:
        return False


def _core(path: Path, frame: Frame | None) -> list[Recording]:
    if frame is None:
        raise InputError(f"{path} holds shares of the scene, not its size: give --screen WIDTHxHEIGHT of the scene")
    surfaces = sorted(path.glob(SURFACES))
    blinks = _events(path / "blinks.csv", "blink", "start_timestamp", "duration", MS_PER_S, MS_PER_S)
    messages = _messages(path / "annotations.csv", "timestamp", "label", MS_PER_S)
    subject = path.resolve().name
    made = []
    for file in surfaces or [path / CORE]:
        table = Table.read(file)
        on_surface = bool(surfaces)
        x, y = ("x_norm", "y_norm") if on_surface else ("norm_pos_x", "norm_pos_y")
        shares = np.stack([table.numbers(x), 1 - table.numbers(y)], axis=1)
        if "confidence" in table.header:
            with np.errstate(invalid="ignore"):
                shares[~(table.numbers("confidence") >= MIN_CONFIDENCE)] = np.nan
        name = file.stem.removeprefix("gaze_positions_on_surface_") if on_surface else subject
        made.append(_recording(table.numbers("gaze_timestamp") * MS_PER_S, frame.denormalise(shares), frame, name))
    return [replace(one, subject=subject, events=blinks, messages=messages) for one in made]


def _neon(path: Path, frame: Frame | None) -> list[Recording]:
    table = Table.read(path / NEON)
    time_ms = table.numbers(NEON_COLUMNS[0]) * MS_PER_NS
    xy_px = np.stack([table.numbers(name) for name in NEON_COLUMNS[1:]], axis=1)
    if "worn" in table.header:
        xy_px[[word.lower() not in TRUE for word in table.words("worn")]] = np.nan
    events = (
        *_events(path / "blinks.csv", "blink", "start timestamp [ns]", "duration [ms]", MS_PER_NS, 1.0),
        *_events(path / "fixations.csv", "fixation", "start timestamp [ns]", "duration [ms]", MS_PER_NS, 1.0),
    )
    wearer = _json(path / "info.json").get("wearer_name")
    subject = wearer if isinstance(wearer, str) and wearer else path.resolve().name
    one = _recording(time_ms, xy_px, frame or _scene(path), path.resolve().name)
    messages = _messages(path / "events.csv", "timestamp [ns]", "name", MS_PER_NS)
    return [replace(one, subject=subject, events=events, messages=messages)]


def _recording(time_ms: Floats, xy_px: Floats, frame: Frame, name: str) -> Recording:
    """Rows in order of time: each eye is mapped on its own, and the later of two rows of one time is left out."""
    known = np.isfinite(time_ms)
    time, first = np.unique(time_ms[known], return_index=True)
    if len(time) == 0:
        raise InputError(f"{name!r} holds no gaze")
    return Recording(time, rate_of(time, name), frame, left_px=xy_px[known][first], name=name)


def _scene(path: Path) -> Frame:
    """The scene camera: its focal length tells px per degree, its centre which of the two trackers it is."""
    camera = _json(path / "scene_camera.json").get("camera_matrix")
    try:
        matrix = np.asarray(camera, dtype=np.float64)
        focal_px, middle_px = float(matrix[0, 0]), float(matrix[0, 2])
        scene = NEON_SCENE if middle_px > (NEON_SCENE.width_px + INVISIBLE_SCENE.width_px) / 4 else INVISIBLE_SCENE
        return Frame(scene.width_px, scene.height_px, focal_px * float(np.tan(np.radians(1))))
    except (TypeError, ValueError, IndexError):
        warnings.warn(f"{path} has no scene_camera.json: Neon's 1600×1200 px taken; give --screen", stacklevel=4)
        return NEON_SCENE


def _events(file: Path, kind: Any, start: str, duration: str, to_ms: float, lasting_ms: float) -> tuple[Event, ...]:
    if not file.is_file():
        return ()
    table = _table_or_none(file)
    if table is None or not {start, duration} <= set(table.header):
        return ()
    pairs = np.stack([table.numbers(start) * to_ms, table.numbers(duration) * lasting_ms], axis=1)
    return tuple(Event(kind, "left", at, lasted) for at, lasted in pairs[np.isfinite(pairs).all(axis=1)].tolist())


def _messages(file: Path, time: str, text: str, to_ms: float) -> tuple[Message, ...]:
    table = _table_or_none(file) if file.is_file() else None
    if table is None or not {time, text} <= set(table.header):
        return ()
    pairs = zip((table.numbers(time) * to_ms).tolist(), table.words(text), strict=True)
    return tuple(Message(at, word) for at, word in pairs if np.isfinite(at))


def _table_or_none(file: Path) -> Table | None:
    """A table; None where it has a header alone, as an export without blinks has."""
    rows = [line for line in decoded(text_bytes(file, "a table")).splitlines() if line.strip()]
    return Table.read(file) if len(rows) > 1 else None


def _json(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        values = json.loads(decoded(text_bytes(file, "JSON")))
    except (ValueError, RecursionError):
        raise InputError(f"{file} is not JSON: is it damaged?") from None
    return values if isinstance(values, dict) else {}
