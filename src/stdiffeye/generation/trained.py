"""A trained system, ready to generate gaze.

Examples
--------
>>> import stdiffeye
>>> model = stdiffeye.load()                                     # doctest: +SKIP
>>> gaze = model.generate("photo.jpg", samples=10, seconds=3)    # doctest: +SKIP
>>> gaze[0].scanpath                                             # doctest: +SKIP
Scanpath(10 fixations, 2.81 s, 1024×768 px)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import torch

from stdiffeye.diffusion import sample_seeds
from stdiffeye.encoders import load_picture, picture_encoder, text_encoder
from stdiffeye.encoders.choose import located
from stdiffeye.encoders.picture import Picture
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, GazeList, Scanpath, Trajectory
from stdiffeye.generation.densities import Densities
from stdiffeye.generation.request import Request
from stdiffeye.generation.sampling import BrokenPictureCallback, Item, ProgressCallback, Sampling, Tally
from stdiffeye.generation.targets import TargetMatch, match_target, nearest_style, targets_of
from stdiffeye.model.image import TEXT_WIDTH
from stdiffeye.systems.base import Generated, Query, TrainableSystem
from stdiffeye.systems.coarse_to_fine.representatives import CANDIDATES
from stdiffeye.systems.coarse_to_fine.trajectory_stage import TrajectoryStage
from stdiffeye.systems.cores import batched, on_cores, one_core
from stdiffeye.systems.presets import SystemConfig
from stdiffeye.training.checkpoint import load_weights
from stdiffeye.training.run import read_run, weights_file
from stdiffeye.training.shipped import find_model

VIEWERS_AT_ONCE = (
    CANDIDATES  # of a picture, per pass: memory stays small, larger gains no speed, fewer sample the candidates again
)


Gaze = TypeVar("Gaze", Scanpath, "Generated")


class Model(Densities):
    """A trained system. Make one with `load`.

    Parameters
    ----------
    config : SystemConfig
        What was trained, as run.yaml says it.
    stages : dict of str to TrainableSystem
        Stage → network with its weights; the first takes the picture.
    name : str
        For messages and files.
    targets : tuple of str, optional
        Search targets that it was trained on, where they are known.
    """

    def __init__(
        self,
        config: SystemConfig,
        stages: dict[str, TrainableSystem],
        name: str,
        targets: tuple[str, ...] | None = None,
    ) -> None:
        self.config, self.stages, self.name, self.targets = config, stages, name, targets
        self.encoder = picture_encoder(config.encoder) if self.first.needs_pictures else None

    def __repr__(self) -> str:
        size = sum(p.numel() for stage in self.stages.values() for p in stage.parameters()) / 1e6
        return f"Model({self.name}: {self.config.system}, {size:.1f} M parameters)"

    @property
    def first(self) -> TrainableSystem:
        """The stage that takes the picture."""
        return next(iter(self.stages.values()))

    @property
    def fine(self) -> TrajectoryStage | None:
        stage = self.stages.get("trajectory")
        return stage if isinstance(stage, TrajectoryStage) else None

    @property
    def styles(self) -> tuple[str, ...]:
        """Data sets whose viewing style can be requested; the first is the default."""
        return tuple(getattr(self.first.config, "sets", ()))

    @property
    def generates_trajectories(self) -> bool:
        """Whether there is gaze over time, not scanpaths alone."""
        return self.first.generates_trajectories or (self.first.generates_scanpaths and self.fine is not None)

    def generate(
        self, picture: Picture, request: Request | None = None, progress: ProgressCallback | None = None, **fields: Any
    ) -> GazeList[Generated]:
        """Trajectories of several viewers of a picture, in its pixels.

        Parameters
        ----------
        picture : path, PIL image or array
            The picture.
        request : Request, optional
            What is wanted; by default ten viewers for the viewing time of the data.
        progress : callable, optional
            Called as `progress(done, total)` while samples are generated.
        **fields
            Fields of `Request` that differ, as `samples=10, seconds=3`.

        Returns
        -------
        GazeList of Generated
            One trajectory per viewer, each with its `scanpath`.

        Raises
        ------
        InputError
            When the system samples no trajectories, or the request cannot be met.
        """
        request = replace(request or Request(), **fields)
        return GazeList(next(iter(self.generate_many([picture], request, progress))), request.sampling)

    def scanpaths(
        self, picture: Picture, request: Request | None = None, progress: ProgressCallback | None = None, **fields: Any
    ) -> GazeList[Scanpath]:
        """Scanpaths alone, which is faster than `generate`.

        Parameters
        ----------
        picture : path, PIL image or array
            The picture.
        request : Request, optional
            As in `generate`.
        progress : callable, optional
            As in `generate`.
        **fields
            Fields of `Request` that differ.

        Returns
        -------
        GazeList of Scanpath
            One scanpath per viewer, in px of the picture.
        """
        request = replace(request or Request(), **fields)
        return GazeList(next(iter(self.scanpaths_of_many([picture], request, progress))), request.sampling)

    def _query_of(self, picture: Picture, task: str, style: str | None) -> Query:
        request = Request(task=task)
        return self._query(picture, self._text_embedding(request.task), self._style(style), request)[0]

    def scanpaths_of_many(
        self,
        pictures: Sequence[Picture],
        request: Request,
        progress: ProgressCallback | None = None,
        broken: BrokenPictureCallback | None = None,
    ) -> Iterator[list[Scanpath]]:
        """Scanpaths of each picture; every core works on a picture of its own.

        Parameters
        ----------
        pictures : sequence of path, PIL image or array
            The pictures.
        request : Request
            What is wanted of each.
        progress : callable, optional
            As in `generate`.
        broken : callable, optional
            As in `generate_many`.

        Yields
        ------
        list of Scanpath
            Those of one picture, in order.
        """
        first = self.first
        if not first.generates_scanpaths or (first.generates_trajectories and not first.generates_both):
            for trajectories in self.generate_many(pictures, request, progress, broken):
                yield [trajectory.scanpath for trajectory in trajectories]
            return
        tally = Tally(len(pictures) * request.samples, progress)
        yield from self._of_each(pictures, request, self._scanpaths, tally, broken)

    def generate_many(
        self,
        pictures: Sequence[Picture],
        request: Request,
        progress: ProgressCallback | None = None,
        broken: BrokenPictureCallback | None = None,
    ) -> Iterator[list[Generated]]:
        """Trajectories of each picture; every core works on a picture of its own.

        Parameters
        ----------
        pictures : sequence of path, PIL image or array
            The pictures.
        request : Request
            What is wanted of each.
        progress : callable, optional
            As in `generate`.
        broken : callable, optional
            Called for a picture that cannot be read, which then has no gaze; by default that is an error.

        Yields
        ------
        list of Generated
            Those of one picture, in order.

        Raises
        ------
        InputError
            When the system samples no trajectories.
        """
        if not self.first.generates_trajectories and not self.first.generates_scanpaths:
            raise InputError(f"{self.name} samples no gaze: it is an encoder, to train other systems with")
        if not self.first.generates_trajectories and self.fine is None:
            raise InputError(f"{self.name} samples scanpaths only: use --no-trajectories, or `stdiffeye animate`")
        stages = 1 if self.first.generates_trajectories else 2
        tally = Tally(len(pictures) * request.samples * stages, progress)
        yield from self._of_each(pictures, request, self._trajectories, tally, broken)

    def _of_each(
        self,
        pictures: Sequence[Picture],
        request: Request,
        sample: Callable[[Query, list[int], Sampling], list[Gaze]],
        tally: Tally,
        broken: BrokenPictureCallback | None,
    ) -> Iterator[list[Gaze]]:
        """What `sample` gives for each picture; the viewers of a lone picture are shared among the cores."""
        text_embedding, style = self._text_embedding(request.task), self._style(request.style)

        def all_of(picture: Picture, cores: int = 1) -> list[Gaze]:
            try:
                query, seeds = self._query(picture, text_embedding, style, request)
            except InputError as error:
                if broken is None:
                    raise
                broken(picture, error)
                return []
            sampling = Sampling(request, cores, tally)
            return [one for some in batched(seeds, VIEWERS_AT_ONCE) for one in sample(query, some, sampling)]

        if len(pictures) != 1:
            yield from on_cores(all_of, pictures)
            return
        with one_core() as cores:
            gaze = all_of(pictures[0], cores)
        yield gaze

    def _query(
        self, picture: Picture, text_embedding: torch.Tensor, style: str, request: Request
    ) -> tuple[Query, list[int]]:
        """A picture, encoded, and a seed for each of its viewers."""
        image = load_picture(picture)
        features = None if self.encoder is None else self.encoder.encode([image])
        frame = Frame(image.width, image.height, request.px_per_degree)
        seeds = sample_seeds(request.seed, image.tobytes(), request.task, request.samples)
        fill = request.fill and request.seconds is not None
        return Query(features, text_embedding, frame, request.seconds, style, fill), seeds

    def _scanpaths(self, query: Query, seeds: list[int], sampling: Sampling) -> list[Scanpath]:
        return self._sampled(lambda some: self.first.scanpaths([query], [some], sampling.options)[0], seeds, sampling)

    def _sampled(self, sample: Callable[[list[int]], list[Item]], seeds: list[int], sampling: Sampling) -> list[Item]:
        """One sample of the first stage per seed; some stages share them among the cores by themselves."""
        if not self.first.shares_samples_among_cores:
            return sampling.share(sample, seeds)
        sampled = sample(seeds)
        sampling.tally.add(len(sampled))
        return sampled

    def _trajectories(self, query: Query, seeds: list[int], sampling: Sampling) -> list[Generated]:
        request, options, fine = sampling.request, sampling.options, self.fine
        if self.first.generates_trajectories:
            sampled = self._sampled(lambda some: self.first.trajectories([query], [some], options)[0], seeds, sampling)
            return [one if isinstance(one, Generated) else Generated.of(one, None) for one in sampled]
        assert fine is not None
        paths = dict(zip(seeds, self._scanpaths(query, seeds, sampling), strict=True))

        def move(some: list[int]) -> list[Trajectory]:
            theirs = [paths[seed] for seed in some]
            return fine.animate(theirs, some, request.precision_deg, options, request.px_per_degree, query.fill)

        return [Generated.of(one, paths[seed]) for seed, one in zip(seeds, sampling.share(move, seeds), strict=True)]

    def match_target(self, task: str) -> TargetMatch | None:
        """How near a task is to the targets that the model was trained on.

        Parameters
        ----------
        task : str
            What is searched for, in words.

        Returns
        -------
        TargetMatch or None
            None where the targets are not known.
        """
        return None if self.targets is None else match_target(task, self.name, self.targets, self.config.text)

    def _text_embedding(self, task: str) -> torch.Tensor:
        if not task:
            return torch.zeros(1, TEXT_WIDTH)
        match = self.match_target(task)
        if match is not None and match.verdict != "trained":
            warnings.warn(str(match), stacklevel=2)
        return text_encoder(self.config.text).encode(task)[None]

    def nearest_style(self, style: str | None) -> str:
        """The style itself where the model knows it, else the nearest one.

        Parameters
        ----------
        style : str or None
            Name of a data set; None for the model's default.

        Returns
        -------
        str
            A style that the model knows; "" where it knows none.
        """
        default = self.config.default_style or (self.styles[0] if self.styles else "")
        if style is None:
            return default
        return style if not style or style in self.styles else nearest_style(style, self.styles, default)

    def _style(self, style: str | None) -> str:
        used = self.nearest_style(style)
        if style is not None and used != style:
            known = ", ".join(self.styles) or "none"
            instead = f"that of {used!r} is used" if used else "it is left out"
            warnings.warn(f"{self.name} has no style {style!r}: {instead}; it has {known}", stacklevel=2)
        return used


def load(name_or_path: str | Path | None = None, task: str = "", device: str = "cpu") -> Model:
    """Load a model and its weights.

    Parameters
    ----------
    name_or_path : str or path, optional
        Shipped model or folder of a run; by default `freeview`, or `search` where there is a task.
    task : str
        What is searched for, which decides the default.
    device : str
        Where torch computes, as "cpu" or "cuda".

    Returns
    -------
    Model
        The model, ready to generate.

    Raises
    ------
    InputError
        When there is no such model, or its weights are missing or damaged.
    """
    folder = find_model(name_or_path, task)
    with one_core():  # so many small tensors, that threads would wait for each other most of the time
        return _loaded(folder, device)


def _loaded(folder: Path, device: str) -> Model:
    config = read_run(folder)
    stages = config.build()
    for name, stage in list(stages.items()):
        try:
            path = weights_file(folder, name)
        except InputError:
            if name == next(iter(stages)):
                raise
            del stages[name]  # a stage that was not trained: scanpaths alone still work
            continue
        load_weights(path, stage)
        stage.eval().requires_grad_(False).to(device)
    located_config = replace(config, encoder=located(config.encoder, folder))
    return Model(located_config, stages, folder.name, targets_of(folder, config))
