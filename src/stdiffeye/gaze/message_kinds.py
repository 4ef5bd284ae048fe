"""Kinds of messages in a recording: the same words with other numbers are one kind, so that `--start` can be chosen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from stdiffeye.gaze.recording import Message

TECHNICAL = (
    "!CAL",
    "!CMD",
    "!MODE",
    "VALIDATE",
    "RECCFG",
    "ELCLCFG",
    "GAZE_COORDS",
    "THRESHOLDS",
    "ELCL_",
    "CAMERA_LENS",
)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
FILE = re.compile(r"\S+\.(?:jpe?g|png|bmp|gif|tiff?|avi|mp4|wav)\b", re.IGNORECASE)
LONGEST = 60


def message_kinds(messages: Iterable[Message]) -> dict[str, int]:
    """Kind → how many, most frequent first; what the tracker writes about itself is left out.

    Parameters
    ----------
    messages : iterable of Message
        Messages of a recording.

    Returns
    -------
    dict of str to int
        Kind → count.

    Examples
    --------
    >>> texts = ["TRIALID 1", "TRIALID 2", "-14 SYNCTIME", "PICTURE_ON cat 3.jpg", "!CAL x"]
    >>> message_kinds(Message(float(at), text) for at, text in enumerate(texts))
    {'TRIALID #': 2, '# SYNCTIME': 1, 'PICTURE_ON cat FILE': 1}
    """
    counts: Counter[str] = Counter()
    for message in messages:
        if not message.text.startswith(TECHNICAL):
            counts[NUMBER.sub("#", FILE.sub("FILE", message.text)).strip()[:LONGEST]] += 1
    return dict(counts.most_common())
