"""Many scanpaths as flat arrays, one after another, in the frame that all metrics are defined in.

Conventions: 512×384 px, durations in ms (NaN where unknown), a path is `xy_px[first[p]:first[p + 1]]`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats, Ints
from stdiffeye.errors import InputError
from stdiffeye.files import disk_errors
from stdiffeye.gaze import Frame, Scanpath

EVALUATION_FRAME = Frame(512, 384)
PAD = (1.0, 1.0, 1.0)  # what ScanDiff appends to scanpaths of one or two fixations: x px, y px, ms
PADDED_LENGTH = 3
PACKED_AT_ONCE = 1024  # scanpaths, before they go to the disk
COMPAT_DURATION_MS = 100.0  # what ScanDiff assumes for systems without durations


@dataclass(frozen=True, eq=False)
class PackedScanpaths:
    """Scanpaths (or samples) of many trials, packed into flat arrays.

    Attributes
    ----------
    xy_px : ndarray, (N, 2)
        Positions in the evaluation frame, px.
    duration_ms : ndarray, (N,)
        NaN where unknown.
    first : ndarray of int, (P + 1,)
        Where each scanpath begins; scanpath p is `xy_px[first[p]:first[p + 1]]`.
    stimulus : ndarray of int, (P,)
        Number of the stimulus that each scanpath belongs to.
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
        """(P,) number of fixations of each scanpath."""
        return np.diff(self.first)

    def timed(self) -> NDArray[np.bool_]:
        """Find which scanpaths have durations.

        Returns
        -------
        array of bool, shape (P,)
            True where durations are known.
        """
        return ~np.isnan(self.duration_ms[self.first[:-1]])

    def derived(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what follows from the scanpaths alone (symbols, saccades), computed once and kept.

        Parameters
        ----------
        key : hashable
            What it is, as "saccades".
        make : callable
            Computes it.

        Returns
        -------
        Any
            What `make` returned.
        """
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def moved_to(self, stimulus: Ints) -> PackedScanpaths:
        """Return the same scanpaths, assigned to other stimuli.

        Parameters
        ----------
        stimulus : array, shape (P,)
            The new stimulus of each scanpath.

        Returns
        -------
        PackedScanpaths
            Sharing the arrays of this one.
        """
        return PackedScanpaths(self.xy_px, self.duration_ms, self.first, stimulus)

    def subset(self, which: Ints) -> PackedScanpaths:
        """Return some of the scanpaths.

        Parameters
        ----------
        which : array, shape (p,)
            Their numbers.

        Returns
        -------
        PackedScanpaths
            In the order of `which`.
        """
        lengths = self.lengths[which]
        first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        source = np.arange(first[-1]) + np.repeat(self.first[:-1][which] - first[:-1], lengths)
        return PackedScanpaths(self.xy_px[source], self.duration_ms[source], first, self.stimulus[which])

    def span(self, stimuli: range) -> PackedScanpaths:
        """Return the scanpaths of successive stimuli, which are numbered from 0; sorted by stimulus they must be.

        Parameters
        ----------
        stimuli : range
            Their numbers; the scanpaths must be sorted by stimulus.

        Returns
        -------
        PackedScanpaths
            A copy, with stimuli numbered from 0.
        """
        start, stop = np.searchsorted(self.stimulus, (stimuli.start, stimuli.stop))
        some = self.subset(np.arange(start, stop))
        return some.moved_to(some.stimulus - stimuli.start)

    def subset_on_disk(self, which: Ints, stimulus: Ints) -> PackedScanpaths:
        """Return some of the scanpaths in the order of `which`, in a temporary file, with these stimuli.

        Parameters
        ----------
        which : ndarray of int
            Numbers of the scanpaths.
        stimulus : ndarray of int
            New stimulus of each.

        Returns
        -------
        PackedScanpaths
            In the order of `which`.
        """
        blocks = (which[start : start + PACKED_AT_ONCE] for start in range(0, len(which), PACKED_AT_ONCE))
        return _on_disk(map(self.subset, blocks)).moved_to(stimulus)


def packed_on_disk(scanpaths: Iterable[tuple[Scanpath, int]], compat: bool = False) -> PackedScanpaths:
    """Pack scanpaths with the numbers of their stimuli as they come, into a temporary file; there may be none.

    Parameters
    ----------
    scanpaths : iterable of (Scanpath, int)
        Each with the number of its stimulus; there may be none.
    compat : bool
        As in `pack`.

    Returns
    -------
    PackedScanpaths
        In the order given.
    """
    source = iter(scanpaths)

    def blocks() -> Iterator[PackedScanpaths]:
        while block := list(islice(source, PACKED_AT_ONCE)):
            yield pack([path for path, _ in block], [number for _, number in block], compat)

    return _on_disk(blocks())


def _on_disk(blocks: Iterable[PackedScanpaths]) -> PackedScanpaths:
    lengths, stimulus = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    here = Path(tempfile.gettempdir(), "gaze")
    with disk_errors(here), tempfile.TemporaryFile() as xy, tempfile.TemporaryFile() as duration:
        for block in blocks:
            xy.write(block.xy_px.tobytes())
            duration.write(block.duration_ms.tobytes())
            lengths.append(block.lengths)
            stimulus.append(block.stimulus)
        first = np.cumsum(np.concatenate(lengths))
        return PackedScanpaths(_mapped(xy).reshape(-1, 2), _mapped(duration), first, np.concatenate(stimulus))


def _mapped(file: IO[bytes]) -> Floats:
    """What was written to a file, as an array that the system reads when it is looked at."""
    file.flush()
    if file.tell() == 0:
        return np.empty(0)
    return np.memmap(file, dtype=np.float64, mode="r")


def pack(scanpaths: Sequence[Scanpath], stimulus: Sequence[int] | Ints, compat: bool = False) -> PackedScanpaths:
    """Pack scanpaths of any frames, rescaled to the evaluation frame.

    Parameters
    ----------
    scanpaths : sequence of Scanpath
        At least one.
    stimulus : sequence of int
        Number of each scanpath's stimulus.
    compat : bool
        As ScanDiff's evaluation does: pad scanpaths of one or two fixations with (1 px, 1 px, 1 ms), set unknown
        durations to 100 ms.

    Returns
    -------
    PackedScanpaths
        Copies; the scanpaths themselves are left as they are.

    Examples
    --------
    >>> packed = pack([Scanpath([[10, 10], [20, 20]], Frame(256, 192))], [0])
    >>> packed.xy_px
    array([[20., 20.],
           [40., 40.]])
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
    return PackedScanpaths(xy_px, duration_ms, first, np.asarray(stimulus, dtype=np.int64))
