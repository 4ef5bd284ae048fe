"""One flipped bit in a data file: is it noticed? Stores and weights must refuse it, the cache must compute anew."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.benchmark.made_study import MadeStudy
from stdiffeye.data.store import Store
from stdiffeye.encoders.cache import FeatureCache
from stdiffeye.encoders.choose import picture_encoder
from stdiffeye.errors import InputError
from stdiffeye.files import temporary_folder
from stdiffeye.weight_files import read_weights


@dataclass
class FlipReport:
    """What became of flipped bits in one kind of file."""

    what: str
    flips: int = 0
    refused: int = 0
    repaired: int = 0
    """Noticed and computed anew, with the same values."""
    harmless: int = 0
    """Not noticed, and the values are the same."""
    silent: int = 0
    """Not noticed, and the values are others."""


def flip_bits(study: MadeStudy, per_kind: int, seed: int = 0) -> list[FlipReport]:
    """Flip one bit of a file, read it, put it back; so many times for each kind of file."""
    rng = np.random.default_rng(seed)
    encoder = picture_encoder("efficientnet-lite0")
    picture = study.pictures / "0.png"
    entry = FeatureCache(encoder, study.cache).path(picture)
    FeatureCache(encoder, study.cache).get([picture])
    kinds: dict[str, tuple[Path, Callable[[], Any]]] = {
        "store, scanpaths": (study.store / "scanpaths.safetensors", lambda: _trials(study.store)),
        "store, trajectories": (study.store / "trajectories.safetensors", lambda: _trials(study.store)),
        "store, trials": (study.store / "trials.jsonl", lambda: _trials(study.store)),
        "weights": (study.run / "scanpath" / "last.safetensors", lambda: _weights(study.run)),
        "cached features": (entry, lambda: FeatureCache(encoder, study.cache).get([picture]).tobytes()),
    }
    return [_attacked(what, path, read, per_kind, rng) for what, (path, read) in kinds.items()]


def _attacked(what: str, path: Path, read: Callable[[], Any], count: int, rng: np.random.Generator) -> FlipReport:
    report, expected = FlipReport(what), read()
    with temporary_folder() as folder:
        whole = folder / path.name
        shutil.copy2(path, whole)
        for _ in range(count):
            flipped = _flipped(whole.read_bytes(), rng)
            path.write_bytes(flipped)
            report.flips += 1
            try:
                same = read() == expected
            except InputError:
                report.refused += 1
            else:
                repaired = path.read_bytes() != flipped
                report.silent += not same
                report.repaired += same and repaired
                report.harmless += same and not repaired
            shutil.copy2(whole, path)
    return report


def _flipped(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _trials(store: Path) -> Any:
    return [(trial.name, trial.subject, trial.scanpath, trial.trajectory) for trial in Store.open(store).trials()]


def _weights(run: Path) -> Any:
    tensors, about = read_weights(run / "scanpath" / "last.safetensors")
    return {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}, about
