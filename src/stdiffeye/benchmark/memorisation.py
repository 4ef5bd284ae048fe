"""Does a model repeat training trials? Nearest trials of samples and of people, on training and on held-out pictures.

For a picture with n human trials, a sample's nearest trial is taken among n − 1 of them, on average over the one that
is left out; a person's nearest trial is among the n − 1 others. Both sides thus choose from equally many. The ratio
samples / people is 1 for samples that are like another person. A model that repeats training trials has a ratio far
below 1 on training pictures; on held-out pictures, whose trials it has not seen, the ratio is the control.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.gaze import Scanpath
from stdiffeye.metrics import bootstrap, pairwise

Key = tuple[str, str]
FEWEST_TRIALS = 3  # of a picture: below it the nearest of n − 1 is no choice
REPLICATES = 1000


@dataclass(frozen=True)
class NearestTrials:
    """Mean DTW distance to the nearest trial of the same picture, px of the 512×384 frame."""

    samples_px: float
    human_px: float
    ratio: tuple[float, float, float]
    """Samples over people: value and 95 % interval over pictures."""
    pictures: int


def nearest_trials(
    samples: Mapping[Key, Sequence[Scanpath]], human: Mapping[Key, Sequence[Scanpath]], seed: int = 0
) -> NearestTrials:
    """Nearest trials of samples and of people, over the pictures that have at least three trials."""
    keys = [key for key in samples if len(human.get(key, ())) >= FEWEST_TRIALS]
    if not keys:
        return NearestTrials(np.nan, np.nan, (np.nan, np.nan, np.nan), 0)
    one = np.array([_of_samples(pairwise("DTW", samples[key], human[key])) for key in keys])
    other = np.array([_of_viewers(pairwise("DTW", human[key])) for key in keys])
    both = np.stack([one, other], axis=1)
    blocks = bootstrap.resamples(len(keys), REPLICATES, seed)
    totals = np.sum([weights @ both[block] for block, weights in blocks], axis=0)  # (replicates, 2)
    low, high = np.percentile(totals[:, 0] / totals[:, 1], bootstrap.LEVELS)
    ratio = (float(one.mean() / other.mean()), float(low), float(high))
    return NearestTrials(float(one.mean()), float(other.mean()), ratio, len(keys))


def _of_samples(distance: Floats) -> float:
    """Mean over samples of the nearest of n − 1 trials: without the nearest one it is the second nearest."""
    trials = distance.shape[1]
    nearest = np.sort(distance, axis=1)[:, :2]
    return float(((trials - 1) * nearest[:, 0] + nearest[:, 1]).mean() / trials)


def _of_viewers(distance: Floats) -> float:
    among = distance.copy()
    np.fill_diagonal(among, np.inf)
    return float(among.min(axis=1).mean())
