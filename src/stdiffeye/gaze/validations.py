"""Validations of the calibration, as EyeLink writes them into its recordings.

    !CAL VALIDATION HV9 LR LEFT  GOOD ERROR 0.41 avg. 0.64 max  OFFSET 0.35 deg. 12.5,9.6 pix.
    VALIDATE LR POINT 0  LEFT  at 960,540  OFFSET 0.48 deg.  20.7,7.9 pix.

The first line sums up one eye, the others are its targets, which follow it. Targets that no line sums up are summed up
here. A trial was recorded under the last validation before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from stdiffeye.gaze.recording import Message

NUMBER = r"(-?\d+(?:\.\d+)?)"
SUMMARY = re.compile(
    rf"!CAL VALIDATION\s+(\S+)\s+\S+\s+(LEFT|RIGHT)\s+(\S+)\s+ERROR\s+{NUMBER}\s+avg\.\s+{NUMBER}\s+max"
    rf"(?:\s+OFFSET\s+{NUMBER}\s+deg\.)?"
)
TARGET = re.compile(
    rf"VALIDATE\s+\S+\s+\d*POINT\s+(\d+)\s+(LEFT|RIGHT)\s+at\s+{NUMBER},{NUMBER}\s+"
    rf"OFFSET\s+{NUMBER}\s+deg\.\s+{NUMBER},{NUMBER}\s+pix"
)
EYES: dict[str, Literal["left", "right"]] = {"LEFT": "left", "RIGHT": "right"}


@dataclass(frozen=True)
class ValidationPoint:
    """One target of a validation.

    Attributes
    ----------
    number : int
        Of the target, from 0.
    x_px, y_px : float
        Where it was shown.
    offset_deg : float
        How far gaze was from it.
    offset_x_px, offset_y_px : float
        The same to the right and down.
    """

    number: int
    x_px: float
    y_px: float
    offset_deg: float
    offset_x_px: float
    offset_y_px: float


@dataclass(frozen=True)
class Validation:
    """How far gaze was from known targets, for one eye.

    Attributes
    ----------
    time_ms : float
        On the tracker's clock.
    eye : {"left", "right"}
    kind : str
        Number and layout of the targets, "HV9"; "" where the file does not say it.
    verdict : str
        The tracker's own: GOOD, FAIR, POOR; "" where there is none.
    mean_deg, max_deg : float
        Mean and largest distance from the targets.
    offset_deg : float or None
        Length of the mean offset, what a shift of all gaze would take away.
    points : tuple of ValidationPoint
        Its targets, where the recording names them.
    """

    time_ms: float
    eye: Literal["left", "right"]
    kind: str
    verdict: str
    mean_deg: float
    max_deg: float
    offset_deg: float | None
    points: tuple[ValidationPoint, ...] = ()

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
    >>> texts = [
    ...     "!CAL VALIDATION HV9 LR LEFT  GOOD ERROR 0.41 avg. 0.64 max  OFFSET 0.35 deg. 12.5,9.6 pix.",
    ...     "VALIDATE LR POINT 0  LEFT  at 960,540  OFFSET 0.48 deg.  20.7,7.9 pix.",
    ... ]
    >>> (one,) = validations_in(Message(5.0, text) for text in texts)
    >>> one.eye, one.mean_deg, one.max_deg, len(one.points)
    ('left', 0.41, 0.64, 1)
    """
    found: dict[tuple[float, str], Validation] = {}
    targets: dict[tuple[float, str], list[ValidationPoint]] = {}
    for message in messages:
        summary, target = SUMMARY.search(message.text), TARGET.search(message.text)
        if summary:
            kind, eye, verdict, mean, largest, offset = summary.groups()
            known = None if offset is None else float(offset)
            found[message.time_ms, eye] = Validation(
                message.time_ms, EYES[eye], kind, verdict, float(mean), float(largest), known
            )
        elif target:
            number, eye, *values = target.groups()
            targets.setdefault((message.time_ms, eye), []).append(ValidationPoint(int(number), *map(float, values)))
    for key, points in targets.items():
        summed_up = found.get(key) or _of_points(key, points)
        found[key] = replace(summed_up, points=tuple(points))
    return sorted(found.values(), key=lambda one: one.time_ms)


def _of_points(key: tuple[float, str], points: Sequence[ValidationPoint]) -> Validation:
    """A validation that the recording itself does not sum up."""
    offsets = [point.offset_deg for point in points]
    return Validation(key[0], EYES[key[1]], "", "", round(sum(offsets) / len(offsets), 3), max(offsets), None)


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
