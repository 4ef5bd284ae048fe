"""What is requested of a model: one request for the command line, Python and the page.

The fields of `Request` are flags of `stdiffeye generate`, keywords of `Model.generate` and the form of the page. Those
of `OutputOptions` and `AnimationOptions` are flags and keywords of `generate` and `animate`. Nothing here loads torch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from stdiffeye.errors import InputError

MAX_SAMPLES = 1000
SECONDS = (0.2, 30.0)  # shortest and longest gaze
MAX_PRECISION_DEG = 1.0
SamplerName = Literal["ddpm", "ddim", "dpm++", "unipc", "heun"]
SamplingKind = Literal["independent", "representative"]


@dataclass(frozen=True)
class Request:
    """What is wanted of each picture."""

    task: str = ""
    """What is searched for, in words; nothing for free viewing."""
    samples: int = 10
    """Viewers per picture."""
    seconds: float | None = None
    """Viewing time; by default that of the data."""
    seed: int = 0
    """The same seed gives the same gaze, sample by sample."""
    style: str | None = None
    """Data set whose viewing style is wanted, of those that the model knows."""
    precision_deg: float | None = None
    """Tracker's precision in degrees (RMS, sample to sample); varied by default."""
    px_per_degree: float | None = None
    """How large the picture is seen; by default 30 degrees wide."""
    steps: int | None = None
    """Denoising steps; by default the model's own."""
    sampler: SamplerName | None = None
    """ddpm, ddim, dpm++, unipc or heun; by default the model's own."""
    guidance: float | None = None
    """Above 1 exaggerates what is due to picture and task; by default the model's."""
    representative: bool = False
    """Choose samples that together cover human gaze, not independent ones."""
    fill: bool = True
    """Gaze lasts all of its time; human trials often end before."""

    @property
    def sampling(self) -> SamplingKind:
        """How samples are taken, as every file of them says; a single one is always a plain sample."""
        return "representative" if self.representative and self.samples > 1 else "independent"

    def __post_init__(self) -> None:
        if not 1 <= self.samples <= MAX_SAMPLES:
            raise InputError(f"samples must be between 1 and {MAX_SAMPLES}, got {self.samples}")
        if self.seconds is not None and not SECONDS[0] <= self.seconds <= SECONDS[1]:
            raise InputError(f"seconds must be between {SECONDS[0]:g} and {SECONDS[1]:g}, got {self.seconds:g}")
        if self.precision_deg is not None and not 0 < self.precision_deg <= MAX_PRECISION_DEG:
            raise InputError(
                f"the tracker's precision is an angle up to {MAX_PRECISION_DEG:g} degree, got {self.precision_deg:g}"
            )
        if self.px_per_degree is not None and not 0 < self.px_per_degree < math.inf:
            raise InputError(f"px_per_degree must be a positive number, got {self.px_per_degree:g}")
        if self.steps is not None and self.steps < 1:
            raise InputError(f"steps must be at least 1, got {self.steps}")


@dataclass(frozen=True)
class OutputOptions:
    """Which files are written of generated gaze, besides scanpaths.json, fixations.csv and saccades.csv."""

    trajectories: bool = True
    """Trajectories too; scanpaths alone are faster."""
    heatmap: bool = False
    """Also write the density of fixations as data, .npy and PNG."""
    parquet: bool = False
    """Also write trajectories.parquet (extra `tables`)."""
    bids: bool = False
    """Also write the gaze as a BIDS data set."""
    plots: bool = True
    """Pictures of the gaze."""
    replay: bool = False
    """Also write a page that replays the gaze."""
    report: bool = False
    """Also write report.html: all pictures on one page."""
    areas: str | None = None
    """File of areas of interest for the report (see `aoi`)."""
    overwrite: bool = False
    """Replace gaze of another run in the folder."""

    def __post_init__(self) -> None:
        if not self.trajectories and (self.parquet or self.bids):
            raise InputError("--parquet and --bids hold trajectories: leave out --no-trajectories")
        if self.areas is not None and not self.report:
            raise InputError("--areas is for the report: say --report, too, or take `stdiffeye aoi` afterwards")


@dataclass(frozen=True)
class JudgingOptions:
    """How models are judged, beside the settings that files of gaze have too."""

    likelihood: bool = False
    """Of models: also the likelihood of each next fixation of people, given the fixations before it."""
    url: tuple[str, ...] = ()
    """NAME=URL of models that answer pysaliency's HTTP protocol; they are judged by likelihood alone."""
    viewers: int | None = None
    """Viewers of each stimulus whose fixations are scored by likelihood; all by default."""
    samples: int = 10
    """Scanpaths that a model generates for each stimulus."""
    quiet: bool = True
    """Show no progress."""

    def __post_init__(self) -> None:
        if not 1 <= self.samples <= MAX_SAMPLES:
            raise InputError(f"samples must be between 1 and {MAX_SAMPLES}, got {self.samples}")


@dataclass(frozen=True)
class AnimationOptions:
    """How scanpaths become trajectories."""

    seed: int = 0
    """The same seed gives the same gaze."""
    precision_deg: float | None = None
    """Tracker's precision in degrees (RMS, sample to sample); varied by default."""
    px_per_degree: float | None = None
    """How large the picture was seen; by default 30 degrees wide."""
    durations: bool = False
    """Give scanpaths without durations typical ones, of 250 ms."""
    like: Path | None = None
    """quality.json of recordings: the gaze gets their tracker's precision."""

    def __post_init__(self) -> None:
        if self.like is not None and self.precision_deg is not None:
            raise InputError("--like and --precision-deg both say the precision: leave one out")
