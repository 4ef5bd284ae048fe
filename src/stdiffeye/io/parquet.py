"""Scanpaths as Parquet (extra `tables`), one row per fixation; columns as in `fixation_table`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write
from stdiffeye.gaze import Frame, Trial
from stdiffeye.io.fixation_table import WORDS, table_from_trials, trials_from_table
from stdiffeye.io.native import parse_apart
from stdiffeye.io.pictures import with_pictures_inside


def read_parquet(path: str | Path, frame: Frame | None = None) -> list[Trial]:
    """All trials of a table of fixations; `frame` serves tables without width_px and height_px."""
    columns = parse_apart("parquet", Path(path), "Parquet")
    return with_pictures_inside(trials_from_table(columns, str(path), frame), path)


def write_parquet(path: str | Path, trials: Iterable[Trial]) -> None:
    """Write trials as Parquet; words are dictionary-encoded, unknown numbers are null. Whole or not at all."""
    arrow = _pyarrow()
    columns = {}
    for key, values in table_from_trials(list(trials), Path(path).parent).items():
        if key in WORDS:
            columns[key] = arrow.array(values.tolist(), arrow.string()).dictionary_encode()
        else:
            columns[key] = arrow.array(values, mask=np.isnan(values))
    with atomic_write(path) as temporary:
        arrow.parquet.write_table(arrow.table(columns), temporary)


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install 'stdiffeye[tables]'") from None
    return pyarrow
