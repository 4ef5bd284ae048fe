"""Many scanpaths as plain arrays, end to end, in the frame that all metrics are defined in.

Conventions: 512×384 px, durations in ms (NaN where unknown), a path is `xy_px[first[p]:first[p + 1]]`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath

EVALUATION_FRAME = Frame(512, 384)
PAD = (1.0, 1.0, 1.0)  # what ScanDiff appends to scanpaths of one or two fixations: x px, y px, ms
PADDED_LENGTH = 3
COMPAT_DURATION_MS = 100.0  # what ScanDiff gives systems that do not say how long they fixate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Paths:
    """Scanpaths (or samples) of many trials.

    Parameters
    ----------
    xy_px : (N, 2) places in the evaluation frame.
    duration_ms : (N,) NaN where unknown.
    first : (P + 1,) where each path begins.
    stimulus : (P,) number of the stimulus that each path belongs to.
    """

    xy_px: Floats
    duration_ms: Floats
    first: Ints
    stimulus: Ints
    _derived: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def lengths(self) -> Ints:
        """(P,) number of fixations of each path."""
        return np.diff(self.first)

    def timed(self) -> NDArray[np.bool_]:
        """(P,) which paths have durations."""
        return ~np.isnan(self.duration_ms[self.first[:-1]])

    def derived(self, key: Any, make: Callable[[], Any]) -> Any:
        """What follows from the paths alone (symbols, saccades), made once."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def moved_to(self, stimulus: Ints) -> Paths:
        """The same gaze as if it had been on other stimuli."""
        return Paths(self.xy_px, self.duration_ms, self.first, stimulus)

    def taken(self, which: Ints) -> Paths:
        """Some of the paths, in the order of `which`."""
        lengths = self.lengths[which]
        first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        source = np.arange(first[-1]) + np.repeat(self.first[:-1][which] - first[:-1], lengths)
        return Paths(self.xy_px[source], self.duration_ms[source], first, self.stimulus[which])


def pack(scanpaths: Sequence[Scanpath], stimulus: Sequence[int] | Ints, compat: bool = False) -> Paths:
    """Scanpaths of any frames as one `Paths` in the evaluation frame.

    With `compat`, on the copies that are made here: paths of one or two fixations are padded with (1, 1, 1 ms) and
    unknown durations become 100 ms, as ScanDiff's evaluation does.
    """
    if not scanpaths:
        raise InputError("there are no scanpaths to compare")
    lengths = np.array([len(path) for path in scanpaths], dtype=np.int64)
    kept = np.maximum(lengths, PADDED_LENGTH) if compat else lengths
    first = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    fill = COMPAT_DURATION_MS if compat else np.nan
    xy_px = np.full((first[-1], 2), PAD[:2])
    duration_ms = np.full(first[-1], PAD[2])
    for path, start, length in zip(scanpaths, first.tolist(), lengths.tolist(), strict=False):
        scale = EVALUATION_FRAME.size_px / path.frame.size_px if path.frame != EVALUATION_FRAME else 1.0
        xy_px[start : start + length] = path.xy_px * scale
        duration_ms[start : start + length] = fill if path.duration_ms is None else path.duration_ms
    return Paths(xy_px, duration_ms, first, np.asarray(stimulus, dtype=np.int64))
