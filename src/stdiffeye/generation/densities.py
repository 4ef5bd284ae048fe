"""What a model states about positions: the density of the next fixation, and that of all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.encoders.picture import Picture
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, GazeList, Scanpath
from stdiffeye.generation.request import Request
from stdiffeye.systems.base import Likelihood, Query, TrainableSystem
from stdiffeye.systems.baseline import Baseline
from stdiffeye.systems.cores import one_core

DENSITY_SAMPLES = 100  # scanpaths that a heat map is made of, where none was learned


class Densities:
    """The densities of a model; `Model` has them."""

    name: str

    @property
    @abstractmethod
    def first(self) -> TrainableSystem:
        """The stage that takes the picture."""

    @abstractmethod
    def scanpaths(self, picture: Picture, request: Request | None = None) -> GazeList[Scanpath]:
        """Sampled scanpaths."""

    @abstractmethod
    def _query_of(self, picture: Picture, task: str, style: str | None) -> Query:
        """A picture, encoded."""

    def log_density(
        self,
        picture: Picture,
        history: Scanpath | None = None,
        task: str = "",
        style: str | None = None,
        shape: tuple[int, int] | None = None,
    ) -> Floats:
        """(rows, columns) log-probability of every position for the next fixation; the probabilities sum to 1.

        Exact where the system states a density; by sampling the next fixation, given the history, for diffusion.

        Parameters
        ----------
        picture
            File, PIL image or array.
        history
            Fixations so far; None before the first one.
        task
            What is searched for, in words; "" for free viewing.
        style
            Data set whose viewing style is wanted; by default the model's own.
        shape
            Rows and columns of the result; by default those of the picture's pixels.

        Returns
        -------
        ndarray, (rows, columns)
            Natural logarithm.
        """
        return np.asarray(self.log_densities(picture, [history], task, style, shape)[0])

    def log_densities(
        self,
        picture: Picture,
        histories: Sequence[Scanpath | None],
        task: str = "",
        style: str | None = None,
        shape: tuple[int, int] | None = None,
    ) -> Floats:
        """(histories, rows, columns): `log_density` of several histories of a picture, which is encoded once."""
        stage = self.first
        if not isinstance(stage, Likelihood):
            raise InputError(f"{self.name} states no density of the next fixation")
        with one_core():
            query = self._query_of(picture, task, style)
        past = [None if history is None else history.rescaled(query.frame) for history in histories]
        return stage.log_densities(query, past, shape or pixels_of(query.frame))

    def density(
        self,
        picture: Picture,
        task: str = "",
        style: str | None = None,
        shape: tuple[int, int] | None = None,
        out: str | Path | None = None,
    ) -> Floats:
        """(rows, columns) heat map: the density of all fixations on a picture, which sum to 1.

        Parameters
        ----------
        picture, task, style, shape
            As in `log_density`.
        out
            File to write: .npy (float32), or .png in grey, where white is the densest.

        Returns
        -------
        ndarray, (rows, columns)
            What the system learned of where viewers look, where it has learned it; else of sampled scanpaths.
        """
        from stdiffeye.plotting.heatmap_files import heatmap, smooth, write_heatmap  # late: models load sooner

        query = self._query_of(picture, task, style)
        coarse = self.first.picture_density(query)
        if coarse is None:
            request = Request(task=task, samples=DENSITY_SAMPLES, style=style)
            coarse = heatmap(self.scanpaths(picture, request))
        values = smooth(coarse, shape or pixels_of(query.frame))
        if out is not None:
            write_heatmap(Path(out), values)
        return values

    def information_gain(
        self, picture: Picture, scanpaths: Sequence[Scanpath], task: str = "", style: str | None = None
    ) -> float:
        """Bits per fixation of human scanpaths that picture and history explain beyond the training's centre bias.

        For systems that count a centre bias in training. `stdiffeye.evaluate` has it for all, over that of the set.
        """
        if not isinstance(self.first, Baseline):
            raise InputError(
                f"{self.name} counts no centre bias: `stdiffeye evaluate --likelihood` has that of the set"
            )
        if not any(len(path) for path in scanpaths):
            raise InputError("the information gain of no fixation is not defined: give at least one scanpath")
        return self.first.information_gain(self._query_of(picture, task, style), scanpaths)


def pixels_of(frame: Frame) -> tuple[int, int]:
    """Rows and columns of a picture."""
    return round(frame.height_px), round(frame.width_px)
