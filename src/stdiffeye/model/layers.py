"""The layers of the network: embeddings, attention, and the block that the denoiser repeats."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from stdiffeye.errors import InputError

GEOMETRY = 4  # extra dimensions that denoising attention adds to every query, key and value; one more per further phase
TOWARDS = 2  # and to every output: the way from the noisy token to the position that was found
SHARPEST = (
    5.0  # log of the most that sharpness is multiplied by: far beyond it one position takes all, and gradients explode
)
FEW_ROWS = 16  # below so many rows matrix products go other ways (16 with AVX-512), with other last bits


@dataclass(frozen=True)
class BlockConfig:
    """One transformer block; the defaults are the paper's."""

    width: int = 512
    heads: int = 8
    feedforward: int = 2048
    dropout: float = 0.1
    norm: Literal["post", "pre"] = "post"
    """Where the normalisation stands; adaptive normalisation (`modulated`) needs "pre"."""
    cross_query: Literal["input", "stream"] = "input"
    """What queries the picture: the block's input (ScanDiff's code) or the stream after self-attention."""
    modulated: bool = False
    """adaLN: shift, scale and gate every sub-layer by the time step and the conditions (Peebles & Xie 2023)."""
    denoising_attention: bool = False
    """Attention over picture positions, given where the noisy token is and how noisy (see `AttentionGeometry`)."""
    relative_positions: int = 0
    """Self-attention sees distances up to this many tokens instead of absolute positions; 0 switches it off."""
    convolution: int = 0
    """Kernel of a depth-wise convolution over neighbouring tokens; 0 switches it off."""

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise InputError(f"width {self.width} must be a multiple of heads {self.heads}")
        if self.modulated and self.norm == "post":
            raise InputError("adaptive normalisation (time: adaln) needs norm: pre, not post")


@dataclass(frozen=True)
class AttentionGeometry:
    """What denoising attention knows besides content.

    For points sampled from a density S and seen through Gaussian noise, the best estimate of the clean point is an
    attention over positions: softmax_p(log S(p) − a ‖q − p‖²) · p with q = z/α and a = 1 / (2 σ²/α²).
    """

    token_xy: Tensor  # (B, T, 2) the noisy position z = α·q
    signal: Tensor  # (B,) α
    unit: Tensor  # (B,) √2 times how far z may be from α·p, by noise and within a cell: a = α²/unit²
    phase: Tensor | None = None  # (B, T) which of the densities is a token's own; None for the first

    @classmethod
    def of(
        cls, token_xy: Tensor, alpha: Tensor, sigma: Tensor, cell: float, phase: Tensor | None = None
    ) -> AttentionGeometry:
        """At noise level (α, σ), for picture tokens that are cells of standard deviation `cell`."""
        unit = (2 * (sigma**2 + (alpha * cell) ** 2)).sqrt()
        return cls(token_xy, alpha.to(token_xy.dtype), unit.to(token_xy.dtype), phase)

    @property
    def sharpness(self) -> Tensor:
        """(B,) a."""
        return (self.signal / self.unit).square()

    @property
    def pull(self) -> Tensor:
        """(B,) a/α, which stays finite where α vanishes."""
        return self.signal / self.unit.square()


@dataclass
class EncodedImage:
    """One picture (or a batch of P), ready for cross-attention; made once per picture, not per step."""

    tokens: Tensor  # (P, N, D) V_joint
    position: Tensor  # (N, 2) of each token, in the tokens' units
    log_density: Tensor | None  # (P, N) s(p) of all fixations
    keys_values: list[tuple[Tensor, Tensor]]  # per cross-attention (P, H, N, d)
    phase_log_density: Tensor | None = None  # (P, K, N) s(p) of the fixations of each phase of viewing


class Ragged:
    """Sequences of unequal length as one list of valid tokens, so that padding costs nothing and cannot leak."""

    def __init__(self, tokens: Tensor, valid: Tensor | None) -> None:
        self.shape = tokens.shape[:2]  # (B, T)
        self.valid = None if valid is None or bool(valid.all()) else valid  # (B, T)
        index = None if self.valid is None else self.valid.flatten().nonzero()[:, 0]  # (n,)
        self.index = None if index is None or len(index) < FEW_ROWS <= tokens.shape[:2].numel() else index
        rows = torch.arange(self.shape[0], device=tokens.device).repeat_interleave(self.shape[1])
        self.row = rows if self.index is None else rows[self.index]  # (n,) which sequence a token belongs to
        self._positions: tuple[Tensor, int] | None = None

    def pack(self, x: Tensor) -> Tensor:
        """(B, T, …) → (n, …)."""
        flat = x.flatten(0, 1)
        return flat if self.index is None else flat.index_select(0, self.index)

    def pad(self, x: Tensor) -> Tensor:
        """(n, …) → (B, T, …), zeros on padding."""
        if self.index is not None:
            x = x.new_zeros(self.shape[0] * self.shape[1], *x.shape[1:]).index_copy_(0, self.index, x)
        padded = x.unflatten(0, self.shape)
        if self.index is None and self.valid is not None:
            padded = torch.where(self.valid.reshape(*self.shape, *[1] * (x.dim() - 1)), padded, 0)
        return padded

    def gather(self, x: Tensor, pictures: int) -> Tensor:
        """(n, …) → (P, L, …): the tokens of all viewers of a picture one after the other, zeros after the last."""
        if pictures == 1:
            return x[None]
        position, longest = self._in_pictures(pictures)
        return (
            x.new_zeros(pictures * longest, *x.shape[1:]).index_copy_(0, position, x).unflatten(0, (pictures, longest))
        )

    def scatter(self, y: Tensor) -> Tensor:
        """(P, L, …) → (n, …), the way back from `gather`."""
        return y[0] if len(y) == 1 else y.flatten(0, 1).index_select(0, self._in_pictures(len(y))[0])

    def _in_pictures(self, pictures: int) -> tuple[Tensor, int]:
        """(n,) position of each token among P × L, and L."""
        if self._positions is None:
            picture = self.row // (self.shape[0] // pictures)  # (n,)
            counts = torch.bincount(picture, minlength=pictures)
            longest, first = int(counts.max()), counts.cumsum(0) - counts
            order = torch.arange(len(picture), device=picture.device) - first[picture]
            self._positions = picture * longest + order, longest
        return self._positions

    def per_token(self, x: Tensor) -> Tensor:
        """(B, …) one per sequence → (n, …) one per token, or (1, …) where all tokens are of one sequence."""
        return x if self.shape[0] == 1 else x.index_select(0, self.row)


def batch_invariant(layer: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    """`layer` of (B, …) rows, filled up so that what it makes of a row does not depend on how many there are.

    Matrix products of few rows, and the last few numbers of a list, are computed in another order than the rest.
    """
    missing = -len(rows) % FEW_ROWS
    if not missing:
        return layer(rows)
    return layer(torch.cat([rows, rows.new_zeros(missing, *rows.shape[1:])]))[: len(rows)]


def sinusoid(position: Tensor, width: int, longest: float = 10_000.0) -> Tensor:
    """(...,) numbers → (..., width) sines and cosines of geometrically spaced frequencies."""
    half = width // 2
    frequency = torch.exp(-math.log(longest) * torch.arange(half, device=position.device) / half)
    angle = position[..., None].float() * frequency
    return torch.cat([angle.cos(), angle.sin()], dim=-1)


class TimeEmbedding(nn.Module):
    """Diffusion time (any scale up to about 1000) → width: 256-d sinusoid → SiLU MLP."""

    def __init__(self, width: int, sines: int = 256) -> None:
        super().__init__()
        self.sines = sines
        self.mlp = nn.Sequential(nn.Linear(sines, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, time: Tensor) -> Tensor:
        return batch_invariant(lambda t: self.mlp(sinusoid(t, self.sines)), time)  # (B, D)


class SelfAttention(nn.Module):
    """Attention among tokens; padded ones are masked."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.heads, self.dropout = config.heads, config.dropout
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)
        self.max_relative_distance = config.relative_positions
        if self.max_relative_distance:
            self.distance_bias = nn.Parameter(torch.zeros(config.heads, 2 * self.max_relative_distance + 1))

    def forward(self, x: Tensor, ragged: Ragged) -> Tensor:
        q, k, v = (split_heads(one, self.heads) for one in ragged.pad(self.qkv(x)).chunk(3, dim=-1))  # (B, H, T, d)
        y = F.scaled_dot_product_attention(q, k, v, self._mask(ragged), self.dropout if self.training else 0.0)
        return self.out(ragged.pack(join_heads(y)))  # (n, D)

    def _mask(self, ragged: Ragged) -> Tensor | None:
        mask = None if ragged.valid is None else ragged.valid[:, None, None, :]  # (B, 1, 1, T)
        if not self.max_relative_distance:
            return mask
        bias = self._bias_of_distances(ragged.shape[1])[None]  # (1, H, T, T)
        return bias if mask is None else bias.masked_fill(~mask, float("-inf"))

    def _bias_of_distances(self, tokens: int) -> Tensor:
        """(H, T, T) by distance: rows are windows of one list, which is quicker than indexing."""
        beyond = tokens - 1 - self.max_relative_distance
        if beyond > 0:
            distances = F.pad(self.distance_bias, (beyond, beyond), mode="replicate")  # (H, 2T − 1)
        else:
            distances = self.distance_bias[:, -beyond : self.distance_bias.shape[1] + beyond]
        return distances.unfold(1, tokens, 1).flip(1)


class CrossAttention(nn.Module):
    """Gaze tokens attend to the picture's tokens. All viewers of a picture share its keys and values."""

    def __init__(self, config: BlockConfig, time_width: int, picture_width: int | None = None) -> None:
        super().__init__()
        self.heads, self.dropout = config.heads, config.dropout
        self.query = nn.Linear(config.width, config.width)
        self.key_value = nn.Linear(picture_width or config.width, 2 * config.width)
        self.geometric = config.denoising_attention
        extra = (GEOMETRY + TOWARDS) * config.heads if self.geometric else 0
        self.out = nn.Linear(config.width + extra, config.width)
        if self.geometric:
            # Per head and time: log-factor on the sharpness, and the weight b of the log-density.
            self.geometry = nn.Linear(time_width, 2 * config.heads)
            nn.init.zeros_(self.geometry.weight)
            nn.init.zeros_(self.geometry.bias)

    def keys_values(self, picture: Tensor, position: Tensor, densities: Tensor | None) -> tuple[Tensor, Tensor]:
        """(P, N, D) → keys and values (P, H, N, d), with the geometry and (P, K, N) densities where they are used."""
        k, v = (split_heads(one, self.heads) for one in self.key_value(picture).chunk(2, dim=-1))
        if not self.geometric:
            return k, v
        pictures, heads, n, _ = k.shape
        density = torch.zeros(pictures, 1, n, device=k.device) if densities is None else densities
        square = -(position**2).sum(-1)
        flat = torch.stack([position[:, 0], position[:, 1], square], -1).expand(pictures, n, 3)
        extra_k = torch.cat([flat, density.transpose(1, 2)], -1)[:, None].expand(pictures, heads, n, -1)
        extra_v = F.pad(position, (0, extra_k.shape[-1] - 2)).expand(pictures, heads, n, -1)
        return torch.cat([k, extra_k.to(k.dtype)], -1), torch.cat([v, extra_v.to(v.dtype)], -1)

    def forward(
        self,
        x: Tensor,
        ragged: Ragged,
        keys_values: tuple[Tensor, Tensor],
        time: Tensor,
        where: AttentionGeometry | None,
    ) -> Tensor:
        k, v = keys_values
        q = self.query(x).unflatten(-1, (self.heads, -1))  # (n, H, d)
        scale = q.shape[-1] ** -0.5
        if self.geometric:
            assert where is not None
            phases = k.shape[-1] - q.shape[-1] - GEOMETRY + 1
            q = torch.cat([q * scale, self._where(where, time, ragged, phases).to(q.dtype)], -1)
            scale = 1.0
        dropout = self.dropout if self.training else 0.0

        def attention(q: Tensor) -> Tensor:  # (n, H, d) → (n, H·d): all viewers of a picture at once
            q = ragged.gather(q, len(k)).transpose(1, 2)  # (P, H, L, d)
            return ragged.scatter(join_heads(F.scaled_dot_product_attention(q, k, v, None, dropout, scale=scale)))

        output = batch_invariant(attention, q) if len(k) == 1 else attention(q)  # (n, H·d)
        if self.geometric and where is not None:
            used = self.out.in_features // self.heads - TOWARDS  # values of further phases are zeros
            output = output.unflatten(-1, (self.heads, -1))[..., :used].flatten(1)
            output = torch.cat([output, self._towards(output, where, ragged)], -1)
        return self.out(output)  # (n, D)

    def _towards(self, output: Tensor, where: AttentionGeometry, ragged: Ragged) -> Tensor:
        """(n, H·2): from the noisy token to the position that a head found, in units of the noise.

        This is what a denoiser predicts; given the position alone, a network would have to subtract two large numbers
        and amplify what is left.
        """
        found = output.unflatten(-1, (self.heads, -1))[..., -GEOMETRY : -GEOMETRY + 2]  # (n, H, 2)
        signal, unit = ragged.per_token(torch.stack([where.signal, where.unit], -1)).unbind(-1)  # (n,)
        away = signal[:, None, None] * found - ragged.pack(where.token_xy)[:, None]
        return (away / unit[:, None, None]).flatten(1)

    def _where(self, where: AttentionGeometry, time: Tensor, ragged: Ragged, phases: int) -> Tensor:
        """(n, H, 3 + K): [2a·q_x, 2a·q_y, a] and b at the density of the token's phase, per head."""
        raised = batch_invariant(self._factors, time)  # (B, 2, H)
        factor, density_weight = raised.unbind(1)  # (B, H)
        per_row = torch.stack([2 * factor * where.pull[:, None], factor * where.sharpness[:, None], density_weight], -1)
        twice_a, a, b = ragged.per_token(per_row).unbind(-1)  # (n, H)
        x, y = ragged.pack(where.token_xy)[:, None].unbind(-1)  # (n, 1)
        found = torch.stack([twice_a * x, twice_a * y, a.expand(len(x), -1)], -1)  # (n, H, 3)
        b = b.expand(len(x), -1)[..., None]  # (n, H, 1)
        if where.phase is not None:
            b = b * F.one_hot(ragged.pack(where.phase), phases)[:, None]  # (n, H, K)
        return torch.cat([found, b], -1)

    def _factors(self, time: Tensor) -> Tensor:
        """(B, 2, H): what the sharpness is multiplied by, and the weight b of the log-density."""
        log_factor, density_weight = self.geometry(time).chunk(2, dim=-1)  # (B, H)
        return torch.stack([log_factor.clamp(max=SHARPEST).exp(), 1 + density_weight], 1)


class Block(nn.Module):
    """Self-attention → cross-attention to the picture → feed-forward, each with a residual."""

    def __init__(self, config: BlockConfig, has_cross_attention: bool) -> None:
        super().__init__()
        width = config.width
        self.config = config
        self.self_attention = SelfAttention(config)
        self.cross_attention = CrossAttention(config, width) if has_cross_attention else None
        self.mlp = nn.Sequential(
            nn.Linear(width, config.feedforward),
            nn.GELU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.feedforward, width),
        )
        affine = not config.modulated
        self.norms = nn.ModuleList(
            nn.LayerNorm(width, elementwise_affine=affine) for _ in range(3 if self.cross_attention else 2)
        )
        self.drop = nn.Dropout(config.dropout)
        if config.convolution:
            self.depthwise = nn.Conv1d(width, width, config.convolution, padding="same", groups=width)
            nn.init.zeros_(self.depthwise.weight)
        if config.modulated:
            self.own_modulation = nn.Parameter(torch.zeros(3 * len(self.norms), width))

    def forward(
        self,
        x: Tensor,  # (n, D)
        ragged: Ragged,
        time: Tensor,  # (B, D)
        modulation: Tensor | None,  # (B, 9, D)
        keys_values: tuple[Tensor, Tensor] | None,
        where: AttentionGeometry | None,
    ) -> Tensor:
        if self.config.convolution:
            x = x + ragged.pack(over_neighbours(self.depthwise, ragged.pad(x)))
        own = None
        if modulation is not None:
            own = ragged.per_token(modulation[:, : len(self.own_modulation)] + self.own_modulation)  # (n, 9, D)
        entered = x
        x = self._residual(0, x, lambda h: self.self_attention(h, ragged), own)
        if self.cross_attention is not None and keys_values is not None:
            attention, given, from_input = self.cross_attention, keys_values, self.config.cross_query == "input"
            x = self._residual(1, x, lambda h: attention(entered if from_input else h, ragged, given, time, where), own)
        return self._residual(len(self.norms) - 1, x, self.mlp, own)

    def _residual(self, i: int, x: Tensor, layer: Callable[[Tensor], Tensor], modulation: Tensor | None) -> Tensor:
        norm = self.norms[i]
        if self.config.norm == "post":
            return norm(x + self.drop(layer(x)))
        if modulation is None:
            return x + self.drop(layer(norm(x)))
        shift, scale, gate = modulation[:, 3 * i : 3 * i + 3].unbind(1)  # (n, D)
        normal = norm(x)
        return torch.addcmul(x, gate, self.drop(layer(torch.addcmul(normal + shift, normal, scale))))


def over_neighbours(layer: nn.Conv1d, x: Tensor) -> Tensor:
    """A depth-wise convolution over the tokens of (B, T, D), as shifted sums: no transposing, twice as fast here."""
    tokens, kernel = x.shape[1], layer.kernel_size[0]
    weight = layer.weight[:, 0].T  # (K, D)
    around = F.pad(x, (0, 0, (kernel - 1) // 2, kernel // 2))  # (B, T + K − 1, D)
    y = layer.bias.expand_as(x) if layer.bias is not None else torch.zeros_like(x)
    for shift in range(kernel):
        y = torch.addcmul(y, around[:, shift : shift + tokens], weight[shift])
    return y


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(B, T, D) → (B, H, T, D/H)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """(B, H, T, d) → (B, T, H·d)."""
    return x.transpose(1, 2).flatten(2)
