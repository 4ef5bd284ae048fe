"""What the coarse half is made of, and how it is trained and drawn from."""

from __future__ import annotations

from dataclasses import dataclass, field

from stdiffeye.diffusion import VIEWERS, Prediction, SamplerName, ScheduleName
from stdiffeye.errors import InputError
from stdiffeye.model.denoiser import DenoiserConfig
from stdiffeye.model.picture import PictureConfig
from stdiffeye.systems.scanpath_tokens import CHANNELS, NEIGHBOURHOOD


@dataclass(frozen=True)
class CoarseConfig:
    """The defaults are those of preset `compact`."""

    picture: PictureConfig = field(
        default_factory=lambda: PictureConfig(
            channels=432, rows=24, columns=32, width=192, dropout=0.0, mixing=1, density=True
        )
    )
    denoiser: DenoiserConfig = field(
        default_factory=lambda: DenoiserConfig(
            channels=CHANNELS,
            known=NEIGHBOURHOOD,
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
            reach=15,
            cross_every=2,
            denoising_attention=True,
            convolution=5,
            sided=True,
            hidden=0,
        )
    )
    sets: tuple[str, ...] = ()
    """Data sets whose manner of viewing is told apart, in the order of their numbers."""
    viewing_s: tuple[float, ...] = ()
    """How long people looked in each of these sets; a longer look is drawn piece by piece. 5 s where unknown."""
    recorded_s: tuple[float, ...] = ()
    """How long recordings are in each of these sets, 0 where there are none: gaze of their manner is as long."""
    pools: tuple[int, ...] = ()
    """Of how many viewers those asked for are chosen, in each of these sets: more tell more, and cost more. Else 64."""
    schedule: ScheduleName = "cosine"
    diffusion_steps: int = 1000
    prediction: Prediction = "v"
    snr_clamp: tuple[float, float] = (0.1, 5.0)
    """With prediction z0: its error is weighted by the signal-to-noise ratio within these bounds."""
    low_noise: float = 1.0
    """Above 1 more of the training is at low noise (a step is a uniform number to this power), where details are."""
    density_weight: float = 0.05
    length_weight: float = 0.05
    relit: float = 0.0
    """Chance that a picture is seen in another light in training: brighter, paler, in grey."""
    forget: float = 0.1
    """Chance that the manner, and the viewing time, are hidden in training, so that each is optional."""
    forget_picture: float = 0.05
    """Chance that the picture is hidden in training, for classifier-free guidance."""
    sampler: SamplerName = "unipc"
    sampling_steps: int = 6
    eta: float = 0.0
    guidance: float = 1.0
    """Above 1 exaggerates what is due to picture and words; 1 leaves the model alone."""

    def __post_init__(self) -> None:
        if self.picture.width != self.denoiser.width:
            raise InputError(
                f"picture.width {self.picture.width} and denoiser.width {self.denoiser.width} must be equal"
            )
        if self.denoiser.channels != CHANNELS:
            raise InputError(f"the coarse half's tokens have {CHANNELS} channels, not {self.denoiser.channels}")
        if self.low_noise <= 0:
            raise InputError(f"low_noise must be positive, got {self.low_noise}")
        if any(pool < 1 or VIEWERS % pool for pool in self.pools):
            raise InputError(f"pools must divide {VIEWERS}, got {self.pools}")
        if self.denoiser.known not in (0, NEIGHBOURHOOD):
            raise InputError(
                f"the coarse half tells {NEIGHBOURHOOD} numbers of each token's neighbours, or 0, "
                f"not denoiser.known {self.denoiser.known}"
            )
