"""Names for the arrays that every room passes around; shapes stand beside each use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Points = NDArray[np.float64]
"""(..., 2) x, y."""
