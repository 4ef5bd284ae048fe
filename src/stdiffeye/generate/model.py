"""A trained system, ready to look at pictures.

>>> import stdiffeye
>>> model = stdiffeye.load()                                     # doctest: +SKIP
>>> gaze = model.generate("photo.jpg", samples=10, seconds=3)    # doctest: +SKIP
>>> gaze[0].scanpath()                                           # doctest: +SKIP
Scanpath(10 fixations, 2.81 s, 1024×768 px)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from stdiffeye.diffusion import SamplerName, viewer_seeds
from stdiffeye.encoders import load_picture, picture_encoder, text_encoder
from stdiffeye.encoders.choose import located
from stdiffeye.encoders.picture import PICTURE_SUFFIXES, Picture
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory
from stdiffeye.gaze import extract as extract_fixations
from stdiffeye.generate.shipped import find_model
from stdiffeye.systems.config import SystemConfig
from stdiffeye.systems.cores import batched, on_cores, one_core, shared
from stdiffeye.systems.fine import Fine
from stdiffeye.systems.part import AS_CONFIGURED, Likelihood, Look, Options, Part
from stdiffeye.systems.seating import POOL
from stdiffeye.train.checkpoint import load_weights
from stdiffeye.train.run import read_run, weights_file

MAX_SAMPLES = 1000
SECONDS = (0.2, 30.0)  # shortest and longest gaze that may be asked for
VIEWERS_AT_ONCE = POOL  # of a picture, per pass: memory stays small, larger gains no speed, fewer draw a pool again

Gaze = TypeVar("Gaze", Scanpath, "Generated")


@dataclass(frozen=True, eq=False, repr=False)
class Generated(Trajectory):
    """A generated trajectory that knows the scanpath it was drawn from, where there is one."""

    drawn_from: Scanpath | None = None

    def scanpath(self, extract: str | None = None, **options: Any) -> Scanpath:
        """Its fixations: those it was drawn from or, with `extract="judd"`, those found in its samples."""
        if extract is None and self.drawn_from is not None:
            return self.drawn_from
        return extract_fixations(self, extract or "judd", **options)


@dataclass(frozen=True)
class Request:
    """What is wanted of each picture."""

    task: str = ""
    samples: int = 10
    seconds: float | None = None
    seed: int = 0
    manner: str | None = None
    precision_deg: float | None = None
    px_per_degree: float | None = None
    options: Options = AS_CONFIGURED
    fill: bool = True
    """Whether the gaze lasts all of `seconds`; False for trials as people's are, which lack some of it."""

    def __post_init__(self) -> None:
        if not 1 <= self.samples <= MAX_SAMPLES:
            raise InputError(f"samples must be between 1 and {MAX_SAMPLES}, got {self.samples}")
        if self.seconds is not None and not SECONDS[0] <= self.seconds <= SECONDS[1]:
            raise InputError(f"seconds must be between {SECONDS[0]:g} and {SECONDS[1]:g}, got {self.seconds:g}")
        if self.precision_deg is not None and not 0 < self.precision_deg <= 1:
            raise InputError(f"the tracker's precision is an angle up to 1 degree, got {self.precision_deg:g}")
        if self.options.steps is not None and self.options.steps < 1:
            raise InputError(f"steps must be at least 1, got {self.options.steps}")


class Model:
    """A trained system. Make one with `load`."""

    def __init__(self, config: SystemConfig, parts: dict[str, Part], name: str) -> None:
        self.config, self.parts, self.name = config, parts, name
        self.encoder = picture_encoder(config.encoder) if self.first.needs_pictures else None

    def __repr__(self) -> str:
        size = sum(p.numel() for part in self.parts.values() for p in part.parameters()) / 1e6
        return f"Model({self.name}: {self.config.system}, {size:.1f} M parameters)"

    @property
    def first(self) -> Part:
        """The part that looks at the picture."""
        return next(iter(self.parts.values()))

    @property
    def fine(self) -> Fine | None:
        part = self.parts.get("fine")
        return part if isinstance(part, Fine) else None

    @property
    def manners(self) -> tuple[str, ...]:
        """Data sets whose manner of viewing can be asked for; the first is the default."""
        return tuple(getattr(self.first.config, "sets", ()))

    def generate(
        self,
        picture: Picture,
        task: str | None = None,
        samples: int = 10,
        seconds: float | None = None,
        seed: int = 0,
        manner: str | None = None,
        precision_deg: float | None = None,
        px_per_degree: float | None = None,
        steps: int | None = None,
        sampler: SamplerName | None = None,
        guidance: float | None = None,
        independent: bool = False,
    ) -> list[Generated]:
        """Trajectories of `samples` viewers of a picture, in its pixels.

        Parameters
        ----------
        picture : file, PIL image or array.
        task : what is looked for, in words; None for free viewing.
        seconds : how long they look; None for as long as people did in the data.
        seed : the same seed gives the same gaze, sample by sample, whatever `samples` is.
        manner : data set whose manner of viewing is wanted (see `manners`).
        precision_deg : tracker's precision, root mean square of sample-to-sample steps; None for varied ones.
        px_per_degree : how large the picture is seen; None for a picture 30 degrees wide.
        steps, sampler, guidance : how the gaze is drawn; None for the model's own choice.
        independent : draw viewers one by one, not as a set that covers what people do (see `diffusion.noise`).
        """
        options = Options(steps, sampler, guidance, spread=not independent)
        request = Request(task or "", samples, seconds, seed, manner, precision_deg, px_per_degree, options)
        return next(iter(self.generate_many([picture], request)))

    def scanpaths(self, picture: Picture, **wanted: Any) -> list[Scanpath]:
        """Scanpaths alone, which is faster; parameters as in `generate`."""
        options = Options(
            wanted.pop("steps", None),
            wanted.pop("sampler", None),
            wanted.pop("guidance", None),
            spread=not wanted.pop("independent", False),
        )
        request = Request(task=wanted.pop("task", None) or "", options=options, **wanted)
        return next(iter(self.scanpaths_of_many([picture], request)))

    def log_density(
        self, picture: Picture, history_px: ArrayLike = (), task: str | None = None, manner: str | None = None
    ) -> NDArray[np.float64]:
        """(rows, columns) log-probability of the cells of a grid for the next fixation, for systems that state one.

        Parameters
        ----------
        history_px : (n, 2) fixations so far, oldest first, in pixels of the picture; none for the first fixation.
        """
        part = self._likelihood()
        return part.log_density(self._looked_at(picture, task, manner), history_px)

    def information_gain(
        self, picture: Picture, scanpaths: Sequence[Scanpath], task: str | None = None, manner: str | None = None
    ) -> float:
        """Bits per fixation of people's scanpaths that picture and history tell beyond the centre bias."""
        part = self._likelihood()
        if not any(len(path) for path in scanpaths):
            raise InputError("the information gain of no fixation is not defined: give at least one scanpath")
        return part.information_gain(self._looked_at(picture, task, manner), scanpaths)

    def _likelihood(self) -> Likelihood:
        if not isinstance(self.first, Likelihood):
            raise InputError(
                f"{self.name} ({self.config.system}) draws gaze but states no likelihood of the next fixation: "
                "deepgaze3 does, see `stdiffeye train deepgaze3`"
            )
        return self.first

    def _looked_at(self, picture: Picture, task: str | None, manner: str | None) -> Look:
        request = Request(task=task or "")
        return self._look(picture, self._words(request.task), self._manner(manner), request)[0]

    def scanpaths_of_many(self, pictures: Sequence[Picture], request: Request) -> Iterator[list[Scanpath]]:
        """Scanpaths of each picture, a core busy with each."""
        first = self.first
        if first.draws_trajectories or not first.draws_scanpaths:
            for trajectories in self.generate_many(pictures, request):
                yield [trajectory.scanpath() for trajectory in trajectories]
            return
        yield from self._of_each(pictures, request, self._scanpaths)

    def generate_many(self, pictures: Sequence[Picture], request: Request) -> Iterator[list[Generated]]:
        """Trajectories of each picture, a core busy with each."""
        if not self.first.draws_trajectories and not self.first.draws_scanpaths:
            raise InputError(f"{self.name} draws no gaze: it is an encoder, to train other systems with")
        if not self.first.draws_trajectories and self.fine is None:
            raise InputError(f"{self.name} draws scanpaths only: use --no-trajectories, or `stdiffeye animate`")
        yield from self._of_each(pictures, request, self._trajectories)

    def _of_each(
        self, pictures: Sequence[Picture], request: Request, draw: Callable[[Look, list[int], Request], list[Gaze]]
    ) -> Iterator[list[Gaze]]:
        """What `draw` draws of each picture; the viewers of a lone picture are shared among the cores."""
        words, manner = self._words(request.task), self._manner(request.manner)

        def all_of(picture: Picture, cores: int = 1) -> list[Gaze]:
            look, seeds = self._look(picture, words, manner, request)
            sharing = replace(request, options=replace(request.options, cores=cores))
            return [one for some in batched(seeds, VIEWERS_AT_ONCE) for one in draw(look, some, sharing)]

        if len(pictures) != 1:
            yield from on_cores(all_of, pictures)
            return
        with one_core() as cores:
            gaze = all_of(pictures[0], cores)
        yield gaze

    def _look(self, picture: Picture, words: torch.Tensor, manner: str, request: Request) -> tuple[Look, list[int]]:
        """A picture, encoded, and a seed for each of its viewers."""
        image = load_picture(picture)
        features = None if self.encoder is None else self.encoder.encode([image])
        frame = Frame(image.width, image.height, request.px_per_degree)
        seeds = sample_seeds(request.seed, image.tobytes(), request.task, request.samples)
        fill = request.fill and request.seconds is not None
        return Look(features, words, frame, request.seconds, manner, fill), seeds

    def _scanpaths(self, look: Look, seeds: list[int], request: Request) -> list[Scanpath]:
        def draw(some: list[int]) -> list[Scanpath]:
            return self.first.scanpaths([look], [some], request.options)[0]

        return draw(seeds) if self.first.draws_pools else shared(draw, seeds, request.options.cores)

    def _trajectories(self, look: Look, seeds: list[int], request: Request) -> list[Generated]:
        options, fine = request.options, self.fine
        if self.first.draws_trajectories:
            drawn = shared(lambda some: self.first.trajectories([look], [some], options)[0], seeds, options.cores)
            return [_generated(one, None) for one in drawn]
        assert fine is not None
        paths = dict(zip(seeds, self._scanpaths(look, seeds, request), strict=True))

        def move(some: list[int]) -> list[Trajectory]:
            theirs = [paths[seed] for seed in some]
            return fine.animate(theirs, some, request.precision_deg, options, request.px_per_degree, look.fill)

        return [
            _generated(one, paths[seed]) for seed, one in zip(seeds, shared(move, seeds, options.cores), strict=True)
        ]

    def _words(self, task: str) -> torch.Tensor:
        if not task:
            return torch.zeros(1, 512)
        return text_encoder(self.config.text).encode(task)[None]

    def _manner(self, manner: str | None) -> str:
        if manner is None:
            return self.manners[0] if self.manners else ""
        if manner and manner not in self.manners:
            raise InputError(f"{self.name} knows no manner {manner!r}: it knows {', '.join(self.manners) or 'none'}")
        return manner


def load(name_or_path: str | Path | None = None, task: str = "", device: str = "cpu") -> Model:
    """A shipped model by name, or a run's folder; by default `freeview`, or `search` where there is a task."""
    folder = find_model(name_or_path, task)
    config = read_run(folder)
    parts = config.build()
    for name, part in list(parts.items()):
        try:
            path = weights_file(folder, name)
        except InputError:
            if name == next(iter(parts)):
                raise
            del parts[name]  # a half that was not trained: scanpaths alone still work
            continue
        load_weights(path, part)
        part.eval().requires_grad_(False).to(device)
    return Model(replace(config, encoder=located(config.encoder, folder)), parts, folder.name)


def sample_seeds(seed: int, picture: bytes, task: str, samples: int) -> list[int]:
    """A seed per sample that depends on the picture's content, the task and the sample's number, nothing else."""
    content = hashlib.blake2b(picture, digest_size=16).digest()
    viewers = hashlib.blake2b(content + f"|{task}|{seed}".encode(), digest_size=6).digest()
    return viewer_seeds(int.from_bytes(viewers, "big"), samples)


def _generated(trajectory: Trajectory, path: Scanpath | None) -> Generated:
    return Generated(trajectory.xy_px, trajectory.rate_hz, trajectory.frame, synthesised=True, drawn_from=path)


def pictures_in(sources: Sequence[str | Path]) -> list[Path]:
    """Pictures named by files and folders, in order."""
    found: list[Path] = []
    for source in map(Path, sources):
        if source.is_dir():
            inside = sorted(p for p in source.iterdir() if p.suffix.lower() in PICTURE_SUFFIXES)
            if not inside:
                raise InputError(f"there is no picture in {source}: expected {', '.join(sorted(PICTURE_SUFFIXES))}")
            found += inside
        elif source.is_file():
            found.append(source)
        else:
            raise InputError(f"there is no picture {source}: check the name")
    return found
