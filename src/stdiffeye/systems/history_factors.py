"""How the fixations so far change the density of the next one: factors of distance and direction.

The density is log-linear: log p(x) = Σ weight · term(x) − log Z. Its terms are the logarithms of the kernel density of
samples and of the picture's own density, and functions of x relative to the fixations so far:

* `last`: distance to the last fixation
* `before_last`: distance to the one before it, where viewers return
* `horizontal`: cos 2θ of the saccade's direction, by its length; positive weights favour horizontal saccades
* `forward`: cosine of the turn from the last saccade to this one, by the length of this one

Each function is linear between the weights at KNOTS. Distances are in widths of the picture. Every viewing style has
weights of its own, which `stdiffeye calibrate` chooses on validation trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.errors import InputError
from stdiffeye.model.image import PHASES

KNOTS = (0.0, 0.03, 0.06, 0.1, 0.15, 0.22, 0.32, 0.45, 0.65, 1.0)
NAMES = ("last", "before_last", "horizontal", "forward")
TERMS = 1 + len(PHASES) + len(NAMES) * len(KNOTS)
FAINTEST = 1e-12  # of a density, of which the logarithm is taken

Shape = tuple[int, int]
Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class HistoryFactors:
    """Weights of any viewing style, then of each that was calibrated. Empty: not calibrated."""

    styles: tuple[str, ...] = ()
    """Data sets that were calibrated on; the first row of everything else is that of any style."""
    samples_power: tuple[float, ...] = ()
    """Power of the kernel density of samples."""
    picture_power: Rows = ()
    """Power of the picture's own density, in each phase of viewing."""
    last: Rows = ()
    """Logarithm of a factor by the distance to the last fixation, at each of KNOTS."""
    before_last: Rows = ()
    """The same, to the fixation before the last one."""
    horizontal: Rows = ()
    """The same, times cos 2θ of the direction."""
    forward: Rows = ()
    """The same, times the cosine of the turn from the last saccade."""

    def __post_init__(self) -> None:
        rows_given = len(self.samples_power)
        if rows_given not in (0, 1 + len(self.styles)):
            raise InputError(f"next_fixation.history has {rows_given} rows for any style and {len(self.styles)} more")
        widths = {"picture_power": len(PHASES)} | dict.fromkeys(NAMES, len(KNOTS))
        for name, width in widths.items():
            rows = getattr(self, name)
            if len(rows) != rows_given or any(len(row) != width for row in rows):
                raise InputError(f"next_fixation.history.{name} takes {rows_given} rows of {width} numbers")

    def __bool__(self) -> bool:
        return bool(self.samples_power)

    def of_style(self, style: str) -> Floats:
        """(TERMS,) weights of a viewing style; those of any style where it was not calibrated."""
        row = 1 + self.styles.index(style) if style in self.styles else 0
        by_name = [self.picture_power, *(getattr(self, name) for name in NAMES)]
        return np.concatenate([[self.samples_power[row]], *(rows[row] for rows in by_name)])

    def needs_samples(self, style: str) -> bool:
        """Whether samples say anything beyond the other terms: they take nearly all of the time."""
        return not self or self.of_style(style)[0] != 0

    @classmethod
    def of_weights(cls, styles: Sequence[str], weights: Floats) -> HistoryFactors:
        """Of the weights (1 + styles, TERMS), to three digits."""
        ends = np.cumsum([1, len(PHASES), *[len(KNOTS)] * len(NAMES)])[:-1]
        samples, *columns = np.split(np.round(weights, 3), ends, axis=1)
        rows = [tuple(map(tuple, column.tolist())) for column in columns]
        return cls(tuple(styles), tuple(samples[:, 0].tolist()), *rows)


@dataclass(frozen=True)
class Situation:
    """What is known before a fixation. Positions are in [0, 1] of the picture."""

    history: Floats  # (m, 2) fixations so far
    phase: int
    aspect: float  # width of the picture over its height

    def factors(self, shape: Shape) -> Iterator[tuple[int, Floats, Floats]]:
        """For each function of NAMES that there is: its number, the distance of each cell, and what multiplies it."""
        if not len(self.history):
            return
        path = self.history / [1, self.aspect]
        y, x = ((np.arange(size) + 0.5) / size for size in shape)
        across, down = np.meshgrid(x - path[-1, 0], y / self.aspect - path[-1, 1])
        length = np.hypot(across, down)
        unit_across, unit_down = (np.divide(side, np.maximum(length, 1e-9)) for side in (across, down))
        yield 0, length, np.ones(shape)
        yield 2, length, unit_across**2 - unit_down**2
        if len(path) > 1:
            before = path[-1] - path[-2]
            yield 1, np.hypot(across + before[0], down + before[1]), np.ones(shape)
            before = before / max(float(np.hypot(*before)), 1e-9)
            yield 3, length, unit_across * before[0] + unit_down * before[1]


def log_weighted(samples: Floats, picture: Floats | None, now: Situation, weights: Floats) -> Floats:
    """(rows, columns) Σ weight · term, of log-densities on the same grid."""
    total = weights[0] * samples
    if picture is not None:
        total = total + weights[1 + now.phase] * picture
    knots = weights[1 + len(PHASES) :].reshape(len(NAMES), len(KNOTS))
    for number, distance, multiple in now.factors(samples.shape):
        total = total + multiple * np.interp(distance, KNOTS, knots[number])
    return np.asarray(total)


def terms(samples: Floats, picture: Floats | None, now: Situation) -> Floats:
    """(TERMS, cells) every term by itself, to choose the weights by."""
    found = np.zeros((TERMS, samples.size))
    found[0] = samples.ravel()
    if picture is not None:
        found[1 + now.phase] = picture.ravel()
    functions = found[1 + len(PHASES) :].reshape(len(NAMES), len(KNOTS), samples.size)
    for number, distance, multiple in now.factors(samples.shape):
        for knot, one in enumerate(np.eye(len(KNOTS))):
            functions[number, knot] = (multiple * np.interp(distance, KNOTS, one)).ravel()
    return found
