"""How sure is a number: stimuli drawn again with replacement, the same draws for every system.

The interval is the 2.5–97.5 % range over the draws; the same draws for two systems make their difference a paired test.
The bins of KLD stay those of the whole sample, so that a draw is a weighted sum of the stimuli's histograms.

Efron & Tibshirani 1993.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stdiffeye.metrics.pairs import Floats
from stdiffeye.metrics.protocols import Histograms, Series

LEVELS = (2.5, 97.5)


@dataclass(frozen=True, eq=False)
class Draws:
    """A number and what it is in each draw of the stimuli."""

    value: float
    draws: Floats

    @property
    def interval(self) -> tuple[float, float]:
        """2.5 % and 97.5 % of the draws; NaN without draws."""
        known = self.draws[np.isfinite(self.draws)]
        if len(known) == 0:
            return float("nan"), float("nan")
        low, high = np.percentile(known, LEVELS)
        return float(low), float(high)


def resamples(stimuli: int, draws: int, seed: int) -> Floats:
    """(draws, stimuli) how often each stimulus is drawn."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(stimuli, np.full(stimuli, 1 / stimuli), size=draws).astype(np.float64)


def of_series(series: Series, pooled: bool, weights: Floats) -> Draws:
    """Mean over stimuli, or over what they pool, and its draws."""
    defined = ~np.isnan(series.value)
    weight = defined * (series.weight if pooled else 1.0)
    weighted = np.where(defined, series.value, 0.0) * weight
    return Draws(float(_ratio(weighted.sum(), weight.sum())), _ratio(weights @ weighted, weights @ weight))


def of_histograms(histograms: Histograms, weights: Floats) -> Draws:
    """KLD over all stimuli and its draws."""
    once = np.ones((1, histograms.counts.shape[2]))
    return Draws(float(histograms.kld(once)[0]), histograms.kld(weights) if len(weights) else np.empty(0))


def gap_closed(model: Draws, human: Draws, shuffled: Draws) -> Draws:
    """(shuffled − model) / (shuffled − human)."""
    value = _ratio(shuffled.value - model.value, shuffled.value - human.value)
    return Draws(float(value), _ratio(shuffled.draws - model.draws, shuffled.draws - human.draws))


def mean_of(several: list[Draws]) -> Draws:
    """Mean over metrics, draw by draw."""
    return Draws(float(np.mean([one.value for one in several])), np.mean([one.draws for one in several], axis=0))


def difference(one: Draws, other: Draws) -> tuple[Draws, float]:
    """one − other, and the two-sided p of the paired bootstrap."""
    apart = Draws(one.value - other.value, one.draws - other.draws)
    known = apart.draws[np.isfinite(apart.draws)]
    if len(known) == 0:
        return apart, float("nan")
    tail = min(int((known <= 0).sum()), int((known >= 0).sum()))
    return apart, min(1.0, 2 * (tail + 1) / (len(known) + 1))


def _ratio(numerator: float | Floats, denominator: float | Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.asarray(denominator) != 0, np.divide(numerator, denominator), np.nan)
