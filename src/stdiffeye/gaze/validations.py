"""Validations of the calibration, as EyeLink writes them into its recordings.

    !CAL VALIDATION HV9 LR LEFT  GOOD ERROR 0.41 avg. 0.64 max  OFFSET 0.35 deg. 12.5,9.6 pix.
    VALIDATE LR POINT 0  LEFT  at 960,540  OFFSET 0.48 deg.  20.7,7.9 pix.

The first line sums up one eye, the others are its targets. A trial was recorded under the last validation before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from stdiffeye.gaze.recording import Message

NUMBER = r"(-?\d+(?:\.\d+)?)"
SUMMARY = re.compile(
    rf"!CAL VALIDATION\s+(\S+)\s+\S+\s+(LEFT|RIGHT)\s+(\S+)\s+ERROR\s+{NUMBER}\s+avg\.\s+{NUMBER}\s+max"
    rf"(?:\s+OFFSET\s+{NUMBER}\s+deg\.)?"
)


@dataclass(frozen=True)
class Validation:
    """How far gaze was from known targets, for one eye.

    Attributes
    ----------
    time_ms : float
        On the tracker's clock.
    eye : {"left", "right"}
    kind : str
        Number and layout of the targets, "HV9".
    verdict : str
        The tracker's own: GOOD, FAIR, POOR.
    mean_deg, max_deg : float
        Mean and largest distance from the targets.
    offset_deg : float or None
        Length of the mean offset, what a shift of all gaze would take away.
    """

    time_ms: float
    eye: Literal["left", "right"]
    kind: str
    verdict: str
    mean_deg: float
    max_deg: float
    offset_deg: float | None

    def as_dict(self) -> dict[str, Any]:
        """The validation as JSON values.

        Returns
        -------
        dict
            Field → value.
        """
        return asdict(self)


def validations_in(messages: Iterable[Message]) -> list[Validation]:
    """The validations among a recording's messages, in order of time.

    Parameters
    ----------
    messages : iterable of Message
        Messages of an EyeLink recording.

    Returns
    -------
    list of Validation
        One per eye and validation.

    Examples
    --------
    >>> text = "!CAL VALIDATION HV9 LR LEFT  GOOD ERROR 0.41 avg. 0.64 max  OFFSET 0.35 deg. 12.5,9.6 pix."
    >>> [(one.eye, one.mean_deg, one.max_deg) for one in validations_in([Message(5.0, text)])]
    [('left', 0.41, 0.64)]
    """
    found = []
    for message in messages:
        match = SUMMARY.search(message.text)
        if match:
            kind, eye, verdict, mean, largest, offset = match.groups()
            found.append(
                Validation(
                    message.time_ms,
                    "left" if eye == "LEFT" else "right",
                    kind,
                    verdict,
                    float(mean),
                    float(largest),
                    None if offset is None else float(offset),
                )
            )
    return sorted(found, key=lambda one: one.time_ms)


def validation_for(validations: Sequence[Validation], eye: str, start_ms: float) -> Validation | None:
    """The last validation of an eye before a time.

    Parameters
    ----------
    validations : sequence of Validation
        In order of time.
    eye : {"left", "right", "mean"}
        Of "mean" the worse of both eyes' is returned.
    start_ms : float
        On the tracker's clock.

    Returns
    -------
    Validation or None
        None where there was none before.
    """
    last: dict[str, Validation] = {}
    for one in validations:
        if one.time_ms <= start_ms and (eye in (one.eye, "mean")):
            last[one.eye] = one
    return max(last.values(), key=lambda one: one.mean_deg, default=None)
