"""Predictions as other programs write them, as trials.

* **HAT** writes `predictions_TP.json`, [{X, Y, name, task, condition}]: px of 512×320, no durations, no sample numbers.
* **Gazeformer** writes no file; its list [{X, Y, T, subject, name, task, condition}], px of 512×320, ms, saved as JSON.
* **GazeXplain** writes `predictions.json`: [{X, Y, T, dataset, evaluation_scores, …}] *without names*, px of 512×384,
  ms, in the order of its fixation file; it is read given the human trials of that file, in that order.
* **ScanDiff** writes `generations_*.pkl`: {name or (name, task): {size, scanpaths (V, L, 3), dataset, …}}, coordinates
  in [0, 1], seconds, padded with −3. Pickles are refused, with the command that turns them into JSON.
* **TPP-Gaze** writes no file; it returns per picture a list of (n, 3) arrays: x, y in px of the picture, ms.
* **DeepGaze III** writes no file; places are sampled per picture, x, y in px of the picture, no durations.

For the last three: JSON {"name" or "name|task": [[[x, y, ms], …], …]}, JSON [{name, task, size, scanpaths}, …], or an
.npz with one (V, L, 2 or 3) array per name; rows of NaN or −3 are padding. Where the file does not say the picture's
size, it is that of the human trials. Durations are seconds when their median is below 20.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.border import reading
from stdiffeye.errors import InputError
from stdiffeye.files import read_json
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.io.bytes_in import require_reasonable_size
from stdiffeye.io.npz import read_npz
from stdiffeye.io.scanpath_json import iterate_rows

SEARCH_FRAME = Frame(512, 320)  # HAT and Gazeformer: the 1680×1050 display made smaller
GAZEXPLAIN_FRAME = Frame(512, 384)
UNIT_FRAME = Frame(1, 1)
PADDING = -3.0
LONGEST_FIXATION_S = 20.0  # no fixation lasts 20 s and none 20 ms, so this tells seconds from milliseconds
PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".npy")
SEARCH_KEYS = {"X", "Y", "T", "subject", "name", "task", "condition"}
EXPORT = (
    "python -c \"import json, pickle; p = pickle.load(open('FILE', 'rb')); json.dump([dict(name=k if isinstance(k, "
    "str) else k[0], task='' if isinstance(k, str) else k[1], scanpaths=v['scanpaths'].tolist()) "
    "for k, v in p.items()], open('FILE.json', 'w'))\""
)

Array = NDArray[np.float64]


def is_prediction_file(path: str | Path) -> bool:
    """Whether a file is in a layout of this module rather than COCO-Search18-style JSON, a table or a store."""
    path = Path(path)
    if not path.is_file():
        return False
    if path.suffix in (*PICKLES, ".npz"):
        return True
    if path.suffix != ".json":
        return False
    with reading(path):
        return _has_other_layout(path)


def _has_other_layout(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        start = file.read(1 << 12).lstrip("\ufeff \t\r\n")
    if start.startswith("{"):
        return True
    if not start.startswith("["):
        return False
    first = next(iterate_rows(path), None)
    return first is not None and _layout(first) is not None


def read_predictions(path: str | Path, human: Sequence[Trial] = ()) -> list[Trial]:
    """All predictions of a file, samples numbered per stimulus.

    Parameters
    ----------
    human
        Trials of people, for files that do not say names (GazeXplain) or picture sizes.
    """
    path = Path(path)
    if path.suffix in PICKLES:
        raise InputError(
            f"{path} may be a pickle, which can run any code and is not read; "
            f"save it as JSON where it was made: {EXPORT}"
        )
    require_reasonable_size(path)
    with reading(path):
        return _read(path, human)


def _read(path: Path, human: Sequence[Trial]) -> list[Trial]:
    if path.suffix == ".npz":
        return _numbered(_from_mapping(read_npz(path).items(), path, human))
    content = read_json(path)
    if isinstance(content, dict):
        return _numbered(_from_mapping(content.items(), path, human))
    if not content:
        raise InputError(f"{path} holds no predictions")
    layout = _layout(content[0])
    if layout == "search":
        return _numbered(_from_rows(content, path))
    if layout == "nameless":
        return _numbered(_from_nameless(content, path, human))
    if layout == "stimuli":
        entries = ((f"{row['name']}|{row.get('task') or ''}", row) for row in content)
        return _numbered(_from_mapping(entries, path, human))
    raise InputError(f"{path} is not in a layout that other programs write; see the table in stdiffeye.io.predictions")


def _layout(row: dict[str, Any]) -> str | None:
    keys = set(row)
    if "scanpaths" in keys and "name" in keys:
        return "stimuli"
    if {"X", "Y"} <= keys and "name" not in keys:
        return "nameless"
    if {"X", "Y", "name", "condition"} <= keys <= SEARCH_KEYS and _fits(row):
        return "search"
    return None


def _fits(row: dict[str, Any]) -> bool:
    """Larger places than 512×320 cannot be HAT's or Gazeformer's; then they are px of the display."""
    x, y = row["X"], row["Y"]
    return not x or (max(x) <= SEARCH_FRAME.width_px and max(y) <= SEARCH_FRAME.height_px)


def _from_rows(rows: Iterable[dict[str, Any]], path: Path) -> Iterator[Trial]:
    for number, row in enumerate(rows, start=1):
        where = f"row {number} of {path}"
        if not _fits(row):
            raise InputError(f"{where} lies outside 512×320 px, where HAT and Gazeformer predict; add width and height")
        scanpath = _scanpath(_columns(row, where), SEARCH_FRAME, where)
        yield Trial(str(row["name"]), "", scanpath, task=str(row.get("task") or ""))


def _from_nameless(rows: Sequence[dict[str, Any]], path: Path, human: Sequence[Trial]) -> Iterator[Trial]:
    if len(rows) != len(human):
        raise InputError(
            f"{path} has {len(rows)} predictions without names, in the order of GazeXplain's fixation file, but there "
            f"are {len(human)} human trials; give exactly that file (and split) as the humans"
        )
    for number, (row, trial) in enumerate(zip(rows, human, strict=True), start=1):
        where = f"row {number} of {path}"
        yield Trial(trial.name, "", _scanpath(_columns(row, where), GAZEXPLAIN_FRAME, where), task=trial.task)


def _from_mapping(entries: Iterable[tuple[str, Any]], path: Path, human: Sequence[Trial]) -> Iterator[Trial]:
    frames = {trial.name: trial.frame for trial in human}
    read = []
    for key, value in entries:
        where = f"{key!r} in {path}"
        scanpaths = value["scanpaths"] if isinstance(value, dict) and "scanpaths" in value else value
        if not isinstance(scanpaths, list | np.ndarray):
            raise InputError(f"{where} is {type(scanpaths).__name__}, expected a list of scanpaths")
        arrays = [_array(one, where) for one in scanpaths]
        read.append((key, where, arrays, _frame(value, arrays, frames.get(key.partition("|")[0]), where)))
    durations = [ms for _, _, arrays, _ in read for array in arrays if array.shape[1] == 3 for ms in array[:, 2]]
    seconds = bool(durations) and float(np.median(durations)) < LONGEST_FIXATION_S
    for key, where, arrays, frame in read:
        name, _, task = key.partition("|")
        for array in arrays:
            yield Trial(name, "", _scanpath(array, frame, where, 1000.0 if seconds else 1.0), task=task)


def _array(scanpath: Any, where: str) -> Array:
    """(n, 2 or 3) without padding."""
    if isinstance(scanpath, dict):
        return _columns(scanpath, where)
    try:
        array = np.asarray(scanpath, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{where}: a scanpath must be rows of x, y or x, y, duration; got {scanpath!r:.60}") from None
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise InputError(f"{where}: a scanpath must have shape (n, 2) or (n, 3), got {array.shape}")
    padding = np.isnan(array).all(axis=1) | (array == PADDING).all(axis=1)
    return array[~padding]


def _columns(row: dict[str, Any], where: str) -> Array:
    columns = [row[key] for key in ("X", "Y", "T") if row.get(key) is not None]
    if len({len(column) for column in columns}) > 1:
        raise InputError(f"{where}: X, Y and T differ in length: {', '.join(str(len(column)) for column in columns)}")
    return np.array(columns, dtype=np.float64).T.reshape(-1, len(columns))


def _frame(value: Any, arrays: Sequence[Array], of_humans: Frame | None, where: str) -> Frame:
    """What the places are measured in: [0, 1] if nothing exceeds it, else the size said, else the humans' frame."""
    largest = max((float(np.abs(array[:, :2]).max()) for array in arrays if len(array)), default=0.0)
    if largest <= 1.5:
        return UNIT_FRAME
    if isinstance(value, dict) and value.get("size") is not None:
        width, height = value["size"]
        return Frame(width, height)
    if of_humans is None:
        raise InputError(f"{where} does not say the picture's size, and no human trial of that name does")
    return of_humans


def _scanpath(array: Array, frame: Frame, where: str, ms: float = 1.0) -> Scanpath:
    """`ms` is how many milliseconds a duration of 1 is."""
    if len(array) == 0:
        raise InputError(f"{where} has a scanpath without any fixation; leave such samples out")
    if not np.isfinite(array).all():
        raise InputError(f"{where} holds NaN or infinity within a scanpath")
    return Scanpath(array[:, :2], frame, array[:, 2] * ms if array.shape[1] == 3 else None)


def _numbered(trials: Iterable[Trial]) -> list[Trial]:
    """Every sample of a stimulus with its own number, in the order of the file."""
    seen: Counter[tuple[str, str]] = Counter()
    numbered = []
    for trial in trials:
        number = seen[trial.key]
        seen[trial.key] += 1
        numbered.append(Trial(trial.name, str(number), trial.scanpath, task=trial.task, details={"sample": number}))
    return numbered
