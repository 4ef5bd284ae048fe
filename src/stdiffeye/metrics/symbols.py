"""Fixations as symbols, for every string metric: grid cells, cluster letters, semantic classes.

Conventions: a symbol is a whole number, dense from 0 within a comparison. Coordinates are cut to whole pixels towards
zero where the reference programs do so. Durations repeat a symbol; each metric has its own rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats, Ints
from stdiffeye.metrics.paths import EVALUATION_FRAME, PackedScanpaths

ROW_LETTER, COLUMN_LETTER = 97, 65  # 'a' and 'A': far out of the frame the two alphabets of LD may touch
SEMANTIC_SHAPE = (320, 512)  # height, width of a semantic map
TIME_BIN_MS = 50.0


@dataclass(frozen=True)
class Symbols:
    """One string per scanpath.

    Attributes
    ----------
    codes : ndarray of int, (N,)
        Symbols of all strings, one after another.
    first : ndarray of int, (P + 1,)
        Where each string begins; string p is `codes[first[p]:first[p + 1]]`.
    """

    codes: Ints
    first: Ints

    def repeated(self, times: Ints) -> Symbols:
        """Repeat each symbol.

        Parameters
        ----------
        times : array, shape (n,)
            How often; 0 drops a symbol.

        Returns
        -------
        Symbols
            Strings, which may be empty.
        """
        ends = np.concatenate([[0], np.cumsum(times)]).astype(np.int64)
        return Symbols(np.repeat(self.codes, times), ends[self.first])


def together(a: Symbols, b: Symbols) -> tuple[Ints, Ints, int]:
    """Renumber both sides' codes from 0.

    Parameters
    ----------
    a, b : Symbols
        Strings of both sides.

    Returns
    -------
    tuple
        Codes of a, codes of b, and the number of different symbols.
    """
    different, dense = np.unique(np.concatenate([a.codes, b.codes]), return_inverse=True)
    dense = dense.astype(np.int64)
    return dense[: len(a.codes)], dense[len(a.codes) :], max(1, len(different))


def row_and_column(paths: PackedScanpaths, columns: int, rows: int) -> Symbols:
    """Return two symbols per fixation, row (counted from below) then column, on whole-pixel steps.

    Parameters
    ----------
    paths : PackedScanpaths
        Packed scanpaths.
    columns, rows : int
        Size of the grid.

    Returns
    -------
    Symbols
        One string per scanpath.
    """
    width, height = (int(side) for side in EVALUATION_FRAME.size_px)
    whole = paths.xy_px.astype(np.int64)
    codes = np.empty(2 * len(whole), dtype=np.int64)
    codes[0::2] = ROW_LETTER + (height - whole[:, 1]) // (height // rows)
    codes[1::2] = COLUMN_LETTER + whole[:, 0] // (width // columns)
    return Symbols(codes, 2 * paths.first)


def square_grid(paths: PackedScanpaths, cells: int) -> Symbols:
    """Return one symbol per fixation on a square grid of whole-pixel steps.

    Parameters
    ----------
    paths : PackedScanpaths
        Packed scanpaths.
    cells : int
        The grid has cells × cells cells.

    Returns
    -------
    Symbols
        One string per scanpath.
    """
    width, height = (int(side) for side in EVALUATION_FRAME.size_px)
    whole = paths.xy_px.astype(np.int64)
    return Symbols(whole[:, 0] // (width // cells) + whole[:, 1] // (height // cells) * cells, paths.first)


def clamped_grid(paths: PackedScanpaths, columns: int, rows: int) -> Symbols:
    """Return one symbol per fixation, row · columns + column; fixations outside the frame go to its edge.

    Parameters
    ----------
    paths : PackedScanpaths
        Packed scanpaths.
    columns, rows : int
        Size of the grid.

    Returns
    -------
    Symbols
        One string per scanpath.
    """
    inside = np.clip(paths.xy_px, 0, EVALUATION_FRAME.size_px - 1)
    cell = (inside // (EVALUATION_FRAME.size_px / [columns, rows])).astype(np.int64)
    return Symbols(cell[:, 1] * columns + cell[:, 0], paths.first)


def first_fixations(paths: PackedScanpaths, most: int) -> tuple[Ints, Ints]:
    """Cut scanpaths after their first fixations.

    Parameters
    ----------
    paths : PackedScanpaths
        Packed scanpaths.
    most : int
        Fixations that are kept of each.

    Returns
    -------
    tuple of array
        Numbers of the kept fixations; where each cut scanpath begins among them, (P + 1,).
    """
    number = np.arange(len(paths.xy_px)) - np.repeat(paths.first[:-1], paths.lengths)
    first = np.concatenate([[0], np.cumsum(np.minimum(paths.lengths, most))]).astype(np.int64)
    return np.flatnonzero(number < most), first


def nearest_centre(xy_px: Floats, centres_px: Floats) -> Ints:
    """Assign positions to the nearest cluster centre; of equals to the first.

    Parameters
    ----------
    xy_px : array, shape (N, 2)
        Positions.
    centres_px : array, shape (C, 2)
        Centres.

    Returns
    -------
    array, shape (N,)
        Number of the centre.
    """
    return np.asarray(((xy_px[:, None] - centres_px[None]) ** 2).sum(axis=-1).argmin(axis=1), dtype=np.int64)


def class_under(xy_px: Floats, semantic: NDArray[np.integer[Any]]) -> Ints:
    """Return the class under each position; outside of the map that of its edge.

    Parameters
    ----------
    xy_px : array, shape (N, 2)
        Positions in the 512×384 frame.
    semantic : array, shape (320, 512)
        Class of each pixel.

    Returns
    -------
    array, shape (N,)
        Classes.
    """
    scale = np.array([SEMANTIC_SHAPE[1], SEMANTIC_SHAPE[0]]) / EVALUATION_FRAME.size_px
    column, row = np.clip((xy_px * scale).astype(np.int64), 0, [SEMANTIC_SHAPE[1] - 1, SEMANTIC_SHAPE[0] - 1]).T
    return np.asarray(semantic[row, column], dtype=np.int64)


def repeats_rounded(duration_ms: Floats) -> Ints:
    """Return how often ScanMatch repeats a symbol: whole milliseconds / 50, halves to even.

    Parameters
    ----------
    duration_ms : array, shape (N,)
        Durations, NaN where unknown.

    Returns
    -------
    array, shape (N,)
        Counts; 0 where unknown.
    """
    return np.round(np.trunc(np.nan_to_num(duration_ms)) / TIME_BIN_MS).astype(np.int64)


def repeats_floored(duration_ms: Floats) -> Ints:
    """Return how often Sequence Score repeats a letter: duration / 50, rounded down.

    Parameters
    ----------
    duration_ms : array, shape (N,)
        Durations, NaN where unknown.

    Returns
    -------
    array, shape (N,)
        Counts; 0 where unknown.
    """
    return (np.nan_to_num(duration_ms) / TIME_BIN_MS).astype(np.int64)
