"""The switches of the paper's form: what a token is, how the fixation index enters, where noise is added."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from stdiffeye.diffusion import SamplerName
from stdiffeye.errors import InputError
from stdiffeye.model.denoiser import DenoiserConfig
from stdiffeye.model.image import ImageConfig
from stdiffeye.model.tokens import IndexEncoding
from stdiffeye.model.unet import UNetConfig
from stdiffeye.systems.next_fixation import NextFixationConfig
from stdiffeye.systems.noise_levels import NoiseConfig

INDEX_WIDTH = 16  # numbers of a learnable or sinusoidal index code


@dataclass(frozen=True)
class LossConfig:
    """The four terms of the loss."""

    recon: float = 1.0
    """λ of the absolute error of the decoded channels."""
    validity: float = 1.0
    """λ of the validity head's cross-entropy."""
    prior: float = 1.0
    """λ of the squared mean of z at the last step."""
    decode: Literal["predicted", "clean"] = "predicted"
    """What γ and the validity head are trained on: the predicted ẑ0 (the paper) or the clean z0 (ScanDiff's code)."""
    on_padding: bool = False
    """Whether the error of denoising counts on padded tokens too (as in ScanDiff's code)."""
    density: float = 0.05
    """λ of the density of fixations, with image.density."""
    length: float = 0.05
    """λ of the number of tokens, with length: first."""


@dataclass(frozen=True)
class STDiffEyeConfig:
    """One denoiser over gaze tokens; the defaults are the paper's on COCO-FreeView and COCO-Search18."""

    modality: Literal["joint", "trajectory", "scanpath"] = "joint"
    """Samples with their fixation index, samples alone, or fixations (x, y, duration)."""
    interpolation: Literal["uniform", "distance"] = "uniform"
    """Fixation index between anchors: even in time, or by distance to the two nearest fixations."""
    injection: Literal["raw", "latent", "embedding"] = "raw"
    """Where the index enters: a channel of the sample, a channel of the latent token, or added to it as a given."""
    encoding: IndexEncoding = "raw"
    time_channel: bool = True
    """Whether samples carry Δt; it is the same for all of them."""
    space: Literal["latent", "data"] = "latent"
    """Noise is added to g's latent tokens, or to the samples themselves."""
    latent: int = 256
    patch: int = 1
    """Samples per token."""
    max_points: int = 1500
    max_fixations: int = 16
    rate_hz: float = 240.0
    lift: bool = False
    """Where trials have fixations with durations but no samples, synthesise the samples."""
    flip: float = 0.0
    """Share of pictures that are mirrored, with their gaze, in training."""
    length: Literal["validity", "first", "fixed"] = "validity"
    """How long a sample is: read from the validity head, sampled before the gaze (padding is then masked), or full."""
    length_rule: Literal["change_point", "leading_run"] = "change_point"
    """With validity: the most likely change from gaze to padding, or all before the first token classed as padding."""
    sets: tuple[str, ...] = ()
    """Data sets whose viewing style is distinguished, with length: first or image.density."""
    condition_dropout: float = 0.1
    """Chance that the style, and the viewing time, are dropped in training, with length: first."""
    image_dropout: float = 0.0
    """Chance that the picture is dropped in training, for classifier-free guidance."""
    network: Literal["transformer", "unet"] = "transformer"
    image: ImageConfig = field(default_factory=ImageConfig)
    denoiser: DenoiserConfig = field(default_factory=DenoiserConfig)
    """The transformer; its `channels` and `max_tokens` follow from the rest."""
    unet: UNetConfig = field(default_factory=UNetConfig)
    noise: NoiseConfig = field(default_factory=NoiseConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    sampler: SamplerName = "ddpm"
    sampling_steps: int = 1000
    next_fixation: NextFixationConfig = field(default_factory=NextFixationConfig)
    """How the density of the next fixation is estimated, for likelihoods."""

    def __post_init__(self) -> None:
        for name in ("patch", "max_points", "max_fixations", "latent", "sampling_steps", "rate_hz"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be positive, got {getattr(self, name)!r}")
        self._check_index()
        self._check_network()
        follows = replace(self.denoiser, channels=self.token_width, max_tokens=self.max_tokens)
        object.__setattr__(self, "denoiser", follows)

    def _check_index(self) -> None:
        for name in ("interpolation", "injection", "encoding"):
            value = getattr(self, name)
            if self.modality != "joint" and value not in ("uniform", "raw"):
                raise InputError(f"{name}: {value} is about the fixation index, which modality {self.modality} has not")
        if self.space == "data" and self.injection == "latent":
            raise InputError("injection: latent needs space: latent, there is no latent token in space: data")
        if self.space == "data" and self.injection == "raw" and self.encoding != "raw":
            raise InputError(f"encoding: {self.encoding} needs space: latent, noise on a code in data has no meaning")
        if self.injection == "latent" and self.encoding == "learnable":
            raise InputError(
                "encoding: learnable with injection: latent has nothing that keeps the table from becoming all the "
                "same; choose injection: raw, or encoding: sinusoidal"
            )

    def _check_network(self) -> None:
        if self.denoiser.denoising_attention and self.space == "latent":
            raise InputError("denoising_attention compares positions, and a latent token has none: set space: data")
        if self.network == "transformer" and self.image.width != self.denoiser.width:
            raise InputError(f"image.width {self.image.width} and denoiser.width {self.denoiser.width} must be equal")
        if self.network == "unet" and (self.space, self.patch, self.length) != ("data", 1, "fixed"):
            raise InputError("network: unet takes points as they are: set space: data, patch: 1, length: fixed")
        if self.network == "unet" and self.injection == "embedding":
            raise InputError("network: unet has nowhere to add the index to: set injection: raw")
        if self.modality == "scanpath" and self.patch != 1:
            raise InputError(f"a fixation is a token by itself: modality scanpath needs patch: 1, not {self.patch}")

    @property
    def cosines(self) -> bool:
        """Whether a token holds the cosines of its samples, not the samples: where noise is scaled to each number."""
        return self.space == "data" and self.patch > 1 and self.noise.prediction == "edm"

    @property
    def has_index(self) -> bool:
        return self.modality == "joint"

    @property
    def decodes_index(self) -> bool:
        """Whether ρ̃ is one of the decoded channels."""
        return self.has_index and self.injection == "raw"

    @property
    def channels(self) -> int:
        """Numbers per sample that are decoded: x, y, Δt, ρ̃ or some of them."""
        timed = self.modality == "scanpath" or self.time_channel
        return 2 + timed + self.decodes_index

    @property
    def code_width(self) -> int:
        return 1 if self.encoding == "raw" else INDEX_WIDTH

    @property
    def token_width(self) -> int:
        """Numbers per token that are diffused."""
        if self.space == "data":
            return self.patch * self.channels
        return self.latent + (self.patch * self.code_width if self.has_index and self.injection == "latent" else 0)

    @property
    def max_tokens(self) -> int:
        return self.max_fixations if self.modality == "scanpath" else -(-self.max_points // self.patch)

    @property
    def max_samples(self) -> int:
        """Samples (or fixations) of a full sequence, whole patches of them."""
        return self.max_tokens * self.patch
