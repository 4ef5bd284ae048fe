r"""Recordings cut into trials by the messages that the experiment wrote into them.

A trial runs from a message that matches `start` to the next one that matches `end`, or to the next start, or to the
end of the recording, whichever comes first. A group `(?P<name>…)` in `start` names the trial or picture. Patterns
are searched anywhere in the message; the usual offset in front (`-14 SYNCTIME`) is part of it and moves no time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.gaze.recording import Message, Recording
from stdiffeye.gaze.recording_blocks import joined

# Tried in this order; the first that matches any message is used for the whole recording.
DEFAULT_STARTS = (
    r"^(?:-?\d+\s+)?TRIALID\s+(?P<name>.*\S)",
    r"(?i)^(?:-?\d+\s+)?(?:start[ _]?trial|trial[ _]?(?:start|begin|onset|on))\b[\s:=]*(?P<name>.*)",
)
DEFAULT_END = r"(?i)^(?:-?\d+\s+)?(?:TRIAL_RESULT|TRIAL OK|(?:stop|end)[ _]?trial|trial[ _]?(?:end|stop|offset|off))\b"
# SR Research's own message for "this picture is on the screen".
PICTURE = re.compile(r"!V IMGLOAD \S+ (?P<picture>\S+)")
EXAMPLES_SHOWN = 3


@dataclass(frozen=True)
class _Span:
    name: str
    start_ms: float
    end_ms: float


def split_trials(recordings: Sequence[Recording], start: str | None = None, end: str | None = None) -> list[Recording]:
    """The trials of one viewer's recordings (blocks on one clock), each a `Recording` with the trial's name.

    Samples that a moving lid bent away are set to lost first (`Recording.without_blink_edges`): a blink may lie across
    a trial's beginning, and only the whole block tells. A trial during which no sample was taken is left out. One that
    spans two blocks is joined, its pause kept as a gap, unless the blocks differ in rate.

    Parameters
    ----------
    recordings : sequence of Recording
        One viewer's blocks.
    start, end : str, optional
        Regular expressions; by default `DEFAULT_STARTS` and `DEFAULT_END`. With no start every block is one trial.

    Returns
    -------
    list of Recording
        One per trial.

    Raises
    ------
    InputError
        When a pattern was given but matches nothing, or no trial holds a sample.
    """
    # Stable: messages of the same time keep the order in which they were written.
    messages = sorted((message for block in recordings for message in block.messages), key=lambda m: m.time_ms)
    start_pattern = _start_pattern(messages, start)
    end_pattern = _compiled(end or DEFAULT_END, "--end")
    if end is not None and not any(end_pattern.search(message.text) for message in messages):
        raise InputError(f"no message matches the end pattern {end!r}; {_examples(messages)}")
    recordings = [block.without_blink_edges() for block in recordings]
    if start_pattern is None:
        return recordings
    trials = [_cut(recordings, span) for span in _spans(messages, start_pattern, end_pattern)]
    whole = [trial for trial in trials if trial is not None]
    if not whole:
        raise InputError(
            f"{len(trials)} messages match the start pattern {start_pattern.pattern!r}, "
            "but no sample was taken in any of these trials"
        )
    return whole


def _start_pattern(messages: Sequence[Message], start: str | None) -> re.Pattern[str] | None:
    if start is not None:
        pattern = _compiled(start, "--start")
        if not any(pattern.search(message.text) for message in messages):
            raise InputError(f"no message matches the start pattern {start!r}; {_examples(messages)}")
        return pattern
    for default in DEFAULT_STARTS:
        pattern = re.compile(default)
        if any(pattern.search(message.text) for message in messages):
            return pattern
    return None


def _compiled(pattern: str, flag: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InputError(f"{flag} {pattern!r} is not a regular expression: {error}") from None


def _spans(messages: Sequence[Message], start: re.Pattern[str], end: re.Pattern[str]) -> list[_Span]:
    spans: list[_Span] = []
    open_since: float | None = None
    name = ""
    for message in messages:
        match = start.search(message.text)
        if open_since is not None and (match or end.search(message.text)):
            spans.append(_Span(name, open_since, message.time_ms))
            open_since = None
        if match:
            open_since = message.time_ms
            name = (match.groupdict().get("name") or "").strip() or f"trial {len(spans) + 1}"
    if open_since is not None:
        spans.append(_Span(name, open_since, float("inf")))
    return spans


def _cut(recordings: Sequence[Recording], span: _Span) -> Recording | None:
    pieces = [
        replace(block.within(span.start_ms, span.end_ms), name=span.name)
        for block in recordings
        if np.diff(np.searchsorted(block.time_ms, [span.start_ms, span.end_ms]))[0]
    ]
    if not pieces:
        return None
    trial = joined(pieces)
    # Messages that name the picture often come before recording starts, so look at all within the span.
    pictures = [
        found["picture"]
        for block in recordings
        for message in block.messages
        if span.start_ms <= message.time_ms < span.end_ms and (found := PICTURE.search(message.text))
    ]
    if not pictures:
        return trial
    picture = PurePosixPath(pictures[0].replace("\\", "/")).name
    return replace(trial, name=picture, details={**trial.details, "trial": span.name})


def _examples(messages: Sequence[Message]) -> str:
    texts = [message.text for message in messages if not message.text.startswith(("!CAL", "VALIDATE", "!CMD"))]
    if not texts:
        return "the recording holds no messages"
    shown = ", ".join(repr(text[:40]) for text in list(dict.fromkeys(texts))[-EXAMPLES_SHOWN:])
    return f"messages look like {shown}"
