"""Validation generates gaze as independent as people's."""

from __future__ import annotations

import numpy as np

from stdiffeye.data.batches import Stimulus
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.systems.presets import TrainConfig
from stdiffeye.training.validation import generated_for

FRAME = Frame(100, 100)


class Store:
    """Any trial of it is one fixation."""

    def __getitem__(self, trial: int) -> Trial:
        return Trial("any", "s", Scanpath(np.zeros((1, 2)), FRAME))


class Sources:
    stores = (Store(),)

    def query(self, *_: object) -> None:
        return None


class SeedsAsPlaces:
    """A system whose samples fixate where their seed says."""

    def scanpaths(self, queries, seeds, options):
        return [[Scanpath(np.array([[np.random.default_rng(seed).random(), 0.0]]), FRAME) for seed in seeds[0]]]


def places(name: str, task: str = "") -> list[float]:
    stimulus = Stimulus(0, name, task, "osie", None, np.array([0]))
    trials = generated_for(SeedsAsPlaces(), Sources(), stimulus, TrainConfig(validate_samples=8))
    return [float(trial.scanpath.xy_px[0, 0]) for trial in trials]


def test_chance_is_another_for_every_picture_and_task():
    drawn = [places("a.jpg"), places("b.jpg"), places("a.jpg", "cup")]
    assert len({place for some in drawn for place in some}) == 24


def test_chance_is_the_same_whenever_a_picture_is_validated():
    assert places("a.jpg") == places("a.jpg")
