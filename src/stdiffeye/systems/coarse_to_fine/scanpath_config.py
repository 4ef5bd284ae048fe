"""Configuration of the scanpath stage: network, training and sampling."""

from __future__ import annotations

from dataclasses import dataclass, field

from stdiffeye.diffusion import VIEWERS, SamplerName, ScheduleName
from stdiffeye.errors import InputError
from stdiffeye.model.denoiser import DenoiserConfig
from stdiffeye.model.fixation_tokens import CHANNELS, NEIGHBOURHOOD
from stdiffeye.model.image import ImageConfig
from stdiffeye.systems.next_fixation import NextFixationConfig


@dataclass(frozen=True)
class ScanpathStageConfig:
    """The defaults are those of preset `coarse-to-fine`."""

    image: ImageConfig = field(
        default_factory=lambda: ImageConfig(
            channels=432, rows=24, columns=32, width=192, dropout=0.0, mixing=1, density=True
        )
    )
    denoiser: DenoiserConfig = field(
        default_factory=lambda: DenoiserConfig(
            channels=CHANNELS,
            condition_channels=NEIGHBOURHOOD,
            max_tokens=16,
            width=192,
            depth=6,
            heads=6,
            feedforward=768,
            dropout=0.0,
            norm="pre",
            cross_query="stream",
            time="adaln",
            positions="both",
            max_relative_distance=15,
            cross_every=2,
            denoising_attention=True,
            convolution=5,
            mirror_embedding=True,
            hidden=0,
        )
    )
    sets: tuple[str, ...] = ()
    """Data sets whose viewing style is distinguished, in the order of their numbers."""
    density_sets: tuple[str, ...] = ()
    """Data sets without order, which teach the density alone."""
    density_stimuli: int = 16
    """Pictures of these sets in a step."""
    viewing_s: tuple[float, ...] = ()
    """Viewing time of each of these sets; a longer one is sampled piece by piece. 5 s where it is not recorded."""
    recorded_s: tuple[float, ...] = ()
    """How long recordings are in each of these sets, 0 where there are none: gaze of their style is as long."""
    candidates: tuple[int, ...] = ()
    """Of how many candidates representative samples are chosen, in each of these sets. Else 64."""
    schedule: ScheduleName = "cosine"
    diffusion_steps: int = 1000
    timestep_power: float = 1.0
    """Above 1 more of the training is at low noise (a step is a uniform number to this power), where details are."""
    density_weight: float = 0.05
    colour_jitter: float = 0.0
    """Chance that a picture has other colours in training: brighter, paler, in grey."""
    condition_dropout: float = 0.1
    """Chance that the style, and the viewing time, are dropped in training, so that each is optional."""
    image_dropout: float = 0.05
    """Chance that the picture is dropped in training, for classifier-free guidance."""
    sampler: SamplerName = "unipc"
    sampling_steps: int = 6
    guidance: float = 1.0
    """Above 1 exaggerates what is due to picture and words; 1 leaves the model alone."""

    next_fixation: NextFixationConfig = field(default_factory=NextFixationConfig)
    """How the density of the next fixation is estimated, for likelihoods."""

    @property
    def token_channels(self) -> int:
        """Numbers of a token: x, y, log duration, log gap."""
        return CHANNELS

    def __post_init__(self) -> None:
        if self.image.width != self.denoiser.width:
            raise InputError(f"image.width {self.image.width} and denoiser.width {self.denoiser.width} must be equal")
        if self.denoiser.channels != self.token_channels:
            raise InputError(f"denoiser.channels must be {self.token_channels}, got {self.denoiser.channels}")
        if self.timestep_power <= 0:
            raise InputError(f"timestep_power must be positive, got {self.timestep_power}")
        if any(count < 1 or VIEWERS % count for count in self.candidates):
            raise InputError(f"candidates must divide {VIEWERS}, got {self.candidates}")
        if self.denoiser.condition_channels not in (0, NEIGHBOURHOOD):
            raise InputError(
                f"the scanpath stage takes {NEIGHBOURHOOD} numbers of each token's neighbours, or 0, "
                f"not denoiser.condition_channels {self.denoiser.condition_channels}"
            )
