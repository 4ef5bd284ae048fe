"""GazeBase CSV (Griffith et al., Scientific Data 2021), one file per viewer, session and task: `S_1001_S1_TEX.csv`.

Layout: the columns `n, x, y, val, xT, yT, dP, lab`, in an order that depends on the task; n is ms at 1000 Hz, NaN or a
`val` other than 0 is lost, dP is the pupil. The screen has 1680×1050 px on 474×297 mm, 550 mm from the eye.

x and y are degrees from the eye's primary position, to the right and up. That position is 36 mm above the centre of the
screen, which therefore reaches from −18.5° to 11.6° vertically. EMIP Toolkit, which lays GazeBase over the text that
was read, converts so, too; the set itself says nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import Recording
from stdiffeye.io.table import Table, in_ms, rate_of

HEADER = ("n", "x", "y", "val", "xT", "yT", "dP", "lab")
WIDTH_PX, HEIGHT_PX = 1680, 1050
WIDTH_MM, HEIGHT_MM, DISTANCE_MM = 474.0, 297.0, 550.0
ABOVE_CENTRE_MM = 36.0
SCREEN = Frame(WIDTH_PX, HEIGHT_PX, float(WIDTH_PX / WIDTH_MM * DISTANCE_MM * np.tan(np.radians(1))))
NAME = re.compile(r"S_(?P<viewer>\d+)_S(?P<session>\d+)_(?P<task>\w+)")
STEEPEST_DEG = 89.0


def is_gazebase(header: Sequence[str]) -> bool:
    """Whether a table's header is GazeBase's, in any order."""
    return sorted(header) == sorted(HEADER)


def read_gazebase(path: str | Path) -> list[Recording]:
    """The one recording of a file; task and session are in its name."""
    table = Table.read(path)
    time_ms = in_ms(table.numbers("n"), "ms")
    degrees = np.stack([table.numbers("x"), -table.numbers("y")], axis=1)
    with np.errstate(invalid="ignore"):
        degrees[np.abs(degrees) > STEEPEST_DEG] = np.nan
        degrees[table.numbers("val") != 0] = np.nan
    per_mm = np.array([WIDTH_PX / WIDTH_MM, HEIGHT_PX / HEIGHT_MM])
    from_centre_mm = np.tan(np.radians(degrees)) * DISTANCE_MM - (0.0, ABOVE_CENTRE_MM)
    xy_px = SCREEN.centre_px + from_centre_mm * per_mm
    stem = table.path.name.split(".")[0]
    named = NAME.fullmatch(stem)
    details = {} if named is None else {"session": int(named["session"]), "task": named["task"]}
    subject = stem if named is None else named["viewer"]
    pupil = table.numbers("dP")
    return [
        Recording(
            time_ms,
            rate_of(time_ms, stem),
            SCREEN,
            left_px=xy_px,
            left_pupil=pupil,
            name=stem,
            subject=subject,
            details=details,
        )
    ]
