"""Names for the arrays that every room passes around; shapes stand beside each use."""

from __future__ import annotations

import math
import tempfile

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Points = NDArray[np.float64]
"""(..., 2) x, y."""

MOST_IN_MEMORY = 1 << 26  # bytes of an array that is read seldom


def scratch_array(shape: tuple[int, ...]) -> Floats:
    """Zeros; a large array lies in a temporary file that vanishes with it, so that it need not fit in memory."""
    if 8 * math.prod(shape) <= MOST_IN_MEMORY:
        return np.zeros(shape)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=np.float64, mode="w+", shape=shape)
