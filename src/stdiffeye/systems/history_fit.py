"""Choose the weights of a log-linear density of the next fixation: penalised maximum likelihood.

The log-likelihood is concave in the weights, so Newton's method finds its one maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats

STEPS = 20
ENOUGH = 1e-6  # gain of a step, in nats per fixation, at which it stops
RIDGE = 3.0  # fixations that would have to speak for a weight of its own
HALVINGS = 8


@dataclass(frozen=True)
class ScoredFixations:
    """Scored fixations: every term at every cell, and the cell that was fixated."""

    terms: NDArray[np.float32]  # (n, TERMS, cells)
    at: NDArray[np.int64]  # (n,)

    def __len__(self) -> int:
        return len(self.at)

    def of(self, rows: NDArray[np.bool_]) -> ScoredFixations:
        return ScoredFixations(self.terms[rows], self.at[rows])

    def bits(self, weights: Floats) -> Floats:
        """(n,) bits over a uniform density."""
        cells = self.terms.shape[2]
        return np.asarray([log_p[cell] for log_p, cell in zip(self._log_p(weights), self.at, strict=True)]) / np.log(
            2
        ) + np.log2(cells)

    def _log_p(self, weights: Floats) -> Floats:
        """(n, cells)."""
        logits = np.einsum("f,nfc->nc", weights.astype(np.float32), self.terms).astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True)
        return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))

    def derivatives(self, weights: Floats) -> tuple[float, Floats, Floats]:
        """Log-likelihood, its gradient, and its negative second derivative."""
        log_p = self._log_p(weights)
        gradient, curvature = np.zeros(len(weights)), np.zeros((len(weights), len(weights)))
        for one, p, cell in zip(self.terms, np.exp(log_p).astype(np.float32), self.at, strict=True):
            mean = one @ p
            gradient += one[:, cell] - mean
            curvature += (one * p) @ one.T - np.outer(mean, mean)
        return float(log_p[np.arange(len(self)), self.at].sum()), gradient, curvature


def fit(several: Sequence[ScoredFixations], towards: Floats, ridge: float = RIDGE) -> Floats:
    """(TERMS,) weights of the highest likelihood, drawn `towards` those that hold where little is known."""

    def penalised(weights: Floats) -> tuple[float, Floats, Floats]:
        found, away = [one.derivatives(weights) for one in several], weights - towards
        value = sum(one[0] for one in found) - ridge / 2 * float(away @ away)
        gradient = sum((one[1] for one in found), -ridge * away)
        return value, gradient, sum((one[2] for one in found), ridge * np.eye(len(weights)))

    weights, count = towards.copy(), sum(map(len, several))
    now = penalised(weights)
    for _ in range(STEPS):
        step = np.linalg.solve(now[2], now[1])
        tried = (weights + step / 2**halved for halved in range(HALVINGS))
        better = next((found for one in tried if (found := (one, penalised(one)))[1][0] > now[0]), None)
        if better is None:
            break
        gain, (weights, now) = better[1][0] - now[0], better
        if gain < ENOUGH * count:
            break
    return weights


def cross_validated(
    fixations: ScoredFixations, groups: Sequence[object], towards: Floats, ridge: float = RIDGE
) -> Floats:
    """(n,) bits of each fixation by weights that were chosen on the groups of the other half."""
    kinds = {group: number % 2 for number, group in enumerate(dict.fromkeys(groups))}
    half, found = np.array([kinds[group] for group in groups]), np.zeros(len(fixations))
    for side in (0, 1):
        if (half == side).any() and (half != side).any():
            found[half == side] = fixations.of(half == side).bits(fit([fixations.of(half != side)], towards, ridge))
    return found
