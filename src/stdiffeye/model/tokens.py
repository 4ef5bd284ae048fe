"""Gaze samples to tokens and back: g, γ, the validity head, patches, and how the fixation index enters."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from stdiffeye.model.layers import sinusoid

PAD = -3.0
"""What every channel of a padded sample holds."""
LONGEST_INDEX = 100.0
"""Longest wavelength of sines over the fixation index, which counts to about 17."""

SMALLEST_STD = 1e-3  # of a token's cosine: a quarter of a pixel in a picture of 1024
IndexEncoding = Literal["raw", "learnable", "sinusoidal"]


def token_encoder(channels: int, latent: int) -> nn.Sequential:
    """g: C → latent/2 → latent. Each token is normalised by itself, so that padding cannot reach the others."""
    half = latent // 2
    return nn.Sequential(nn.Linear(channels, half), nn.LayerNorm(half), nn.ReLU(), nn.Linear(half, latent))


def token_decoder(latent: int, channels: int) -> nn.Sequential:
    """γ: latent → latent/2 → latent/4 → C."""
    half, quarter = latent // 2, latent // 4
    return nn.Sequential(
        nn.Linear(latent, half),
        nn.LayerNorm(half),
        nn.ReLU(),
        nn.Linear(half, quarter),
        nn.LayerNorm(quarter),
        nn.ReLU(),
        nn.Linear(quarter, channels),
    )


class IndexCode(nn.Module):
    """The fixation index of every sample as one number, a row of a learned table, or sines.

    The codes of the table count fixations, ρ = ρ̃·(M + 1); a continuous ρ lies between two rows of the table.
    """

    def __init__(self, encoding: IndexEncoding, width: int, max_fixations: int) -> None:
        super().__init__()
        self.encoding, self.last = encoding, max_fixations + 1
        self.width = 1 if encoding == "raw" else width
        if encoding == "learnable":
            self.table = nn.Parameter(0.5 * torch.randn(self.last + 1, width))

    def forward(self, rho: Tensor, fixations: Tensor) -> Tensor:
        """(B, T) ρ̃ in [0, 1] and (B,) numbers of fixations → (B, T, E)."""
        if self.encoding == "raw":
            return rho[..., None]  # (B, T, 1)
        count = (rho * (fixations + 1)[:, None]).clamp(0, self.last)  # (B, T)
        if self.encoding == "sinusoidal":
            return sinusoid(count, self.width, LONGEST_INDEX)  # (B, T, E)
        below = count.floor().clamp(max=self.last - 1).long()  # (B, T)
        return torch.lerp(self.table[below], self.table[below + 1], (count - below)[..., None])  # (B, T, E)


class IndexAdded(nn.Module):
    """The fixation index as a given that is added to the tokens (the paper's embedding-space variant)."""

    def __init__(self, code: IndexCode, patch: int, width: int) -> None:
        super().__init__()
        self.code, self.patch = code, patch
        self.project = nn.Linear(patch * code.width, width)

    def forward(self, rho: Tensor, fixations: Tensor, valid: Tensor) -> Tensor:
        """(B, T) → (B, N, D); nothing is added where a sample is padding."""
        code = self.code(rho, fixations) * valid[..., None]  # (B, T, E)
        return self.project(to_patches(code, self.patch))  # (B, N, D)


class PatchBasis(nn.Module):
    """The samples of a token as cosines of rising frequency (an orthonormal DCT-II), and how large each one is in gaze.

    Noise that is independent per sample is so per cosine too, so nothing changes but this: that eyes rest most of the
    time, and how fast they can move, is in `std` and need not be learned.
    """

    turn: Tensor
    std: Tensor

    def __init__(self, patch: int, rate_hz: float, channels: list[str]) -> None:
        super().__init__()
        self.channels = len(channels)
        k, t = torch.arange(patch)[:, None], torch.arange(patch)
        turn = (torch.pi / patch * (t + 0.5) * k).cos() * (2 / patch) ** 0.5
        turn[0] /= 2**0.5
        std = [self._std(channel, k[:, 0] * rate_hz / (2 * patch), patch) for channel in channels]
        self.register_buffer("turn", turn, persistent=False)  # (p, p)
        self.register_buffer("std", torch.stack(std, -1).flatten(), persistent=False)  # (p·C,)

    @staticmethod
    def _std(channel: str, hz: Tensor, patch: int) -> Tensor:
        """(p,) standard deviation of the cosines of `hz`, in the channels' units; measured on DOVES."""
        hz = hz.clamp(min=1e-3)
        fit = {
            "position": 3.3 / hz / (1 + (hz / 25) ** 2) ** 0.8,
            "index": 2.6 / hz**2,
            "step": torch.full_like(hz, SMALLEST_STD),  # Δt is the same for all samples
        }
        return fit[channel].clamp(SMALLEST_STD, patch**0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, N, p·C) samples → cosines."""
        return (self.turn @ tokens.unflatten(2, (-1, self.channels))).flatten(2)

    def back(self, cosines: Tensor) -> Tensor:
        """(B, N, p·C) cosines → samples."""
        return (self.turn.T @ cosines.unflatten(2, (-1, self.channels))).flatten(2)


def to_patches(samples: Tensor, patch: int) -> Tensor:
    """(…, N·p, C) → (…, N, p·C): p samples side by side are one token."""
    return samples.unflatten(-2, (-1, patch)).flatten(-2)


def from_patches(tokens: Tensor, patch: int) -> Tensor:
    """(B, N, p·C) → (B, N·p, C)."""
    return tokens.unflatten(2, (patch, -1)).flatten(1, 2)


def change_point(logits: Tensor) -> Tensor:
    """(B,) the most likely length, argmax over L ≥ 1 of Σ_{t≤L} log p_valid + Σ_{t>L} log p_invalid.

    `logits` (B, T, 2) are of padding and of gaze, in this order.
    """
    invalid, valid = logits.double().log_softmax(-1).unbind(-1)  # (B, T)
    # Up to the same constant, this is the sum of log p_valid − log p_invalid over the samples that are kept.
    return (valid - invalid).cumsum(-1).argmax(-1) + 1


def leading_run(logits: Tensor) -> Tensor:
    """(B,) number of samples before the first that is classed as padding, at least 1 (ScanDiff's rule)."""
    gaze = (logits[..., 1] > logits[..., 0]).long()  # (B, T)
    return gaze.cumprod(-1).sum(-1).clamp(min=1)


def token_mask(length: Tensor, tokens: int) -> Tensor:
    """(B, tokens) True on the first `length` of each row."""
    return torch.arange(tokens, device=length.device) < length[:, None]
