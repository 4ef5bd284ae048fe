"""What every denoiser that attends to an image has."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor, nn

from stdiffeye.model.layers import EncodedImage


class AttendsToImage(nn.Module):
    """A denoiser with cross-attention to the tokens of an image."""

    @abstractmethod
    def keys_values(self, tokens: Tensor, position: Tensor, densities: Tensor | None) -> list[tuple[Tensor, Tensor]]:
        """Keys and values (P, H, N, d) of every cross-attention, for tokens (P, N, D) and log-densities (P, K, N)."""

    def encode_image(
        self,
        tokens: Tensor,
        position: Tensor,
        log_density: Tensor | None = None,
        phase_log_density: Tensor | None = None,
    ) -> EncodedImage:
        """Prepare pictures' tokens (P, N, D) once; densities of the phases (P, K, N) are preferred to that of all."""
        densities = phase_log_density
        if densities is None and log_density is not None:
            densities = log_density[:, None]  # (P, 1, N)
        keys_values = self.keys_values(tokens, position, densities)
        return EncodedImage(tokens, position, log_density, keys_values, phase_log_density)
