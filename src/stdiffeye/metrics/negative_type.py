"""Is a distance of negative type, so that CRPS is proper under it?

CRPS under a distance d is a proper score if, and only if, d is of negative type: Σ_ij c_i c_j d(x_i, x_j) ≤ 0 for all
points and all weights that sum to 0. On n points this says that the doubly centred matrix −½ J D J, with J = 1 − 1/n,
has no negative eigenvalue (Schoenberg 1938). A negative eigenvalue on real scanpaths is a proof that CRPS is not proper
under the metric; the absence of one is evidence only.

Conventions: similarities enter as 1 − s, asymmetric metrics as the mean of both directions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError

TOLERANCE = 1e-9  # of the largest eigenvalue: what rounding makes of a zero


@dataclass(frozen=True)
class NegativeType:
    """Eigenvalues of the centred matrix of a distance.

    Attributes
    ----------
    smallest : float
        Smallest eigenvalue over the largest; below 0 where the distance is not of negative type.
    mass : float
        Share of the negative eigenvalues in the sum of all absolute ones.
    points : int
        Number of scanpaths.
    """

    smallest: float
    mass: float
    points: int

    @property
    def holds(self) -> bool:
        """Whether no eigenvalue is negative beyond rounding."""
        return self.smallest >= -TOLERANCE


def negative_type(distance: Floats) -> NegativeType:
    """Test a matrix of distances.

    Parameters
    ----------
    distance : ndarray, (n, n)
        Distances among n ≥ 3 points; made symmetric by the mean of both directions.

    Returns
    -------
    NegativeType
        What the eigenvalues say.

    Raises
    ------
    InputError
        For a matrix that is not square, has fewer than three points or values that are not finite.

    Examples
    --------
    >>> line = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    >>> negative_type(line).holds, negative_type(line**3).holds
    (True, False)
    """
    table = np.asarray(distance, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 3:
        raise InputError(f"negative type is tested on an n × n matrix with n ≥ 3, got {table.shape}")
    if not np.isfinite(table).all():
        raise InputError("negative type is tested on finite distances: leave out scanpaths that are too short")
    symmetric = (table + table.T) / 2
    rows = symmetric - symmetric.mean(axis=0)
    centred = -(rows - rows.mean(axis=1, keepdims=True)) / 2
    values = np.linalg.eigvalsh((centred + centred.T) / 2)
    largest = max(float(np.abs(values).max()), np.finfo(float).tiny)
    negative = values[values < -TOLERANCE * largest]
    total = max(float(np.abs(values).sum()), np.finfo(float).tiny)
    return NegativeType(min(float(values.min()), 0.0) / largest, float(-negative.sum()) / total, len(table))
