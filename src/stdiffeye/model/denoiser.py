"""The denoiser φ: noisy tokens, the time step, the picture and the conditions in; a prediction per token out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from stdiffeye.errors import InputError
from stdiffeye.model.image_attention import AttendsToImage
from stdiffeye.model.layers import (
    AttentionGeometry,
    Block,
    BlockConfig,
    EncodedImage,
    Ragged,
    TimeEmbedding,
    batch_invariant,
    sinusoid,
)

FIRST_POSITION_SIZE = 0.5
MIRROR_SCALE = 10.0  # lets an asymmetry that few trials show learn as fast as the rest at the same learning rate


@dataclass(frozen=True)
class DenoiserConfig:
    """Size and switches; the defaults are the paper's (28.4 M parameters with its token encoder and fusion)."""

    channels: int = 256
    """Numbers per token that are diffused: the latent width, or samples per patch × channels."""
    condition_channels: int = 0
    """Numbers per token that are given and never noised (the trajectory stage's skeleton)."""
    max_tokens: int = 1500
    width: int = 512
    depth: int = 6
    heads: int = 8
    feedforward: int = 2048
    dropout: float = 0.1
    norm: Literal["post", "pre"] = "post"
    cross_query: Literal["input", "stream"] = "input"
    time: Literal["add", "adaln"] = "add"
    """How the time step enters: added to every token (ScanDiff), or as adaptive normalisation (DiT)."""
    positions: Literal["learned", "relative", "both"] = "learned"
    """Absolute ones, learned; distances between tokens, seen by self-attention; or both."""
    max_relative_distance: int = 32
    """With relative positions: how many tokens away still count as different."""
    cross_every: int = 1
    """Every how many blocks there is cross-attention to the picture, counted from the first; 0 for never."""
    denoising_attention: bool = False
    convolution: int = 0
    mirror_embedding: bool = False
    """Whether mirror images are distinguished: viewers fixate the left first, whatever there is to see."""
    gated: bool = False
    """Whether the output also holds the input, each number times a gate, so that noise is passed on as it is."""
    hidden: int = 512
    """Width of the hidden layer in the input and output projections (as Diffusion-LM has); 0 for plain linear ones."""

    def __post_init__(self) -> None:
        if self.denoising_attention and not self.cross_every:
            raise InputError("denoising_attention is cross-attention to the picture, so cross_every must not be 0")

    @property
    def block(self) -> BlockConfig:
        return BlockConfig(
            width=self.width,
            heads=self.heads,
            feedforward=self.feedforward,
            dropout=self.dropout,
            norm=self.norm,
            cross_query=self.cross_query,
            modulated=self.time == "adaln",
            denoising_attention=self.denoising_attention,
            relative_positions=0 if self.positions == "learned" else self.max_relative_distance,
            convolution=self.convolution,
        )

    def has_cross_attention(self, block: int) -> bool:
        return self.cross_every > 0 and block % self.cross_every == 0


class Denoiser(AttendsToImage):
    """A transformer over gaze tokens with cross-attention to the picture."""

    def __init__(self, config: DenoiserConfig) -> None:
        super().__init__()
        self.config = config
        self.input = projection(config.channels + config.condition_channels, config.hidden, config.width)
        self.time = TimeEmbedding(config.width)
        if config.positions != "relative":
            self.position = nn.Parameter(torch.zeros(config.max_tokens, config.width))
        if config.mirror_embedding:
            self.mirror_embedding = nn.Parameter(torch.zeros(config.max_tokens, config.width))
        self.blocks = nn.ModuleList(Block(config.block, config.has_cross_attention(i)) for i in range(config.depth))
        if config.time == "adaln":
            self.modulate = nn.Sequential(nn.SiLU(), nn.Linear(config.width, 9 * config.width))
        self.norm = nn.LayerNorm(config.width)
        self.head = projection(config.width, config.hidden, config.channels * (1 + config.gated))
        self._initialise()

    def _initialise(self) -> None:
        """Positions begin as sines, large enough to distinguish tokens; adaLN gates at zero, so blocks do nothing."""
        if self.config.positions != "relative":
            order = torch.arange(self.config.max_tokens)
            self.position.data = FIRST_POSITION_SIZE * sinusoid(order, self.config.width)
        if self.config.time == "adaln":
            for parameter in self.modulate.parameters():
                nn.init.zeros_(parameter)

    def forward(
        self,
        z: Tensor,  # (B, T, C) noisy tokens, scaled to unit variance
        time: Tensor,  # (B,) diffusion time
        context: Tensor | None = None,  # (B, D) all other conditions of the trial, embedded
        picture: EncodedImage | None = None,  # P pictures, B a multiple of P
        valid: Tensor | None = None,  # (B, T) False on padding
        condition: Tensor | None = None,  # (B, T, K) given with every token
        where: AttentionGeometry | None = None,
        mirrored: Tensor | None = None,  # (B,) whether a trial is a mirror image; None for none of them
        added: Tensor | None = None,  # (B, T, D) added to the tokens as a given
    ) -> Tensor:
        ragged = Ragged(z, valid)
        x = self.input(ragged.pack(z if condition is None else torch.cat([z, condition], dim=-1)))  # (n, D)
        t = self.time(time)  # (B, D)
        if context is not None:
            t = t + context  # (B, D)
        if self.config.positions != "relative":
            x = x + ragged.pack(self.position[: z.shape[1]].expand(z.shape[0], -1, -1))  # (n, D)
        if self.config.mirror_embedding:
            x = x + ragged.pack(self._mirror(mirrored, *z.shape[:2]))  # (n, D)
        if added is not None:
            x = x + ragged.pack(added)  # (n, D)
        modulation = None
        if self.config.time == "adaln":
            modulation = batch_invariant(self.modulate, t).unflatten(-1, (9, -1))  # (B, 9, D)
        else:
            x = x + ragged.per_token(t)  # (n, D)
        keys_values_of = iter(() if picture is None else picture.keys_values)
        for block in self.blocks:
            keys_values = next(keys_values_of, None) if block.cross_attention is not None else None
            x = block(x, ragged, t, modulation, keys_values, where)  # (n, D)
        output = self.head(self.norm(x))  # (n, C), or (n, 2C) with gates
        if self.config.gated:
            own, gate = output.chunk(2, dim=-1)
            output = own + gate * ragged.pack(z)
        return ragged.pad(output)  # (B, T, C)

    def _mirror(self, mirrored: Tensor | None, trials: int, tokens: int) -> Tensor:
        """(B, T, D): what the order of tokens means in trials as they are, the opposite in mirror images."""
        as_it_is = MIRROR_SCALE * self.mirror_embedding[:tokens].expand(trials, -1, -1)
        return as_it_is if mirrored is None else torch.where(mirrored[:, None, None], -as_it_is, as_it_is)

    def keys_values(self, tokens: Tensor, position: Tensor, densities: Tensor | None) -> list[tuple[Tensor, Tensor]]:
        return [
            block.cross_attention.keys_values(tokens, position, densities)
            for block in self.blocks
            if isinstance(block, Block) and block.cross_attention is not None
        ]


def projection(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """Linear, or linear → tanh → linear where there is a hidden layer."""
    if not hidden:
        return nn.Sequential(nn.Linear(inputs, outputs))
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, outputs))
