"""Blocks of one recording, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.gaze.recording import ARRAYS, Recording


def joined(recordings: Sequence[Recording]) -> Recording:
    """Blocks of one viewer, one after the other on the same clock, as one; the pause between them stays a gap.

    Only the eyes (and pupils) that every block has are kept.

    Parameters
    ----------
    recordings : sequence of Recording
        Blocks in order of time, with one rate and one screen.

    Returns
    -------
    Recording
        Named as the first.

    Raises
    ------
    InputError
        When rates, screens or all eyes differ.
    """
    first = recordings[0]
    for other in recordings[1:]:
        if other.rate_hz != first.rate_hz:
            raise InputError(
                f"{first.name!r} spans blocks of two rates ({first.rate_hz:g} and {other.rate_hz:g} Hz): "
                "choose --start and --end so that a trial lies within one block"
            )
        if other.frame != first.frame:
            raise InputError(f"{first.name!r} spans blocks of two screens: {first.frame} and {other.frame}")
    columns: dict[str, Any] = {}
    for name in ARRAYS:
        pieces = [getattr(recording, name) for recording in recordings]
        columns[name] = None if any(piece is None for piece in pieces) else np.concatenate(pieces)
    if columns["left_px"] is None and columns["right_px"] is None:
        raise InputError(f"{first.name!r} spans blocks of different eyes: no eye was recorded throughout")
    return replace(
        first,
        **columns,
        events=tuple(event for recording in recordings for event in recording.events),
        messages=tuple(message for recording in recordings for message in recording.messages),
    )
