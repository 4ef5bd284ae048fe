"""A run as a model to hand on: configuration and half-precision weights, without logs and optimiser."""

from __future__ import annotations

import shutil
from pathlib import Path

from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write, write_text
from stdiffeye.training.card import CARD_FILE
from stdiffeye.training.checkpoint import load_weights, save_weights
from stdiffeye.training.run import ENCODER_FILE, RUN_FILE, read_run, weights_file


def export(run: str | Path, out: str | Path) -> Path:
    """Write the best weights of every trained stage of a run, as float16.

    Parameters
    ----------
    run : path
        Folder of the run.
    out : path
        Folder to write.

    Returns
    -------
    Path
        `out`, which `load` takes.

    Raises
    ------
    InputError
        When the run has no weights yet.
    """
    run, out = Path(run), Path(out)
    stages = read_run(run).build()
    written = 0
    for name, stage in stages.items():
        try:
            path = weights_file(run, name)
        except InputError:
            continue
        save_weights(out / f"{name}.safetensors", stage, load_weights(path, stage), float16=True)
        written += 1
    if not written:
        raise InputError(f"{run} has no weights yet: train it first")
    for name in (ENCODER_FILE, CARD_FILE):
        if (run / name).is_file():
            with atomic_write(out / name) as temporary:
                shutil.copyfile(run / name, temporary)
    write_text(out / RUN_FILE, (run / RUN_FILE).read_text(encoding="utf-8"))
    return out
