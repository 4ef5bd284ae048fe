"""One compiled pass over an EyeLink ASC file's bytes: sample lines become numbers, the others are noted for later.

A sample line begins with a digit: time, then x, y, pupil of one eye or of both, then whatever else was switched on
(velocity, resolution, input, flags, head target), which is not read. A lone `.` is a lost value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

MOST_VALUES = 6  # x, y, pupil of the left eye, then of the right one

_TAB, _NEWLINE, _RETURN, _SPACE = 9, 10, 13, 32
_PLUS, _MINUS, _POINT, _ZERO, _NINE, _SMALL_E, _LARGE_E = 43, 45, 46, 48, 57, 101, 69
_LARGEST_EXPONENT = 300


class Scan(NamedTuple):
    """What the pass found; S samples, L other lines that hold anything."""

    time: NDArray[np.float64]  # (S,)
    values: NDArray[np.float64]  # (MOST_VALUES, S); only the first `fields[i]` of a column are set
    fields: NDArray[np.uint8]  # (S,) how many values could be read after the time; 255 when not even the time could
    sample_at: NDArray[np.int64]  # (S,) where each sample's line begins
    line_start: NDArray[np.int64]  # (L,)
    line_end: NDArray[np.int64]  # (L,)
    samples_before: NDArray[np.int64]  # (L,)


NO_TIME = 255


def scan(data: bytes) -> Scan:
    """Read all of a file's lines."""
    buffer = np.frombuffer(data, dtype=np.uint8)
    lines = int(np.count_nonzero(buffer == _NEWLINE)) + 1
    out = Scan(
        np.empty(lines),
        np.empty((MOST_VALUES, lines)),
        np.empty(lines, np.uint8),
        np.empty(lines, np.int64),
        np.empty(lines, np.int64),
        np.empty(lines, np.int64),
        np.empty(lines, np.int64),
    )
    samples, others = _scan_lines(buffer, *out)
    return Scan(
        out.time[:samples],
        out.values[:, :samples],
        out.fields[:samples],
        out.sample_at[:samples],
        out.line_start[:others],
        out.line_end[:others],
        out.samples_before[:others],
    )


@njit(cache=True, nogil=True, inline="always")
def _is_blank(byte):  # type: ignore[no-untyped-def]
    return byte in (_SPACE, _TAB, _RETURN)


@njit(cache=True, nogil=True)
def _number(buffer, at, end):  # type: ignore[no-untyped-def]
    """The number that begins at `at`: (value, where it ends, whether it was one); a lone point is NaN."""
    negative = buffer[at] == _MINUS
    if negative or buffer[at] == _PLUS:
        at += 1
    digits = 0
    value = 0.0
    scale = 1.0
    while at < end and _ZERO <= buffer[at] <= _NINE:
        value = value * 10.0 + (buffer[at] - _ZERO)
        digits += 1
        at += 1
    if at < end and buffer[at] == _POINT:
        at += 1
        if digits == 0 and (at == end or _is_blank(buffer[at])):
            return np.nan, at, True
        while at < end and _ZERO <= buffer[at] <= _NINE:
            value = value * 10.0 + (buffer[at] - _ZERO)
            scale *= 10.0
            digits += 1
            at += 1
    value /= scale
    if digits > 0 and at < end and (buffer[at] == _SMALL_E or buffer[at] == _LARGE_E):
        at += 1
        down = at < end and buffer[at] == _MINUS
        if at < end and (buffer[at] == _MINUS or buffer[at] == _PLUS):
            at += 1
        exponent = 0
        digits = 0
        while at < end and _ZERO <= buffer[at] <= _NINE:
            exponent = min(exponent * 10 + int(buffer[at] - _ZERO), _LARGEST_EXPONENT)
            digits += 1
            at += 1
        value = value / 10.0**exponent if down else value * 10.0**exponent
    whole = digits > 0 and (at == end or _is_blank(buffer[at])) and np.isfinite(value)
    return (-value if negative else value), at, whole


@njit(cache=True, nogil=True)
def _scan_lines(buffer, time, values, fields, sample_at, line_start, line_end, samples_before):  # type: ignore[no-untyped-def]
    size = len(buffer)
    samples = 0
    others = 0
    at = 0
    while at < size:
        begin = at
        if not _ZERO <= buffer[at] <= _NINE:
            while at < size and buffer[at] != _NEWLINE:
                at += 1
            if at > begin:
                line_start[others] = begin
                line_end[others] = at
                samples_before[others] = samples
                others += 1
            at += 1
            continue
        end = at
        while end < size and buffer[end] != _NEWLINE:
            end += 1
        value, at, good = _number(buffer, at, end)
        time[samples] = value
        count = 0 if good else NO_TIME
        while good and count < MOST_VALUES:
            while at < end and _is_blank(buffer[at]):
                at += 1
            if at == end:
                break
            value, at, good = _number(buffer, at, end)
            if good:
                values[count, samples] = value
                count += 1
        fields[samples] = count
        sample_at[samples] = begin
        samples += 1
        at = end + 1
    return samples, others
